/* Differences between two readings of backends' accounts, with ended backends and reused pids. */
#include "sources/sessions/postgres/backend_accounts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define LOCK 0x03000004u
#define READ 0x0a000010u

static const struct backend_account first[] = {
    { .pid = 20,
      .start_ns = 7,
      .begin_ns = 100,
      .time_ns = 200,
      .cpu_ns = 60,
      .run_queue_ns = 10,
      .throttled_ns = 5,
      .voluntary_switches = 3,
      .wait_count = 1,
      .waits = { { LOCK, 2, 30, 1 } } },
    { .pid = 10, .start_ns = 5, .begin_ns = 100, .time_ns = 200, .cpu_ns = 100 },
};
static const struct backend_account second[] = {
    { .pid = 10,
      .start_ns = 5,
      .begin_ns = 100,
      .time_ns = 250,
      .cpu_ns = 150,
      .flags = BACKEND_ENDED },
    { .pid = 10, .start_ns = 260, .begin_ns = 260, .time_ns = 300, .cpu_ns = 40 },
    { .pid = 20,
      .start_ns = 7,
      .begin_ns = 100,
      .time_ns = 300,
      .cpu_ns = 70,
      .run_queue_ns = 30,
      .throttled_ns = 12,
      .voluntary_switches = 5,
      .wait_count = 3,
      .waits = { { LOCK, 2, 50, 2 }, { READ, 2, 40, 1 }, { LOCK, 3, 10, 1 } } },
};

static void the_account_of_a_backend_is_the_growth_since_the_last_reading(void **state)
{
    struct backend_accounts accounts = { 0 };
    struct backend_account since;

    (void)state;
    assert_int_equal(backend_accounts_replace(&accounts, first, 2), CAMP_OK);
    /* now[0] has pid 10, now[1] has pid 20. */
    assert_true(backend_accounts_since(&accounts, 1, &since));
    assert_int_equal(since.cpu_ns, 60); /* The difference of a new backend is its whole account. */
    assert_int_equal(since.begin_ns, 100);
    assert_int_equal(backend_accounts_replace(&accounts, second, 3), CAMP_OK);
    assert_true(backend_accounts_since(&accounts, 2, &since));
    assert_int_equal(since.pid, 20);
    assert_int_equal(since.begin_ns, 200);
    assert_int_equal(since.cpu_ns, 10);
    assert_int_equal(since.run_queue_ns, 20);
    assert_int_equal(since.throttled_ns, 7);
    assert_int_equal(since.voluntary_switches, 2);
    assert_int_equal(since.wait_count, 3);
    assert_int_equal(since.waits[0].ns, 20);
    assert_int_equal(since.waits[0].times, 1);
    assert_int_equal(since.waits[1].ns, 40);
    assert_int_equal(since.waits[2].ns, 10);
    backend_accounts_release(&accounts);
}

static void a_backend_with_a_reused_pid_is_another_backend(void **state)
{
    struct backend_accounts accounts = { 0 };
    struct backend_account since;

    (void)state;
    backend_accounts_replace(&accounts, first, 2);
    backend_accounts_replace(&accounts, second, 3);
    assert_true(backend_accounts_since(&accounts, 0, &since));
    assert_int_equal(since.cpu_ns, 50);
    assert_int_equal(since.time_ns - since.begin_ns, 50);
    assert_int_equal(since.flags, BACKEND_ENDED);
    assert_true(backend_accounts_since(&accounts, 1, &since));
    assert_int_equal(since.cpu_ns, 40);
    assert_int_equal(since.begin_ns, 260);
    backend_accounts_release(&accounts);
}

static void a_wait_whose_time_did_not_grow_is_left_out(void **state)
{
    struct backend_accounts accounts = { 0 };
    struct backend_account since;

    (void)state;
    backend_accounts_replace(&accounts, first, 1);
    backend_accounts_replace(&accounts, first, 1);
    assert_false(backend_accounts_since(&accounts, 0, &since));
    assert_int_equal(since.wait_count, 0);
    backend_accounts_replace(&accounts, second, 3);
    backend_accounts_replace(&accounts, second, 3);
    assert_false(backend_accounts_since(&accounts, 2, &since));
    backend_accounts_release(&accounts);
}

static void a_backend_omitted_from_an_interval_is_accounted_in_full_in_the_next_one(void **state)
{
    struct backend_accounts accounts = { 0 };
    struct backend_account since;

    (void)state;
    backend_accounts_replace(&accounts, first, 2);
    backend_accounts_omit(&accounts, 1); /* pid 20 */
    assert_int_equal(accounts.count, 1);
    backend_accounts_replace(&accounts, second, 3);
    assert_true(backend_accounts_since(&accounts, 2, &since));
    assert_int_equal(since.pid, 20);
    assert_int_equal(since.begin_ns, 100);
    assert_int_equal(since.cpu_ns, 70);
    backend_accounts_release(&accounts);
}

/* The first reading, during a wait, has 8 ns more of that wait than the second reading after the
 * wait. */
static void a_decrease_of_the_time_of_one_wait_is_subtracted_from_other_waits(void **state)
{
    struct backend_account before = first[0], now = first[0];
    struct backend_accounts accounts = { 0 };
    struct backend_account since;

    (void)state;
    now.time_ns = 300;
    now.waits[0].ns -= 8;
    now.cpu_ns += 20;
    now.waits[1] = (struct backend_wait){ READ, 2, 88, 1 };
    now.wait_count = 2;
    backend_accounts_replace(&accounts, &before, 1);
    backend_accounts_replace(&accounts, &now, 1);
    assert_true(backend_accounts_since(&accounts, 0, &since));
    assert_int_equal(since.cpu_ns, 20);
    assert_int_equal(since.wait_count, 1);
    assert_int_equal(since.waits[0].event, READ);
    /* 20 ns on a CPU and 80 ns of READ are the elapsed 100 ns. */
    assert_int_equal(since.waits[0].ns, 80);
    backend_accounts_release(&accounts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_account_of_a_backend_is_the_growth_since_the_last_reading),
        cmocka_unit_test(a_backend_with_a_reused_pid_is_another_backend),
        cmocka_unit_test(a_backend_omitted_from_an_interval_is_accounted_in_full_in_the_next_one),
        cmocka_unit_test(a_wait_whose_time_did_not_grow_is_left_out),
        cmocka_unit_test(a_decrease_of_the_time_of_one_wait_is_subtracted_from_other_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
