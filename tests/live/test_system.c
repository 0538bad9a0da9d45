/*
 * Tests that the counters of CPUs, memory, networks and disks mean what camp says. Each test
 * compares two sources in the same interval, so that other work on the machine does not matter.
 */
#include "clocks.h"
#include "cpu_steal.h"
#include "measured_idle.h"

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST 4096

static struct camp_cpu cpus[2][MOST];
static struct camp_network networks[3][MOST];
static struct camp_disk disks[3][MOST];

static void assert_ok(int result, const struct camp_error *error)
{
    if (result != CAMP_OK)
        fail_msg("%s: %s", camp_result_name(result), error->message);
}

static size_t read_cpus(struct camp_cpu *ret)
{
    struct camp_error error;
    size_t count;

    assert_ok(camp_cpu_read_all(NULL, ret, sizeof *ret, MOST, &count, &error), &error);
    return count;
}

static size_t read_networks(struct camp_network *ret)
{
    struct camp_error error;
    size_t count;

    assert_ok(camp_network_read_all(NULL, ret, sizeof *ret, MOST, &count, &error), &error);
    return count;
}

static size_t read_disks(struct camp_disk *ret)
{
    struct camp_error error;
    size_t count;

    assert_ok(camp_disk_read_all(NULL, CAMP_DISK_ANY, ret, sizeof *ret, MOST, &count, &error),
              &error);
    return count;
}

static void the_list_of_cpus_equals_the_list_of_the_kernel(void **state)
{
    FILE *file = fopen("/sys/devices/system/cpu/online", "r");
    static int32_t ids[MOST];
    struct camp_error error;
    size_t count;
    size_t at = 0;
    int first;
    int last;

    (void)state;
    assert_non_null(file);
    assert_ok(camp_cpu_list(NULL, ids, MOST, &count, &error), &error);
    while (fscanf(file, "%d", &first) == 1) {
        last = first;
        if (fscanf(file, "-%d", &last) != 1)
            last = first;
        for (; first <= last; first++, at++) {
            assert_true(at < count);
            assert_int_equal(ids[at], first);
        }
        if (fgetc(file) != ',')
            break;
    }
    fclose(file);
    assert_int_equal(at, count);
    assert_ok(camp_cpu_count(NULL, &count, &error), &error);
    assert_int_equal(at, count);
}

static void every_listed_cpu_and_interface_and_disk_can_be_read(void **state)
{
    struct camp_error error;
    struct camp_cpu cpu;
    struct camp_network network;
    struct camp_disk disk;
    size_t count = read_cpus(cpus[0]);

    (void)state;
    assert_true(count >= 2);
    for (size_t i = 0; i < count; i++) {
        assert_ok(camp_cpu_read(NULL, cpus[0][i].cpu, &cpu, sizeof cpu, &error), &error);
        assert_int_equal(cpu.cpu, cpus[0][i].cpu);
    }
    count = read_networks(networks[0]);
    assert_true(count >= 1);
    for (size_t i = 0; i < count; i++) {
        assert_ok(camp_network_read(NULL, networks[0][i].name, &network, sizeof network, &error),
                  &error);
        assert_string_equal(network.name, networks[0][i].name);
    }
    count = read_disks(disks[0]);
    for (size_t i = 0; i < count; i++) {
        assert_ok(camp_disk_read(NULL, disks[0][i].name, &disk, sizeof disk, &error), &error);
        assert_string_equal(disk.name, disks[0][i].name);
        assert_int_equal(disk.kind, disks[0][i].kind);
        assert_in_range(disk.reads, disks[0][i].reads, UINT64_MAX);
    }
}

static void the_counters_of_the_machine_never_decrease(void **state)
{
    size_t count = read_cpus(cpus[0]);

    (void)state;
    assert_int_equal(read_cpus(cpus[1]), count);
    for (size_t i = 0; i < count; i++) {
        assert_in_range(cpus[1][i].time_ns, cpus[0][i].time_ns + 1, UINT64_MAX);
        assert_in_range(cpus[1][i].user_ns + cpus[1][i].guest_ns,
                        cpus[0][i].user_ns + cpus[0][i].guest_ns, UINT64_MAX);
        assert_in_range(cpus[1][i].system_ns, cpus[0][i].system_ns, UINT64_MAX);
        assert_in_range(cpus[1][i].softirq_ns, cpus[0][i].softirq_ns, UINT64_MAX);
    }
    count = read_networks(networks[0]);
    assert_int_equal(read_networks(networks[1]), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(networks[1][i].name, networks[0][i].name);
        assert_in_range(networks[1][i].received_bytes, networks[0][i].received_bytes, UINT64_MAX);
        assert_in_range(networks[1][i].sent_packets, networks[0][i].sent_packets, UINT64_MAX);
    }
    count = read_disks(disks[0]);
    assert_int_equal(read_disks(disks[1]), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(disks[1][i].name, disks[0][i].name);
        assert_in_range(disks[1][i].read_bytes, disks[0][i].read_bytes, UINT64_MAX);
        assert_in_range(disks[1][i].written_bytes, disks[0][i].written_bytes, UINT64_MAX);
    }
}

