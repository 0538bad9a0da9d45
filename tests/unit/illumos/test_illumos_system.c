/* Memory, swap and the system as a whole of illumos, from a made chain of kstats and a made swap.
 */
#include "fake_kstat.h"
#include "sources.h"

#include <camp/system.h>

#include <errno.h>
#include <unistd.h>

static int reset(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

static void memory_is_counted_in_pages_and_what_kstats_lack_is_unknown(void **state)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    size_t pages = fake_add("unix", 0, "system_pages", "pages", KSTAT_TYPE_NAMED, 42);
    struct camp_memory memory;

    (void)state;
    fake_u64(pages, "availrmem", 7);
    fake_u64(pages, "freemem", 1000);
    fake_u64(pages, "physmem", 4000000);
    fake_swap.system_error = EPERM;
    assert_int_equal(camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL),
                     CAMP_OK);
    assert_int_equal(memory.known, CAMP_MEMORY_TOTAL | CAMP_MEMORY_FREE);
    assert_int_equal(memory.time_ns, 42);
    assert_int_equal(memory.total_bytes, 4000000 * page);
    assert_int_equal(memory.free_bytes, 1000 * page);
    assert_int_equal(memory.available_bytes, 0);
}

static void a_number_of_pages_that_cannot_be_is_a_format_error(void **state)
{
    size_t pages = fake_add("unix", 0, "system_pages", "pages", KSTAT_TYPE_NAMED, 42);
    struct camp_memory memory;

    (void)state;
    fake_u64(pages, "physmem", UINT64_MAX);
    assert_int_equal(camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL),
                     CAMP_E_FORMAT);
}

static void swap_is_the_sum_of_its_areas_and_promised_memory_that_of_swap_s(void **state)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const size_t pages = fake_add("unix", 0, "system_pages", "pages", KSTAT_TYPE_NAMED, 42);
    struct camp_reader reader = { { 0 } };
    struct camp_memory memory;

    (void)state;
    fake_u64(pages, "physmem", 9);
    fake_u64(pages, "freemem", 5);
    fake_swap.areas[0] = (struct fake_area){ .pages = 1000, .unused = 400 };
    fake_swap.areas[1] = (struct fake_area){ .pages = 24, .unused = 4 };
    fake_swap.count = 2;
    fake_swap.anonymous = (struct anoninfo){ .ani_max = 5000, .ani_free = 4000, .ani_resv = 3000 };
    assert_int_equal(camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL),
                     CAMP_OK);
    expect_sources(CAMP_RECORD_MEMORY, memory.known);
    assert_int_equal(memory.known, CAMP_MEMORY_TOTAL | CAMP_MEMORY_FREE | CAMP_MEMORY_SWAP_TOTAL |
                                       CAMP_MEMORY_SWAP_FREE | CAMP_MEMORY_COMMITTED |
                                       CAMP_MEMORY_COMMIT_LIMIT);
    assert_int_equal(memory.swap_total_bytes, 1024 * page);
    assert_int_equal(memory.swap_free_bytes, 404 * page);
    assert_int_equal(memory.committed_bytes, 3000 * page);
    assert_int_equal(memory.commit_limit_bytes, 5000 * page);
    assert_int_equal(camp_memory_read(NULL, CAMP_MEMORY_TOTAL, &memory, sizeof memory, NULL),
                     CAMP_OK);
    assert_int_equal(memory.known, CAMP_MEMORY_TOTAL | CAMP_MEMORY_FREE);

    assert_int_equal(camp_reader_open_memory(&reader, NULL, NULL), CAMP_OK);
    assert_int_equal(
        camp_reader_memory(&reader, CAMP_MEMORY_SWAP_FREE, &memory, sizeof memory, NULL), CAMP_OK);
    assert_int_equal(memory.swap_free_bytes, 404 * page);
    camp_reader_close(&reader);
}

