/* Differences, rates and percentages of synthetic readings. */
#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S 1000000000ull

static void assert_near(double value, double expected)
{
    if (value < expected - 1e-6 || value > expected + 1e-6)
        fail_msg("%f, expected %f", value, expected);
}

static void assert_difference(uint64_t before, uint64_t after, unsigned bits, int result,
                              uint64_t expected)
{
    uint64_t difference = 0;

    assert_int_equal(camp_difference(before, after, bits, &difference), result);
    assert_int_equal(difference, expected);
}

static void the_difference_of_two_counters_is_the_later_minus_the_earlier(void **state)
{
    (void)state;
    assert_difference(5, 12, 64, CAMP_OK, 7);
    assert_difference(5, 5, 32, CAMP_OK, 0);
    assert_difference(0, UINT64_MAX, 64, CAMP_OK, UINT64_MAX);
}

static void the_difference_is_right_when_the_counter_wraps(void **state)
{
    (void)state;
    assert_difference(UINT32_MAX - 4, 10, 32, CAMP_OK, 15);
    assert_difference(UINT64_MAX - 4, 10, 64, CAMP_OK, 15);
    assert_difference(UINT32_MAX, UINT32_MAX / 2 - 1, 32, CAMP_OK, UINT32_MAX / 2);
}

static void the_difference_after_a_counter_reset_counts_from_zero(void **state)
{
    (void)state;
    assert_difference(1000, 10, 32, CAMP_RESET, 10);
    assert_difference(1000, 10, 64, CAMP_RESET, 10);
    assert_difference(1000, 0, 64, CAMP_RESET, 0);
    assert_difference(UINT32_MAX, UINT32_MAX / 2, 32, CAMP_RESET, UINT32_MAX / 2);
}

static void a_counter_of_neither_32_nor_64_bits_is_refused(void **state)
{
    uint64_t difference = 77;

    (void)state;
    assert_int_equal(camp_difference(1, 2, 16, &difference), CAMP_E_INVALID);
    assert_int_equal(camp_difference(1, 2, 0, &difference), CAMP_E_INVALID);
    assert_int_equal(camp_difference(1ull << 32, 2, 32, &difference), CAMP_E_INVALID);
    assert_int_equal(camp_difference(1, 1ull << 32, 32, &difference), CAMP_E_INVALID);
    assert_int_equal(camp_difference(1, 2, 64, NULL), CAMP_E_INVALID);
    assert_int_equal(difference, 77);
}

static void a_rate_is_the_growth_of_a_counter_per_second(void **state)
{
    double rate = 0;

    (void)state;
    assert_int_equal(camp_rate(100, 350, 64, S / 2, &rate), CAMP_OK);
    assert_near(rate, 500);
    assert_int_equal(camp_rate(1000, 30, 64, 3 * S, &rate), CAMP_RESET);
    assert_near(rate, 10);
    assert_int_equal(camp_rate(1, 2, 64, 0, &rate), CAMP_E_INVALID);
    assert_int_equal(camp_rate(1, 2, 8, S, &rate), CAMP_E_INVALID);
}

static const struct camp_cpu zero = {
    .cpu = 1, .known = 0x3ff, .time_ns = S, .resolution_ns = S / 100
};

static struct camp_utilisation utilisation(const struct camp_cpu *before,
                                           const struct camp_cpu *after, size_t cpus)
{
    struct camp_utilisation utilisation;

    assert_int_equal(
        camp_cpu_difference(before, after, cpus, NULL, &utilisation, sizeof utilisation), CAMP_OK);
    return utilisation;
}

static void sampled_busy_time_may_differ_from_measured_busy_time(void **state)
{
    struct camp_cpu after = zero;
    struct camp_utilisation u;

    (void)state;
    after.time_ns += 2 * S;
    after.idle_ns = S;
    after.user_ns = S / 100;
    after.guest_ns = S / 100;
    after.irq_ns = S / 100;
    after.steal_ns = S / 50;
    u = utilisation(&zero, &after, 1);
    assert_near(u.measured_busy_percent, 50); /* includes stolen time */
    assert_near(u.sampled_busy_percent, 1.5);
    assert_near(u.idle_percent, 50);
    assert_near(u.steal_percent, 1);
    assert_near(u.user_percent, 1);
    assert_near(u.system_percent, 0.5);
    assert_near(u.sum_percent, 52.5);
    assert_near(u.resolution_percent, 0.5);
    assert_int_equal(u.elapsed_ns, 2 * S);
}