/* Reads /proc/meminfo before and after sysinfo(2), until the value of sysinfo(2) is between both
 * values. Under concurrent load, memory may grow and shrink in between. */
static void meminfo_and_sysinfo_report_the_same_memory(void **state)
{
    struct camp_memory file[2];
    struct camp_memory call;
    struct camp_error error;
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    bool agreed = false;

    (void)state;
    do {
        uint64_t low;
        uint64_t high;

        assert_ok(camp_memory_read(NULL, CAMP_MEMORY_ALL, &file[0], sizeof call, &error), &error);
        assert_ok(camp_memory_read(NULL, CAMP_MEMORY_FREE, &call, sizeof call, &error), &error);
        assert_ok(camp_memory_read(NULL, CAMP_MEMORY_ALL, &file[1], sizeof call, &error), &error);
        assert_int_equal(call.known & CAMP_MEMORY_AVAILABLE, 0);
        assert_int_equal(call.total_bytes, file[0].total_bytes);
        assert_int_equal(call.swap_total_bytes, file[0].swap_total_bytes);
        low = file[0].free_bytes < file[1].free_bytes ? file[0].free_bytes : file[1].free_bytes;
        high = file[0].free_bytes + file[1].free_bytes - low;
        agreed = call.free_bytes >= low && call.free_bytes <= high;
    } while (!agreed && wait_on(began_ns));
    assert_true(agreed);
}

struct burnt {
    uint64_t own_ns; /* CPU time of the child on the selected CPU */
};

static pid_t burner(int32_t cpu, uint64_t burn_ns, struct burnt *burnt)
{
    pid_t child = fork();
    cpu_set_t set;

    if (child != 0)
        return child;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        _exit(1);
    /* From here on, the child runs on the selected CPU. */
    burnt->own_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    burn(CLOCK_PROCESS_CPUTIME_ID, burn_ns);
    burnt->own_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - burnt->own_ns;
    _exit(0);
}

/* Other tasks may use the CPU too, so the child's time is a lower bound. The tolerance has three
 * parts: idle, iowait and steal are rounded down to the unit of /proc/stat, idle may be a tick old,
 * and the child's clock may include stolen time. */
