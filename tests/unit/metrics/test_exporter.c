/* Tests the pages of the exporter, the choice of their format, and the parsers of texts of the
 * kernel. */
#include "metrics/device_sums.h"
#include "metrics/exported.h"
#include "metrics/exposition.h"
#include "metrics/negotiate.h"

#include "../tree.h"

#define P EXPOSITION_PROMETHEUS
#define O EXPOSITION_OPENMETRICS

static void assert_format(const char *accept, enum exposition_format wanted)
{
    if (negotiate_format(accept, strlen(accept)) != wanted)
        fail_msg("'%s' is the other format", accept);
}

static void the_exporter_sends_the_format_that_the_client_prefers(void **state)
{
    (void)state;
    assert_int_equal(negotiate_format(NULL, 0), P);
    assert_format("", P);
    assert_format("*/*", P);
    assert_format("text/plain", P);
    assert_format("text/html,application/xhtml+xml,*/*;q=0.8", P);
    assert_format("application/openmetrics-text", O);
    assert_format("application/openmetrics-text; version=1.0.0; charset=utf-8", O);
    assert_format("application/openmetrics-text;version=\"0.0.1\"", O);
    assert_format("APPLICATION/OpenMetrics-Text;Version=1.0.0", O);
    assert_format("application/openmetrics-text;version=2.0.0", P);
    assert_format("application/openmetrics-text;version=1.0.0;q=0.2,text/plain;q=0.7", P);
    assert_format("text/plain;version=0.0.4;q=0.2, application/openmetrics-text ; q=0.3", O);
    assert_format("application/openmetrics-text;q=0", P);
    assert_format("application/openmetrics-text;q=nothing", P);
    assert_format("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
                  "text/plain;version=1.0.0;q=0.9,*/*;q=0.1",
                  O);
    assert_format(";,;=,q=,application/openmetrics-text", O);
}

static bool takes_gzip(const char *encoding)
{
    return negotiate_gzip(encoding, strlen(encoding));
}

static void gzip_is_sent_to_clients_that_accept_it(void **state)
{
    (void)state;
    assert_false(negotiate_gzip(NULL, 0));
    assert_true(takes_gzip("gzip"));
    assert_true(takes_gzip("deflate, GZIP;q=0.5"));
    assert_true(takes_gzip("*"));
    assert_false(takes_gzip("gzip;q=0, *"));
    assert_false(takes_gzip("identity"));
    assert_false(takes_gzip("gzipped"));
}

static const struct metric time_metric = { "camp_x_seconds", "seconds",      "A \"time\"\nof \\x.",
                                           "here",           METRIC_COUNTER, CAMP_MEASURED,
                                           { "group" } };
static const struct metric level_metric = { "camp_y",     NULL,         "A level.", "there",
                                            METRIC_GAUGE, CAMP_SAMPLED, { NULL } };
static const struct metric info_metric = {
    "camp_z", NULL, "Who.", "itself", METRIC_INFO, CAMP_DERIVED, { "version", "tier" }
};

static void assert_page(enum exposition_format format, const struct metric_family *families,
                        size_t count, const char *wanted)
{
    struct bytes page = { 0 };

    exposition_write(&page, format, families, count);
    bytes_put(&page, "", 1);
    assert_false(page.failed);
    assert_string_equal((const char *)page.data, wanted);
    bytes_release(&page);
}