static void percentages_of_the_total_are_averages_over_all_cpus(void **state)
{
    struct camp_cpu after = zero;
    struct camp_utilisation u;

    (void)state;
    after.time_ns += S;
    after.idle_ns = 3 * S;
    after.nice_ns = S;
    u = utilisation(&zero, &after, 4);
    assert_near(u.measured_busy_percent, 25);
    assert_near(u.sampled_busy_percent, 25);
    assert_near(u.sum_percent, 100);
    assert_near(u.resolution_percent, 0.25);
}

static void a_cpu_counter_that_decreases_has_a_percentage_of_0(void **state)
{
    struct camp_cpu before = zero;
    struct camp_cpu after = zero;
    struct camp_utilisation u;

    (void)state;
    before.iowait_ns = 5 * S;
    after.iowait_ns = 4 * S;
    after.time_ns += S;
    after.idle_ns = S / 2;
    u = utilisation(&before, &after, 1);
    assert_near(u.iowait_percent, 0);
    assert_near(u.measured_busy_percent, 50);
}

static void percentages_of_unknown_cpu_counters_are_unknown(void **state)
{
    struct camp_cpu before = zero, after = zero;
    struct camp_utilisation u;

    (void)state;
    before.known &= ~(uint32_t)(CAMP_CPU_SYSTEM | CAMP_CPU_STEAL);
    after.time_ns += S;
    after.idle_ns = S / 2;
    after.user_ns = S / 4;
    after.system_ns = 1000 * S;
    after.steal_ns = 2000 * S;
    u = utilisation(&before, &after, 1);
    assert_int_equal(u.known, CAMP_UTILISATION_MEASURED_BUSY | CAMP_UTILISATION_USER |
                                  CAMP_UTILISATION_IDLE | CAMP_UTILISATION_IOWAIT);
    assert_near(u.user_percent, 25);
    assert_near(u.measured_busy_percent, 50);
    assert_near(u.system_percent, 0);
    assert_near(u.sampled_busy_percent, 0);
    assert_near(u.steal_percent, 0);
    assert_near(u.sum_percent, 0);
}

static void busy_time_is_measured_if_the_kernel_measures_idle_time(void **state)
{
    const struct camp_kernel stops = { .known = CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_TICKLESS_IDLE |
                                                CAMP_KERNEL_SHORT_IDLE,
                                       .accounting = CAMP_ACCOUNTING_TICK,
                                       .tickless_idle = 1 };
    const struct camp_kernel goes_on = { .known = stops.known, .accounting = CAMP_ACCOUNTING_TICK };
    struct camp_cpu after = zero;
    struct camp_utilisation u;

    (void)state;
    after.time_ns += S;
    assert_int_equal(camp_cpu_difference(&zero, &after, 1, &stops, &u, sizeof u), CAMP_OK);
    assert_int_equal(u.busy_provenance, CAMP_MEASURED);
    assert_int_equal(camp_cpu_difference(&zero, &after, 1, &goes_on, &u, sizeof u), CAMP_OK);
    assert_int_equal(u.busy_provenance, CAMP_SAMPLED);
    assert_int_equal(utilisation(&zero, &after, 1).busy_provenance, CAMP_UNKNOWN);
}

static void idle_time_by_cycles_is_preferred_to_sampled_idle_time(void **state)
{
    struct camp_cpu before = zero, after = zero;
    struct camp_utilisation u;

    (void)state;
    before.known |= CAMP_CPU_IDLE_CYCLES;
    after.known |= CAMP_CPU_IDLE_CYCLES;
    after.time_ns += S;
    after.idle_ns = S;
    after.idle_cycles_ns = S / 4;
    u = utilisation(&before, &after, 1);
    assert_near(u.measured_busy_percent, 75);
    assert_near(u.idle_percent, 100);
    assert_near(u.sum_percent, 100);
    assert_int_equal(u.busy_provenance, CAMP_MEASURED);
}