static void a_cpu_is_busy_at_least_as_long_as_a_child_runs_on_it(void **state)
{
    struct burnt *burnt =
        mmap(NULL, sizeof *burnt, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct camp_utilisation utilisation;
    struct camp_cpu before;
    struct camp_cpu after;
    struct camp_error error;
    size_t count = read_cpus(cpus[0]);
    int32_t cpu = cpus[0][count - 1].cpu;
    double busy_ns, cut_ns = 3 * (double)proc_time_unit_ns() + (double)tick_ns();
    int status;
    pid_t child;

    (void)state;
    needs_measured_idle();
    assert_true(burnt != MAP_FAILED);
    assert_ok(camp_cpu_read(NULL, cpu, &before, sizeof before, &error), &error);
    child = burner(cpu, 200 * NS_PER_MS, burnt);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_ok(camp_cpu_read(NULL, cpu, &after, sizeof after, &error), &error);
    assert_int_equal(status, 0);
    assert_int_equal(
        camp_cpu_difference(&before, &after, 1, NULL, &utilisation, sizeof utilisation), CAMP_OK);
    busy_ns = utilisation.measured_busy_percent / 100 * (double)utilisation.elapsed_ns;
    print_message("the child used %.1f ms, CPU %d was busy for %.1f of %.1f\n",
                  (double)burnt->own_ns / 1e6, cpu, busy_ns / 1e6,
                  (double)utilisation.elapsed_ns / 1e6);
    assert_at_least("busy", (uint64_t)busy_ns, burnt->own_ns,
                    (uint64_t)cut_ns + after.steal_ns - before.steal_ns);
    assert_true(utilisation.measured_busy_percent <= 100);
    munmap(burnt, sizeof *burnt);
}

static void idle_time_grows_no_faster_than_wall_time(void **state)
{
    struct timespec pause = { .tv_nsec = 200 * NS_PER_MS };
    size_t count = read_cpus(cpus[0]);
    uint64_t after_ns;

    (void)state;
    needs_measured_idle();
    nanosleep(&pause, NULL);
    assert_int_equal(read_cpus(cpus[1]), count);
    after_ns = now_ns(CLOCK_MONOTONIC);
    for (size_t i = 1; i < count; i++) {
        /* Both values of idle_ns are rounded down to the unit of /proc/stat, and the earlier value
         * may be a tick old. camp reads the clock before the file. */
        assert_at_most("idle", cpus[1][i].idle_ns - cpus[0][i].idle_ns,
                       after_ns - cpus[0][i].time_ns, proc_time_unit_ns() + tick_ns());
    }
}

/* Returns the idle time of all CPUs from /proc/uptime, which other code of the kernel computes. */
static uint64_t uptime_idle_ns(void)
{
    FILE *file = fopen("/proc/uptime", "r");
    unsigned long seconds;
    unsigned long hundredths;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u.%*u %lu.%lu", &seconds, &hundredths), 2);
    fclose(file);
    return seconds * 1000 * NS_PER_MS + hundredths * 10 * NS_PER_MS;
}

static void idle_time_equals_the_idle_time_in_proc_uptime(void **state)
{
    uint64_t low = uptime_idle_ns();
    uint64_t high;

    (void)state;
    read_cpus(cpus[0]);
    high = uptime_idle_ns();
    /* /proc/uptime is rounded down to 1/100 s, and idle_ns to the unit of /proc/stat. */
    assert_in_range(cpus[0][0].idle_ns, low - proc_time_unit_ns(), high + NS_PER_S / 100);
}

#define PACKETS 500
#define PAYLOAD 100

static void packets_over_the_loopback_interface_are_counted(void **state)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t length = sizeof address;
    int receiver = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct camp_network before;
    struct camp_network after;
    struct camp_error error;
    char payload[PAYLOAD] = { 0 };

    (void)state;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(receiver >= 0 && sender >= 0);
    assert_int_equal(bind(receiver, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(receiver, (struct sockaddr *)&address, &length), 0);
    assert_ok(camp_network_read(NULL, "lo", &before, sizeof before, &error), &error);
    for (int i = 0; i < PACKETS; i++) {
        assert_int_equal(
            sendto(sender, payload, PAYLOAD, 0, (struct sockaddr *)&address, sizeof address),
            PAYLOAD);
        assert_int_equal(recv(receiver, payload, PAYLOAD, 0), PAYLOAD);
    }
    assert_ok(camp_network_read(NULL, "lo", &after, sizeof after, &error), &error);
    assert_in_range(after.sent_packets - before.sent_packets, PACKETS, UINT64_MAX);
    assert_in_range(after.received_packets - before.received_packets, PACKETS, UINT64_MAX);
    assert_in_range(after.sent_bytes - before.sent_bytes, PACKETS * (PAYLOAD + 28), UINT64_MAX);
    assert_in_range(after.received_bytes - before.received_bytes, PACKETS * (PAYLOAD + 28),
                    UINT64_MAX);
    close(receiver);
    close(sender);
}

static void disks_and_partitions_are_distinguished_as_in_sysfs(void **state)
{
    size_t count = read_disks(disks[0]);
    char path[256];

    (void)state;
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "/sys/class/block/%.63s", disks[0][i].name);
        assert_int_equal(access(path, F_OK), 0);
        strcat(path, "/partition");
        assert_int_equal(disks[0][i].kind == CAMP_DISK_PARTITION, access(path, F_OK) == 0);
    }
}