static void a_system_without_swap_has_none_and_one_with_too_many_areas_is_unknown(void **state)
{
    struct camp_memory memory;

    (void)state;
    fake_u64(fake_add("unix", 0, "system_pages", "pages", KSTAT_TYPE_NAMED, 42), "physmem", 9);
    assert_int_equal(camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL),
                     CAMP_OK);
    assert_true((memory.known & CAMP_MEMORY_SWAP_TOTAL) != 0);
    assert_int_equal(memory.swap_total_bytes, 0);
    fake_swap.count = 65;
    assert_int_equal(camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL),
                     CAMP_OK);
    assert_int_equal(memory.known & (CAMP_MEMORY_SWAP_TOTAL | CAMP_MEMORY_SWAP_FREE), 0);
    assert_true((memory.known & CAMP_MEMORY_COMMITTED) != 0);
}

static void add_paging(int id, uint64_t number)
{
    size_t sys = fake_add("cpu", id, "sys", "misc", KSTAT_TYPE_NAMED, 70 + id);
    size_t vm = fake_add("cpu", id, "vm", "misc", KSTAT_TYPE_NAMED, 80 + id);

    fake_u64(sys, "pswitch", number);
    fake_u64(sys, "intr", 2 * number);
    fake_u64(vm, "maj_fault", 3 * number);
    fake_u64(vm, "anonpgin", 4 * number);
    if (id == 0)
        fake_u64(vm, "scan", 5);
}

static void the_system_has_the_sums_of_its_cpus_and_what_one_lacks_is_unknown(void **state)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    size_t misc = fake_add("unix", 0, "system_misc", "misc", KSTAT_TYPE_NAMED, 1);
    struct camp_system system;

    (void)state;
    fake_u32(misc, "avenrun_1min", 384);
    fake_u32(misc, "boot_time", 1700000000);
    add_paging(0, 10);
    add_paging(1, 1);
    assert_int_equal(camp_system_read(NULL, CAMP_SYSTEM_ALL, &system, sizeof system, NULL),
                     CAMP_OK);
    assert_int_equal(system.known, CAMP_SYSTEM_BOOT_TIME | CAMP_SYSTEM_LOAD_AVERAGE_1 |
                                       CAMP_SYSTEM_CONTEXT_SWITCHES | CAMP_SYSTEM_INTERRUPTS |
                                       CAMP_SYSTEM_MAJOR_FAULTS | CAMP_SYSTEM_SWAPPED_IN);
    assert_int_equal(system.boot_time_ns, UINT64_C(1700000000000000000));
    assert_true(system.load_average_1 == 1.5);
    assert_int_equal(system.context_switches, 11);
    assert_int_equal(system.interrupts, 22);
    assert_int_equal(system.major_faults, 33);
    assert_int_equal(system.swapped_in_bytes, 44 * page);
    assert_int_equal(system.scanned_bytes, 0);
    assert_int_equal(system.time_ns, 81);
}

static void the_system_has_each_counter_for_which_the_catalogue_names_a_source(void **state)
{
    size_t misc = fake_add("unix", 0, "system_misc", "misc", KSTAT_TYPE_NAMED, 1);
    size_t sys = fake_add("cpu", 0, "sys", "misc", KSTAT_TYPE_NAMED, 70);
    size_t vm = fake_add("cpu", 0, "vm", "misc", KSTAT_TYPE_NAMED, 80);
    static const char of_vm[][10] = { "maj_fault", "anonpgin", "anonpgout", "pgpgin",
                                      "pgpgout",   "scan",     "dfree" };
    struct camp_system system;

    (void)state;
    fake_u32(misc, "avenrun_1min", 384);
    fake_u32(misc, "avenrun_5min", 384);
    fake_u32(misc, "avenrun_15min", 384);
    fake_u32(misc, "boot_time", 1700000000);
    fake_u64(sys, "pswitch", 1);
    fake_u64(sys, "intr", 1);
    fake_u64(sys, "sysfork", 1);
    fake_u64(sys, "sysvfork", 1);
    for (size_t i = 0; i < sizeof of_vm / sizeof of_vm[0]; i++)
        fake_u64(vm, of_vm[i], 1);
    assert_int_equal(camp_system_read(NULL, CAMP_SYSTEM_ALL, &system, sizeof system, NULL),
                     CAMP_OK);
    expect_sources(CAMP_RECORD_SYSTEM, system.known);
}

