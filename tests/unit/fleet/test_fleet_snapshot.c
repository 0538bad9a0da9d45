/* Snapshots of a server that shows the series of a scrape one after the other. The functions of
 * prometheus_client.h are replaced by those below, which ask no server. */
#include "counters/clock.h"
#include "sources/fleet/fleet.h"
#include "sources/fleet/prometheus_client.h"
#include "sources/fleet/prometheus_parser.h"
#include "sources/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SCRAPE_MS INT64_C(100)
#define VISIBLE_MS INT64_C(300) /* samples can be queried so long after their scrape */
#define PIECE_MS INT64_C(150)   /* and the samples of the mode idle so much later */
#define SAMPLES 60
#define BUSY_RATE 1.5

struct prometheus_client {
    int opened;
};

static struct prometheus_client client;
static size_t asked, dropped; /* questions */
static bool is_old;           /* the exporter has no camp_cpu_sampled_busy_seconds_total */
/* There is another host. Its camp_cpu_sampled_busy_seconds_total is not visible at first. */
static bool has_new, has_half;
static int unknown_count; /* further hosts, whose only series has a mode that camp does not know */
static char newest[3][512]; /* the newest questions of the parts of a snapshot */

int prometheus_client_open(const char *place, const volatile sig_atomic_t *stop,
                           struct prometheus_client *beside, struct prometheus_client **ret,
                           struct camp_error *error)
{
    (void)place, (void)stop, (void)beside, (void)error;
    client.opened++;
    *ret = &client;
    return CAMP_OK;
}

void prometheus_client_close(struct prometheus_client *closed)
{
    if (closed != NULL)
        closed->opened--;
}

const char *prometheus_client_shown(const struct prometheus_client *shown)
{
    (void)shown;
    return "http://synthetic";
}

bool prometheus_client_is_asked(const struct prometheus_client *of)
{
    (void)of;
    return false;
}

void prometheus_client_drop(struct prometheus_client *of)
{
    (void)of;
    dropped++;
}

static void put_host(FILE *stream, const char *host, const char *name, const char *mode,
                     double rate, int64_t to_ms)
{
    const int64_t last = to_ms / SCRAPE_MS;
    const char *separator = "";

    fprintf(stream,
            "{\"metric\":{\"__name__\":\"%s\",\"instance\":\"%s\",\"job\":\"camp\"%s%s%s},"
            "\"values\":[",
            name, host, mode != NULL ? ",\"mode\":\"" : "", mode != NULL ? mode : "",
            mode != NULL ? "\"" : "");
    for (int64_t i = last - SAMPLES; i <= last; i++) {
        const double at = (double)(i * SCRAPE_MS) / 1e3;

        fprintf(stream, "%s[%.3f,\"%.6f\"]", separator, at, rate > 0 ? at * rate : 4);
        separator = ",";
    }
    fputs("]}", stream);
}

static void put_first(FILE *stream, const char *name, const char *mode, double rate, int64_t to_ms)
{
    put_host(stream, "a", name, mode, rate, to_ms);
    if (has_new && (rate != BUSY_RATE || !has_half)) {
        fputc(',', stream);
        put_host(stream, "b", name, mode, rate, to_ms);
    }
}

static void put_series(FILE *stream, const char *name, const char *mode, double rate, int64_t to_ms)
{
    fputc(',', stream);
    put_first(stream, name, mode, rate, to_ms);
}

