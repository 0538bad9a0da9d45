/* Tests the computation of ticks and the checks of plans, without running a load. */
#include "load/load.h"
#include "load/load_tools.h"
#include "program/tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH 4000000u

static void the_phase_of_the_tick_is_the_earliest_of_several_observations(void **state)
{
    const uint64_t seen[] = { 40000030000, 40004021000, 40008045000, 40012025000 };
    uint64_t spread;

    (void)state;
    assert_int_equal(tick_phase_of(seen, 4, LENGTH, &spread), 21000);
    assert_in_range(spread, 1, 24000);
}

/* The first observation is almost a tick late, so it seems to be just before the next tick. */
static void late_observations_do_not_change_the_phase_of_the_tick(void **state)
{
    const uint64_t seen[] = { 40007900000, 40000030000, 40008025000,
                              40013500000, 40016040000, 40020028000 };
    uint64_t spread;

    (void)state;
    assert_int_equal(tick_phase_of(seen, 6, LENGTH, &spread), 25000);
}

static void a_tick_phase_just_below_the_length_of_a_tick_is_found(void **state)
{
    const uint64_t seen[] = { 40000010000, 40003990000, 40007995000, 40012005000 };
    uint64_t spread;

    (void)state;
    assert_int_equal(tick_phase_of(seen, 4, LENGTH, &spread), 3990000);
}

static void the_next_tick_is_later_than_the_given_time(void **state)
{
    const struct tick tick = { LENGTH, 25000, 0 };

    (void)state;
    assert_int_equal(tick_after(&tick, 40000024999), 40000025000);
    assert_int_equal(tick_after(&tick, 40000025000), 40004025000);
    assert_int_equal(tick_after(&tick, 40002000000), 40004025000);
}

static void the_ticks_between_two_coarse_clock_readings_are_counted(void **state)
{
    (void)state;
    assert_int_equal(tick_count_between(40000000000, 40000000000, LENGTH), 0);
    assert_int_equal(tick_count_between(40000000000, 40003999990, LENGTH), 1);
    assert_int_equal(tick_count_between(40000000000, 40012000003, LENGTH), 3);
    assert_int_equal(tick_count_between(40004000000, 40000000000, LENGTH), 0);
}

static int cpu_result(double percent, enum load_phase phase, uint64_t period_ns)
{
    const struct load_cpu_plan plan = { percent, phase, period_ns, -1, 1 };
    struct load_cpu_truth truth;
    struct camp_error error = { 0 };
    int r = load_cpu(&plan, &truth, &error);

    if (r != CAMP_OK)
        assert_true(error.message[0] != '\0');
    return r;
}

static void a_cpu_load_refuses_impossible_shares_of_a_cpu(void **state)
{
    (void)state;
    assert_int_equal(cpu_result(0, LOAD_ANY_PHASE, 0), CAMP_E_INVALID);
    assert_int_equal(cpu_result(-1, LOAD_ANY_PHASE, 0), CAMP_E_INVALID);
    assert_int_equal(cpu_result(100.1, LOAD_ANY_PHASE, 0), CAMP_E_INVALID);
    assert_int_equal(cpu_result(strtod("nan", NULL), LOAD_ANY_PHASE, 0), CAMP_E_INVALID);
    assert_int_equal(cpu_result(30, LOAD_ANY_PHASE, 999999), CAMP_E_INVALID);
}

static void a_between_ticks_load_above_the_maximum_is_refused_with_the_maximum(void **state)
{
    const struct load_cpu_plan plan = { 99.9, LOAD_BETWEEN_TICKS, 0, -1, 1 };
    double maximum = load_cpu_maximum_percent(LOAD_BETWEEN_TICKS, 0);
    struct load_cpu_truth truth;
    struct camp_error error = { 0 };
    char wanted[32];

    (void)state;
    assert_true(maximum > 50 && maximum < 99);
    assert_int_equal(load_cpu(&plan, &truth, &error), CAMP_E_INVALID);
    snprintf(wanted, sizeof wanted, "%.1f%%", maximum);
    assert_non_null(strstr(error.message, wanted));
}

static void the_maximum_of_a_between_ticks_load_is_lower_with_a_longer_period(void **state)
{
    uint64_t tick_ns = tick_length_ns();
    double one = load_cpu_maximum_percent(LOAD_BETWEEN_TICKS, tick_ns);
    double four = load_cpu_maximum_percent(LOAD_BETWEEN_TICKS, 4 * tick_ns);

    (void)state;
    assert_true(four * 4 > one * 0.999 && four * 4 < one * 1.001);
    assert_int_equal(cpu_result(four + 1, LOAD_BETWEEN_TICKS, 4 * tick_ns), CAMP_E_INVALID);
    assert_int_equal(cpu_result(5, LOAD_BETWEEN_TICKS, tick_ns * 3 / 2), CAMP_E_INVALID);
}