/* Each value of a reader must be between the values of two stateless calls before and after it. */
static void readers_of_networks_and_disks_return_the_same_values_as_stateless_calls(void **state)
{
    struct camp_reader reader = { { 0 } };
    struct camp_error error;
    size_t count;

    (void)state;
    assert_ok(camp_reader_open_networks(&reader, NULL, &error), &error);
    for (int round = 0; round < 3; round++) {
        read_networks(networks[0]);
        assert_ok(
            camp_reader_networks(&reader, networks[1], sizeof **networks, MOST, &count, &error),
            &error);
        assert_int_equal(read_networks(networks[2]), count);
        for (size_t i = 0; i < count; i++) {
            assert_string_equal(networks[1][i].name, networks[0][i].name);
            assert_in_range(networks[1][i].received_bytes, networks[0][i].received_bytes,
                            networks[2][i].received_bytes);
            assert_in_range(networks[1][i].time_ns, networks[0][i].time_ns, networks[2][i].time_ns);
        }
    }
    camp_reader_close(&reader);
    assert_memory_equal(&reader, &(struct camp_reader){ { 0 } }, sizeof reader);
    camp_reader_close(&reader);
    assert_ok(camp_reader_open_disks(&reader, NULL, &error), &error);
    for (int round = 0; round < 3; round++) {
        read_disks(disks[0]);
        assert_ok(camp_reader_disks(&reader, CAMP_DISK_ANY, disks[1], sizeof **disks, MOST, &count,
                                    &error),
                  &error);
        assert_int_equal(read_disks(disks[2]), count);
        for (size_t i = 0; i < count; i++) {
            assert_string_equal(disks[1][i].name, disks[0][i].name);
            assert_in_range(disks[1][i].writes, disks[0][i].writes, disks[2][i].writes);
        }
    }
    camp_reader_close(&reader);
}

static void readers_of_cpus_and_memory_return_values_that_are_up_to_date(void **state)
{
    struct camp_reader reader = { { 0 } };
    struct camp_reader memory_reader = { { 0 } };
    struct camp_memory memory;
    struct camp_error error;
    struct camp_cpu cpu;
    struct timespec pause = { .tv_nsec = 50 * NS_PER_MS };
    size_t count;

    (void)state;
    assert_ok(camp_reader_open_cpus(&reader, NULL, &error), &error);
    assert_ok(camp_reader_open_memory(&memory_reader, NULL, &error), &error);
    for (int round = 0; round < 3; round++) {
        assert_ok(camp_cpu_read(NULL, CAMP_CPU_TOTAL, &cpu, sizeof cpu, &error), &error);
        assert_ok(camp_reader_cpus(&reader, cpus[0], sizeof **cpus, MOST, &count, &error), &error);
        assert_true(cpus[0][0].idle_ns >= cpu.idle_ns && cpus[0][0].time_ns > cpu.time_ns);
        assert_ok(camp_cpu_read(NULL, CAMP_CPU_TOTAL, &cpu, sizeof cpu, &error), &error);
        assert_true(cpus[0][0].user_ns <= cpu.user_ns && cpus[0][0].time_ns < cpu.time_ns);
        assert_ok(
            camp_reader_memory(&memory_reader, CAMP_MEMORY_ALL, &memory, sizeof memory, &error),
            &error);
        assert_true(memory.time_ns > cpu.time_ns);
        nanosleep(&pause, NULL);
    }
    assert_int_equal(camp_reader_memory(&reader, CAMP_MEMORY_ALL, &memory, sizeof memory, &error),
                     CAMP_E_INVALID);
    camp_reader_close(&reader);
    camp_reader_close(&memory_reader);
    assert_int_equal(
        camp_reader_memory(&memory_reader, CAMP_MEMORY_ALL, &memory, sizeof memory, &error),
        CAMP_E_INVALID);
}

static void a_utilisation_call_lasts_at_least_the_requested_interval(void **state)
{
    struct camp_utilisation utilisation;
    struct camp_error error;

    (void)state;
    assert_ok(camp_cpu_utilisation(NULL, CAMP_CPU_TOTAL, 60, NULL, NULL, &utilisation,
                                   sizeof utilisation, &error),
              &error);
    assert_in_range(utilisation.elapsed_ns, 60 * NS_PER_MS, UINT64_MAX);
    assert_true(utilisation.measured_busy_percent >= 0 && utilisation.measured_busy_percent <= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_of_cpus_equals_the_list_of_the_kernel),
        cmocka_unit_test(every_listed_cpu_and_interface_and_disk_can_be_read),
        cmocka_unit_test(the_counters_of_the_machine_never_decrease),
        cmocka_unit_test(meminfo_and_sysinfo_report_the_same_memory),
        cmocka_unit_test(a_cpu_is_busy_at_least_as_long_as_a_child_runs_on_it),
        cmocka_unit_test(idle_time_grows_no_faster_than_wall_time),
        cmocka_unit_test(idle_time_equals_the_idle_time_in_proc_uptime),
        cmocka_unit_test(packets_over_the_loopback_interface_are_counted),
        cmocka_unit_test(disks_and_partitions_are_distinguished_as_in_sysfs),
        cmocka_unit_test(readers_of_networks_and_disks_return_the_same_values_as_stateless_calls),
        cmocka_unit_test(readers_of_cpus_and_memory_return_values_that_are_up_to_date),
        cmocka_unit_test(a_utilisation_call_lasts_at_least_the_requested_interval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