/* Writes the answer to a question of camp. A host of 4 CPUs is busy half of the time. */
static void put_answer(FILE *stream, const char *query)
{
    const int64_t now_ms = (int64_t)now_ns(CLOCK_REALTIME) / NS_PER_MS;
    const int64_t to_ms = now_ms - VISIBLE_MS;
    const bool is_range = strstr(query, "ms]") != NULL;

    fprintf(stream, "{\"status\":\"success\",\"data\":{\"resultType\":\"%s\",\"result\":[",
            is_range ? "matrix" : "vector");
    if (strstr(query, "count_over_time") != NULL)
        fprintf(stream,
                "{\"metric\":{\"camp_part\":\"count\"},\"value\":[%.3f,\"3000\"]},"
                "{\"metric\":{\"camp_part\":\"job\",\"job\":\"camp\"},\"value\":[%.3f,\"1\"]},",
                (double)now_ms / 1e3, (double)now_ms / 1e3);
    if (!is_range)
        fprintf(stream, "{\"metric\":{\"camp_part\":\"now\"},\"value\":[%.3f,\"1\"]}",
                (double)now_ms / 1e3);
    else if (strstr(query, "camp_cpu_measured") != NULL) {
        put_first(stream, "camp_cpus", NULL, 0, to_ms);
        put_series(stream, "camp_clock_seconds_total", NULL, 1, to_ms);
        for (int i = 0; i < unknown_count; i++) {
            const char host[] = { (char)('p' + i), '\0' };

            fputc(',', stream);
            put_host(stream, host, "camp_cpu_measured_seconds_total", "unknown", 1, to_ms);
        }
        put_series(stream, "camp_cpu_measured_seconds_total", "user", 2, to_ms);
        put_series(stream, "camp_cpu_measured_seconds_total", "idle", 2, to_ms - PIECE_MS);
        if (!is_old)
            put_series(stream, "camp_cpu_sampled_busy_seconds_total", NULL, BUSY_RATE, to_ms);
    } else if (strstr(query, "camp_cpu_seconds_total") != NULL) {
        put_first(stream, "camp_cpu_seconds_total", "user", 1, to_ms);
        put_series(stream, "camp_cpu_seconds_total", "system", 0.5, to_ms);
        if (!is_old)
            put_series(stream, "camp_cpu_sampled_busy_seconds_total", NULL, BUSY_RATE, to_ms);
    } else if (!is_old) {
        put_first(stream, "camp_cpu_sampled_busy_seconds_total", NULL, BUSY_RATE, to_ms);
    }
    fputs("]}}", stream);
}

int prometheus_client_ask(struct prometheus_client *of, const char *path, const char *query,
                          const char *times, uint64_t until_ns, struct prometheus_answer *ret,
                          struct camp_error *error)
{
    struct prometheus_parser *parser;
    char *text = NULL;
    size_t size;
    FILE *stream;
    int r;

    (void)of, (void)path, (void)times, (void)error;
    if (until_ns == 0)
        return 1; /* REMOTE_PENDING: the first round only sends */
    snprintf(newest[asked++ % 3], sizeof newest[0], "%s", query);
    stream = open_memstream(&text, &size);
    assert_non_null(stream);
    put_answer(stream, query);
    fclose(stream);
    parser = prometheus_parser_new();
    assert_non_null(parser);
    prometheus_parser_feed(parser, text, size);
    r = prometheus_parser_end(parser, ret, NULL);
    prometheus_parser_free(parser);
    free(text);
    return r;
}

static void the_time_of_a_scrape_that_arrives_in_pieces_is_accounted_once(void **state)
{
    static const volatile sig_atomic_t goes_on = 0;
    const struct from from = { .stop = &goes_on };
    struct from_facts facts = { 0 };
    struct camp_error error = { 0 };
    const struct frame *frame;
    struct source *source = NULL;
    uint64_t elapsed_ns = 0, states_ns = 0;
    size_t rows = 0;

    (void)state;
    assert_int_equal(fleet_source_open(&from, "synthetic", &source, &facts, &error), CAMP_OK);
    for (int i = 0; i < 15; i++) {
        assert_int_equal(
            source->next(source, now_ns(CLOCK_MONOTONIC) + 100 * NS_PER_MS, &frame, &error),
            CAMP_OK);
        for (size_t row = 0; row < frame->entity_count; row++, rows++) {
            const struct schema *schema = source->describe(source);

            elapsed_ns += frame->elapsed_ns[row];
            for (size_t k = 0; k < schema->state_count; k++)
                states_ns += frame_values(frame, row)[k];
        }
    }
    assert_true(rows > 5);
    assert_true(asked >= 3 * 15);
    assert_in_range(elapsed_ns, UINT64_C(2000000000), UINT64_C(8000000000));
    assert_in_range(states_ns, elapsed_ns - 1000, elapsed_ns + 1000);
    source_close(source);
    assert_int_equal(client.opened, 0);
}

