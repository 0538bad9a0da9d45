/* The interval of a backend, divided by statement. Whatever the kernel has in its shares, the parts
 * add up to the growth of the account. */
#include "sources/sessions/postgres/statements/backend_shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define LOCK 0x03000004u
#define READ 0x0a000010u
#define ACTIVE 2u

static struct backend_statements now, before;
static struct backend_part parts[BACKEND_PARTS_MAX];
static size_t count;

static void put(struct backend_statements *to, size_t at, uint64_t statement, uint32_t event,
                uint64_t ns, uint32_t added)
{
    to->shares[at] = (struct backend_share){ statement, event, ACTIVE, ns, added, added };
}

static void divide(const struct backend_statements *earlier, const struct backend_account *since)
{
    uint64_t sum = 0, wall = since->cpu_ns + since->run_queue_ns + since->throttled_ns;

    count = backend_parts_since(&now, earlier, since, parts);
    for (size_t i = 0; i < count; i++)
        sum += parts[i].ns;
    for (uint32_t i = 0; i < since->wait_count; i++)
        wall += since->waits[i].ns;
    assert_int_equal(sum, wall);
}

static uint64_t ns_of(uint64_t statement, uint32_t event, bool is_other)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < count; i++) {
        if (parts[i].statement == statement && parts[i].event == event &&
            parts[i].is_other == is_other)
            ns += parts[i].ns;
    }
    return ns;
}

static int set_up(void **state)
{
    (void)state;
    now = before = (struct backend_statements){ 0 };
    count = 0;
    return 0;
}

static void each_statement_gets_what_its_shares_grew_by(void **state)
{
    const struct backend_account since = { .cpu_ns = 70,
                                           .run_queue_ns = 20,
                                           .wait_count = 2,
                                           .waits = { { LOCK, ACTIVE, 55, 3 },
                                                      { READ, ACTIVE, 5, 1 } } };

    (void)state;
    put(&before, 1, 7, LOCK, 100, 1);
    put(&before, 3, 7, BACKEND_EVENT_CPU, 30, 1);
    put(&now, 1, 7, LOCK, 140, 1);
    put(&now, 2, 8, LOCK, 15, 2);
    put(&now, 3, 7, BACKEND_EVENT_CPU, 90, 1);
    put(&now, 4, 8, BACKEND_EVENT_CPU, 10, 2);
    put(&now, 5, 8, BACKEND_EVENT_RUN_QUEUE, 20, 2);
    put(&now, 6, 7, READ, 5, 2);
    divide(&before, &since);
    assert_int_equal(ns_of(7, LOCK, false), 40);
    assert_int_equal(ns_of(8, LOCK, false), 15);
    assert_int_equal(ns_of(7, BACKEND_EVENT_CPU, false), 60);
    assert_int_equal(ns_of(8, BACKEND_EVENT_CPU, false), 10);
    assert_int_equal(ns_of(8, BACKEND_EVENT_RUN_QUEUE, false), 20);
    assert_int_equal(ns_of(7, READ, false), 5);
}

static void a_share_in_the_place_of_another_counts_from_zero(void **state)
{
    const struct backend_account since = { .wait_count = 1, .waits = { { LOCK, ACTIVE, 40, 1 } } };

    (void)state;
    put(&before, 1, 7, LOCK, 30, 1);
    put(&now, 1, 9, LOCK, 40, 5);
    divide(&before, &since);
    assert_int_equal(ns_of(9, LOCK, false), 40);
}

static void time_without_a_share_is_of_other_statements(void **state)
{
    const struct backend_account since = { .cpu_ns = 50,
                                           .run_queue_ns = 3,
                                           .wait_count = 2,
                                           .waits = { { LOCK, ACTIVE, 60, 3 },
                                                      { READ, ACTIVE, 8, 1 } } };

    (void)state;
    put(&now, 1, 7, LOCK, 45, 1);
    put(&now, 2, 7, BACKEND_EVENT_CPU, 20, 1);
    divide(NULL, &since);
    assert_int_equal(ns_of(0, LOCK, true), 15);
    assert_int_equal(ns_of(0, READ, true), 8);
    assert_int_equal(ns_of(0, BACKEND_EVENT_CPU, true), 30);
    assert_int_equal(ns_of(0, BACKEND_EVENT_RUN_QUEUE, true), 3);
}

