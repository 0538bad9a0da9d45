/* Lists of processes of illumos, from a /proc that the test makes. */
#include "fake_process.h"

#include <camp/system.h>

static void processes_are_listed_in_ascending_order_whatever_the_order_of_the_folder(void **state)
{
    static const int32_t pids[] = { 900, 0, 7, 12345, 70 };
    struct camp_process processes[3];
    struct camp_pid list[8];
    size_t count;

    (void)state;
    for (size_t i = 0; i < COUNT(pids); i++)
        write_process(pids[i], "daemon");
    write_fake("self-is-no-number", "", 0);
    assert_int_equal(camp_pid_list(&fake_source, list, sizeof list[0], COUNT(list), &count, NULL),
                     CAMP_OK);
    assert_int_equal(count, 5);
    assert_int_equal(list[0].pid, 0);
    assert_int_equal(list[1].pid, 7);
    assert_int_equal(list[4].pid, 12345);
    assert_int_equal(list[4].token, STARTED);
    assert_int_equal(camp_process_list(&fake_source, processes, sizeof processes[0],
                                       COUNT(processes), &count, NULL),
                     CAMP_E_SPACE);
    assert_int_equal(count, 5);
    assert_int_equal(processes[2].pid, 70);
}

static void all_processes_are_read_with_the_values_that_each_has_alone(void **state)
{
    static const int32_t pids[] = { 900, 70, 7 };
    struct camp_process_usage usages[3];
    struct camp_task alone;
    size_t count;

    (void)state;
    for (size_t i = 0; i < COUNT(pids); i++)
        write_process(pids[i], "daemon");
    write_fake("8/exited-meanwhile", "", 0);
    assert_int_equal(camp_process_read_all(&fake_source, CAMP_TASK_ALL, usages, sizeof usages[0],
                                           COUNT(usages), &count, NULL),
                     CAMP_OK);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(usages[i].process.pid, pids[2 - i]);
        assert_int_equal(camp_process_read(&fake_source, &usages[i].process, CAMP_TASK_ALL, &alone,
                                           sizeof alone, NULL),
                         CAMP_OK);
        assert_memory_equal(&usages[i].task, &alone, sizeof alone);
    }
    assert_int_equal(
        camp_process_read_all(&fake_source, 0, usages, sizeof usages[0], 2, &count, NULL),
        CAMP_E_SPACE);
    assert_int_equal(count, 3);
}

/* Undoes what the test has done to the process, even if the test failed. */
static int restore_user_and_remove(void **state)
{
    return seteuid(getuid()) == 0 ? remove_fake_proc(state) : -1;
}

static void a_process_that_refuses_its_usage_stays_in_the_list_without_times(void **state)
{
    struct camp_process_usage usage;
    char path[PATH_MAX];
    size_t count;

    (void)state;
    write_process(70, "daemon");
    snprintf(path, sizeof path, "%s/70/usage", fake_folder);
    assert_int_equal(chmod(path, 0), 0);
    snprintf(path, sizeof path, "%s/70", fake_folder);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(chmod(fake_folder, 0755), 0);
    if (geteuid() == 0 && seteuid(65534) != 0) {
        print_message("SKIP: this user namespace has no other user\n");
        skip();
    }
    assert_int_equal(
        camp_process_read_all(&fake_source, CAMP_TASK_ALL, &usage, sizeof usage, 1, &count, NULL),
        CAMP_OK);
    assert_int_equal(count, 1);
    assert_string_equal(usage.task.name, "daemon");
    assert_int_equal(usage.task.known & (CAMP_TASK_CPU | CAMP_TASK_START), 0);
    assert_true(usage.task.time_ns > 0);
}

static size_t find(const char *executable)
{
    struct camp_process processes[4];
    size_t count;

    assert_int_equal(camp_process_find(&fake_source, executable, processes, sizeof processes[0],
                                       COUNT(processes), &count, NULL),
                     CAMP_OK);
    return count;
}

static void link_executable(int32_t pid, const char *target)
{
    char name[64], link[PATH_MAX];

    snprintf(name, sizeof name, "%d/path/other", (int)pid);
    write_fake(name, "", 0);
    snprintf(link, sizeof link, "%s/%d/path/a.out", fake_folder, (int)pid);
    assert_int_equal(symlink(target, link), 0);
}