static void the_exporter_writes_its_page_as_plain_text_and_as_openmetrics(void **state)
{
    struct series times[] = { { { "a" }, 1500000001, true }, { { "b" }, 9, false } };
    struct series level[] = { { { NULL }, 3, true } };
    struct series info[] = { { { "1", "bpf" }, 1, true } };
    const struct metric_family families[] = { { &time_metric, times, 2 },
                                              { &level_metric, level, 1 },
                                              { &info_metric, info, 1 } };

    (void)state;
    assert_page(P, families, 3,
                "# HELP camp_x_seconds_total A \"time\"\\nof \\\\x. measured; source: here\n"
                "# TYPE camp_x_seconds_total counter\n"
                "camp_x_seconds_total{group=\"a\"} 1.500000001\n"
                "# HELP camp_y A level. sampled; source: there\n"
                "# TYPE camp_y gauge\n"
                "camp_y 3\n"
                "# HELP camp_z_info Who. derived; source: itself\n"
                "# TYPE camp_z_info gauge\n"
                "camp_z_info{version=\"1\",tier=\"bpf\"} 1\n");
    assert_page(O, families, 3,
                "# HELP camp_x_seconds A \\\"time\\\"\\nof \\\\x. measured; source: here\n"
                "# TYPE camp_x_seconds counter\n"
                "# UNIT camp_x_seconds seconds\n"
                "camp_x_seconds_total{group=\"a\"} 1.500000001\n"
                "# HELP camp_y A level. sampled; source: there\n"
                "# TYPE camp_y gauge\n"
                "camp_y 3\n"
                "# HELP camp_z Who. derived; source: itself\n"
                "# TYPE camp_z info\n"
                "camp_z_info{version=\"1\",tier=\"bpf\"} 1\n"
                "# EOF\n");
}

static const uint64_t bounds[] = { 1024, 4194304, 68719476736 };
static const struct metric wait_metric = { "camp_w_seconds",
                                           "seconds",
                                           "Waits.",
                                           "here",
                                           METRIC_HISTOGRAM,
                                           CAMP_MEASURED,
                                           { "group" },
                                           NULL,
                                           0,
                                           bounds,
                                           3 };

static void a_histogram_has_cumulative_buckets_a_sum_and_a_count(void **state)
{
    static const uint64_t counts[] = { 1, 0, 5, 2 };
    struct series waits[] = { { { "a" }, 9000000000, true, counts }, { .known = false } };
    const struct metric_family family = { &wait_metric, waits, 2 };

    (void)state;
    assert_page(P, &family, 1,
                "# HELP camp_w_seconds Waits. measured; source: here\n"
                "# TYPE camp_w_seconds histogram\n"
                "camp_w_seconds_bucket{group=\"a\",le=\"1.024e-06\"} 1\n"
                "camp_w_seconds_bucket{group=\"a\",le=\"0.004194304\"} 1\n"
                "camp_w_seconds_bucket{group=\"a\",le=\"68.719476736\"} 6\n"
                "camp_w_seconds_bucket{group=\"a\",le=\"+Inf\"} 8\n"
                "camp_w_seconds_sum{group=\"a\"} 9.000000000\n"
                "camp_w_seconds_count{group=\"a\"} 8\n");
}

static void a_metric_family_without_known_values_is_left_out(void **state)
{
    struct series times[] = { { { "a" }, 5, false } };
    const struct metric_family families[] = { { &time_metric, times, 1 },
                                              { &time_metric, NULL, 0 } };

    (void)state;
    assert_page(P, families, 2, "");
    assert_page(O, families, 2, "# EOF\n");
}

static void assert_label(const char *name, const char *wanted)
{
    struct series series[] = { { { name }, 0, true } };
    const struct metric_family family = { &time_metric, series, 1 };
    struct bytes page = { 0 };
    char line[256];

    exposition_write(&page, P, &family, 1);
    bytes_put(&page, "", 1);
    snprintf(line, sizeof line, "{group=\"%s\"} 0.000000000\n", wanted);
    if (strstr((const char *)page.data, line) == NULL)
        fail_msg("no %s in %s", line, (const char *)page.data);
    bytes_release(&page);
}

