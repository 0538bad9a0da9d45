/* The counters of the whole system and the frequency of a CPU, in valid and broken texts. */
#include "../tree.h"

#include <camp/system.h>

#define KIB 1024ull
#define S_NS 1000000000ull

/* A line of a file, and the field that is known by it (0: none). */
struct line {
    const char *text;
    uint32_t field;
};

static const struct line stat_lines[] = {
    { "cpu  1 2 3 4 5 6 7 8 9 10", 0 },          { "intr 41 7 0 34", CAMP_SYSTEM_INTERRUPTS },
    { "ctxt 42", CAMP_SYSTEM_CONTEXT_SWITCHES }, { "btime 1700000000", CAMP_SYSTEM_BOOT_TIME },
    { "processes 43", CAMP_SYSTEM_FORKS },       { "procs_running 3", CAMP_SYSTEM_RUNNING },
    { "procs_blocked 2", CAMP_SYSTEM_BLOCKED },  { "softirq 9 1 8", 0 },
};

static const struct line vmstat_lines[] = {
    { "nr_free_pages 5", 0 },
    { "pgpgin 11", CAMP_SYSTEM_PAGED_IN },
    { "pgpgout 12", CAMP_SYSTEM_PAGED_OUT },
    { "pswpin 13", CAMP_SYSTEM_SWAPPED_IN },
    { "pswpout 14", CAMP_SYSTEM_SWAPPED_OUT },
    { "pgfault 15", CAMP_SYSTEM_FAULTS },
    { "pgmajfault 16", CAMP_SYSTEM_MAJOR_FAULTS },
    { "pgsteal_direct 17", CAMP_SYSTEM_RECLAIMED },
    { "pgscan_kswapd 18", CAMP_SYSTEM_SCANNED },
    { "pgscan_direct_throttle 5", 0 },
    { "pgscan_anon 3", 0 },
};

static const struct line io_lines[] = {
    { "some avg10=2.87 avg60=2.63 avg300=2.61 total=493", CAMP_SYSTEM_IO_SOME },
    { "full avg10=0.00 avg60=1.22 avg300=1.88 total=164", CAMP_SYSTEM_IO_FULL },
};

static const struct line cpu_lines[] = {
    { "some avg10=2.87 avg60=2.63 avg300=2.61 total=7", CAMP_SYSTEM_CPU_SOME },
    { "full avg10=0.00 avg60=0.00 avg300=0.00 total=0", 0 },
};

static const struct file {
    const char *name;
    const struct line *lines;
    size_t count;
} files[] = {
    { "stat", stat_lines, COUNT(stat_lines) },
    { "vmstat", vmstat_lines, COUNT(vmstat_lines) },
    { "pressure/io", io_lines, COUNT(io_lines) },
    { "pressure/cpu", cpu_lines, COUNT(cpu_lines) },
};

#define NO_LINE SIZE_MAX

/* Reads a tree with one file, from which the line with index `without` was left out. */
static struct camp_system read_lines(const struct file *file, size_t without)
{
    struct camp_system system;
    struct camp_error error = { 0 };
    struct tree tree;
    char text[1024] = "";

    for (size_t i = 0; i < file->count; i++) {
        if (i != without)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", file->lines[i].text);
    }
    tree = text_tree(file->name, text);
    if (camp_system_read(source_of(&tree), CAMP_SYSTEM_ALL, &system, sizeof system, &error) !=
        CAMP_OK)
        fail_msg("%s: %s", file->name, error.message);
    remove_tree(&tree);
    return system;
}

static void each_line_makes_one_field_known_and_no_other(void **state)
{
    (void)state;
    for (size_t f = 0; f < COUNT(files); f++) {
        uint32_t all = 0;

        for (size_t i = 0; i < files[f].count; i++)
            all |= files[f].lines[i].field;
        assert_int_equal(read_lines(&files[f], NO_LINE).known, all);
        for (size_t i = 0; i < files[f].count; i++)
            assert_int_equal(read_lines(&files[f], i).known, all & ~files[f].lines[i].field);
    }
}

static void numbers_are_converted_to_bytes_and_nanoseconds(void **state)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const struct camp_system stat = read_lines(&files[0], NO_LINE),
                             vmstat = read_lines(&files[1], NO_LINE),
                             io = read_lines(&files[2], NO_LINE);

    (void)state;
    assert_int_equal(stat.boot_time_ns, 1700000000 * S_NS);
    assert_int_equal(stat.interrupts, 41);
    assert_int_equal(stat.context_switches, 42);
    assert_int_equal(stat.forks, 43);
    assert_int_equal(stat.running, 3);
    assert_int_equal(stat.blocked, 2);
    assert_int_equal(vmstat.paged_in_bytes, 11 * KIB);
    assert_int_equal(vmstat.paged_out_bytes, 12 * KIB);
    assert_int_equal(vmstat.swapped_in_bytes, 13 * page);
    assert_int_equal(vmstat.swapped_out_bytes, 14 * page);
    assert_int_equal(vmstat.faults, 15);
    assert_int_equal(vmstat.major_faults, 16);
    assert_int_equal(vmstat.reclaimed_bytes, 17 * page);
    assert_int_equal(vmstat.scanned_bytes, 18 * page);
    assert_int_equal(io.io_some_ns, 493000);
    assert_int_equal(io.io_full_ns, 164000);
}

