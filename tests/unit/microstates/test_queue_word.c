/* The word of the waits of a group for a CPU (microstates/linux/culprits_layout.h). */
#include "microstates/linux/culprits_layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Charges what was waited until `now`, as a switch does, and returns it. */
static uint64_t charge(uint64_t *word, uint64_t now)
{
    const int64_t ns = queue_uncharged_ns(*word, now);

    if (ns <= 0)
        return 0;
    *word += (uint64_t)ns << QUEUE_BITS;
    return (uint64_t)ns;
}

/* Two threads wait from 100 to 700 and from 250 to 300, with charges at other times. */
static void assert_charged(uint64_t start)
{
    uint64_t word = 0, sum = 0;

    word += queue_entry(start + 100);
    sum += charge(&word, start + 200);
    assert_int_equal(sum, 100);
    word += queue_entry(start + 250);
    word -= queue_entry(start + 300);
    assert_int_equal(word & QUEUE_MASK, 1);
    sum += charge(&word, start + 400);
    assert_int_equal(sum, 300 + 50);
    word -= queue_entry(start + 700);
    sum += charge(&word, start + 900);
    assert_int_equal(sum, 600 + 50);
    assert_int_equal(charge(&word, start + 1000), 0);
    assert_int_equal(word & QUEUE_MASK, 0);
}

static void all_charges_of_a_wait_add_up_to_its_length(void **state)
{
    (void)state;
    assert_charged(0);
}

static void the_sum_of_times_may_overflow(void **state)
{
    (void)state;
    assert_charged((UINT64_C(1) << 48) - 250);
    assert_charged(UINT64_C(86400000000000) * 365);
    assert_charged(UINT64_MAX - 500);
}

static void a_wait_that_starts_after_the_switch_is_charged_later(void **state)
{
    uint64_t word = queue_entry(1000);

    (void)state;
    assert_true(queue_uncharged_ns(word, 990) < 0);
    assert_int_equal(charge(&word, 990), 0);
    assert_int_equal(charge(&word, 1010), 10);
}

static void many_threads_are_counted(void **state)
{
    uint64_t word = 0;

    (void)state;
    for (uint64_t i = 0; i < QUEUE_MASK; i++)
        word += queue_entry(5000);
    assert_int_equal(word & QUEUE_MASK, QUEUE_MASK);
    assert_int_equal(charge(&word, 5010), 10 * QUEUE_MASK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_charges_of_a_wait_add_up_to_its_length),
        cmocka_unit_test(the_sum_of_times_may_overflow),
        cmocka_unit_test(a_wait_that_starts_after_the_switch_is_charged_later),
        cmocka_unit_test(many_threads_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