static void a_cpu_load_on_an_absent_cpu_is_refused(void **state)
{
    const struct load_cpu_plan plan = { 10, LOAD_ANY_PHASE, 0, 1023, 1 };
    struct load_cpu_truth truth;
    struct camp_error error = { 0 };

    (void)state;
    assert_int_equal(load_cpu(&plan, &truth, &error), CAMP_E_GONE);
    assert_non_null(strstr(error.message, "1023"));
}

static int net_result(const char *target, uint64_t packets, uint64_t bytes)
{
    const struct load_net_plan plan = { packets, bytes, target, -1, -1 };
    struct load_net_truth truth;
    struct camp_error error = { 0 };
    int r = load_net(&plan, &truth, &error);

    assert_int_equal(truth.sent_packets, r == CAMP_OK ? packets : 0);
    return r;
}

static bool is_address(const char *text)
{
    const struct load_net_plan plan = { 1, 32, text, -1, -1 };
    struct load_net_truth truth;
    struct camp_error error = { 0 };

    load_net(&plan, &truth, &error);
    return strstr(error.message, "is not an IPv4 or IPv6 address") == NULL;
}

static void an_address_of_one_link_has_an_interface_by_name_or_index(void **state)
{
    (void)state;
    assert_true(is_address("fe80::1%lo"));
    assert_true(is_address("fe80::1%1"));
    assert_false(is_address("fe80::1%0"));
    assert_false(is_address("fe80::1%1x"));
    assert_false(is_address("fe80::1%-1"));
    assert_false(is_address("fe80::1%4294967297"));
}

static void a_network_load_with_a_duration_needs_no_number_of_packets(void **state)
{
    const struct load_net_plan plan = {
        .bytes = 32,
        .target = "127.0.0.1",
        .sender_namespace = -1,
        .receiver_namespace = -1,
        .duration_ns = 1000000000, /* so long that a busy machine sends a packet, too */
    };
    struct load_net_truth truth;
    struct camp_error error = { 0 };

    (void)state;
    assert_int_equal(load_net(&plan, &truth, &error), CAMP_OK);
    assert_true(truth.sent_packets > 0);
}

/* The first two addresses are reserved for documentation (RFC 5737, RFC 3849), so no machine has
 * them. */
static void a_network_load_refuses_addresses_of_other_machines(void **state)
{
    (void)state;
    assert_int_equal(net_result("192.0.2.1", 1, 32), CAMP_E_INVALID);
    assert_int_equal(net_result("2001:db8::1", 1, 32), CAMP_E_INVALID);
    assert_int_equal(net_result("224.0.0.1", 1, 32), CAMP_E_INVALID);
    assert_int_equal(net_result("ff02::1", 1, 32), CAMP_E_INVALID);
    assert_int_equal(net_result("255.255.255.255", 1, 32), CAMP_E_INVALID);
    assert_int_equal(net_result("127.255.255.255", 1, 32), CAMP_E_INVALID);
    assert_int_equal(net_result("0.0.0.0", 1, 32), CAMP_E_INVALID);
    assert_int_equal(net_result("::", 1, 32), CAMP_E_INVALID);
    assert_int_equal(net_result("localhost", 1, 32), CAMP_E_INVALID);
    assert_int_equal(net_result("", 1, 32), CAMP_E_INVALID);
    assert_int_equal(net_result("127.0.0.1", 1, 32), CAMP_OK);
}

static void a_network_load_refuses_0_packets_and_too_large_packets(void **state)
{
    (void)state;
    assert_int_equal(net_result(NULL, 0, 32), CAMP_E_INVALID);
    assert_int_equal(net_result(NULL, 1, 65508), CAMP_E_INVALID);
}

static void a_memory_load_above_the_available_memory_is_refused(void **state)
{
    const struct load_memory_plan plan = { .step_bytes = 1ull << 40, .steps = 1000 };
    static struct load_memory_truth truth;
    struct camp_error error = { 0 };

    (void)state;
    assert_int_equal(load_memory(&plan, &truth, &error), CAMP_E_INVALID);
    assert_non_null(strstr(error.message, "at most"));
}

static void a_load_with_direct_io_needs_blocks_of_whole_sectors(void **state)
{
    const struct load_io_plan odd = { NULL, 1000, 1000, true, true };
    const struct load_io_plan part = { NULL, 4097, 4096, true, true };
    struct load_io_truth truth;

    (void)state;
    assert_int_equal(load_io(&odd, &truth, NULL), CAMP_E_INVALID);
    assert_int_equal(load_io(&part, &truth, NULL), CAMP_E_INVALID);
}

static void an_io_load_with_the_option_cold_refuses_direct_io_and_writes(void **state)
{
    const struct load_io_plan direct = {
        .bytes = 4096, .block = 4096, .cold = true, .direct = true
    };
    const struct load_io_plan write = { .bytes = 4096, .block = 4096, .cold = true, .write = true };
    struct load_io_truth truth;

    (void)state;
    assert_int_equal(load_io(&direct, &truth, NULL), CAMP_E_INVALID);
    assert_int_equal(load_io(&write, &truth, NULL), CAMP_E_INVALID);
}