static int read_text(const char *name, const char *text, struct camp_system *ret)
{
    struct tree tree = text_tree(name, text);
    int r = camp_system_read(source_of(&tree), CAMP_SYSTEM_ALL, ret, sizeof *ret, NULL);

    remove_tree(&tree);
    return r;
}

static void pages_that_several_parts_of_the_kernel_reclaim_are_added_up(void **state)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct camp_system system;

    (void)state;
    assert_int_equal(read_text("vmstat",
                               "pgsteal_kswapd 1\npgsteal_direct 2\npgsteal_khugepaged 4\n"
                               "pgsteal_proactive 8\npgsteal_anon 5\npgsteal_file 10\n",
                               &system),
                     CAMP_OK);
    assert_int_equal(system.known, CAMP_SYSTEM_RECLAIMED);
    assert_int_equal(system.reclaimed_bytes, 15 * page);
}

static void load_averages_have_two_decimals(void **state)
{
    struct camp_system system;

    (void)state;
    assert_int_equal(read_text("loadavg", "10.05 4.50 0.09 19/176 1903\n", &system), CAMP_OK);
    assert_int_equal(system.known, CAMP_SYSTEM_LOAD_AVERAGE_1 | CAMP_SYSTEM_LOAD_AVERAGE_5 |
                                       CAMP_SYSTEM_LOAD_AVERAGE_15);
    assert_true(system.load_average_1 == 10.05 && system.load_average_5 == 4.5 &&
                system.load_average_15 == 0.09);
}

static void files_that_do_not_exist_leave_their_fields_unknown(void **state)
{
    struct camp_source source = { .proc = "/nowhere" };
    struct camp_system system;

    (void)state;
    memset(&system, 77, sizeof system);
    assert_int_equal(camp_system_read(&source, CAMP_SYSTEM_ALL, &system, sizeof system, NULL),
                     CAMP_OK);
    assert_int_equal(system.known, 0);
    assert_int_equal(system.forks, 0);
    assert_true(system.time_ns > 0);
}

static void only_files_with_a_wanted_field_are_read(void **state)
{
    struct tree tree = text_tree("stat", "ctxt broken\n");
    struct camp_system system;

    (void)state;
    assert_int_equal(camp_system_read(source_of(&tree), CAMP_SYSTEM_ALL & ~CAMP_SYSTEM_FORKS,
                                      &system, sizeof system, NULL),
                     CAMP_E_FORMAT);
    assert_int_equal(
        camp_system_read(source_of(&tree), CAMP_SYSTEM_FAULTS, &system, sizeof system, NULL),
        CAMP_OK);
    remove_tree(&tree);
    assert_int_equal(camp_system_read(NULL, 0, NULL, 0, NULL), CAMP_E_INVALID);
}

/* The line of interrupts is longer than any buffer of the library on a machine with many. */
static void lines_after_a_line_of_any_length_are_read(void **state)
{
    const size_t lengths[] = { 4000, 4086, 4090, 4091, 4092, 4096, 8192, 100001 };

    (void)state;
    for (size_t i = 0; i < COUNT(lengths); i++) {
        char *text = calloc(1, lengths[i] + 64);
        struct camp_system system;

        assert_non_null(text);
        memset(text, '0', lengths[i]);
        memcpy(text, "intr 7 ", 7);
        memcpy(text + lengths[i], "\nctxt 8\nprocesses 9\n", 20);
        assert_int_equal(read_text("stat", text, &system), CAMP_OK);
        assert_int_equal(system.known,
                         CAMP_SYSTEM_INTERRUPTS | CAMP_SYSTEM_CONTEXT_SWITCHES | CAMP_SYSTEM_FORKS);
        assert_int_equal(system.interrupts, 7);
        assert_int_equal(system.context_switches, 8);
        assert_int_equal(system.forks, 9);
        free(text);
    }
}

static void broken_texts_are_format_errors(void **state)
{
    static const char *const texts[][2] = {
        { "stat", "ctxt 4" }, /* truncated: it may be 47 */
        { "stat", "ctxt \n" },
        { "stat", "ctxt -1\n" },
        { "stat", "ctxt 1x\n" },
        { "stat", "processes 99999999999999999999\n" },
        { "stat", "btime 18446744074\n" }, /* 2^64 ns */
        { "vmstat", "pswpin 18446744073709551615\n" },
        { "vmstat", "pgscan_kswapd 4503599627370495\npgscan_direct 4503599627370495\n" },
        { "loadavg", "0.1 0.20 0.30 1/2 3\n" },
        { "loadavg", "0.10 0.20\n" },
        { "loadavg", "\n" },
        { "pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00\n" },
        { "pressure/io", "full avg10=0.00 total=1x\n" },
        { "pressure/memory", "some total=18446744073709551615\n" },
    };
    struct camp_system system = { .known = 77 };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        if (read_text(texts[i][0], texts[i][1], &system) != CAMP_E_FORMAT)
            fail_msg("\"%s\" was taken", texts[i][1]);
    assert_int_equal(system.known, 77);
}

