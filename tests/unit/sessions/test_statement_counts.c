/* Differences between two readings of what a database counts of its statements. */
#include "sources/sessions/statement_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct statement_counts counts;

static int start(void **state)
{
    (void)state;
    counts = (struct statement_counts){ 0 };
    return 0;
}

static int end(void **state)
{
    (void)state;
    statement_counts_release(&counts);
    return 0;
}

static struct statement_entry entry(uint64_t statement, uint64_t owner, uint64_t calls)
{
    return (struct statement_entry){ .statement = { 0, statement },
                                     .owner = owner,
                                     .calls = calls,
                                     .planning_ns = 10 * calls,
                                     .execution_ns = 1000 * calls,
                                     .rows = 2 * calls };
}

static void read_entries(const struct statement_entry *entries, size_t count)
{
    statement_counts_start(&counts);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(statement_counts_add(&counts, &entries[i]), CAMP_OK);
    assert_int_equal(statement_counts_finish(&counts), CAMP_OK);
}

#define READ(...)                                                                                  \
    read_entries((const struct statement_entry[]){ __VA_ARGS__ },                                  \
                 sizeof((const struct statement_entry[]){ __VA_ARGS__ }) /                         \
                     sizeof(struct statement_entry))

static void assert_growth(size_t at, uint64_t statement, uint64_t calls, uint64_t lost)
{
    const struct statement_growth *growth = &counts.growth[at];

    assert_true(at < counts.growth_count);
    assert_int_equal(growth->statement.low, statement);
    assert_int_equal(growth->calls, calls);
    assert_int_equal(growth->planning_ns, 10 * calls);
    assert_int_equal(growth->execution_ns, 1000 * calls);
    assert_int_equal(growth->rows, 2 * calls);
    assert_int_equal(growth->lost, lost);
}

static void the_first_reading_has_no_growth(void **state)
{
    (void)state;
    READ(entry(1, 1, 7), entry(2, 1, 8));
    assert_int_equal(counts.growth_count, 0);
    READ(entry(1, 1, 7), entry(2, 1, 8));
    assert_int_equal(counts.growth_count, 0);
    read_entries(NULL, 0);
    assert_int_equal(counts.lost, 2);
}

static void the_entries_of_a_statement_are_added_up_in_any_order(void **state)
{
    (void)state;
    READ(entry(5, 2, 10), entry(3, 1, 1), entry(5, 1, 20));
    READ(entry(5, 1, 21), entry(5, 2, 13), entry(3, 1, 1));
    assert_int_equal(counts.growth_count, 1);
    assert_growth(0, 5, 4, 0);
    assert_int_equal(counts.lost, 0);
}

static void a_new_entry_has_grown_from_nothing(void **state)
{
    (void)state;
    READ(entry(5, 1, 10));
    READ(entry(9, 1, 3), entry(5, 1, 10), entry(5, 2, 2));
    assert_int_equal(counts.growth_count, 2);
    assert_growth(0, 5, 2, 0);
    assert_growth(1, 9, 3, 0);
}

static void an_entry_that_was_reset_counts_from_nothing_and_is_lost(void **state)
{
    (void)state;
    READ(entry(5, 1, 10), entry(6, 1, 4));
    READ(entry(5, 1, 3), entry(6, 1, 5));
    assert_int_equal(counts.growth_count, 2);
    assert_growth(0, 5, 3, 1);
    assert_growth(1, 6, 1, 0);
    assert_int_equal(counts.lost, 1);
}

static void any_count_that_falls_is_a_reset(void **state)
{
    for (size_t i = 0; i < 3; i++) {
        struct statement_entry now = entry(5, 1, 10);

        READ(entry(5, 1, 10));
        now.calls = 12;
        *(i == 0 ? &now.planning_ns : i == 1 ? &now.execution_ns : &now.rows) -= 1;
        read_entries(&now, 1);
        assert_int_equal(counts.growth[0].calls, 12);
        assert_int_equal(counts.growth[0].lost, 1);
        end(state);
    }
}

static void an_entry_that_started_anew_counts_from_nothing_even_if_it_is_larger(void **state)
{
    struct statement_entry before = entry(5, 1, 10), now = entry(5, 1, 30);

    (void)state;
    before.since = 100;
    now.since = 101;
    read_entries(&before, 1);
    read_entries(&now, 1);
    assert_growth(0, 5, 30, 1);
}

