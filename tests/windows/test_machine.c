/* CPUs, memory, networks and disks of this Windows, or of the host that Wine runs on. */
#include "machine.h"

#include <camp/system.h>

#define MOST_CPUS 512
#define MOST_NETWORKS 64
#define MOST_DISKS 64
#define NS_PER_HOST_TICK 10000000u

static struct camp_cpu cpus[MOST_CPUS];
static struct camp_network networks[MOST_NETWORKS];
static struct camp_disk disks[MOST_DISKS];

static size_t read_cpus(void)
{
    size_t count;

    assert_int_equal(camp_cpu_read_all(NULL, cpus, sizeof cpus[0], MOST_CPUS, &count, NULL),
                     CAMP_OK);
    assert_true(count >= 2);
    return count;
}

static void the_total_of_the_cpus_is_their_sum(void **state)
{
    size_t count = read_cpus();
    uint64_t user = 0, system = 0, idle = 0;

    (void)state;
    assert_int_equal(cpus[0].cpu, CAMP_CPU_TOTAL);
    for (size_t i = 1; i < count; i++) {
        assert_true(cpus[i].cpu > cpus[i - 1].cpu);
        user += cpus[i].user_ns;
        system += cpus[i].system_ns;
        idle += cpus[i].idle_ns;
    }
    assert_int_equal(cpus[0].user_ns, user);
    assert_int_equal(cpus[0].system_ns, system);
    assert_int_equal(cpus[0].idle_ns, idle);
}

