/* Tests that the counters of the whole system mean what camp says, beside other interfaces of the
 * kernel and a load whose numbers are known. */
#include "clocks.h"

#include <camp/system.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include <cmocka.h>

static struct camp_system read_now(void)
{
    struct camp_error error;
    struct camp_system system;

    if (camp_system_read(NULL, CAMP_SYSTEM_ALL, &system, sizeof system, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return system;
}

/* Each field of uint64_t that only grows. */
static const size_t counters[] = {
    offsetof(struct camp_system, context_switches),
    offsetof(struct camp_system, interrupts),
    offsetof(struct camp_system, forks),
    offsetof(struct camp_system, faults),
    offsetof(struct camp_system, major_faults),
    offsetof(struct camp_system, swapped_in_bytes),
    offsetof(struct camp_system, swapped_out_bytes),
    offsetof(struct camp_system, paged_in_bytes),
    offsetof(struct camp_system, paged_out_bytes),
    offsetof(struct camp_system, scanned_bytes),
    offsetof(struct camp_system, reclaimed_bytes),
    offsetof(struct camp_system, cpu_some_ns),
    offsetof(struct camp_system, memory_some_ns),
    offsetof(struct camp_system, memory_full_ns),
    offsetof(struct camp_system, io_some_ns),
    offsetof(struct camp_system, io_full_ns),
};

static void the_counters_of_the_system_never_decrease(void **state)
{
    struct camp_system before = read_now();

    (void)state;
    for (int round = 0; round < 20; round++) {
        const struct camp_system now = read_now();

        assert_int_equal(now.known, before.known);
        assert_true(now.time_ns > before.time_ns);
        for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
            uint64_t earlier, later;

            memcpy(&earlier, (const char *)&before + counters[i], sizeof earlier);
            memcpy(&later, (const char *)&now + counters[i], sizeof later);
            assert_in_range(later, earlier, UINT64_MAX);
        }
        before = now;
        usleep(2000);
    }
}

static void the_boot_time_lies_the_uptime_before_now(void **state)
{
    const struct camp_system system = read_now();
    const uint64_t started_ns = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME);
    const uint64_t difference_ns =
        less(started_ns, system.boot_time_ns) + less(system.boot_time_ns, started_ns);

    (void)state;
    assert_true((system.known & CAMP_SYSTEM_BOOT_TIME) != 0);
    assert_in_range(difference_ns, 0, 2 * (uint64_t)NS_PER_S); /* in whole seconds */
}

#define CHILDREN 20

static void forks_and_context_switches_count_children_that_start_and_end(void **state)
{
    const struct camp_system before = read_now();
    struct camp_system after;
    uint64_t first, last;

    (void)state;
    assert_int_equal(camp_fork_count(NULL, &first, NULL), CAMP_OK);
    assert_in_range(first, before.forks, UINT64_MAX);
    for (int i = 0; i < CHILDREN; i++) {
        const pid_t child = fork();

        if (child == 0)
            _exit(0);
        assert_int_equal(waitpid(child, NULL, 0), child);
    }
    after = read_now();
    assert_int_equal(camp_fork_count(NULL, &last, NULL), CAMP_OK);
    assert_in_range(after.forks, first + CHILDREN, last);
    /* Each child needs a switch to it and one away from it. */
    assert_in_range(after.context_switches, before.context_switches + 2 * CHILDREN, UINT64_MAX);
}

#define PAGES 500

static void the_first_touch_of_a_page_is_a_fault(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory =
        mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const struct camp_system before = read_now();

    (void)state;
    assert_true(memory != MAP_FAILED);
    madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        memory[i * page] = 1;
    assert_in_range(read_now().faults, before.faults + PAGES, UINT64_MAX);
    munmap(memory, PAGES * page);
}

static uint64_t number_in_vmstat(const char *name)
{
    FILE *file = fopen("/proc/vmstat", "r");
    unsigned long long value = UINT64_MAX;
    char line[256];
    const size_t length = strlen(name);

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            value = strtoull(line + length, NULL, 10);
    }
    fclose(file);
    assert_true(value != UINT64_MAX);
    return value;
}

