/* Tests where camp get reads each counter, rates of counters that wrap, and suggestions for
 * mistyped names. */
#include "commands/get/kinds.h"
#include "program/suggestion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The kernel counts the time of a disk in 32 bits of ms, which wrap after 49.7 days. */
static void the_rate_of_the_read_time_of_a_disk_is_right_when_the_counter_wraps(void **state)
{
    const struct camp_counter *time = counter_by_name(CAMP_KIND_DISK, "read_ns");
    const struct camp_counter *share = counter_by_name(CAMP_KIND_PARTITION, "busy_percent");
    const struct camp_counter *bytes = counter_by_name(CAMP_KIND_DISK, "read_bytes");
    const uint64_t ms = 1000000, before = (UINT32_MAX - 9) * ms;
    double rate = 0;

    (void)state;
    assert_int_equal(counter_rate(time, before, 30 * ms, 1000 * ms, &rate), CAMP_OK);
    assert_true(rate > 39.999e6 && rate < 40.001e6);
    assert_int_equal(counter_rate(share, before, 30 * ms, 1000 * ms, &rate), CAMP_OK);
    assert_true(rate > 39.999e6 && rate < 40.001e6);
    assert_int_equal(counter_rate(time, 500 * ms, 30 * ms, 1000 * ms, &rate), CAMP_RESET);
    assert_int_equal(counter_rate(bytes, before, 30 * ms, 1000 * ms, &rate), CAMP_RESET);
    /* Some kernels print a value of more than 32 bits. */
    assert_int_equal(counter_rate(time, before, before + 20 * ms, 1000 * ms, &rate), CAMP_OK);
    assert_true(rate > 19.999e6 && rate < 20.001e6);
}

static void run_delay_percent_is_computed_from_run_delay_ns(void **state)
{
    const struct camp_counter *share = counter_by_name(CAMP_KIND_THREAD, "run_delay_percent");

    (void)state;
    assert_int_equal(share->record, CAMP_RECORD_TASK);
    assert_int_equal(share->offset, offsetof(struct camp_task, run_delay_ns));
    assert_int_equal(share->known, CAMP_TASK_RUN_DELAY);
}

static void camp_get_has_every_counter_of_the_catalogue(void **state)
{
    size_t rows = 0, counters = 0;
    struct camp_counter row[2 * COUNTERS_MAX];

    (void)state;
    assert_int_equal(camp_catalogue_read(row, sizeof row[0], 2 * COUNTERS_MAX, &rows, NULL),
                     CAMP_OK);
    for (size_t i = 0; i < rows; i++)
        counters += row[i].kinds != 0;
    assert_int_equal(all_counters()->count, counters);
}

static void a_counter_of_a_task_is_known_only_if_the_flag_of_this_counter_is_set(void **state)
{
    struct reading reading;

    (void)state;
    for (size_t i = 0; i < all_counters()->count; i++) {
        const struct camp_counter *counter = &all_counters()->items[i];

        if (counter->record != CAMP_RECORD_TASK || counter->known == 0)
            continue;
        memset(&reading, 0, sizeof reading);
        assert_false(counter_is_known(counter, &reading));
        reading.task.known = ~counter->known;
        assert_false(counter_is_known(counter, &reading));
        reading.task.known = counter->known;
        assert_true(counter_is_known(counter, &reading));
        reading.result = CAMP_E_GONE;
        assert_false(counter_is_known(counter, &reading));
    }
}

static void a_taskstats_counter_is_unknown_if_taskstats_was_not_read(void **state)
{
    const struct camp_counter *runs = counter_by_name(CAMP_KIND_PROCESS, "runs");
    struct reading reading = { .taskstat = { .runs = 7 } };
    uint64_t value;

    (void)state;
    assert_false(counter_is_known(runs, &reading));
    reading.taskstat_known = 1;
    assert_true(counter_is_known(runs, &reading));
    memcpy(&value, counter_place(runs, &reading), sizeof value);
    assert_int_equal(value, 7);
}

static const char *nearest(const char *word, const char *const *candidates)
{
    struct suggestion suggestion = { .word = word };

    for (; *candidates != NULL; candidates++)
        suggestion_offer(&suggestion, *candidates);
    return suggestion.best;
}

static void a_mistyped_word_gets_a_suggestion_only_if_a_similar_word_exists(void **state)
{
    static const char *const words[] = { "user_ns",    "nice_ns",      "system_ns", "idle_ns",
                                         "sent_bytes", "sent_packets", NULL };
    char long_word[5000];

    (void)state;
    memset(long_word, 'x', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    assert_string_equal(nearest("usr_ns", words), "user_ns");
    assert_string_equal(nearest("uesr_ns", words), "user_ns");
    assert_string_equal(nearest("idel_ns", words), "idle_ns");
    assert_string_equal(nearest("system", words), "system_ns");
    assert_string_equal(nearest("sent_byte", words), "sent_bytes");
    assert_null(nearest("temperature", words));
    assert_null(nearest("", words));
    assert_null(nearest(long_word, words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_of_the_read_time_of_a_disk_is_right_when_the_counter_wraps),
        cmocka_unit_test(run_delay_percent_is_computed_from_run_delay_ns),
        cmocka_unit_test(camp_get_has_every_counter_of_the_catalogue),
        cmocka_unit_test(a_counter_of_a_task_is_known_only_if_the_flag_of_this_counter_is_set),
        cmocka_unit_test(a_taskstats_counter_is_unknown_if_taskstats_was_not_read),
        cmocka_unit_test(a_mistyped_word_gets_a_suggestion_only_if_a_similar_word_exists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
