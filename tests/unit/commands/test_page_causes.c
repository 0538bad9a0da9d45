/* The causes of waits as the page gets them (docs/stream.md), on synthetic causes. */
#include "commands/report/page_causes.h"
#include "counters/error.h"
#include "synthetic_causes.h"

struct synthetic_source {
    struct source source; /* must be the first member */
    const struct causes *causes;
    int result;
};

static int give_causes(struct source *base, const struct causes **ret, struct camp_error *error)
{
    const struct synthetic_source *source = (const struct synthetic_source *)base;

    *ret = source->causes;
    return source->result == CAMP_OK ? CAMP_OK
                                     : camp_fail(error, source->result, 0, "x.camp is \"damaged\"");
}

/* The caller releases *ret. */
static const char *read_text(struct bytes *ret, const struct causes *causes, int result)
{
    struct synthetic_source source = { { .causes = give_causes }, causes, result };

    assert_int_equal(page_causes_read(ret, &source.source), CAMP_OK);
    bytes_put(ret, "", 1);
    return (const char *)ret->data;
}

static void an_interval_has_groups_times_devices_lengths_and_calls(void **state)
{
    struct causes *causes = make_causes();
    struct wait_lengths *lengths = &causes->lengths[DB][CAMP_STATE_PIPE];
    struct cause_device device = { 36, "virtio1 (irq 36)" };
    struct call_name name = { "read", "pipe:[7]" };
    struct camp_call_sleeps sleeps = {
        .pid = 7, .state = CAMP_STATE_PIPE, .sleep_ns = 350000000, .count = 9
    };
    struct bytes json = { 0 };
    char expected[160];
    const char *text;

    (void)state;
    lengths->counts[20] = 5;
    lengths->counts[22] = 1;
    lengths->longest_ns = 5000000;
    wait_lengths_fill(lengths);
    causes->unseen = 3;
    causes->reduced_ns[DB] = 17;
    causes->is_recorded = true;
    causes->devices = &device;
    causes->device_count = 1;
    causes->call_names = &name;
    causes->calls.items = &sleeps;
    causes->calls.count = 1;
    text = read_text(&json, causes, CAMP_OK);
    assert_int_equal(
        strncmp(text, "{\"unseen\":3,\"groups\":[[0,0,0,0,0,\"\"],[1,1,0,0,0,\"\"],", 46), 0);
    assert_non_null(strstr(text, "[3,4,7,1,17,\"db\"]"));
    snprintf(expected, sizeof expected, "[3,%d,%d,0,200000000]", CAMP_STATE_USER,
             (int)CAUSE_KIND_COUNT);
    assert_non_null(strstr(text, expected));
    snprintf(expected, sizeof expected, "[3,%d,%d,%d,90000000]", CAMP_STATE_RUN_QUEUE,
             CAMP_CAUSE_GROUP, BATCH);
    assert_non_null(strstr(text, expected));
    assert_non_null(strstr(text, "\"devices\":[[36,\"virtio1 (irq 36)\"]]"));
    snprintf(expected, sizeof expected, "\"lengths\":[[3,%d,5000000,[20,5,22,1]]]",
             CAMP_STATE_PIPE);
    assert_non_null(strstr(text, expected));
    snprintf(expected, sizeof expected, "\"calls\":[[7,%d,350000000,9,\"read\",\"pipe:[7]\"]]}",
             CAMP_STATE_PIPE);
    assert_non_null(strstr(text, expected));
    bytes_release(&json);
    causes->calls.items = NULL;
    release_causes(causes);
}

static void without_causes_there_is_nothing_and_damaged_ones_are_an_error(void **state)
{
    struct bytes json = { 0 };

    (void)state;
    assert_string_equal(read_text(&json, NULL, CAMP_OK), "");
    assert_string_equal(read_text(&json, NULL, CAMP_E_FORMAT),
                        "{\"error\":\"x.camp is \\\"damaged\\\"\"}");
    bytes_release(&json);
}

static void without_memory_the_frame_has_no_causes_but_an_error(void **state)
{
    struct synthetic_source source = { { .causes = give_causes }, NULL, CAMP_E_NOMEM };
    struct bytes json = { 0 };

    (void)state;
    assert_int_equal(page_causes_read(&json, &source.source), CAMP_E_NOMEM);
    bytes_release(&json);
}

static void the_words_name_each_number(void **state)
{
    char words[PAGE_CAUSES_WORDS], last[64];

    (void)state;
    page_causes_words(words);
    assert_int_equal(strncmp(words, "{\"states\":[\"user\",\"system\",", 26), 0);
    assert_non_null(strstr(words, "],\"kinds\":[\"group\",\"idle_cpu\","));
    snprintf(last, sizeof last, "\"quota\",\"on_cpu\"]}");
    assert_string_equal(words + strlen(words) - strlen(last), last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_has_groups_times_devices_lengths_and_calls),
        cmocka_unit_test(without_causes_there_is_nothing_and_damaged_ones_are_an_error),
        cmocka_unit_test(without_memory_the_frame_has_no_causes_but_an_error),
        cmocka_unit_test(the_words_name_each_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