static void a_kernel_says_which_times_of_a_cpu_it_measures(void **state)
{
    const struct camp_kernel some = { .known = CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_TICKLESS_IDLE |
                                               CAMP_KERNEL_SHORT_IDLE | CAMP_KERNEL_IRQ_TIME,
                                      .accounting = CAMP_ACCOUNTING_GEN,
                                      .tickless_idle = 1,
                                      .irq_time = 1,
                                      .measured_cpus = "2-3" };
    const struct camp_kernel nothing = { 0 };
    const uint32_t idle = CAMP_CPU_IDLE | CAMP_CPU_IOWAIT;
    uint32_t measured, sampled;

    (void)state;
    camp_cpu_provenance(&some, 2, &measured, &sampled);
    assert_true((measured & CAMP_CPU_USER) != 0 && (measured & idle) == idle && sampled == 0);
    camp_cpu_provenance(&some, 1, &measured, &sampled);
    assert_true((measured & CAMP_CPU_USER) == 0 && (sampled & CAMP_CPU_USER) != 0);
    assert_true((measured & CAMP_CPU_SOFTIRQ) != 0);
    camp_cpu_provenance(&nothing, 1, &measured, &sampled);
    assert_int_equal((measured | sampled) & (CAMP_CPU_USER | idle), 0);
}

static void busy_time_is_never_negative(void **state)
{
    struct camp_cpu after = zero;

    (void)state;
    after.time_ns += S;
    after.idle_ns = S + S / 10;
    assert_near(utilisation(&zero, &after, 1).measured_busy_percent, 0);
}

static void two_samples_that_form_no_interval_are_refused(void **state)
{
    struct camp_cpu after = zero;
    struct camp_utilisation u;

    (void)state;
    assert_int_equal(camp_cpu_difference(&zero, &zero, 1, NULL, &u, sizeof u), CAMP_E_INVALID);
    after.time_ns += S;
    assert_int_equal(camp_cpu_difference(&after, &zero, 1, NULL, &u, sizeof u), CAMP_E_INVALID);
    assert_int_equal(camp_cpu_difference(&zero, &after, 0, NULL, &u, sizeof u), CAMP_E_INVALID);
    after.known &= ~(uint32_t)CAMP_CPU_IDLE;
    assert_int_equal(camp_cpu_difference(&zero, &after, 1, NULL, &u, sizeof u), CAMP_E_NOTSUP);
    after.cpu = 2;
    assert_int_equal(camp_cpu_difference(&zero, &after, 1, NULL, &u, sizeof u), CAMP_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_difference_of_two_counters_is_the_later_minus_the_earlier),
        cmocka_unit_test(the_difference_is_right_when_the_counter_wraps),
        cmocka_unit_test(the_difference_after_a_counter_reset_counts_from_zero),
        cmocka_unit_test(a_counter_of_neither_32_nor_64_bits_is_refused),
        cmocka_unit_test(a_rate_is_the_growth_of_a_counter_per_second),
        cmocka_unit_test(sampled_busy_time_may_differ_from_measured_busy_time),
        cmocka_unit_test(percentages_of_the_total_are_averages_over_all_cpus),
        cmocka_unit_test(a_cpu_counter_that_decreases_has_a_percentage_of_0),
        cmocka_unit_test(percentages_of_unknown_cpu_counters_are_unknown),
        cmocka_unit_test(busy_time_is_measured_if_the_kernel_measures_idle_time),
        cmocka_unit_test(idle_time_by_cycles_is_preferred_to_sampled_idle_time),
        cmocka_unit_test(a_kernel_says_which_times_of_a_cpu_it_measures),
        cmocka_unit_test(busy_time_is_never_negative),
        cmocka_unit_test(two_samples_that_form_no_interval_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
