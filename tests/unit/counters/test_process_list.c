/* Lists of processes and threads from fixtures, finding of processes, and the utilisation of a
 * process. */
#include "../process_tree.h"
#include "../tree.h"

/* assert_float_equal() of cmocka would round to float. */
static void assert_near(double value, double expected)
{
    if (value < expected - 1e-6 || value > expected + 1e-6)
        fail_msg("%f, expected %f", value, expected);
}

static void the_numeric_folders_of_proc_are_listed_as_pids_in_ascending_order(void **state)
{
    static const int32_t expected[] = { 2, 100, 200, 4194304 };
    struct camp_pid pids[8];
    size_t count;

    (void)state;
    assert_int_equal(camp_pid_list(tree("tree"), pids, sizeof pids[0], 8, &count, NULL), CAMP_OK);
    assert_int_equal(count, COUNT(expected));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pids[i].pid, expected[i]);
        assert_true(pids[i].token != 0);
    }
}

static void an_array_that_is_too_short_gets_the_first_pids(void **state)
{
    struct camp_pid pids[3] = { [2] = { .pid = -5 } };
    size_t count;

    (void)state;
    assert_int_equal(camp_pid_list(tree("tree"), pids, sizeof pids[0], 2, &count, NULL),
                     CAMP_E_SPACE);
    assert_int_equal(count, 4);
    assert_int_equal(pids[0].pid, 2);
    assert_int_equal(pids[1].pid, 100);
    assert_int_equal(pids[2].pid, -5);
    assert_int_equal(camp_pid_list(tree("tree"), NULL, sizeof pids[0], 0, &count, NULL),
                     CAMP_E_SPACE);
    assert_int_equal(count, 4);
}

static void the_elements_of_a_process_list_have_the_size_that_the_caller_passes(void **state)
{
    struct larger {
        struct camp_process process;
        uint64_t later;
    } larger[4];
    int32_t pids[4];
    size_t count;

    (void)state;
    memset(larger, 0xff, sizeof larger);
    assert_int_equal(
        camp_process_list(tree("tree"), &larger[0].process, sizeof larger[0], 4, &count, NULL),
        CAMP_OK);
    assert_int_equal(count, 4);
    assert_int_equal(larger[3].process.pid, 4194304);
    assert_int_equal(larger[3].process.start, 9);
    assert_int_equal(larger[3].later, 0);
    assert_int_equal(camp_process_list(tree("tree"), (struct camp_process *)(void *)pids,
                                       sizeof pids[0], 4, &count, NULL),
                     CAMP_OK);
    assert_int_equal(pids[1], 100);
    assert_int_equal(pids[2], 200);
}

static void every_listed_process_can_be_read(void **state)
{
    struct camp_process processes[8];
    struct camp_task task;
    size_t count;

    (void)state;
    assert_int_equal(
        camp_process_list(tree("tree"), processes, sizeof processes[0], 8, &count, NULL), CAMP_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            camp_process_read(tree("tree"), &processes[i], CAMP_TASK_ALL, &task, sizeof task, NULL),
            CAMP_OK);
}

/* The test creates the link, because a link without a target may be lost in a checkout. The name of
 * the process is x, which is not the name of its executable. */
static void a_process_is_found_by_its_executable_even_if_the_file_is_deleted(void **state)
{
    static const char *const targets[] = { "/opt/x/server", "/opt/x/server (deleted)" };

    (void)state;
    for (size_t i = 0; i < COUNT(targets); i++) {
        struct tree made = text_tree("100/stat", "100 (x) S 2 100 100 0 -1 0 0 0 0 0 0 0 0 0 20 0 "
                                                 "1 0 4711 0 0\n");
        struct camp_process found[2];
        char link[PATH_MAX + 16];
        size_t count;

        snprintf(link, sizeof link, "%s/100/exe", made.folder);
        assert_int_equal(symlink(targets[i], link), 0);
        assert_int_equal(
            camp_process_find(source_of(&made), "server", found, sizeof found[0], 2, &count, NULL),
            CAMP_OK);
        assert_int_equal(count, 1);
        assert_int_equal(found[0].pid, 100);
        assert_int_equal(found[0].start, 4711);
        assert_int_equal(
            camp_process_find(source_of(&made), "x", found, sizeof found[0], 2, &count, NULL),
            CAMP_OK);
        assert_int_equal(count, 0);
        unlink(link);
        remove_tree(&made);
    }
}