static void labels_with_special_characters_stay_different_after_escaping(void **state)
{
    (void)state;
    assert_label("a\"b\\c\nd", "a\\\"b\\\\c\\nd");
    assert_label("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
    assert_label("a\xff"
                 "b",
                 "a\\\\xffb");
    assert_label("a\\xffb", "a\\\\x5cxffb"); /* must differ from the previous label */
    assert_label("\x1b[2J\r\t", "\\\\x1b[2J\\\\x0d\\\\x09");
    assert_label("} 1\ncamp_fake 7", "} 1\\ncamp_fake 7");
    assert_label("\xc3", "\\\\xc3");
    assert_label("", "");
}

static void each_metric_has_a_unique_name_a_help_text_and_a_source(void **state)
{
    size_t count;
    const struct metric *metrics = exported_metrics(&count);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct metric *metric = &metrics[i];
        const size_t length = strlen(metric->name);

        assert_memory_equal(metric->name, "camp_", 5);
        assert_int_equal(metric->help[strlen(metric->help) - 1], '.');
        assert_true(metric->from[0] != '\0' && metric->provenance != CAMP_UNKNOWN);
        assert_null(strstr(metric->name, "_total"));
        if (metric->unit != NULL)
            assert_string_equal(metric->name + length - strlen(metric->unit), metric->unit);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(metric->name, metrics[k].name);
    }
}

static void look_at_devices(struct device_sums *sums, const char *const *names,
                            const uint64_t *values, size_t count)
{
    device_sums_start(sums);
    for (size_t i = 0; i < count; i++) {
        const uint64_t all[DEVICE_COUNTERS] = { values[i] };

        assert_int_equal(device_sums_add(sums, names[i], all), CAMP_OK);
    }
    device_sums_finish(sums);
}

static void the_counts_of_a_removed_device_stay_in_the_sum_of_devices(void **state)
{
    static const char *const names[] = { "sda", "sdb" };
    struct device_sums sums = { 0 };

    (void)state;
    look_at_devices(&sums, names, (const uint64_t[]){ 100, 50 }, 2);
    assert_int_equal(sums.sums[0], 150);
    look_at_devices(&sums, names, (const uint64_t[]){ 110 }, 1);
    assert_int_equal(sums.sums[0], 160);
    /* a new device has the name of the removed device */
    look_at_devices(&sums, names, (const uint64_t[]){ 110, 5 }, 2);
    assert_int_equal(sums.sums[0], 165);
    /* the counter of "sda" restarted at 0 */
    look_at_devices(&sums, names, (const uint64_t[]){ 90, 6 }, 2);
    assert_int_equal(sums.sums[0], 166);
    device_sums_release(&sums);
}

static void the_counter_of_a_device_is_added_once_even_after_a_lack_of_memory(void **state)
{
    static const uint64_t first[DEVICE_COUNTERS] = { 100 }, second[DEVICE_COUNTERS] = { 130 };
    struct device_sums sums = { 0 };

    (void)state;
    device_sums_start(&sums);
    assert_int_equal(device_sums_add(&sums, "sda", first), CAMP_OK);
    device_sums_finish(&sums);
    device_sums_start(&sums);
    sums.is_partial = true; /* as after a failure of device_sums_add(), before sda was added */
    device_sums_finish(&sums);
    device_sums_start(&sums);
    assert_int_equal(device_sums_add(&sums, "sda", second), CAMP_OK);
    device_sums_finish(&sums);
    assert_int_equal(sums.sums[0], 130);
    device_sums_release(&sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exporter_sends_the_format_that_the_client_prefers),
        cmocka_unit_test(the_counter_of_a_device_is_added_once_even_after_a_lack_of_memory),
        cmocka_unit_test(gzip_is_sent_to_clients_that_accept_it),
        cmocka_unit_test(the_exporter_writes_its_page_as_plain_text_and_as_openmetrics),
        cmocka_unit_test(a_histogram_has_cumulative_buckets_a_sum_and_a_count),
        cmocka_unit_test(a_metric_family_without_known_values_is_left_out),
        cmocka_unit_test(labels_with_special_characters_stay_different_after_escaping),
        cmocka_unit_test(each_metric_has_a_unique_name_a_help_text_and_a_source),
        cmocka_unit_test(the_counts_of_a_removed_device_stay_in_the_sum_of_devices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
