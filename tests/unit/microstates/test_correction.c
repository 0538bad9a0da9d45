/* Throttled time is subtracted from the charges of its own interval
 * (microstates/linux/correction.c), by data without a kernel. */
#include "microstates/linux/correction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int64_t sum_of(const int64_t *ns)
{
    int64_t sum = 0;

    for (size_t i = 0; i < CULPRITS_MAX; i++)
        sum += ns[i];
    return sum;
}

static void charges_without_throttled_time_are_reported_as_they_are(void **state)
{
    struct corrected corrected = { 0 };
    int64_t ns[CULPRITS_MAX] = { [5] = 70, [6] = 30 };

    (void)state;
    camp_correct_charges(&corrected, ns);
    assert_memory_equal(corrected.reported_ns, ns, sizeof ns);
    ns[6] += 1000;
    camp_correct_charges(&corrected, ns);
    assert_memory_equal(corrected.reported_ns, ns, sizeof ns);
}

static void throttled_time_changes_only_the_charges_of_its_own_interval(void **state)
{
    struct corrected corrected = { 0 };
    int64_t ns[CULPRITS_MAX] = { [5] = 1000000, [6] = 10 };

    (void)state;
    camp_correct_charges(&corrected, ns);
    ns[6] += 600;
    ns[7] += 200;
    ns[CULPRIT_CORRECTION] -= 400;
    camp_correct_charges(&corrected, ns);
    assert_int_equal(corrected.reported_ns[5], 1000000);
    assert_int_equal(corrected.reported_ns[6], 10 + 300);
    assert_int_equal(corrected.reported_ns[7], 100);
    assert_int_equal(corrected.reported_ns[CULPRIT_CORRECTION], 0);
}

static void what_does_not_fit_is_subtracted_later(void **state)
{
    struct corrected corrected = { 0 };
    int64_t ns[CULPRITS_MAX] = { [5] = 100 };

    (void)state;
    camp_correct_charges(&corrected, ns);
    ns[5] += 10;
    ns[CULPRIT_CORRECTION] -= 50;
    camp_correct_charges(&corrected, ns);
    assert_int_equal(corrected.reported_ns[5], 100);
    assert_int_equal(corrected.owed_ns, 40);
    ns[5] += 100;
    camp_correct_charges(&corrected, ns);
    assert_int_equal(corrected.reported_ns[5], 160);
    assert_int_equal(corrected.owed_ns, 0);
}

static void a_charge_that_goes_to_another_culprit_changes_no_sum(void **state)
{
    struct corrected corrected = { 0 };
    int64_t ns[CULPRITS_MAX] = { [5] = 100 };

    (void)state;
    camp_correct_charges(&corrected, ns);
    ns[5] -= 30;
    ns[CULPRIT_INTERRUPTS] += 30;
    camp_correct_charges(&corrected, ns);
    assert_int_equal(corrected.reported_ns[5], 100);
    assert_int_equal(sum_of(corrected.reported_ns), 100);
}

/* Of random charges, to the ns: no reported charge falls, and all of them are what was charged, but
 * for what is still owed. */
static void no_charge_falls_and_the_sum_is_exact(void **state)
{
    struct corrected corrected = { 0 }, before;
    int64_t ns[CULPRITS_MAX] = { 0 };
    uint32_t random = 1;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        for (uint32_t j = 0; j < CULPRITS_MAX; j++) {
            random = random * 1664525 + 1013904223;
            ns[j] += j == CULPRIT_CORRECTION ? -(int64_t)(random >> (random & 31))
                                             : (int64_t)(random >> 3 >> (random & 31));
        }
        before = corrected;
        camp_correct_charges(&corrected, ns);
        for (uint32_t j = 0; j < CULPRITS_MAX; j++)
            assert_true(corrected.reported_ns[j] >= before.reported_ns[j]);
        assert_true(corrected.owed_ns >= 0);
        assert_int_equal(sum_of(corrected.reported_ns), sum_of(ns) + corrected.owed_ns);
    }
    assert_true(sum_of(corrected.reported_ns) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(charges_without_throttled_time_are_reported_as_they_are),
        cmocka_unit_test(throttled_time_changes_only_the_charges_of_its_own_interval),
        cmocka_unit_test(what_does_not_fit_is_subtracted_later),
        cmocka_unit_test(a_charge_that_goes_to_another_culprit_changes_no_sum),
        cmocka_unit_test(no_charge_falls_and_the_sum_is_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