static void throttled_time_is_divided_like_that_in_the_run_queue(void **state)
{
    const struct backend_account since = { .run_queue_ns = 10, .throttled_ns = 100 };

    (void)state;
    put(&before, 1, 7, BACKEND_EVENT_THROTTLED, 30, 1);
    put(&now, 1, 7, BACKEND_EVENT_THROTTLED, 80, 1);
    now.statement = 9;
    now.throttled_ns = 35;
    divide(&before, &since);
    assert_int_equal(ns_of(7, BACKEND_EVENT_THROTTLED, false), 50);
    assert_int_equal(ns_of(9, BACKEND_EVENT_THROTTLED, false), 35);
    assert_int_equal(ns_of(0, BACKEND_EVENT_THROTTLED, true), 15);
    assert_int_equal(ns_of(0, BACKEND_EVENT_RUN_QUEUE, true), 10);
}

/* The account has all events of a class in one wait, and the shares have the events. */
static void a_wait_of_a_whole_class_is_not_added_to_its_events(void **state)
{
    const struct backend_account since = {
        .wait_count = 1, .waits = { { BACKEND_EVENT_REST(LOCK), BACKEND_ACTIVITY_NONE, 60, 3 } }
    };

    (void)state;
    put(&now, 1, 7, LOCK, 45, 1);
    divide(NULL, &since);
    assert_int_equal(ns_of(7, LOCK, false), 45);
    assert_int_equal(ns_of(0, BACKEND_EVENT_REST(LOCK), true), 15);
}

static void a_backend_on_a_cpu_has_its_time_in_the_statement_that_runs(void **state)
{
    struct backend_account since = { .cpu_ns = 100, .run_queue_ns = 5 };

    (void)state;
    now.statement = 7;
    now.cpu_ns = 100;
    now.run_queue_ns = 5;
    divide(NULL, &since);
    assert_int_equal(ns_of(7, BACKEND_EVENT_CPU, false), 100);
    assert_int_equal(ns_of(7, BACKEND_EVENT_RUN_QUEUE, false), 5);
    /* When it leaves the CPU, the kernel charges all of it; the part above is not counted again. */
    before = now;
    now = (struct backend_statements){ .statement = 7 };
    put(&now, 4, 7, BACKEND_EVENT_CPU, 160, 3);
    put(&now, 5, 7, BACKEND_EVENT_RUN_QUEUE, 5, 3);
    since.cpu_ns = 60;
    since.run_queue_ns = 0;
    divide(&before, &since);
    assert_int_equal(ns_of(7, BACKEND_EVENT_CPU, false), 60);
}

static void a_statement_that_was_guessed_wrongly_is_taken_off_the_right_one(void **state)
{
    const struct backend_account since = { .cpu_ns = 60 };

    (void)state;
    before.statement = 7;
    before.cpu_ns = 100;
    put(&before, 3, 7, BACKEND_EVENT_CPU, 20, 1);
    now.statement = 8;
    put(&now, 3, 7, BACKEND_EVENT_CPU, 20, 1);
    put(&now, 4, 8, BACKEND_EVENT_CPU, 160, 2);
    divide(&before, &since);
    assert_int_equal(ns_of(7, BACKEND_EVENT_CPU, false), 0);
    assert_int_equal(ns_of(8, BACKEND_EVENT_CPU, false), 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_statement_gets_what_its_shares_grew_by, set_up),
        cmocka_unit_test_setup(a_share_in_the_place_of_another_counts_from_zero, set_up),
        cmocka_unit_test_setup(time_without_a_share_is_of_other_statements, set_up),
        cmocka_unit_test_setup(throttled_time_is_divided_like_that_in_the_run_queue, set_up),
        cmocka_unit_test_setup(a_wait_of_a_whole_class_is_not_added_to_its_events, set_up),
        cmocka_unit_test_setup(a_backend_on_a_cpu_has_its_time_in_the_statement_that_runs, set_up),
        cmocka_unit_test_setup(a_statement_that_was_guessed_wrongly_is_taken_off_the_right_one,
                               set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