static int frequency_in(const char *name, const char *text, int32_t cpu, uint64_t *ret_hz)
{
    struct tree tree = text_tree(name, text);
    int r = camp_cpu_frequency_hz(source_of(&tree), cpu, ret_hz, NULL);

    remove_tree(&tree);
    return r;
}

static void the_frequency_in_cpuinfo_is_that_of_the_requested_cpu(void **state)
{
    static const char text[] = "processor\t: 0\ncpu MHz\t\t: 2599.998\nflags\t: a b\n\n"
                               "processor\t: 2\ncpu MHz\t\t: 800\n\n"
                               "processor\t: 3\nflags\t: a b\n\n"
                               "cpu number      : 4\ncpu MHz dynamic : 5200\n"
                               "processor\t: 5\nclock\t\t: 3425.000000MHz\n"
                               "processor\t: 6\ncpu MHz\t\t: fast\n";
    uint64_t hz = 77;

    (void)state;
    assert_int_equal(frequency_in("cpuinfo", text, 0, &hz), CAMP_OK);
    assert_int_equal(hz, 2599998000);
    assert_int_equal(frequency_in("cpuinfo", text, 2, &hz), CAMP_OK);
    assert_int_equal(hz, 800000000);
    assert_int_equal(frequency_in("cpuinfo", text, 4, &hz), CAMP_OK);
    assert_int_equal(hz, 5200000000);
    assert_int_equal(frequency_in("cpuinfo", text, 5, &hz), CAMP_OK);
    assert_int_equal(hz, 3425000000);
    hz = 77;
    assert_int_equal(frequency_in("cpuinfo", text, 1, &hz), CAMP_E_GONE);
    assert_int_equal(frequency_in("cpuinfo", text, 3, &hz), CAMP_E_NOTSUP);
    assert_int_equal(frequency_in("cpuinfo", text, 6, &hz), CAMP_E_FORMAT);
    assert_int_equal(frequency_in("cpuinfo", text, CAMP_CPU_TOTAL, &hz), CAMP_E_INVALID);
    assert_int_equal(hz, 77);
}

/* A folder that has both files: cpuinfo says 1 MHz. */
static int frequency_beside_cpuinfo(const char *khz, uint64_t *ret_hz)
{
    struct tree tree = text_tree("cpuinfo", "processor\t: 7\ncpu MHz\t\t: 1\n");
    char path[PATH_MAX + 64];
    static const char *const folders[] = { "devices", "devices/system", "devices/system/cpu",
                                           "devices/system/cpu/cpu7",
                                           "devices/system/cpu/cpu7/cpufreq" };
    FILE *file;
    int r;

    for (size_t i = 0; i < COUNT(folders); i++) {
        snprintf(path, sizeof path, "%s/%s", tree.folder, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(path, sizeof path, "%s/%s/scaling_cur_freq", tree.folder, folders[4]);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(khz, file);
    fclose(file);
    r = camp_cpu_frequency_hz(&(struct camp_source){ tree.folder, tree.folder }, 7, ret_hz, NULL);
    unlink(path);
    for (size_t i = COUNT(folders); i > 0; i--) {
        snprintf(path, sizeof path, "%s/%s", tree.folder, folders[i - 1]);
        rmdir(path);
    }
    remove_tree(&tree);
    return r;
}

static void cpufreq_is_preferred_unless_it_does_not_know(void **state)
{
    uint64_t hz;

    (void)state;
    assert_int_equal(frequency_beside_cpuinfo("3600000\n", &hz), CAMP_OK);
    assert_int_equal(hz, 3600000000);
    assert_int_equal(frequency_beside_cpuinfo("<unknown>\n", &hz), CAMP_OK);
    assert_int_equal(hz, 1000000);
    assert_int_equal(frequency_beside_cpuinfo("0\n", &hz), CAMP_OK);
    assert_int_equal(hz, 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_makes_one_field_known_and_no_other),
        cmocka_unit_test(numbers_are_converted_to_bytes_and_nanoseconds),
        cmocka_unit_test(pages_that_several_parts_of_the_kernel_reclaim_are_added_up),
        cmocka_unit_test(load_averages_have_two_decimals),
        cmocka_unit_test(files_that_do_not_exist_leave_their_fields_unknown),
        cmocka_unit_test(only_files_with_a_wanted_field_are_read),
        cmocka_unit_test(lines_after_a_line_of_any_length_are_read),
        cmocka_unit_test(broken_texts_are_format_errors),
        cmocka_unit_test(the_frequency_in_cpuinfo_is_that_of_the_requested_cpu),
        cmocka_unit_test(cpufreq_is_preferred_unless_it_does_not_know),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