/* Returns the number of processes that are found, with the executable python3.11, this process name
 * and these arguments. */
static size_t found_beside_python(const char *process_name, const char *arguments, size_t length,
                                  const char *name)
{
    char stat[256], path[PATH_MAX + 16];
    struct camp_process found[2];
    struct tree made;
    size_t count;
    FILE *file;

    snprintf(stat, sizeof stat, "100 (%s) S 2 100 100 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n",
             process_name);
    made = text_tree("100/stat", stat);
    snprintf(path, sizeof path, "%s/100/cmdline", made.folder);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(arguments, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    snprintf(path, sizeof path, "%s/100/exe", made.folder);
    assert_int_equal(symlink("/usr/bin/python3.11", path), 0);
    assert_int_equal(
        camp_process_find(source_of(&made), name, found, sizeof found[0], 2, &count, NULL),
        CAMP_OK);
    assert_true(count == 0 || found[0].start == 4711);
    unlink(path);
    snprintf(path, sizeof path, "%s/100/cmdline", made.folder);
    unlink(path);
    remove_tree(&made);
    return count;
}

#define FOUND(process_name, arguments, name)                                                       \
    found_beside_python(process_name, arguments, sizeof(arguments), name)

static void a_process_is_found_by_the_name_by_which_it_was_invoked(void **state)
{
    (void)state;
    assert_int_equal(FOUND("python3", "/usr/bin/python3\0-m\0http.server", "python3"), 1);
    assert_int_equal(FOUND("python3", "/usr/bin/python3\0-m\0http.server", "python3.11"), 1);
    assert_int_equal(FOUND("python3", "/usr/bin/python3\0-m\0http.server", "python"), 0);
    assert_int_equal(FOUND("python3", "-python3", "python3"), 1);
    assert_int_equal(FOUND("python3", "", "python3"), 0); /* the arguments were overwritten */
}

static void a_script_is_found_by_its_name_if_the_kernel_started_it(void **state)
{
    (void)state;
    assert_int_equal(FOUND("backup", "/usr/bin/python3\0/usr/bin/backup\0-v", "backup"), 1);
    assert_int_equal(FOUND("backup", "python3\0-B\0./backup", "backup"), 1);
    assert_int_equal(
        FOUND("name_of_15_byte", "python3\0/opt/name_of_15_bytes.py", "name_of_15_bytes.py"), 1);
    assert_int_equal(
        FOUND("name_of_15_byte", "python3\0/opt/name_of_15_bytes.py", "name_of_15_bytes.sh"), 0);
    /* The file was passed to the interpreter, or to a program that edits it. */
    assert_int_equal(FOUND("python3", "python3\0/usr/bin/backup", "backup"), 0);
    assert_int_equal(FOUND("backup", "python3\0-a\0-b\0backup", "backup"), 0);
}

static void a_process_without_an_exe_link_is_found_by_argv_0_or_its_name(void **state)
{
    struct camp_process found[8];
    size_t count;

    (void)state;
    /* Process 200 has an argv[0] that begins with '-', like that of a login shell. */
    assert_int_equal(
        camp_process_find(tree("tree"), "server", found, sizeof found[0], 8, &count, NULL),
        CAMP_OK);
    assert_int_equal(count, 2);
    assert_int_equal(found[0].pid, 200);
    assert_int_equal(found[1].pid, 4194304);
    assert_int_equal(
        camp_process_find(tree("tree"), "kthreadd", found, sizeof found[0], 8, &count, NULL),
        CAMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(found[0].pid, 2);
}

static void an_executable_that_is_not_running_has_no_processes(void **state)
{
    struct camp_process found[8];
    size_t count = 9;

    (void)state;
    assert_int_equal(
        camp_process_find(tree("tree"), "none", found, sizeof found[0], 8, &count, NULL), CAMP_OK);
    assert_int_equal(count, 0);
    assert_int_equal(camp_process_find(tree("tree"), "", found, sizeof found[0], 8, &count, NULL),
                     CAMP_E_INVALID);
}

static void only_the_last_part_of_a_path_names_an_executable(void **state)
{
    static const struct {
        const char *path;
        const char *name;
        bool same;
    } cases[] = {
        { "/usr/bin/camp", "camp", true },
        { "/usr/bin/camp (deleted)", "camp", true },
        { "/opt/camp (deleted)", "camp (deleted)", true },
        { "/usr/camp/bin", "camp", false },
        { "/usr/bin/bigcamp", "camp", false },
        { " (deleted)", "", false },
        { "camp", "camp", true },
        { "/usr/bin/", "", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cursor path = cursor_of(cases[i].path, strlen(cases[i].path));

        if (camp_executable_is(path, cases[i].name) != cases[i].same)
            fail_msg("%s and %s", cases[i].path, cases[i].name);
    }
}

static void threads_are_listed_in_ascending_order_with_their_start_times(void **state)
{
    const struct camp_process process = { .pid = 200, .start = 5000 };
    struct camp_thread threads[4];
    size_t count;

    (void)state;
    assert_int_equal(
        camp_thread_list(tree("tree"), &process, threads, sizeof threads[0], 4, &count, NULL),
        CAMP_OK);
    assert_int_equal(count, 3);
    assert_int_equal(threads[0].tid, 200);
    assert_int_equal(threads[1].tid, 201);
    assert_int_equal(threads[1].start, 5002);
    assert_int_equal(threads[2].tid, 305);
    assert_int_equal(threads[2].pid, 200);
}

static void the_cpu_time_of_a_thread_is_read_from_its_own_schedstat(void **state)
{
    struct camp_thread thread = { .pid = 200, .tid = 201, .start = 5002 };
    struct camp_task task;

    (void)state;
    assert_int_equal(
        camp_thread_read(tree("tree"), &thread, CAMP_TASK_ALL, &task, sizeof task, NULL), CAMP_OK);
    assert_int_equal(task.cpu_ns, 3000000000);
    assert_int_equal(task.cpu_resolution_ns, 1);
    assert_int_equal(task.run_delay_ns, 300000);
    assert_int_equal(task.minor_faults, 201);
    assert_int_equal(task.voluntary_switches, 300);
    assert_string_equal(task.name, "thread 201");
    assert_int_equal(task.known & (CAMP_TASK_READ_BYTES | CAMP_TASK_WRITTEN_BYTES), 0);
    thread.start++;
    assert_int_equal(
        camp_thread_read(tree("tree"), &thread, CAMP_TASK_ALL, &task, sizeof task, NULL),
        CAMP_E_GONE);
}

static void the_tid_of_a_second_thread_is_not_accepted_as_a_pid(void **state)
{
    struct camp_process process;

    (void)state;
    assert_int_equal(camp_process_identify(tree("thread"), 301, &process, sizeof process, NULL),
                     CAMP_E_GONE);
}

static void a_process_reader_returns_the_same_values_as_camp_process_read(void **state)
{
    const struct camp_process process = { .pid = 100, .start = 4711 };
    struct camp_reader reader = { { 0 } };
    struct camp_task read, kept;
    uint64_t cpu_ns;

    (void)state;
    assert_int_equal(camp_reader_open_process(&reader, tree("tree"), &process, NULL), CAMP_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(camp_reader_process(&reader, &kept, sizeof kept, NULL), CAMP_OK);
        read = read_task("tree", 100, CAMP_TASK_CPU);
        read.time_ns = kept.time_ns;
        assert_memory_equal(&read, &kept, sizeof read);
        assert_int_equal(camp_reader_process_cpu_ns(&reader, &cpu_ns, NULL), CAMP_OK);
        assert_int_equal(cpu_ns, read.cpu_ns);
    }
    camp_reader_close(&reader);
    assert_int_equal(camp_reader_process(&reader, &kept, sizeof kept, NULL), CAMP_E_INVALID);
}

static void a_call_without_a_process_or_without_a_result_struct_is_refused(void **state)
{
    const struct camp_process process = { .pid = 100, .start = 4711 }, none = { .pid = 0 };
    struct camp_task task;
    struct camp_task_utilisation utilisation;
    size_t count;
    uint64_t ns;

    (void)state;
    assert_int_equal(camp_process_read(NULL, &none, 0, &task, sizeof task, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_process_read(NULL, NULL, 0, &task, sizeof task, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_process_read(NULL, &process, 0, NULL, 0, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_pid_cpu_ns(0, &ns), CAMP_E_INVALID);
    assert_int_equal(camp_pid_cpu_ns(-1, &ns), CAMP_E_INVALID);
    assert_int_equal(camp_pid_list(NULL, NULL, 1, 1, &count, NULL), CAMP_E_INVALID);
    assert_int_equal(
        camp_process_utilisation(NULL, &process, 0, NULL, &utilisation, sizeof utilisation, NULL),
        CAMP_E_INVALID);
    task = read_task("tree", 200,
                     CAMP_TASK_CPU | CAMP_TASK_USER | CAMP_TASK_SYSTEM); /* another process */
    task.time_ns -= 1000000000;
    assert_int_equal(camp_process_utilisation(tree("tree"), &process, 0, &task, &utilisation,
                                              sizeof utilisation, NULL),
                     CAMP_E_INVALID);
    memset(&task, 0, sizeof task);
    assert_int_equal(
        camp_process_utilisation(NULL, &process, 0, &task, &utilisation, sizeof utilisation, NULL),
        CAMP_E_INVALID);
}

static void cpu_percent_is_split_into_user_and_system_in_the_proportion_of_the_kernel(void **state)
{
    const struct camp_process process = { .pid = 100, .start = 4711 };
    struct camp_task previous =
        read_task("tree", 100, CAMP_TASK_CPU | CAMP_TASK_USER | CAMP_TASK_SYSTEM);
    struct camp_task_utilisation utilisation;

    (void)state;
    previous.time_ns -= 1000000000;
    previous.cpu_ns -= 400000000;
    previous.user_ns -= 300000000;
    previous.system_ns -= 100000000;
    assert_int_equal(camp_process_utilisation(tree("tree"), &process, 0, &previous, &utilisation,
                                              sizeof utilisation, NULL),
                     CAMP_OK);
    /* The interval is one second and the duration of the second read. */
    assert_true(utilisation.elapsed_ns >= 1000000000 && utilisation.elapsed_ns < 60000000000);
    assert_near(utilisation.cpu_percent, 4e10 / (double)utilisation.elapsed_ns);
    assert_near(utilisation.user_percent, 0.75 * utilisation.cpu_percent);
    assert_near(utilisation.system_percent, 0.25 * utilisation.cpu_percent);
    assert_int_equal(previous.cpu_ns, 3250000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numeric_folders_of_proc_are_listed_as_pids_in_ascending_order),
        cmocka_unit_test(an_array_that_is_too_short_gets_the_first_pids),
        cmocka_unit_test(the_elements_of_a_process_list_have_the_size_that_the_caller_passes),
        cmocka_unit_test(every_listed_process_can_be_read),
        cmocka_unit_test(a_process_is_found_by_its_executable_even_if_the_file_is_deleted),
        cmocka_unit_test(a_process_is_found_by_the_name_by_which_it_was_invoked),
        cmocka_unit_test(a_script_is_found_by_its_name_if_the_kernel_started_it),
        cmocka_unit_test(a_process_without_an_exe_link_is_found_by_argv_0_or_its_name),
        cmocka_unit_test(an_executable_that_is_not_running_has_no_processes),
        cmocka_unit_test(only_the_last_part_of_a_path_names_an_executable),
        cmocka_unit_test(threads_are_listed_in_ascending_order_with_their_start_times),
        cmocka_unit_test(the_cpu_time_of_a_thread_is_read_from_its_own_schedstat),
        cmocka_unit_test(the_tid_of_a_second_thread_is_not_accepted_as_a_pid),
        cmocka_unit_test(a_process_reader_returns_the_same_values_as_camp_process_read),
        cmocka_unit_test(a_call_without_a_process_or_without_a_result_struct_is_refused),
        cmocka_unit_test(cpu_percent_is_split_into_user_and_system_in_the_proportion_of_the_kernel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