static int sleep_result(double percent, uint64_t period_ns, int32_t cpu)
{
    const struct load_sleep_plan plan = { LOAD_SLEEP_TIMER, percent, period_ns, cpu, 1 };
    struct load_sleep_truth truth;
    struct camp_error error = { 0 };
    int r = load_sleep(&plan, &truth, &error);

    if (r != CAMP_OK)
        assert_true(error.message[0] != '\0');
    return r;
}

static void impossible_shares_and_periods_of_a_sleep_load_are_refused(void **state)
{
    (void)state;
    assert_int_equal(sleep_result(50, 0, -1), CAMP_OK);
    assert_int_equal(sleep_result(0, 0, -1), CAMP_E_INVALID);
    assert_int_equal(sleep_result(100.1, 0, -1), CAMP_E_INVALID);
    assert_int_equal(sleep_result(strtod("nan", NULL), 0, -1), CAMP_E_INVALID);
    assert_int_equal(sleep_result(50, 999999, -1), CAMP_E_INVALID);
    assert_int_equal(sleep_result(50, 1000000001, -1), CAMP_E_INVALID);
    assert_int_equal(sleep_result(50, 0, 1023), CAMP_E_GONE);
}

static void a_sleep_that_starts_after_its_end_is_due_has_no_length(void **state)
{
    (void)state;
    assert_int_equal(load_slept_ns(100, 150, 180), 50);
    assert_int_equal(load_slept_ns(100, 150, 130), 30);
    assert_int_equal(load_slept_ns(150, 150, 180), 0);
    assert_int_equal(load_slept_ns(160, 150, 180), 0);
}

static void a_page_fault_load_refuses_0_pages_and_device_files(void **state)
{
    const struct load_fault_plan none = { .pages = 0 }, many = { .pages = 1000000001 };
    const struct load_fault_plan device = { .file = "/dev/null", .pages = 1 };
    struct load_fault_truth truth;

    (void)state;
    assert_int_equal(load_fault(&none, &truth, NULL), CAMP_E_INVALID);
    assert_int_equal(load_fault(&many, &truth, NULL), CAMP_E_INVALID);
    assert_int_equal(load_fault(&device, &truth, NULL), CAMP_E_IO);
}

static void a_fork_rate_or_a_thread_count_out_of_range_is_refused(void **state)
{
    const struct load_fork_plan never = { 0, 1, 1 }, long_burn = { 1, 10000000001u, 1 };
    const struct load_threads_plan none = { 0, 20, 1 }, many = { 1025, 20, 1 },
                                   full = { 1, 101, 1 };
    static struct load_threads_truth threads;
    struct load_fork_truth forks;

    (void)state;
    assert_int_equal(load_fork(&never, &forks, NULL), CAMP_E_INVALID);
    assert_int_equal(load_fork(&long_burn, &forks, NULL), CAMP_E_INVALID);
    assert_int_equal(load_threads(&none, &threads, NULL), CAMP_E_INVALID);
    assert_int_equal(load_threads(&many, &threads, NULL), CAMP_E_INVALID);
    assert_int_equal(load_threads(&full, &threads, NULL), CAMP_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_phase_of_the_tick_is_the_earliest_of_several_observations),
        cmocka_unit_test(late_observations_do_not_change_the_phase_of_the_tick),
        cmocka_unit_test(a_tick_phase_just_below_the_length_of_a_tick_is_found),
        cmocka_unit_test(the_next_tick_is_later_than_the_given_time),
        cmocka_unit_test(the_ticks_between_two_coarse_clock_readings_are_counted),
        cmocka_unit_test(a_cpu_load_refuses_impossible_shares_of_a_cpu),
        cmocka_unit_test(a_between_ticks_load_above_the_maximum_is_refused_with_the_maximum),
        cmocka_unit_test(the_maximum_of_a_between_ticks_load_is_lower_with_a_longer_period),
        cmocka_unit_test(a_cpu_load_on_an_absent_cpu_is_refused),
        cmocka_unit_test(a_network_load_refuses_addresses_of_other_machines),
        cmocka_unit_test(a_network_load_refuses_0_packets_and_too_large_packets),
        cmocka_unit_test(a_memory_load_above_the_available_memory_is_refused),
        cmocka_unit_test(a_load_with_direct_io_needs_blocks_of_whole_sectors),
        cmocka_unit_test(an_io_load_with_the_option_cold_refuses_direct_io_and_writes),
        cmocka_unit_test(impossible_shares_and_periods_of_a_sleep_load_are_refused),
        cmocka_unit_test(a_sleep_that_starts_after_its_end_is_due_has_no_length),
        cmocka_unit_test(a_page_fault_load_refuses_0_pages_and_device_files),
        cmocka_unit_test(a_fork_rate_or_a_thread_count_out_of_range_is_refused),
        cmocka_unit_test(an_address_of_one_link_has_an_interface_by_name_or_index),
        cmocka_unit_test(a_network_load_with_a_duration_needs_no_number_of_packets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
