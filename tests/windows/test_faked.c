/* What camp makes of the results of a real Windows: CPUs, memory, networks and disks. */
#include "fakes.h"

#include <camp/system.h>

#define TICK_NS 15625000u

static void faked_cpu_times_are_divided_without_overlap(void **state)
{
    struct camp_cpu cpus[5];
    size_t count;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_cpu_read_all(NULL, cpus, sizeof cpus[0], COUNT(cpus), &count, NULL),
                     CAMP_OK);
    assert_int_equal(count, 5);
    assert_int_equal(cpus[1].known, CAMP_CPU_USER | CAMP_CPU_SYSTEM | CAMP_CPU_IDLE | CAMP_CPU_IRQ |
                                        CAMP_CPU_SOFTIRQ | CAMP_CPU_IDLE_CYCLES);
    assert_int_equal(cpus[1].user_ns, 20000000000);
    assert_int_equal(cpus[1].system_ns, 25000000000);
    assert_int_equal(cpus[1].idle_ns, 60000000000);
    assert_int_equal(cpus[1].irq_ns, 10000000000);
    assert_int_equal(cpus[1].softirq_ns, 5000000000);
    assert_int_equal(cpus[1].idle_cycles_ns, 100000000000);
    assert_int_equal(cpus[1].resolution_ns, TICK_NS);
    assert_int_equal(cpus[0].idle_cycles_ns, 402000000000);
    assert_int_equal(cpus[0].user_ns, 82000000000);
}

static void faked_cpus_of_the_second_group_have_ids_from_64_on(void **state)
{
    static const int32_t expected[] = { 0, 1, 64, 65 };
    struct camp_cpu cpu;
    int32_t ids[4];
    size_t count;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_cpu_list(NULL, ids, COUNT(ids), &count, NULL), CAMP_OK);
    assert_int_equal(count, 4);
    assert_memory_equal(ids, expected, sizeof ids);
    assert_int_equal(camp_cpu_read(NULL, 65, &cpu, sizeof cpu, NULL), CAMP_OK);
    assert_int_equal(cpu.cpu, 65);
    assert_int_equal(cpu.user_ns, 21000000000);
    assert_int_equal(camp_cpu_read(NULL, 2, &cpu, sizeof cpu, NULL), CAMP_E_GONE);
    assert_int_equal(camp_cpu_read(NULL, 128, &cpu, sizeof cpu, NULL), CAMP_E_GONE);
}

static void faked_kernel_time_that_is_behind_its_parts_gives_no_system_time(void **state)
{
    struct camp_cpu cpu;

    (void)state;
    fakes_reset();
    fakes.cpu.idle_time = fakes.cpu.kernel_time;
    assert_int_equal(camp_cpu_read(NULL, 0, &cpu, sizeof cpu, NULL), CAMP_OK);
    assert_int_equal(cpu.system_ns, 0);
    assert_int_equal(cpu.idle_ns, 100000000000);
}

static void faked_idle_cycles_of_0_are_unknown(void **state)
{
    struct camp_cpu cpu;

    (void)state;
    fakes_reset();
    fakes.idle_cycles = 0;
    assert_int_equal(camp_cpu_read(NULL, CAMP_CPU_TOTAL, &cpu, sizeof cpu, NULL), CAMP_OK);
    assert_int_equal(cpu.known & CAMP_CPU_IDLE_CYCLES, 0);
    assert_int_equal(cpu.idle_cycles_ns, 0);
}

static void faked_total_of_idle_cycles_is_unknown_if_those_of_a_cpu_are(void **state)
{
    struct camp_cpu cpu;

    (void)state;
    fakes_reset();
    fakes.first_cpu_is_never_idle = true;
    assert_int_equal(camp_cpu_read(NULL, 1, &cpu, sizeof cpu, NULL), CAMP_OK);
    assert_true((cpu.known & CAMP_CPU_IDLE_CYCLES) != 0);
    assert_int_equal(camp_cpu_read(NULL, CAMP_CPU_TOTAL, &cpu, sizeof cpu, NULL), CAMP_OK);
    assert_int_equal(cpu.known & CAMP_CPU_IDLE_CYCLES, 0);
    assert_int_equal(cpu.idle_cycles_ns, 0);
}

