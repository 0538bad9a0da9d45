/* CPUs, memory, networks and disks of illumos, from a chain of kstats that the test makes. */
#include "fake_kstat.h"
#include "sources.h"

#include <errno.h>
#include <unistd.h>

static int reset(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

static size_t add_cpu(int id, hrtime_t time, uint64_t user, uint64_t kernel, uint64_t idle)
{
    size_t cpu = fake_add("cpu", id, "sys", "misc", KSTAT_TYPE_NAMED, time);

    fake_u64(cpu, "cpu_ticks_idle", idle / 10000000);
    fake_u64(cpu, "cpu_ticks_wait", 0);
    fake_u64(cpu, "cpu_nsec_idle", idle);
    fake_u64(cpu, "cpu_nsec_intr", 777);
    fake_u64(cpu, "cpu_nsec_kernel", kernel);
    fake_u64(cpu, "cpu_nsec_user", user);
    fake_u64(cpu, "wait_ticks_io", 0);
    return cpu;
}

static void add_cpu_state(int id, const char *state)
{
    size_t info = fake_add("cpu_info", id, "cpu_info", "misc", KSTAT_TYPE_NAMED, 1);

    fake_text(info, "state", state);
}

static void a_cpu_has_measured_times_of_three_states_and_all_others_are_unknown(void **state)
{
    struct camp_cpu cpu;

    (void)state;
    add_cpu(0, 5000, 3000000001, 200, 1700);
    assert_int_equal(camp_cpu_read(NULL, 0, &cpu, sizeof cpu, NULL), CAMP_OK);
    expect_sources(CAMP_RECORD_CPU, cpu.known);
    assert_int_equal(cpu.known, CAMP_CPU_USER | CAMP_CPU_SYSTEM | CAMP_CPU_IDLE);
    assert_int_equal(cpu.time_ns, 5000);
    assert_int_equal(cpu.user_ns, 3000000001);
    assert_int_equal(cpu.system_ns, 200);
    assert_int_equal(cpu.idle_ns, 1700);
    assert_int_equal(cpu.resolution_ns, 1);
}

static void cpus_are_listed_in_the_order_of_their_ids_without_those_that_are_offline(void **state)
{
    struct camp_cpu cpus[4];
    int32_t ids[4];
    size_t count;

    (void)state;
    add_cpu(8, 1000, 1, 2, 3);
    add_cpu_state(8, "no-intr");
    add_cpu(1, 1020, 10, 20, 30);
    add_cpu_state(1, "on-line");
    add_cpu(3, 1040, 100, 200, 300);
    add_cpu_state(3, "off-line");
    assert_int_equal(camp_cpu_list(NULL, ids, COUNT(ids), &count, NULL), CAMP_OK);
    assert_int_equal(count, 2);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[1], 8);
    assert_int_equal(camp_cpu_count(NULL, &count, NULL), CAMP_OK);
    assert_int_equal(count, 2);
    assert_int_equal(camp_cpu_read(NULL, 3, &cpus[0], sizeof cpus[0], NULL), CAMP_E_GONE);
    assert_int_equal(camp_cpu_read_all(NULL, cpus, sizeof cpus[0], COUNT(cpus), &count, NULL),
                     CAMP_OK);
    assert_int_equal(count, 3);
    assert_int_equal(cpus[0].cpu, CAMP_CPU_TOTAL);
    assert_int_equal(cpus[1].cpu, 1);
    assert_int_equal(cpus[2].cpu, 8);
}

static void the_total_is_the_sum_of_the_cpus_at_the_mean_of_their_times(void **state)
{
    struct camp_cpu total;

    (void)state;
    add_cpu(0, 1000, 1, 2, 3);
    add_cpu(1, 1030, 10, 20, 30);
    add_cpu(2, 1060, 100, 200, 300);
    assert_int_equal(camp_cpu_read(NULL, CAMP_CPU_TOTAL, &total, sizeof total, NULL), CAMP_OK);
    assert_int_equal(total.cpu, CAMP_CPU_TOTAL);
    assert_int_equal(total.time_ns, 1030);
    assert_int_equal(total.user_ns, 111);
    assert_int_equal(total.system_ns, 222);
    assert_int_equal(total.idle_ns, 333);
}

