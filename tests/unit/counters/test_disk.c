/* Parses texts of /proc/diskstats and /sys/block, and distinguishes disks from partitions. */
#include "../tree.h"

#include "counters/linux/parse.h"

#define SECTOR 512ull
#define MS 1000000ull
#define LONG_NAME "a234567890123456789012345678901234567890123456789012345678901234"

static struct camp_disk disks[32];
static size_t count;

static void read_all(const char *name, int kind)
{
    struct tree tree = stored_tree(name);

    assert_int_equal(camp_disk_read_all(source_of(&tree), kind, disks, sizeof *disks, COUNT(disks),
                                        &count, NULL),
                     CAMP_OK);
}

static void columns_of_diskstats_are_converted_to_bytes_and_ns(void **state)
{
    (void)state;
    read_all("desktop-2.6.32", CAMP_DISK_ANY);
    assert_int_equal(count, 13);
    assert_string_equal(disks[2].name, "sda");
    assert_int_equal(disks[2].reads, 12000);
    assert_int_equal(disks[2].read_bytes, 480000 * SECTOR);
    assert_int_equal(disks[2].read_ns, 90000 * MS);
    assert_int_equal(disks[2].writes, 8000);
    assert_int_equal(disks[2].written_bytes, 120000 * SECTOR);
    assert_int_equal(disks[2].write_ns, 60000 * MS);
    assert_int_equal(disks[2].in_flight, 3);
    assert_int_equal(disks[2].busy_ns, 40000 * MS);
    assert_int_equal(disks[2].queue_ns, 150000 * MS);
}

static void a_partition_is_recognised_by_the_disk_listed_before_it(void **state)
{
    static const struct {
        const char *name;
        int kind;
    } expected[] = {
        { "ram0", 1 },  { "ram1", 1 },    { "sda", 1 },        { "sda1", 2 },
        { "sda2", 2 },  { "sdaa", 1 },    { "cciss!c0d0", 1 }, { "cciss!c0d0p1", 2 },
        { "xvda1", 1 }, { "nvme0n1", 1 }, { "nvme0n1p1", 2 },  { "dm-1", 1 },
        { "dm-10", 1 },
    };

    (void)state;
    read_all("desktop-2.6.32", CAMP_DISK_ANY);
    assert_int_equal(count, COUNT(expected));
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(disks[i].name, expected[i].name);
        assert_int_equal(disks[i].kind, expected[i].kind);
    }
}

static void only_the_requested_disks_or_partitions_are_listed(void **state)
{
    (void)state;
    read_all("desktop-2.6.32", CAMP_DISK_PARTITION);
    assert_int_equal(count, 4);
    read_all("desktop-2.6.32", CAMP_DISK_WHOLE);
    assert_int_equal(count, 9);
}

static void a_physical_disk_is_one_with_a_device_in_sysfs(void **state)
{
    struct tree without_sys = stored_tree("desktop-2.6.32");

    (void)state;
    read_all("vm-6.18", CAMP_DISK_PHYSICAL); /* 8 loop devices, vda and zram0 */
    assert_int_equal(count, 1);
    assert_string_equal(disks[0].name, "vda");
    assert_int_equal(disks[0].kind, CAMP_DISK_WHOLE);
    assert_int_equal(camp_disk_read_all(source_of(&without_sys), CAMP_DISK_PHYSICAL, disks,
                                        sizeof *disks, COUNT(disks), &count, NULL),
                     CAMP_E_GONE);
}

static void the_name_of_a_partition_is_the_name_of_its_disk_and_a_number(void **state)
{
    (void)state;
    assert_true(camp_disk_is_partition_name("sda", "sda1"));
    assert_true(camp_disk_is_partition_name("sda", "sda15"));
    assert_true(camp_disk_is_partition_name("md1", "md1p2"));
    assert_true(camp_disk_is_partition_name("mmcblk0", "mmcblk0p1"));
    assert_false(camp_disk_is_partition_name("sda", "sda"));
    assert_false(camp_disk_is_partition_name("sda", "sda0"));
    assert_false(camp_disk_is_partition_name("sda", "sdap1"));
    assert_false(camp_disk_is_partition_name("sda", "sdb1"));
    assert_false(camp_disk_is_partition_name("loop1", "loop10"));
    assert_false(camp_disk_is_partition_name("mmcblk0", "mmcblk0boot0"));
    assert_false(camp_disk_is_partition_name("mmcblk0", "mmcblk0boot1"));
    assert_false(camp_disk_is_partition_name("", "7"));
    assert_false(camp_disk_is_partition_name("", "p7"));
}

static void without_sysfs_a_single_disk_is_read_from_diskstats(void **state)
{
    struct tree tree = stored_tree("desktop-2.6.32");
    struct camp_error error = { 0 };
    struct camp_disk disk;

    (void)state;
    read_all("desktop-2.6.32", CAMP_DISK_ANY);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(
            camp_disk_read(source_of(&tree), disks[i].name, &disk, sizeof disk, &error), CAMP_OK);
        assert_int_equal(error.code, CAMP_OK); /* a missing file of /sys is not reported */
        disk.time_ns = disks[i].time_ns;
        assert_memory_equal(&disk, &disks[i], sizeof disk);
    }
    assert_int_equal(camp_disk_read(source_of(&tree), "cciss/c0d0p1", &disk, sizeof disk, NULL),
                     CAMP_OK);
    assert_string_equal(disk.name, "cciss!c0d0p1");
    assert_int_equal(camp_disk_read(source_of(&tree), "sdb", &disk, sizeof disk, NULL),
                     CAMP_E_GONE);
}