static void sampled_time_goes_on_after_an_older_exporter_has_come(void **state)
{
    static const volatile sig_atomic_t goes_on = 0;
    const struct from from = { .stop = &goes_on };
    struct from_facts facts = { 0 };
    struct camp_error error = { 0 };
    const struct frame *frame;
    struct source *source = NULL;
    double sampled = 0, elapsed = 0;

    (void)state;
    assert_int_equal(fleet_source_open(&from, "synthetic", &source, &facts, &error), CAMP_OK);
    for (int i = 0; i < 20; i++) {
        is_old = i >= 10;
        assert_int_equal(
            source->next(source, now_ns(CLOCK_MONOTONIC) + 100 * NS_PER_MS, &frame, &error),
            CAMP_OK);
        for (size_t row = 0; row < frame->entity_count; row++) {
            const struct schema *schema = source->describe(source);

            elapsed += (double)frame->elapsed_ns[row];
            sampled += (double)frame_values(frame, row)[schema->state_count];
        }
    }
    source_close(source);
    is_old = false;
    assert_true(elapsed > 2e9);
    assert_true(sampled / elapsed > 0.365 && sampled / elapsed < 0.385); /* 1.5 of 4 CPUs */
}

/* Returns whether one of the newest three questions has the text. */
static bool is_in_newest(const char *text)
{
    return strstr(newest[0], text) != NULL || strstr(newest[1], text) != NULL ||
           strstr(newest[2], text) != NULL;
}

static struct source *open_source(void)
{
    static const volatile sig_atomic_t goes_on = 0;
    const struct from from = { .stop = &goes_on };
    struct from_facts facts = { 0 };
    struct camp_error error = { 0 };
    struct source *source = NULL;

    assert_int_equal(fleet_source_open(&from, "synthetic", &source, &facts, &error), CAMP_OK);
    return source;
}

static void read_frame(struct source *source)
{
    struct camp_error error = { 0 };
    const struct frame *frame;

    assert_int_equal(source->next(source, now_ns(CLOCK_MONOTONIC) + 50 * NS_PER_MS, &frame, &error),
                     CAMP_OK);
}

static void the_sampled_time_of_all_is_asked_again_after_a_new_host_was_seen_in_half(void **state)
{
    struct source *source = open_source();

    (void)state;
    read_frame(source);
    assert_false(is_in_newest("camp_cpu_seconds_total"));
    has_new = has_half = true;
    read_frame(source);
    has_half = false;
    read_frame(source);
    assert_true(is_in_newest("camp_cpu_seconds_total"));
    read_frame(source);
    assert_false(is_in_newest("camp_cpu_seconds_total"));
    assert_true(is_in_newest("camp_cpu_sampled_busy_seconds_total"));
    source_close(source);
    has_new = false;
}

static int longest_range(void)
{
    int ret = 0;

    for (int i = 0; i < 3; i++) {
        const char *range = strrchr(newest[i], '[');

        if (range != NULL && atoi(range + 1) > ret)
            ret = atoi(range + 1);
    }
    return ret;
}

static void hosts_without_samples_do_not_make_the_range_of_a_question_longer(void **state)
{
    struct source *source = open_source();

    (void)state;
    read_frame(source);
    assert_in_range(longest_range(), 1, 8000);
    unknown_count = 5;
    for (int i = 0; i < 2; i++)
        read_frame(source);
    assert_in_range(longest_range(), 1, 8000);
    unknown_count = 0;
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_without_samples_do_not_make_the_range_of_a_question_longer),
        cmocka_unit_test(the_sampled_time_of_all_is_asked_again_after_a_new_host_was_seen_in_half),
        cmocka_unit_test(sampled_time_goes_on_after_an_older_exporter_has_come),
        cmocka_unit_test(the_time_of_a_scrape_that_arrives_in_pieces_is_accounted_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