static void a_system_without_these_statistics_is_not_supported(void **state)
{
    struct camp_system system;

    (void)state;
    assert_int_equal(camp_system_read(NULL, CAMP_SYSTEM_ALL, &system, sizeof system, NULL),
                     CAMP_E_NOTSUP);
}

static void forks_are_those_of_fork_and_vfork_and_unknown_if_a_cpu_has_only_one(void **state)
{
    const size_t first = fake_add("cpu", 0, "sys", "misc", KSTAT_TYPE_NAMED, 1);
    const size_t second = fake_add("cpu", 1, "sys", "misc", KSTAT_TYPE_NAMED, 1);
    struct camp_system system;
    uint64_t forks;

    (void)state;
    assert_int_equal(camp_fork_count(NULL, &forks, NULL), CAMP_E_NOTSUP);
    fake_u64(first, "pswitch", 1);
    fake_u64(second, "pswitch", 1);
    fake_u64(first, "sysfork", 100);
    fake_u64(first, "sysvfork", 20);
    fake_u64(second, "sysfork", 3);
    assert_int_equal(camp_fork_count(NULL, &forks, NULL), CAMP_E_NOTSUP);
    fake_u64(second, "sysvfork", 4);
    assert_int_equal(camp_fork_count(NULL, &forks, NULL), CAMP_OK);
    assert_int_equal(forks, 127);
    assert_int_equal(camp_system_read(NULL, CAMP_SYSTEM_ALL, &system, sizeof system, NULL),
                     CAMP_OK);
    assert_true((system.known & CAMP_SYSTEM_FORKS) != 0);
    assert_int_equal(system.forks, 127);
    assert_int_equal(camp_fork_count(NULL, NULL, NULL), CAMP_E_INVALID);
}

static void the_frequency_of_a_cpu_is_its_current_one(void **state)
{
    size_t info = fake_add("cpu_info", 2, "cpu_info2", "misc", KSTAT_TYPE_NAMED, 1);
    uint64_t hz;

    (void)state;
    fake_i32(info, "clock_MHz", 2400);
    assert_int_equal(camp_cpu_frequency_hz(NULL, 2, &hz, NULL), CAMP_E_NOTSUP);
    fake_u64(info, "current_clock_Hz", 1200000000);
    assert_int_equal(camp_cpu_frequency_hz(NULL, 2, &hz, NULL), CAMP_OK);
    assert_int_equal(hz, 1200000000);
    assert_int_equal(camp_cpu_frequency_hz(NULL, 3, &hz, NULL), CAMP_E_GONE);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, reset, reset)
    const struct CMUnitTest tests[] = {
        TEST(memory_is_counted_in_pages_and_what_kstats_lack_is_unknown),
        TEST(a_number_of_pages_that_cannot_be_is_a_format_error),
        TEST(swap_is_the_sum_of_its_areas_and_promised_memory_that_of_swap_s),
        TEST(a_system_without_swap_has_none_and_one_with_too_many_areas_is_unknown),
        TEST(the_system_has_the_sums_of_its_cpus_and_what_one_lacks_is_unknown),
        TEST(the_system_has_each_counter_for_which_the_catalogue_names_a_source),
        TEST(a_system_without_these_statistics_is_not_supported),
        TEST(the_frequency_of_a_cpu_is_its_current_one),
        TEST(forks_are_those_of_fork_and_vfork_and_unknown_if_a_cpu_has_only_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