static void a_time_that_one_cpu_does_not_report_is_unknown_of_the_total(void **state)
{
    struct camp_cpu cpus[3];
    size_t count, second;

    (void)state;
    add_cpu(0, 1000, 1, 2, 3);
    second = fake_add("cpu", 1, "sys", "misc", KSTAT_TYPE_NAMED, 1000);
    fake_u64(second, "cpu_nsec_user", 5);
    assert_int_equal(camp_cpu_read_all(NULL, cpus, sizeof cpus[0], COUNT(cpus), &count, NULL),
                     CAMP_OK);
    assert_int_equal(cpus[0].known, CAMP_CPU_USER);
    assert_int_equal(cpus[0].user_ns, 6);
    assert_int_equal(cpus[0].idle_ns, 0);
    assert_int_equal(cpus[2].known, CAMP_CPU_USER);
}

static void too_little_space_for_cpus_is_reported_and_the_first_are_filled(void **state)
{
    struct camp_cpu cpus[2];
    size_t count;

    (void)state;
    add_cpu(0, 1000, 1, 2, 3);
    add_cpu(1, 1000, 1, 2, 3);
    assert_int_equal(camp_cpu_read_all(NULL, cpus, sizeof cpus[0], 2, &count, NULL), CAMP_E_SPACE);
    assert_int_equal(count, 3);
    assert_int_equal(cpus[0].user_ns, 2);
    assert_int_equal(cpus[1].cpu, 0);
}

static void a_zone_that_shows_no_cpu_is_not_supported(void **state)
{
    struct camp_cpu cpu;

    (void)state;
    assert_int_equal(camp_cpu_read(NULL, CAMP_CPU_TOTAL, &cpu, sizeof cpu, NULL), CAMP_E_NOTSUP);
}

