/* What camp makes of the results of a real Windows: cycles, interrupts, page faults, disks. */
#include "fakes.h"

#define TICK_NS 15625000u

static struct camp_process fake_identity(void)
{
    return (struct camp_process){ .pid = FAKE_PID, .start = FAKE_BOOT_TIME + 50000000 };
}

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

static void faked_process_has_measured_and_sampled_time_and_all_counts(void **state)
{
    const struct camp_process identity = fake_identity();
    struct camp_task task;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_process_read(NULL, &identity, CAMP_TASK_ALL, &task, sizeof task, NULL),
                     CAMP_OK);
    assert_int_equal(task.cpu_ns, 3000000000);
    assert_int_equal(task.cpu_provenance, CAMP_MEASURED);
    assert_int_equal(task.cycles, 6000000000);
    assert_int_equal(task.sampled_ns, 5000000000);
    assert_int_equal(task.user_ns, 4000000000);
    assert_int_equal(task.system_ns, 1000000000);
    assert_int_equal(task.split_provenance, CAMP_SAMPLED);
    assert_int_equal(task.started_ns, 5000000000);
    assert_int_equal(task.parent, 4);
    assert_int_equal(task.handles, 77);
    assert_int_equal(task.faults, 1234);
    assert_int_equal(task.switches, 340);
    assert_int_equal(task.committed_bytes, 1 << 19);
    assert_int_equal(task.read_bytes, 11);
    assert_int_equal(task.written_bytes, 22);
    assert_int_equal(task.other_bytes, 33);
    assert_int_equal(task.state, 'R');
    assert_string_equal(task.name, "caf\xc3\xa9.exe");
    assert_int_equal(task.known & (CAMP_TASK_MINOR_FAULTS | CAMP_TASK_MAJOR_FAULTS |
                                   CAMP_TASK_VOLUNTARY_SWITCHES | CAMP_TASK_RUN_DELAY),
                     0);
    assert_int_equal(fake_handles, 0);
}