static void a_process_is_found_by_its_executable_or_else_by_its_name(void **state)
{
    psinfo_t long_name = fake_psinfo(72, "a_name_of_15_cha", STARTED);

    (void)state;
    write_process(70, "python3");
    write_process(71, "daemon");
    link_executable(70, "/usr/bin/python3.11");
    assert_int_equal(find("python3.11"), 1);
    assert_int_equal(find("python3"), 1); /* argv[0] */
    assert_int_equal(find("python"), 0);
    assert_int_equal(find("daemon"), 1);
    assert_int_equal(find("dae"), 0);
    snprintf(long_name.pr_psargs, PRARGSZ, "/opt/bin/a_name_of_15_characters -v");
    write_psinfo(&long_name);
    assert_int_equal(find("a_name_of_15_characters"), 1);
    assert_int_equal(find("a_name_of_15_characters_too"), 0);
}

static void the_arguments_are_those_of_argv_or_else_of_psinfo(void **state)
{
    static const char now[] = "sendmail: queue runner\0-q15m", script[] = "python3\0/opt/backup\0";
    psinfo_t psinfo = fake_psinfo(70, "sendmail", STARTED);

    (void)state;
    snprintf(psinfo.pr_psargs, PRARGSZ, "/usr/lib/smtpd -q15m");
    write_psinfo(&psinfo);
    link_executable(70, "/usr/lib/sendmail");
    assert_int_equal(find("smtpd"), 1);
    assert_int_equal(find("-q15m"), 0);
    write_fake("70/argv", now, sizeof now);
    assert_int_equal(find("smtpd"), 0);
    assert_int_equal(find("sendmail: queue runner"), 1);
    assert_int_equal(find("sendmail"), 1); /* by its executable */

    psinfo = fake_psinfo(71, "backup", STARTED);
    write_psinfo(&psinfo);
    link_executable(71, "/usr/bin/python3.11");
    write_fake("71/argv", script, sizeof script);
    assert_int_equal(find("backup"), 1);
    psinfo = fake_psinfo(71, "python3", STARTED); /* the script was passed to the interpreter */
    write_psinfo(&psinfo);
    assert_int_equal(find("backup"), 0);
}

static void the_command_line_is_the_file_argv(void **state)
{
    static const char arguments[] = "dd\0if=/dev/zero\0";
    char text[32], long_text[6000];
    struct camp_process process;
    size_t length;

    (void)state;
    write_process(70, "dd");
    process = identify(70);
    assert_int_equal(camp_process_text(&fake_source, &process, CAMP_TEXT_COMMAND_LINE, text,
                                       sizeof text, &length, NULL),
                     CAMP_E_NOTSUP); /* Solaris */
    write_fake("70/argv", arguments, sizeof arguments - 1);
    assert_int_equal(camp_process_text(&fake_source, &process, CAMP_TEXT_COMMAND_LINE, text,
                                       sizeof text, &length, NULL),
                     CAMP_OK);
    assert_int_equal(length, 16);
    assert_memory_equal(text, arguments, 16);
    memset(long_text, 'a', sizeof long_text);
    write_fake("70/argv", long_text, sizeof long_text);
    memset(text, 'x', sizeof text);
    assert_int_equal(
        camp_process_text(&fake_source, &process, CAMP_TEXT_COMMAND_LINE, text, 3, &length, NULL),
        CAMP_E_SPACE);
    assert_int_equal(length, sizeof long_text);
    assert_memory_equal(text, "aaax", 4);
    process.start++;
    assert_int_equal(camp_process_text(&fake_source, &process, CAMP_TEXT_COMMAND_LINE, text,
                                       sizeof text, &length, NULL),
                     CAMP_E_GONE);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fake_proc, remove_fake_proc)
    const struct CMUnitTest tests[] = {
        TEST(processes_are_listed_in_ascending_order_whatever_the_order_of_the_folder),
        TEST(all_processes_are_read_with_the_values_that_each_has_alone),
        cmocka_unit_test_setup_teardown(
            a_process_that_refuses_its_usage_stays_in_the_list_without_times, make_fake_proc,
            restore_user_and_remove),
        TEST(a_process_is_found_by_its_executable_or_else_by_its_name),
        TEST(the_arguments_are_those_of_argv_or_else_of_psinfo),
        TEST(the_command_line_is_the_file_argv),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