static void kstats_are_not_read_from_the_folder_of_a_source(void **state)
{
    const struct camp_source source = { .proc = "/tmp" };
    struct camp_memory memory;
    struct camp_cpu cpu;

    (void)state;
    add_cpu(0, 1000, 1, 2, 3);
    assert_int_equal(camp_cpu_read(&source, 0, &cpu, sizeof cpu, NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_memory_read(&source, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL),
                     CAMP_E_NOTSUP);
}

static void a_link_is_read_in_64_bits_and_its_driver_is_not_counted_again(void **state)
{
    size_t driver = fake_add("e1000g", 0, "e1000g0", "net", KSTAT_TYPE_NAMED, 1);
    size_t link = fake_add("link", 0, "net0", "net", KSTAT_TYPE_NAMED, 99);
    struct camp_network networks[2];
    size_t count;

    (void)state;
    fake_u64(driver, "rbytes64", 1);
    fake_u32(link, "rbytes", 1);
    fake_u64(link, "rbytes64", (UINT64_C(1) << 32) + 1);
    fake_u64(link, "ipackets64", 12);
    fake_u32(link, "ierrors", 3);
    fake_u32(link, "norcvbuf", 4);
    fake_u64(link, "obytes64", 5);
    fake_u32(link, "opackets", 6);
    fake_i32(link, "oerrors", -1);
    assert_int_equal(
        camp_network_read_all(NULL, networks, sizeof networks[0], COUNT(networks), &count, NULL),
        CAMP_OK);
    assert_int_equal(count, 1);
    assert_string_equal(networks[0].name, "net0");
    assert_int_equal(networks[0].time_ns, 99);
    assert_int_equal(networks[0].known, CAMP_NETWORK_RECEIVED_BYTES |
                                            CAMP_NETWORK_RECEIVED_PACKETS |
                                            CAMP_NETWORK_RECEIVED_ERRORS |
                                            CAMP_NETWORK_RECEIVED_DROPS | CAMP_NETWORK_SENT_BYTES);
    assert_int_equal(networks[0].received_bytes, (UINT64_C(1) << 32) + 1);
    assert_int_equal(networks[0].received_packets, 12);
    assert_int_equal(networks[0].received_errors, 3);
    assert_int_equal(networks[0].received_drops, 4);
    assert_int_equal(networks[0].sent_bytes, 5);
    assert_int_equal(networks[0].sent_packets, 0);
    assert_int_equal(camp_network_read(NULL, "net1", networks, sizeof networks[0], NULL),
                     CAMP_E_GONE);
    assert_int_equal(camp_network_read(NULL, "net0", networks, sizeof networks[0], NULL), CAMP_OK);
}

static void a_value_that_ends_past_the_data_of_its_statistic_is_unknown(void **state)
{
    size_t link = fake_add("link", 0, "net0", "net", KSTAT_TYPE_NAMED, 99);
    struct camp_network network;

    (void)state;
    assert_int_equal(camp_network_read(NULL, "net0", &network, sizeof network, NULL), CAMP_OK);
    assert_int_equal(network.known, 0);
    fake_u64(link, "rbytes64", 1);
    fake_claim(link, 1000);
    assert_int_equal(camp_network_read(NULL, "net0", &network, sizeof network, NULL), CAMP_OK);
    assert_int_equal(network.known, CAMP_NETWORK_RECEIVED_BYTES);
}

static void add_disk(const char *module, int instance, const char *name, const char *class)
{
    const kstat_io_t io = { .nread = 4096,
                            .nwritten = UINT64_C(1) << 40,
                            .reads = UINT32_MAX,
                            .writes = 7,
                            .wtime = 1,
                            .wlentime = 20,
                            .rtime = 300,
                            .rlentime = 4000,
                            .wcnt = 2,
                            .rcnt = 3 };

    fake_io(fake_add(module, instance, name, class, KSTAT_TYPE_IO, 55), &io);
}

static void a_disk_has_both_queues_and_no_time_by_direction(void **state)
{
    struct camp_disk disk;

    (void)state;
    add_disk("sd", 0, "sd0", "disk");
    assert_int_equal(camp_disk_read(NULL, "sd0", &disk, sizeof disk, NULL), CAMP_OK);
    expect_sources(CAMP_RECORD_DISK, disk.known);
    assert_int_equal(disk.kind, CAMP_DISK_WHOLE);
    assert_int_equal(disk.known,
                     CAMP_DISK_ALL & ~(unsigned)(CAMP_DISK_READ_TIME | CAMP_DISK_WRITE_TIME));
    assert_int_equal(disk.time_ns, 55);
    assert_int_equal(disk.reads, UINT32_MAX);
    assert_int_equal(disk.read_bytes, 4096);
    assert_int_equal(disk.writes, 7);
    assert_int_equal(disk.written_bytes, UINT64_C(1) << 40);
    assert_int_equal(disk.in_flight, 5);
    assert_int_equal(disk.busy_ns, 300);
    assert_int_equal(disk.queue_ns, 4020);
    assert_int_equal(disk.read_ns, 0);
}

static void names_of_disks(int kind, char *ret, size_t size)
{
    struct camp_disk disks[8];
    size_t count, length = 0;

    assert_int_equal(
        camp_disk_read_all(NULL, kind, disks, sizeof disks[0], COUNT(disks), &count, NULL),
        CAMP_OK);
    ret[0] = '\0';
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(ret + length, size - length, "%s ", disks[i].name);
}

static void disks_are_followed_by_their_partitions_and_pools_are_left_out(void **state)
{
    char names[256];

    (void)state;
    add_disk("sd", 1, "sd1,a", "partition");
    add_disk("zfs", 0, "rpool", "disk");
    add_disk("sd", 0, "sd0", "disk");
    add_disk("lofi", 1, "lofi1", "disk");
    add_disk("sd", 1, "sd1", "disk");
    add_disk("cmdk", 0, "cmdk0,a", "partition");
    add_disk("nfs", 1, "nfs1", "nfs");
    add_disk("sd", 0, "sd0,b", "partition");
    names_of_disks(CAMP_DISK_ANY, names, sizeof names);
    assert_string_equal(names, "sd0 sd0,b lofi1 sd1 sd1,a cmdk0,a ");
    names_of_disks(CAMP_DISK_WHOLE, names, sizeof names);
    assert_string_equal(names, "sd0 lofi1 sd1 ");
    names_of_disks(CAMP_DISK_PHYSICAL, names, sizeof names);
    assert_string_equal(names, "sd0 sd1 ");
    names_of_disks(CAMP_DISK_PARTITION, names, sizeof names);
    assert_string_equal(names, "sd1,a cmdk0,a sd0,b ");
}

static void a_disk_that_is_removed_meanwhile_is_left_out_of_the_list(void **state)
{
    struct camp_disk disk;
    char names[256];

    (void)state;
    add_disk("sd", 0, "sd0", "disk");
    add_disk("sd", 1, "sd1", "disk");
    fake_fail(0, ENXIO);
    names_of_disks(CAMP_DISK_ANY, names, sizeof names);
    assert_string_equal(names, "sd1 ");
    assert_int_equal(camp_disk_read(NULL, "sd0", &disk, sizeof disk, NULL), CAMP_E_GONE);
    fake_fail(1, EIO);
    assert_int_equal(camp_disk_read(NULL, "sd1", &disk, sizeof disk, NULL), CAMP_E_IO);
}

static void a_reader_sees_statistics_that_were_added_or_removed_since_it_was_opened(void **state)
{
    struct camp_reader reader = { { 0 } };
    struct camp_disk disks[4];
    size_t count;

    (void)state;
    add_disk("sd", 0, "sd0", "disk");
    assert_int_equal(camp_reader_open_disks(&reader, NULL, NULL), CAMP_OK);
    add_disk("sd", 1, "sd1", "disk");
    fake_remove(0);
    assert_int_equal(camp_reader_disks(&reader, CAMP_DISK_ANY, disks, sizeof disks[0], COUNT(disks),
                                       &count, NULL),
                     CAMP_OK);
    assert_int_equal(count, 1);
    assert_string_equal(disks[0].name, "sd1");
    assert_int_equal(camp_reader_networks(&reader, NULL, 0, 0, &count, NULL), CAMP_E_INVALID);
    camp_reader_close(&reader);
    camp_reader_close(&reader);
    assert_int_equal(
        camp_reader_disks(&reader, CAMP_DISK_ANY, disks, sizeof disks[0], 4, &count, NULL),
        CAMP_E_INVALID);
}

static void the_kernel_measures_user_system_and_idle_time(void **state)
{
    struct camp_kernel kernel;
    uint32_t measured, sampled;

    (void)state;
    assert_int_equal(camp_kernel_read(NULL, &kernel, sizeof kernel, NULL), CAMP_OK);
    assert_int_equal(kernel.accounting, CAMP_ACCOUNTING_MICROSTATES);
    camp_cpu_provenance(&kernel, 0, &measured, &sampled);
    assert_int_equal(measured & (CAMP_CPU_USER | CAMP_CPU_SYSTEM | CAMP_CPU_IDLE),
                     CAMP_CPU_USER | CAMP_CPU_SYSTEM | CAMP_CPU_IDLE);
    assert_int_equal(sampled, 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, reset, reset)
    const struct CMUnitTest tests[] = {
        TEST(a_cpu_has_measured_times_of_three_states_and_all_others_are_unknown),
        TEST(cpus_are_listed_in_the_order_of_their_ids_without_those_that_are_offline),
        TEST(the_total_is_the_sum_of_the_cpus_at_the_mean_of_their_times),
        TEST(a_time_that_one_cpu_does_not_report_is_unknown_of_the_total),
        TEST(too_little_space_for_cpus_is_reported_and_the_first_are_filled),
        TEST(a_zone_that_shows_no_cpu_is_not_supported),
        TEST(kstats_are_not_read_from_the_folder_of_a_source),
        TEST(a_link_is_read_in_64_bits_and_its_driver_is_not_counted_again),
        TEST(a_value_that_ends_past_the_data_of_its_statistic_is_unknown),
        TEST(a_disk_has_both_queues_and_no_time_by_direction),
        TEST(disks_are_followed_by_their_partitions_and_pools_are_left_out),
        TEST(a_disk_that_is_removed_meanwhile_is_left_out_of_the_list),
        TEST(a_reader_sees_statistics_that_were_added_or_removed_since_it_was_opened),
        TEST(the_kernel_measures_user_system_and_idle_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