static void faked_time_of_a_process_is_read_without_the_table(void **state)
{
    struct camp_process identity = fake_identity();
    uint64_t cpu_ns = 0;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_process_cpu_ns(NULL, &identity, &cpu_ns, NULL), CAMP_OK);
    assert_int_equal(cpu_ns, 3000000000);
    identity.start++;
    assert_int_equal(camp_process_cpu_ns(NULL, &identity, &cpu_ns, NULL), CAMP_E_GONE);
    identity.start--;
    fakes.process_has_ended = true;
    assert_int_equal(camp_process_cpu_ns(NULL, &identity, &cpu_ns, NULL), CAMP_E_GONE);
    fakes_reset();
    fakes.registry_has_mhz = false;
    assert_int_equal(camp_process_cpu_ns(NULL, &identity, &cpu_ns, NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_process_cpu_ns(NULL, &identity, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(fake_handles, 0);
}

static void faked_process_that_may_not_be_opened_has_no_measured_time(void **state)
{
    const struct camp_process identity = fake_identity();
    struct camp_error error;
    struct camp_task task;
    uint64_t cpu_ns;

    (void)state;
    fakes_reset();
    fakes.process_can_be_opened = false;
    assert_int_equal(camp_process_read(NULL, &identity, CAMP_TASK_ALL, &task, sizeof task, NULL),
                     CAMP_OK);
    assert_int_equal(task.known & (CAMP_TASK_CPU | CAMP_TASK_CYCLES), 0);
    assert_int_equal(task.cpu_ns, 0);
    assert_true((task.known & CAMP_TASK_SAMPLED) != 0);
    assert_int_equal(camp_process_cpu_ns(NULL, &identity, &cpu_ns, &error), CAMP_E_PERM);
    assert_non_null(strstr(error.message, "administrator"));
    assert_int_equal(camp_pid_cpu_ns(FAKE_PID, &cpu_ns), CAMP_E_PERM);
    assert_int_equal(camp_pid_cpu_ns(FAKE_PID + 4, &cpu_ns), CAMP_E_GONE);
}

static void faked_cycles_of_0_are_unknown(void **state)
{
    const struct camp_process identity = fake_identity();
    struct camp_task task;
    uint64_t cpu_ns;

    (void)state;
    fakes_reset();
    fakes.process_cycles = 0;
    assert_int_equal(camp_process_read(NULL, &identity, CAMP_TASK_ALL, &task, sizeof task, NULL),
                     CAMP_OK);
    assert_int_equal(task.known & (CAMP_TASK_CPU | CAMP_TASK_CYCLES), 0);
    assert_int_equal(camp_pid_cpu_ns(FAKE_PID, &cpu_ns), CAMP_E_NOTSUP);
    assert_int_equal(fake_handles, 0);
}

static void faked_cycles_without_a_rate_are_no_time(void **state)
{
    const struct camp_process identity = fake_identity();
    struct camp_task task;

    (void)state;
    fakes_reset();
    fakes.registry_has_mhz = false;
    assert_int_equal(camp_process_read(NULL, &identity, CAMP_TASK_ALL, &task, sizeof task, NULL),
                     CAMP_OK);
    assert_int_equal(task.known & CAMP_TASK_CPU, 0);
    assert_int_equal(task.cycles, 6000000000);
}

static void faked_process_that_has_ended_but_is_open_elsewhere_is_gone(void **state)
{
    const struct camp_process identity = fake_identity();
    struct camp_task task;
    uint64_t cpu_ns;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_pid_cpu_ns(FAKE_PID, &cpu_ns), CAMP_OK);
    assert_int_equal(cpu_ns, 3000000000);
    fakes.process_has_ended = true;
    fake_table[0].process.threads = 0;
    assert_int_equal(camp_pid_cpu_ns(FAKE_PID, &cpu_ns), CAMP_E_GONE);
    assert_int_equal(camp_process_read(NULL, &identity, 0, &task, sizeof task, NULL), CAMP_E_GONE);
    assert_int_equal(fake_handles, 0);
}

static void faked_parent_that_is_younger_is_another_process(void **state)
{
    const struct camp_process identity = fake_identity();
    struct camp_task task;

    (void)state;
    fakes_reset();
    fake_table[2].process.create_time = FAKE_BOOT_TIME + 50000001;
    assert_int_equal(camp_process_read(NULL, &identity, 0, &task, sizeof task, NULL), CAMP_OK);
    assert_int_equal(task.parent, 0);
}

static void faked_idle_process_is_not_listed(void **state)
{
    struct camp_process processes[3];
    size_t count;

    (void)state;
    fakes_reset();
    assert_int_equal(
        camp_process_list(NULL, processes, sizeof processes[0], COUNT(processes), &count, NULL),
        CAMP_OK);
    assert_int_equal(count, 2);
    assert_int_equal(processes[0].pid, 4);
    assert_int_equal(processes[1].pid, FAKE_PID);
}

static void faked_states_of_threads_are_those_of_proc(void **state)
{
    static const struct {
        uint32_t state, reason;
        char expected;
    } cases[] = { { 1, 0, 'R' }, { 3, 0, 'R' }, { 7, 0, 'R' },  { 5, 6, 'S' }, { 5, 5, 'T' },
                  { 6, 0, 'D' }, { 4, 0, 'X' }, { 5, 12, 'T' }, { 9, 0, 'S' } };
    struct camp_thread threads[2];
    const struct camp_process identity = fake_identity();
    struct camp_task task;
    size_t count;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_thread_list(NULL, &identity, threads, sizeof threads[0], 2, &count, NULL),
                     CAMP_OK);
    assert_int_equal(count, 2);
    assert_int_equal(threads[0].tid, 1002);
    for (size_t i = 0; i < COUNT(cases); i++) {
        fake_table[0].threads[1].state = cases[i].state;
        fake_table[0].threads[1].wait_reason = cases[i].reason;
        assert_int_equal(camp_thread_read(NULL, &threads[0], 0, &task, sizeof task, NULL), CAMP_OK);
        assert_int_equal(task.state, cases[i].expected);
    }
}

static void faked_thread_has_measured_and_sampled_time(void **state)
{
    const struct camp_thread thread = { FAKE_PID, 1004, FAKE_BOOT_TIME + 50000000 };
    struct camp_task task;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_thread_read(NULL, &thread, CAMP_TASK_ALL, &task, sizeof task, NULL),
                     CAMP_OK);
    assert_int_equal(task.cpu_ns, 1000000000);
    assert_int_equal(task.sampled_ns, 3000000000);
    assert_int_equal(task.switches, 300);
    assert_int_equal(task.known & (CAMP_TASK_NAME | CAMP_TASK_FAULTS | CAMP_TASK_HANDLES), 0);
    assert_int_equal(fake_handles, 0);
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
        cmocka_unit_test(faked_process_has_measured_and_sampled_time_and_all_counts),
        cmocka_unit_test(faked_time_of_a_process_is_read_without_the_table),
        cmocka_unit_test(faked_process_that_may_not_be_opened_has_no_measured_time),
        cmocka_unit_test(faked_cycles_of_0_are_unknown),
        cmocka_unit_test(faked_cycles_without_a_rate_are_no_time),
        cmocka_unit_test(faked_process_that_has_ended_but_is_open_elsewhere_is_gone),
        cmocka_unit_test(faked_parent_that_is_younger_is_another_process),
        cmocka_unit_test(faked_idle_process_is_not_listed),
        cmocka_unit_test(faked_states_of_threads_are_those_of_proc),
        cmocka_unit_test(faked_thread_has_measured_and_sampled_time),
        cmocka_unit_test(faked_memory_has_commit_and_page_files),
        cmocka_unit_test(faked_filters_of_networks_are_not_listed),
        cmocka_unit_test(faked_longest_alias_of_a_network_is_not_cut),
        cmocka_unit_test(faked_disks_are_followed_by_their_volumes),
        cmocka_unit_test(faked_disk_has_the_counts_of_its_driver),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