static void swap_is_counted_as_in_proc_vmstat(void **state)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t in = number_in_vmstat("pswpin") * page, out = number_in_vmstat("pswpout") * page;
    const struct camp_system system = read_now();

    (void)state;
    assert_in_range(system.swapped_in_bytes, in, number_in_vmstat("pswpin") * page);
    assert_in_range(system.swapped_out_bytes, out, number_in_vmstat("pswpout") * page);
}

static void this_thread_runs_and_the_load_averages_are_those_of_sysinfo(void **state)
{
    struct sysinfo info[2];
    struct camp_system system;

    (void)state;
    do { /* The averages change every 5 s. */
        assert_int_equal(sysinfo(&info[0]), 0);
        system = read_now();
        assert_int_equal(sysinfo(&info[1]), 0);
    } while (memcmp(info[0].loads, info[1].loads, sizeof info[0].loads) != 0);
    assert_in_range(system.running, 1, UINT64_MAX);
    /* sysinfo(2) has 16 binary places, and the file is rounded to 1/100. */
    assert_true(system.load_average_1 - (double)info[0].loads[0] / 65536 < 0.006 &&
                (double)info[0].loads[0] / 65536 - system.load_average_1 < 0.006);
    assert_true(system.load_average_15 - (double)info[0].loads[2] / 65536 < 0.006 &&
                (double)info[0].loads[2] / 65536 - system.load_average_15 < 0.006);
}

/* Full pressure is part of some pressure, and none grows faster than the wall clock. */
static void pressure_grows_no_faster_than_wall_time(void **state)
{
    const struct camp_system before = read_now();
    struct camp_system after;
    uint64_t elapsed_ns;

    (void)state;
    if ((before.known & CAMP_SYSTEM_CPU_SOME) == 0)
        skip();
    burn(CLOCK_MONOTONIC, 100 * NS_PER_MS);
    after = read_now();
    /* The files average and update the totals every 2 s at the latest. */
    elapsed_ns = after.time_ns - before.time_ns + 2 * (uint64_t)NS_PER_S + 100 * NS_PER_MS;
    assert_in_range(after.cpu_some_ns - before.cpu_some_ns, 0, elapsed_ns);
    assert_in_range(after.io_some_ns - before.io_some_ns, 0, elapsed_ns);
    assert_in_range(after.io_full_ns, 0, after.io_some_ns);
    assert_in_range(after.memory_full_ns, 0, after.memory_some_ns);
}

static void the_frequency_of_each_cpu_is_plausible_or_not_supported(void **state)
{
    int32_t ids[4096];
    size_t count;

    (void)state;
    assert_int_equal(camp_cpu_list(NULL, ids, 4096, &count, NULL), CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        uint64_t hz = 0;
        const int r = camp_cpu_frequency_hz(NULL, ids[i], &hz, NULL);

        if (r == CAMP_OK)
            assert_in_range(hz, 1000000, 20000000000);
        else
            assert_int_equal(r, CAMP_E_NOTSUP);
    }
    assert_int_equal(camp_cpu_frequency_hz(NULL, INT32_MAX, &(uint64_t){ 0 }, NULL), CAMP_E_GONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counters_of_the_system_never_decrease),
        cmocka_unit_test(the_boot_time_lies_the_uptime_before_now),
        cmocka_unit_test(forks_and_context_switches_count_children_that_start_and_end),
        cmocka_unit_test(the_first_touch_of_a_page_is_a_fault),
        cmocka_unit_test(swap_is_counted_as_in_proc_vmstat),
        cmocka_unit_test(this_thread_runs_and_the_load_averages_are_those_of_sysinfo),
        cmocka_unit_test(pressure_grows_no_faster_than_wall_time),
        cmocka_unit_test(the_frequency_of_each_cpu_is_plausible_or_not_supported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
