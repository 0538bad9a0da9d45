/* Parses the files of a process from fixtures: unusual names, sums over threads, and files that are
 * missing, truncated or broken. */
#include "../process_tree.h"

static struct camp_error error;

static int read_result(const char *name, int32_t pid, uint32_t wanted)
{
    const struct camp_source *source = tree(name);
    struct camp_process process;
    struct camp_task task;
    int r;

    error = (struct camp_error){ 0 };
    assert_int_equal(camp_process_identify(source, pid, &process, sizeof process, NULL), CAMP_OK);
    r = camp_process_read(source, &process, wanted, &task, sizeof task, &error);
    assert_int_equal(error.code, r);
    return r;
}

static void a_process_name_ends_at_the_last_closing_parenthesis_of_stat(void **state)
{
    struct camp_task task = read_task("tree", 100, CAMP_TASK_NAME);

    (void)state;
    assert_string_equal(task.name, "a) b (c\nd");
    assert_int_equal(task.state, 'S');
    assert_int_equal(task.parent, 2);
}

static void each_number_in_stat_is_read_from_its_own_field(void **state)
{
    struct camp_task task = read_task("tree", 100, CAMP_TASK_CPU);

    (void)state;
    assert_int_equal(task.start, 4711);
    assert_int_equal(task.started_ns, 47110000000);
    assert_int_equal(task.user_ns, 2500000000);
    assert_int_equal(task.system_ns, 750000000);
    assert_int_equal(task.split_provenance, CAMP_SCALED);
    assert_int_equal(task.minor_faults, 100);
    assert_int_equal(task.major_faults, 3);
    assert_int_equal(task.virtual_bytes, 8192000);
    assert_int_equal(task.resident_bytes, 321 * getpagesize());
    assert_int_equal(task.threads, 1);
}

static void the_cpu_time_in_a_stored_stat_file_is_read_in_units_of_10_ms(void **state)
{
    struct camp_task task = read_task("tree", 100, CAMP_TASK_CPU);

    (void)state;
    assert_int_equal(task.cpu_ns, 3250000000);
    assert_int_equal(task.cpu_resolution_ns, 10000000);
    assert_int_equal(task.cpu_provenance, CAMP_MEASURED);
}

static void camp_reads_only_the_file_stat_of_a_process_unless_more_is_requested(void **state)
{
    const uint32_t of_stat =
        CAMP_TASK_USER | CAMP_TASK_SYSTEM | CAMP_TASK_MINOR_FAULTS | CAMP_TASK_MAJOR_FAULTS |
        CAMP_TASK_FAULTS | CAMP_TASK_VIRTUAL | CAMP_TASK_RESIDENT | CAMP_TASK_THREADS |
        CAMP_TASK_START | CAMP_TASK_STATE | CAMP_TASK_NAME | CAMP_TASK_PARENT | CAMP_TASK_CHILDREN;
    const uint32_t of_other_systems = CAMP_TASK_SAMPLED | CAMP_TASK_COMMITTED | CAMP_TASK_HANDLES |
                                      CAMP_TASK_OTHER_BYTES | CAMP_TASK_CYCLES;

    (void)state;
    assert_int_equal(read_task("tree", 100, CAMP_TASK_NAME).known, of_stat);
    assert_int_equal(read_task("tree", 100, CAMP_TASK_READ_BYTES).known,
                     of_stat | CAMP_TASK_READ_BYTES | CAMP_TASK_WRITTEN_BYTES);
    assert_int_equal(read_task("tree", 100, CAMP_TASK_ALL).known,
                     CAMP_TASK_ALL & ~of_other_systems);
}

static void run_delay_and_switches_and_bytes_of_a_one_thread_process_are_read(void **state)
{
    struct camp_task task = read_task("tree", 100, CAMP_TASK_ALL);

    (void)state;
    assert_int_equal(task.run_delay_ns, 123456789);
    assert_int_equal(task.voluntary_switches, 17);
    assert_int_equal(task.involuntary_switches, 4);
    assert_int_equal(task.read_bytes, 4096);
    assert_int_equal(task.written_bytes, 12288);
}