/* The CPU was busy for half of a second: by the tick not at all, by cycles for 500 ms. */
static void faked_busy_time_is_measured_by_cycles_and_sampled_by_ticks(void **state)
{
    struct camp_cpu before, after;
    struct camp_utilisation u;
    struct camp_kernel kernel;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_kernel_read(NULL, &kernel, sizeof kernel, NULL), CAMP_OK);
    assert_int_equal(camp_cpu_read(NULL, 0, &before, sizeof before, NULL), CAMP_OK);
    fakes.cpu.idle_time += 10000000;
    fakes.cpu.kernel_time += 10000000;
    fakes.idle_cycles += FAKE_MHZ * 500000ull;
    assert_int_equal(camp_cpu_read(NULL, 0, &after, sizeof after, NULL), CAMP_OK);
    after.time_ns = before.time_ns + 1000000000;
    assert_int_equal(camp_cpu_difference(&before, &after, 1, &kernel, &u, sizeof u), CAMP_OK);
    assert_int_equal((int)(u.measured_busy_percent * 1000 + 0.5), 50000);
    assert_int_equal((int)(u.sampled_busy_percent * 1000 + 0.5), 0);
    assert_int_equal(u.busy_provenance, CAMP_MEASURED);
}

static void faked_kernel_facts_are_those_of_windows(void **state)
{
    struct camp_kernel kernel;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_kernel_read(NULL, &kernel, sizeof kernel, NULL), CAMP_OK);
    assert_int_equal(kernel.imitation, 0);
    assert_int_equal(kernel.accounting, CAMP_ACCOUNTING_TICK);
    assert_int_equal(kernel.tick_hz, 64);
    assert_int_equal(kernel.cycles_hz, FAKE_MHZ * 1000000ull);
    assert_int_equal(kernel.known & CAMP_KERNEL_STEAL, 0);
    fakes.registry_has_mhz = false;
    assert_int_equal(camp_kernel_read(NULL, &kernel, sizeof kernel, NULL), CAMP_OK);
    assert_int_equal(kernel.known & CAMP_KERNEL_CYCLES, 0);
    assert_int_equal(kernel.cycles_hz, 0);
}

static void faked_memory_has_commit_and_page_files(void **state)
{
    struct camp_memory memory;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL),
                     CAMP_OK);
    assert_int_equal(memory.committed_bytes, 100 * 4096);
    assert_int_equal(memory.commit_limit_bytes, 500 * 4096);
    assert_int_equal(memory.swap_total_bytes, 1024 * 4096);
    assert_int_equal(memory.swap_free_bytes, 620 * 4096);
    assert_int_equal(memory.known & (CAMP_MEMORY_FREE | CAMP_MEMORY_CACHED), 0);
    fakes.page_files = (int32_t)0xC0000003;
    assert_int_equal(camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL),
                     CAMP_OK);
    assert_int_equal(memory.known & (CAMP_MEMORY_SWAP_TOTAL | CAMP_MEMORY_SWAP_FREE), 0);
}

static void faked_system_has_the_counts_that_windows_has(void **state)
{
    struct camp_system system;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_system_read(NULL, CAMP_SYSTEM_ALL, &system, sizeof system, NULL),
                     CAMP_OK);
    assert_int_equal(system.known, CAMP_SYSTEM_BOOT_TIME | CAMP_SYSTEM_CONTEXT_SWITCHES |
                                       CAMP_SYSTEM_INTERRUPTS | CAMP_SYSTEM_RUNNING |
                                       CAMP_SYSTEM_FAULTS);
    assert_int_equal(system.boot_time_ns, (FAKE_BOOT_TIME - 116444736000000000) * 100);
    assert_int_equal(system.context_switches, 666);
    assert_int_equal(system.faults, 555);
    assert_int_equal(system.interrupts, FAKE_GROUPS * FAKE_CPUS * 50);
    assert_int_equal(system.running, 1);
}

static void faked_frequency_of_a_cpu_is_known_with_one_processor_group(void **state)
{
    uint64_t hz = 77;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_cpu_frequency_hz(NULL, 0, &hz, NULL), CAMP_E_NOTSUP);
    assert_int_equal(hz, 77);
    fakes.groups = 1;
    assert_int_equal(camp_cpu_frequency_hz(NULL, 1, &hz, NULL), CAMP_OK);
    assert_int_equal(hz, 1300000000);
    assert_int_equal(camp_cpu_frequency_hz(NULL, 2, &hz, NULL), CAMP_E_GONE);
}