static void the_list_of_the_cpus_equals_their_readings(void **state)
{
    size_t count = read_cpus(), listed, counted;
    int32_t ids[MOST_CPUS];
    struct camp_cpu cpu;

    (void)state;
    assert_int_equal(camp_cpu_list(NULL, ids, MOST_CPUS, &listed, NULL), CAMP_OK);
    assert_int_equal(camp_cpu_count(NULL, &counted, NULL), CAMP_OK);
    assert_int_equal(listed, count - 1);
    assert_int_equal(counted, count - 1);
    for (size_t i = 0; i < listed; i++) {
        assert_int_equal(ids[i], cpus[i + 1].cpu);
        assert_int_equal(camp_cpu_read(NULL, ids[i], &cpu, sizeof cpu, NULL), CAMP_OK);
        assert_int_equal(cpu.cpu, ids[i]);
        assert_true(cpu.idle_ns >= cpus[i + 1].idle_ns);
    }
    assert_int_equal(camp_cpu_read(NULL, 64 * 1000, &cpu, sizeof cpu, NULL), CAMP_E_GONE);
    assert_int_equal(camp_cpu_read(NULL, -2, &cpu, sizeof cpu, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_cpu_list(NULL, ids, 0, &listed, NULL), CAMP_E_SPACE);
    assert_int_equal(listed, count - 1);
}

static void the_time_of_the_cpus_grows_with_a_load(void **state)
{
    struct camp_cpu before, after;
    uint64_t busy;

    (void)state;
    assert_int_equal(camp_cpu_read(NULL, CAMP_CPU_TOTAL, &before, sizeof before, NULL), CAMP_OK);
    burn_ms(300);
    assert_int_equal(camp_cpu_read(NULL, CAMP_CPU_TOTAL, &after, sizeof after, NULL), CAMP_OK);
    assert_true(after.time_ns - before.time_ns >= 300000000u);
    busy = after.user_ns + after.system_ns - before.user_ns - before.system_ns;
    assert_true(busy > 0);
    assert_true(after.resolution_ns > 0);
}

/* Reads user and nice time, and idle time, from the first line of the host's /proc/stat. */
static void read_host_times(uint64_t *ret_user_ns, uint64_t *ret_idle_ns)
{
    unsigned long long user, nice, system, idle;
    FILE *file = open_of_host("stat");

    assert_int_equal(fscanf(file, "cpu %llu %llu %llu %llu", &user, &nice, &system, &idle), 4);
    fclose(file);
    *ret_user_ns = (user + nice) * NS_PER_HOST_TICK;
    *ret_idle_ns = idle * NS_PER_HOST_TICK;
}

/* Wine adds up what the CPUs have, each of which is rounded down to a tick. */
static void the_times_of_the_cpus_equal_those_of_the_host(void **state)
{
    uint64_t user_before, idle_before, user_after, idle_after, rounding;
    size_t count;

    (void)state;
    need_wine();
    read_host_times(&user_before, &idle_before);
    count = read_cpus();
    read_host_times(&user_after, &idle_after);
    rounding = 2 * count * NS_PER_HOST_TICK;
    assert_in_range(cpus[0].user_ns, user_before - rounding, user_after + rounding);
    assert_in_range(cpus[0].idle_ns, idle_before - rounding, idle_after + rounding);
}

static void times_that_wine_does_not_have_are_unknown(void **state)
{
    struct camp_kernel kernel;
    struct camp_cpu cpu;

    (void)state;
    need_wine();
    assert_int_equal(camp_kernel_read(NULL, &kernel, sizeof kernel, NULL), CAMP_OK);
    assert_int_equal(kernel.known, CAMP_KERNEL_IMITATION);
    assert_int_equal(kernel.imitation, 1);
    assert_int_equal(camp_cpu_read(NULL, 0, &cpu, sizeof cpu, NULL), CAMP_OK);
    assert_int_equal(cpu.known, CAMP_CPU_USER | CAMP_CPU_SYSTEM | CAMP_CPU_IDLE);
    assert_int_equal(cpu.irq_ns, 0);
    assert_int_equal(cpu.idle_cycles_ns, 0);
}

static void counts_of_the_system_are_unknown_on_wine(void **state)
{
    struct camp_system system;
    uint64_t hz = 77;

    (void)state;
    need_wine();
    assert_int_equal(camp_system_read(NULL, CAMP_SYSTEM_ALL, &system, sizeof system, NULL),
                     CAMP_OK);
    assert_int_equal(system.known, 0);
    assert_true(system.time_ns > 0);
    assert_int_equal(camp_cpu_frequency_hz(NULL, 0, &hz, NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_cpu_frequency_hz(NULL, 63, &hz, NULL), CAMP_E_GONE);
    assert_int_equal(camp_cpu_frequency_hz(NULL, -1, &hz, NULL), CAMP_E_INVALID);
    assert_int_equal(hz, 77);
}

static void the_utilisation_of_a_busy_cpu_is_a_percentage(void **state)
{
    struct camp_utilisation u;
    struct camp_kernel kernel;
    struct camp_cpu previous;

    (void)state;
    assert_int_equal(camp_kernel_read(NULL, &kernel, sizeof kernel, NULL), CAMP_OK);
    assert_int_equal(camp_cpu_read(NULL, CAMP_CPU_TOTAL, &previous, sizeof previous, NULL),
                     CAMP_OK);
    burn_ms(300);
    assert_int_equal(
        camp_cpu_utilisation(NULL, CAMP_CPU_TOTAL, 0, &kernel, &previous, &u, sizeof u, NULL),
        CAMP_OK);
    assert_true(u.sampled_busy_percent > 0);
    assert_true(u.measured_busy_percent > 0 && u.measured_busy_percent <= 100);
    assert_int_equal(u.busy_provenance, is_wine() ? CAMP_UNKNOWN : CAMP_MEASURED);
    assert_int_equal(u.known & CAMP_UTILISATION_STEAL, 0);
}

static void a_reader_reads_only_what_it_was_opened_for(void **state)
{
    struct camp_reader reader = { { 0 } };
    struct camp_memory memory;
    struct camp_error error;
    size_t count;

    (void)state;
    assert_int_equal(camp_reader_memory(&reader, 0, &memory, sizeof memory, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_reader_open_cpus(&reader, NULL, NULL), CAMP_OK);
    assert_int_equal(camp_reader_cpus(&reader, cpus, sizeof cpus[0], MOST_CPUS, &count, NULL),
                     CAMP_OK);
    assert_int_equal(cpus[0].cpu, CAMP_CPU_TOTAL);
    assert_int_equal(camp_reader_memory(&reader, 0, &memory, sizeof memory, &error),
                     CAMP_E_INVALID);
    assert_non_null(strstr(error.message, "not of memory"));
    camp_reader_close(&reader);
    assert_int_equal(camp_reader_open_memory(&reader, NULL, NULL), CAMP_OK);
    assert_int_equal(camp_reader_memory(&reader, CAMP_MEMORY_TOTAL, &memory, sizeof memory, NULL),
                     CAMP_OK);
    assert_true(memory.total_bytes > 0);
    camp_reader_close(&reader);
    assert_int_equal(camp_reader_open_networks(&reader, NULL, NULL), CAMP_OK);
    assert_int_equal(
        camp_reader_networks(&reader, networks, sizeof networks[0], MOST_NETWORKS, &count, NULL),
        CAMP_OK);
    camp_reader_close(&reader);
    assert_int_equal(camp_reader_open_disks(&reader, NULL, NULL), CAMP_OK);
    assert_int_equal(
        camp_reader_disks(&reader, CAMP_DISK_ANY, disks, sizeof disks[0], MOST_DISKS, &count, NULL),
        CAMP_OK);
    camp_reader_close(&reader);
    assert_int_equal(
        camp_reader_disks(&reader, 0, disks, sizeof disks[0], MOST_DISKS, &count, NULL),
        CAMP_E_INVALID);
}

static void the_system_says_its_name_and_release(void **state)
{
    struct camp_kernel kernel;
    int major, minor, build;

    (void)state;
    assert_int_equal(camp_kernel_read(NULL, &kernel, sizeof kernel, NULL), CAMP_OK);
    assert_string_equal(kernel.system, "Windows");
    assert_int_equal(sscanf(kernel.release, "%d.%d.%d", &major, &minor, &build), 3);
    assert_true(kernel.machine[0] != '\0');
}

static void the_clock_follows_the_wall_time(void **state)
{
    struct camp_memory before, after;
    uint64_t elapsed;

    (void)state;
    assert_int_equal(camp_memory_read(NULL, 0, &before, sizeof before, NULL), CAMP_OK);
    Sleep(200);
    assert_int_equal(camp_memory_read(NULL, 0, &after, sizeof after, NULL), CAMP_OK);
    elapsed = after.time_ns - before.time_ns;
    assert_in_range(elapsed, 199000000u, 20000000000u);
}

static void the_memory_equals_that_of_the_host(void **state)
{
    struct camp_memory memory;
    unsigned long long kib;
    FILE *file;

    (void)state;
    need_wine();
    file = open_of_host("meminfo");
    assert_int_equal(fscanf(file, "MemTotal: %llu kB", &kib), 1);
    fclose(file);
    assert_int_equal(camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL),
                     CAMP_OK);
    assert_int_equal(memory.known, CAMP_MEMORY_TOTAL | CAMP_MEMORY_AVAILABLE);
    assert_in_range(memory.total_bytes, kib * 1024 - 8192, kib * 1024);
    assert_in_range(memory.available_bytes, 1, memory.total_bytes);
}

struct of_host {
    char name[64];
    unsigned long long received_bytes, received_packets, sent_bytes, sent_packets;
};

static size_t read_host_networks(struct of_host *ret)
{
    FILE *file = open_of_host("net\\dev");
    char line[512];
    size_t count = 0;

    while (fgets(line, sizeof line, file) != NULL && count < MOST_NETWORKS)
        if (sscanf(line, " %63[^: ]: %llu %llu %*u %*u %*u %*u %*u %*u %llu %llu", ret[count].name,
                   &ret[count].received_bytes, &ret[count].received_packets, &ret[count].sent_bytes,
                   &ret[count].sent_packets) == 5)
            count++;
    fclose(file);
    return count;
}

static void the_networks_equal_those_of_the_host(void **state)
{
    static struct of_host before[MOST_NETWORKS], after[MOST_NETWORKS];
    struct camp_network network;
    size_t count;

    (void)state;
    need_wine();
    count = read_host_networks(before);
    assert_true(count >= 1);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(camp_network_read(NULL, before[i].name, &network, sizeof network, NULL),
                         CAMP_OK);
        assert_int_equal(network.known, CAMP_NETWORK_ALL);
        assert_int_equal(read_host_networks(after), count);
        assert_in_range(network.received_bytes, before[i].received_bytes, after[i].received_bytes);
        assert_in_range(network.received_packets, before[i].received_packets,
                        after[i].received_packets);
        assert_in_range(network.sent_bytes, before[i].sent_bytes, after[i].sent_bytes);
        assert_in_range(network.sent_packets, before[i].sent_packets, after[i].sent_packets);
    }
}

static void each_network_can_be_read_by_its_name(void **state)
{
    struct camp_error error;
    struct camp_network network;
    size_t count;

    (void)state;
    assert_int_equal(
        camp_network_read_all(NULL, networks, sizeof networks[0], MOST_NETWORKS, &count, NULL),
        CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(camp_network_read(NULL, networks[i].name, &network, sizeof network, NULL),
                         CAMP_OK);
        assert_string_equal(network.name, networks[i].name);
        assert_true(network.received_bytes >= networks[i].received_bytes);
    }
    assert_int_equal(camp_network_read(NULL, "no such", &network, sizeof network, &error),
                     CAMP_E_GONE);
    assert_non_null(strstr(error.message, "no such"));
    assert_int_equal(camp_network_read(NULL, "", &network, sizeof network, NULL), CAMP_E_INVALID);
}

static void a_disk_without_counters_is_listed_with_nothing_known(void **state)
{
    struct camp_disk disk;
    size_t count;

    (void)state;
    need_wine();
    assert_int_equal(
        camp_disk_read_all(NULL, CAMP_DISK_ANY, disks, sizeof disks[0], MOST_DISKS, &count, NULL),
        CAMP_OK);
    assert_true(count >= 1);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(disks[i].known, 0);
        assert_int_equal(disks[i].reads, 0);
        assert_int_equal(disks[i].kind,
                         disks[i].name[1] == ':' ? CAMP_DISK_PARTITION : CAMP_DISK_WHOLE);
    }
    assert_int_equal(camp_disk_read(NULL, "C:", &disk, sizeof disk, NULL), CAMP_OK);
    assert_int_equal(disk.known, 0);
}