static void run_delay_and_switches_of_a_process_are_sums_of_its_threads(void **state)
{
    struct camp_task task = read_task("tree", 200, CAMP_TASK_RUN_DELAY | CAMP_TASK_SWITCHES);

    (void)state;
    assert_int_equal(task.threads, 3);
    assert_int_equal(task.run_delay_ns, 321000);
    assert_int_equal(task.voluntary_switches, 600);
    assert_int_equal(task.involuntary_switches, 6);
    assert_int_equal(task.switches, 606);
}

static void process_values_from_a_missing_file_are_unknown(void **state)
{
    struct camp_task task = read_task("beside", 33, CAMP_TASK_ALL);

    (void)state;
    assert_int_equal(task.known & (CAMP_TASK_RUN_DELAY | CAMP_TASK_VOLUNTARY_SWITCHES |
                                   CAMP_TASK_INVOLUNTARY_SWITCHES | CAMP_TASK_SWITCHES |
                                   CAMP_TASK_READ_BYTES | CAMP_TASK_WRITTEN_BYTES),
                     0);
    assert_int_equal(task.known & CAMP_TASK_SAMPLED, 0);
    assert_true((task.known & CAMP_TASK_CPU) != 0);
}

static void run_delay_is_unknown_if_schedstat_is_zero_although_the_task_ran(void **state)
{
    (void)state;
    /* schedstat of both processes is "0 0 0". The first process has run for 3.25 s, the second is a
     * kernel thread that has never run. */
    assert_int_equal(read_task("tree", 4194304, CAMP_TASK_RUN_DELAY).known & CAMP_TASK_RUN_DELAY,
                     0);
    assert_true((read_task("tree", 2, CAMP_TASK_RUN_DELAY).known & CAMP_TASK_RUN_DELAY) != 0);
}

static void a_truncated_schedstat_or_status_or_io_file_is_a_format_error(void **state)
{
    (void)state;
    assert_int_equal(read_result("beside", 30, CAMP_TASK_RUN_DELAY), CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "/30/schedstat is not "));
    assert_int_equal(read_result("beside", 31, CAMP_TASK_INVOLUNTARY_SWITCHES), CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "/31/status is not "));
    assert_int_equal(read_result("beside", 32, CAMP_TASK_WRITTEN_BYTES), CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "/32/io is not "));
    assert_int_equal(read_result("beside", 35, CAMP_TASK_RUN_DELAY), CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "/35/task/36/schedstat is not "));
}

static void a_status_file_with_thousands_of_groups_is_read_to_its_end(void **state)
{
    struct camp_task task = read_task("beside", 34, CAMP_TASK_SWITCHES);

    (void)state;
    assert_int_equal(task.voluntary_switches, 8);
    assert_int_equal(task.involuntary_switches, 9);
}

static void a_truncated_or_empty_or_binary_stat_file_is_a_format_error(void **state)
{
    (void)state;
    for (int32_t pid = 10; pid <= 18; pid++) {
        struct camp_process process = { .pid = -7 };
        int r = camp_process_identify(tree("bad"), pid, &process, sizeof process, &error);

        if (pid == 16) { /* a valid line, but its time exceeds 64 bits in ns */
            assert_int_equal(read_result("bad", pid, CAMP_TASK_CPU), CAMP_E_FORMAT);
            continue;
        }
        if (r != CAMP_E_FORMAT)
            fail_msg("stat of %d was taken for a stat line", pid);
        assert_int_equal(error.code, CAMP_E_FORMAT);
        assert_int_equal(process.pid, -7);
    }
}