static void a_single_disk_is_read_from_its_file_in_sysfs(void **state)
{
    struct tree tree = stored_tree("vm-6.18");
    struct camp_disk disk;

    (void)state;
    strcpy(tree.folder, "/nowhere"); /* without diskstats, only /sys can be read */
    assert_int_equal(camp_disk_read(source_of(&tree), "vda", &disk, sizeof disk, NULL), CAMP_OK);
    assert_int_equal(disk.kind, CAMP_DISK_WHOLE);
    assert_true(disk.reads > 0 && disk.read_bytes > disk.reads * SECTOR);
}

static void a_disk_name_that_is_a_path_out_of_sysfs_is_refused(void **state)
{
    static const char *const names[] = { "", ".", "..", LONG_NAME };
    struct tree tree = stored_tree("vm-6.18");
    struct camp_disk disk;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        assert_int_equal(camp_disk_read(source_of(&tree), names[i], &disk, sizeof disk, NULL),
                         CAMP_E_INVALID);
    assert_int_equal(camp_disk_read(source_of(&tree), "vda/../vda", &disk, sizeof disk, NULL),
                     CAMP_E_GONE);
    assert_int_equal(camp_disk_read(source_of(&tree), "../block/vda", &disk, sizeof disk, NULL),
                     CAMP_E_GONE);
    assert_int_equal(camp_disk_read_all(source_of(&tree), 4, disks, sizeof *disks, 1, &count, NULL),
                     CAMP_E_INVALID);
}

static int read_text(const char *text)
{
    struct tree tree = text_tree("diskstats", text);
    int result = camp_disk_read_all(source_of(&tree), CAMP_DISK_ANY, disks, sizeof *disks,
                                    COUNT(disks), &count, NULL);

    remove_tree(&tree);
    return result;
}

static void disks_without_any_io_are_listed(void **state)
{
    (void)state;
    assert_int_equal(read_text("   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                               "   7       1 loop1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 07\n"
                               "   7       2 loop2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                               "   7       3 loop3 0 0 0 0 0 0 0 0 0 0 9 0 0 0 0 0 0\n"),
                     CAMP_OK);
    assert_int_equal(count, 4);
    assert_int_equal(disks[0].queue_ns, 0);
    assert_int_equal(disks[3].queue_ns, 9 * MS);
}

static void a_machine_without_disks_has_an_empty_list(void **state)
{
    (void)state;
    assert_int_equal(read_text(""), CAMP_OK);
    assert_int_equal(count, 0);
}

static void a_broken_diskstats_is_a_format_error(void **state)
{
    static const char *const texts[] = {
        "\n",
        "8 0 sda\n",
        "8 0 sda 1 2 3 4 5 6 7 8 9 10\n",
        "8 0 sda 1 2 3 4 5 6 7 8 9 10 1",
        "8 0 sda 1 2 3 4 5 6 7 8 -9 10 11\n",
        "8 0 sda 1 2 3 4 5 6 7 8 9 10 11 x\n",
        "8 0 sda 1 2 3 4 5 6 7 8 9 10 18446744073709551615\n", /* exceeds 64 bits in ns */
        "8 x sda 1 2 3 4 5 6 7 8 9 10 11\n",
        "8 0 " LONG_NAME " 1 2 3 4 5 6 7 8 9 10 11\n",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        if (read_text(texts[i]) != CAMP_E_FORMAT)
            fail_msg("\"%s\" was taken", texts[i]);
}

static void a_diskstats_line_longer_than_the_buffer_is_a_format_error(void **state)
{
    char *text = malloc(100001);

    (void)state;
    memset(text, '1', 100000);
    text[99999] = '\n';
    text[100000] = '\0';
    assert_int_equal(read_text(text), CAMP_E_FORMAT);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_diskstats_are_converted_to_bytes_and_ns),
        cmocka_unit_test(a_partition_is_recognised_by_the_disk_listed_before_it),
        cmocka_unit_test(only_the_requested_disks_or_partitions_are_listed),
        cmocka_unit_test(a_physical_disk_is_one_with_a_device_in_sysfs),
        cmocka_unit_test(the_name_of_a_partition_is_the_name_of_its_disk_and_a_number),
        cmocka_unit_test(without_sysfs_a_single_disk_is_read_from_diskstats),
        cmocka_unit_test(a_single_disk_is_read_from_its_file_in_sysfs),
        cmocka_unit_test(a_disk_name_that_is_a_path_out_of_sysfs_is_refused),
        cmocka_unit_test(disks_without_any_io_are_listed),
        cmocka_unit_test(a_machine_without_disks_has_an_empty_list),
        cmocka_unit_test(a_broken_diskstats_is_a_format_error),
        cmocka_unit_test(a_diskstats_line_longer_than_the_buffer_is_a_format_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