static void an_entry_that_is_gone_is_lost_without_a_negative_difference(void **state)
{
    (void)state;
    READ(entry(5, 1, 10), entry(5, 2, 10), entry(7, 1, 1));
    READ(entry(5, 2, 11));
    assert_int_equal(counts.growth_count, 2);
    assert_growth(0, 5, 1, 1);
    assert_growth(1, 7, 0, 1);
    assert_int_equal(counts.lost, 2);
    READ(entry(5, 2, 11), entry(7, 1, 2));
    assert_int_equal(counts.growth_count, 1);
    assert_growth(0, 7, 2, 0);
    assert_int_equal(counts.lost, 0);
}

static void two_entries_with_one_owner_are_one(void **state)
{
    (void)state;
    READ(entry(5, 1, 1), entry(5, 1, 2));
    READ(entry(5, 1, 4), entry(5, 1, 5));
    assert_int_equal(counts.growth_count, 1);
    assert_growth(0, 5, 6, 0);
}

static void a_reading_that_is_not_finished_has_no_effect(void **state)
{
    const struct statement_entry other = entry(8, 1, 1);

    (void)state;
    READ(entry(5, 1, 10));
    statement_counts_start(&counts);
    assert_int_equal(statement_counts_add(&counts, &other), CAMP_OK);
    READ(entry(5, 1, 12));
    assert_int_equal(counts.growth_count, 1);
    assert_growth(0, 5, 2, 0);
}

static void after_forgetting_the_next_reading_is_the_first(void **state)
{
    (void)state;
    READ(entry(5, 1, 10));
    statement_counts_forget(&counts);
    READ(entry(5, 1, 12), entry(6, 1, 1));
    assert_int_equal(counts.growth_count, 0);
    READ(entry(5, 1, 13), entry(6, 1, 1));
    assert_growth(0, 5, 1, 0);
}

#define MANY (STATEMENT_GROWTH_MOST + 5)

/* Statement 3 has the most time; the others have the same. The first five of them are others. */
static void the_statements_with_the_least_time_are_added_up(void **state)
{
    struct statement_entry *entries = calloc(MANY, sizeof *entries);

    (void)state;
    assert_non_null(entries);
    for (size_t i = 0; i < MANY; i++)
        entries[i] = entry(i, 1, 1);
    read_entries(entries, MANY);
    for (size_t i = 0; i < MANY; i++)
        entries[i] = entry(i, 1, i == 3 ? 9 : 2);
    read_entries(entries, MANY);
    assert_int_equal(counts.growth_count, STATEMENT_GROWTH_MOST);
    assert_growth(0, 3, 8, 0);
    for (size_t i = 1; i < STATEMENT_GROWTH_MOST; i++)
        assert_growth(i, i + 5, 1, 0);
    assert_int_equal(counts.other_count, 5);
    assert_int_equal(counts.others.calls, 5);
    assert_int_equal(counts.others.execution_ns, 5000);
    assert_int_equal(counts.others.rows, 10);
    read_entries(entries, MANY - 1);
    assert_int_equal(counts.other_count, 0);
    assert_int_equal(counts.others.calls, 0);
    free(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_reading_has_no_growth, start, end),
        cmocka_unit_test_setup_teardown(the_entries_of_a_statement_are_added_up_in_any_order, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_new_entry_has_grown_from_nothing, start, end),
        cmocka_unit_test_setup_teardown(an_entry_that_was_reset_counts_from_nothing_and_is_lost,
                                        start, end),
        cmocka_unit_test_setup_teardown(any_count_that_falls_is_a_reset, start, end),
        cmocka_unit_test_setup_teardown(
            an_entry_that_started_anew_counts_from_nothing_even_if_it_is_larger, start, end),
        cmocka_unit_test_setup_teardown(an_entry_that_is_gone_is_lost_without_a_negative_difference,
                                        start, end),
        cmocka_unit_test_setup_teardown(two_entries_with_one_owner_are_one, start, end),
        cmocka_unit_test_setup_teardown(a_reading_that_is_not_finished_has_no_effect, start, end),
        cmocka_unit_test_setup_teardown(the_statements_with_the_least_time_are_added_up, start,
                                        end),
        cmocka_unit_test_setup_teardown(after_forgetting_the_next_reading_is_the_first, start, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