static void a_stat_line_is_accepted_only_if_it_has_every_needed_field(void **state)
{
    static const char line[] = "7 (x) S 1 7 7 0 -1 0 11 0 12 0 13 14 0 0 20 0 15 0 16 17 18 0 0\n";
    const size_t needed = sizeof "7 (x) S 1 7 7 0 -1 0 11 0 12 0 13 14 0 0 20 0 15 0 16 17 18 " - 1;
    struct stat_line whole, part;

    (void)state;
    assert_true(camp_stat_parse(cursor_of(line, sizeof line - 1), &whole));
    assert_int_equal(whole.resident_pages, 18);
    for (size_t length = 0; length < sizeof line; length++) {
        bool parsed = camp_stat_parse(cursor_of(line, length), &part);

        assert_int_equal(parsed, length >= needed);
        if (parsed)
            assert_int_equal(part.resident_pages, 18);
    }
}

static void the_largest_64_bit_number_is_read_from_schedstat(void **state)
{
    static const char largest[] = "18446744073709551615 00000000000000000000007 1\n";
    static const char larger[] = "18446744073709551616 0 0\n";
    struct schedstat_line line;

    (void)state;
    assert_true(camp_schedstat_parse(cursor_of(largest, sizeof largest - 1), &line));
    assert_true(line.run_ns == UINT64_MAX);
    assert_int_equal(line.run_delay_ns, 7);
    assert_false(camp_schedstat_parse(cursor_of(larger, sizeof larger - 1), &line));
}

static void a_process_with_another_start_time_is_reported_as_gone(void **state)
{
    const struct camp_process process = { .pid = 100, .start = 4710 };
    struct camp_reader reader = { { 0 } };
    struct camp_task task = { .known = 77 };

    (void)state;
    assert_int_equal(
        camp_process_read(tree("tree"), &process, CAMP_TASK_NAME, &task, sizeof task, NULL),
        CAMP_E_GONE);
    assert_int_equal(
        camp_process_read(tree("tree"), &process, CAMP_TASK_ALL, &task, sizeof task, NULL),
        CAMP_E_GONE);
    assert_int_equal(camp_reader_open_process(&reader, tree("tree"), &process, NULL), CAMP_E_GONE);
    assert_memory_equal(&reader, &(struct camp_reader){ { 0 } }, sizeof reader);
    assert_int_equal(task.known, 77);
}

static void an_exiting_process_is_reported_as_gone(void **state)
{
    const struct camp_process process = { .pid = 20, .start = 4711 };
    struct camp_task task;

    (void)state;
    assert_int_equal(
        camp_process_read(tree("ending"), &process, CAMP_TASK_CPU, &task, sizeof task, NULL),
        CAMP_E_GONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_name_ends_at_the_last_closing_parenthesis_of_stat),
        cmocka_unit_test(each_number_in_stat_is_read_from_its_own_field),
        cmocka_unit_test(the_cpu_time_in_a_stored_stat_file_is_read_in_units_of_10_ms),
        cmocka_unit_test(camp_reads_only_the_file_stat_of_a_process_unless_more_is_requested),
        cmocka_unit_test(run_delay_and_switches_and_bytes_of_a_one_thread_process_are_read),
        cmocka_unit_test(run_delay_and_switches_of_a_process_are_sums_of_its_threads),
        cmocka_unit_test(process_values_from_a_missing_file_are_unknown),
        cmocka_unit_test(run_delay_is_unknown_if_schedstat_is_zero_although_the_task_ran),
        cmocka_unit_test(a_truncated_schedstat_or_status_or_io_file_is_a_format_error),
        cmocka_unit_test(a_status_file_with_thousands_of_groups_is_read_to_its_end),
        cmocka_unit_test(a_truncated_or_empty_or_binary_stat_file_is_a_format_error),
        cmocka_unit_test(a_stat_line_is_accepted_only_if_it_has_every_needed_field),
        cmocka_unit_test(the_largest_64_bit_number_is_read_from_schedstat),
        cmocka_unit_test(a_process_with_another_start_time_is_reported_as_gone),
        cmocka_unit_test(an_exiting_process_is_reported_as_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