static void a_disk_that_does_not_exist_is_gone(void **state)
{
    static const char *const names[] = { "PhysicalDrive200",
                                         "PhysicalDrive",
                                         "PhysicalDrive0x1",
                                         "PhysicalDrive1234",
                                         "Q:",
                                         "C:\\",
                                         "sda",
                                         "PIPE\\x" };
    struct camp_error error;
    struct camp_disk disk;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(camp_disk_read(NULL, names[i], &disk, sizeof disk, &error), CAMP_E_GONE);
        assert_non_null(strstr(error.message, names[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_total_of_the_cpus_is_their_sum),
        cmocka_unit_test(the_list_of_the_cpus_equals_their_readings),
        cmocka_unit_test(the_time_of_the_cpus_grows_with_a_load),
        cmocka_unit_test(the_times_of_the_cpus_equal_those_of_the_host),
        cmocka_unit_test(times_that_wine_does_not_have_are_unknown),
        cmocka_unit_test(counts_of_the_system_are_unknown_on_wine),
        cmocka_unit_test(the_utilisation_of_a_busy_cpu_is_a_percentage),
        cmocka_unit_test(a_reader_reads_only_what_it_was_opened_for),
        cmocka_unit_test(the_system_says_its_name_and_release),
        cmocka_unit_test(the_clock_follows_the_wall_time),
        cmocka_unit_test(the_memory_equals_that_of_the_host),
        cmocka_unit_test(the_networks_equal_those_of_the_host),
        cmocka_unit_test(each_network_can_be_read_by_its_name),
        cmocka_unit_test(a_disk_without_counters_is_listed_with_nothing_known),
        cmocka_unit_test(a_disk_that_does_not_exist_is_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