static void faked_filters_of_networks_are_not_listed(void **state)
{
    struct camp_network networks[3];
    size_t count;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_network_read_all(NULL, networks, sizeof networks[0], 3, &count, NULL),
                     CAMP_OK);
    assert_int_equal(count, 2);
    assert_string_equal(networks[0].name, "Ethernet");
    assert_int_equal(networks[0].received_bytes, 1000);
    assert_int_equal(networks[0].received_packets, 12);
    assert_int_equal(networks[0].sent_packets, 23);
    assert_int_equal(networks[0].sent_drops, 4);
    assert_int_equal(
        camp_network_read(NULL, "Ethernet-Filter", &networks[0], sizeof networks[0], NULL),
        CAMP_E_GONE);
}

static void faked_longest_alias_of_a_network_is_not_cut(void **state)
{
    struct camp_network networks[3], again;
    size_t count;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_network_read_all(NULL, networks, sizeof networks[0], 3, &count, NULL),
                     CAMP_OK);
    assert_int_equal(strlen(networks[1].name), 256 * 3);
    assert_int_equal(camp_network_read(NULL, networks[1].name, &again, sizeof again, NULL),
                     CAMP_OK);
    assert_int_equal(again.received_bytes, 1002);
}

static void assert_names(int kind, const char *expected)
{
    struct camp_disk disks[8];
    char names[256] = "";
    size_t count;

    assert_int_equal(
        camp_disk_read_all(NULL, kind, disks, sizeof disks[0], COUNT(disks), &count, NULL),
        CAMP_OK);
    for (size_t i = 0; i < count; i++)
        strcat(strcat(names, disks[i].name), " ");
    assert_string_equal(names, expected);
}

static void faked_disks_are_followed_by_their_volumes(void **state)
{
    (void)state;
    fakes_reset();
    assert_names(CAMP_DISK_ANY, "PhysicalDrive0 PhysicalDrive2 C: D: ");
    assert_names(CAMP_DISK_WHOLE, "PhysicalDrive0 PhysicalDrive2 ");
    assert_names(CAMP_DISK_PARTITION, "C: D: ");
    assert_names(CAMP_DISK_PHYSICAL, "PhysicalDrive0 ");
}

static void faked_disk_has_the_counts_of_its_driver(void **state)
{
    struct camp_disk disk;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_disk_read(NULL, "PhysicalDrive0", &disk, sizeof disk, NULL), CAMP_OK);
    assert_int_equal(disk.known, CAMP_DISK_ALL & ~(uint32_t)CAMP_DISK_QUEUE);
    assert_int_equal(disk.reads, 1);
    assert_int_equal(disk.read_bytes, 4096);
    assert_int_equal(disk.read_ns, 1000000);
    assert_int_equal(disk.writes, 2);
    assert_int_equal(disk.written_bytes, 8192);
    assert_int_equal(disk.write_ns, 2000000);
    assert_int_equal(disk.in_flight, 3);
    assert_int_equal(disk.busy_ns, 3000000000);
    fakes.disks_count = false;
    assert_int_equal(camp_disk_read(NULL, "C:", &disk, sizeof disk, NULL), CAMP_OK);
    assert_int_equal(disk.known, 0);
    assert_int_equal(disk.busy_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faked_cpu_times_are_divided_without_overlap),
        cmocka_unit_test(faked_cpus_of_the_second_group_have_ids_from_64_on),
        cmocka_unit_test(faked_kernel_time_that_is_behind_its_parts_gives_no_system_time),
        cmocka_unit_test(faked_idle_cycles_of_0_are_unknown),
        cmocka_unit_test(faked_total_of_idle_cycles_is_unknown_if_those_of_a_cpu_are),
        cmocka_unit_test(faked_busy_time_is_measured_by_cycles_and_sampled_by_ticks),
        cmocka_unit_test(faked_kernel_facts_are_those_of_windows),
        cmocka_unit_test(faked_memory_has_commit_and_page_files),
        cmocka_unit_test(faked_system_has_the_counts_that_windows_has),
        cmocka_unit_test(faked_frequency_of_a_cpu_is_known_with_one_processor_group),
        cmocka_unit_test(faked_filters_of_networks_are_not_listed),
        cmocka_unit_test(faked_longest_alias_of_a_network_is_not_cut),
        cmocka_unit_test(faked_disks_are_followed_by_their_volumes),
        cmocka_unit_test(faked_disk_has_the_counts_of_its_driver),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
