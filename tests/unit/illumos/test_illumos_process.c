/* Processes and threads of illumos, from a /proc that the test makes. */
#include "fake_process.h"
#include "sources.h"

#include "counters/illumos/process.h"

#include <camp/system.h>

static void the_times_of_a_process_are_measured_and_traps_are_system_time(void **state)
{
    struct camp_process process;
    struct camp_task task;
    uint64_t cpu_ns;

    (void)state;
    write_process(70, "daemon");
    process = identify(70);
    assert_int_equal(process.start, STARTED);
    assert_int_equal(
        camp_process_read(&fake_source, &process, CAMP_TASK_ALL, &task, sizeof task, NULL),
        CAMP_OK);
    assert_int_equal(task.time_ns, 100 * S + 7);
    assert_int_equal(task.started_ns, 40 * S + 8);
    assert_int_equal(task.user_ns, 10 * S + 1);
    assert_int_equal(task.system_ns, 2 * S + 320);
    assert_int_equal(task.cpu_ns, 12 * S + 321);
    assert_int_equal(task.cpu_provenance, CAMP_MEASURED);
    assert_int_equal(task.split_provenance, CAMP_MEASURED);
    assert_int_equal(task.cpu_resolution_ns, 1);
    assert_int_equal(task.run_delay_ns, 3 * S + 4000);
    assert_int_equal(camp_process_cpu_ns(&fake_source, &process, &cpu_ns, NULL), CAMP_OK);
    assert_int_equal(cpu_ns, 12 * S + 321);
}

/* The time of children is the only CPU time that illumos samples. */
static void the_time_of_children_is_sampled_although_the_other_times_are_measured(void **state)
{
    static struct camp_counter rows[300];
    const struct camp_task task = { .split_provenance = CAMP_MEASURED };
    struct camp_kernel kernel;
    size_t count, children = 0, user = 0;

    (void)state;
    assert_int_equal(camp_kernel_read(&fake_source, &kernel, sizeof kernel, NULL), CAMP_OK);
    assert_int_equal(camp_catalogue_read(rows, sizeof rows[0], 300, &count, NULL), CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].record != CAMP_RECORD_TASK)
            continue;
        if (strcmp(rows[i].name, "children_ns") == 0) {
            assert_int_equal(camp_counter_provenance(&rows[i], &kernel, 0, &task), CAMP_SAMPLED);
            children++;
        } else if (strcmp(rows[i].name, "user_ns") == 0) {
            assert_int_equal(camp_counter_provenance(&rows[i], &kernel, 0, &task), CAMP_MEASURED);
            user++;
        }
    }
    assert_int_equal(children, 1);
    assert_int_equal(user, 1);
}

static void a_process_has_its_counts_and_what_the_system_lacks_is_unknown(void **state)
{
    struct camp_process process;
    struct camp_task task;

    (void)state;
    write_process(70, "daemon");
    process = identify(70);
    assert_int_equal(
        camp_process_read(&fake_source, &process, CAMP_TASK_ALL, &task, sizeof task, NULL),
        CAMP_OK);
    expect_sources(CAMP_RECORD_TASK, task.known);
    assert_int_equal(task.known & (CAMP_TASK_SAMPLED | CAMP_TASK_COMMITTED | CAMP_TASK_HANDLES |
                                   CAMP_TASK_READ_BYTES | CAMP_TASK_WRITTEN_BYTES |
                                   CAMP_TASK_OTHER_BYTES | CAMP_TASK_CYCLES),
                     0);
    assert_int_equal(task.read_bytes, 0);
    assert_int_equal(task.minor_faults, 11);
    assert_int_equal(task.major_faults, 12);
    assert_int_equal(task.faults, 23);
    assert_int_equal(task.voluntary_switches, 15);
    assert_int_equal(task.involuntary_switches, 16);
    assert_int_equal(task.switches, 31);
    assert_int_equal(task.virtual_bytes, 5000 * 1024);
    assert_int_equal(task.resident_bytes, 3000 * 1024);
    assert_int_equal(task.children_ns, 20000000);
    assert_int_equal(task.threads, 1);
    assert_int_equal(task.parent, 1);
    assert_int_equal(task.state, 'S');
    assert_string_equal(task.name, "daemon");
}

static void a_later_process_with_the_same_pid_is_never_read(void **state)
{
    struct camp_process process;
    struct camp_task task;
    psinfo_t later;

    (void)state;
    later = write_process(70, "first");
    process = identify(70);
    later.pr_start = time_of_ns(STARTED + 1);
    write_psinfo(&later);
    assert_int_equal(
        camp_process_read(&fake_source, &process, CAMP_TASK_ALL, &task, sizeof task, NULL),
        CAMP_E_GONE);
}

static void a_zombie_has_its_times_but_no_sizes_and_no_name(void **state)
{
    psinfo_t zombie = { .pr_pid = 71, .pr_ppid = 70, .pr_lwp = { .pr_sname = 'Z' } };
    struct camp_process process;
    struct camp_task task;

    (void)state;
    write_psinfo(&zombie);
    write_usage(71, &some_usage);
    process = identify(71);
    assert_int_equal(
        camp_process_read(&fake_source, &process, CAMP_TASK_ALL, &task, sizeof task, NULL),
        CAMP_OK);
    assert_int_equal(task.state, 'Z');
    assert_int_equal(task.cpu_ns, 12 * S + 321);
    assert_int_equal(task.known & (CAMP_TASK_NAME | CAMP_TASK_VIRTUAL | CAMP_TASK_RESIDENT), 0);
}

static void a_time_that_is_a_little_negative_is_zero_and_an_impossible_one_is_rejected(void **state)
{
    prusage_t usage = some_usage, parsed;

    (void)state;
    usage.pr_wtime = time_of_ns(-30);
    assert_true(camp_usage_parse(&usage, sizeof usage, &parsed));
    assert_int_equal(camp_proc_ns(parsed.pr_wtime), 0);
    usage.pr_wtime = (timestruc_t){ -5, 0 };
    assert_false(camp_usage_parse(&usage, sizeof usage, &parsed));
    usage.pr_wtime = (timestruc_t){ 0, 1000000000 };
    assert_false(camp_usage_parse(&usage, sizeof usage, &parsed));
    usage.pr_wtime = (timestruc_t){ LONG_MAX, 0 };
    assert_int_equal(camp_usage_parse(&usage, sizeof usage, &parsed), sizeof(long) == 4);
    usage = some_usage;
    usage.pr_utime = usage.pr_stime = (timestruc_t){ (long)(INT64_MAX / S - 1), 0 };
    assert_int_equal(camp_usage_parse(&usage, sizeof usage, &parsed), sizeof(long) == 4);
}

static void a_file_that_ends_early_is_a_format_error(void **state)
{
    struct camp_process process;
    struct camp_task task;
    struct camp_error error;

    (void)state;
    write_process(70, "daemon");
    process = identify(70);
    write_fake("70/usage", &some_usage, sizeof some_usage - 1);
    assert_int_equal(
        camp_process_read(&fake_source, &process, CAMP_TASK_ALL, &task, sizeof task, &error),
        CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "70/usage"));
}

static void a_32_bit_reader_refuses_a_64_bit_process(void **state)
{
    psinfo_t psinfo = fake_psinfo(70, "large", STARTED);
    struct camp_process process;
    struct camp_error error;

    (void)state;
    psinfo.pr_dmodel = PR_MODEL_LP64;
    assert_int_equal(camp_check_data_model(&psinfo, 4, &error), CAMP_E_NOTSUP);
    assert_non_null(strstr(error.message, "64-bit build"));
    assert_int_equal(camp_check_data_model(&psinfo, 8, &error), CAMP_OK);
    psinfo.pr_dmodel = PR_MODEL_ILP32;
    assert_int_equal(camp_check_data_model(&psinfo, 4, &error), CAMP_OK);

    psinfo.pr_dmodel = PR_MODEL_LP64;
    write_psinfo(&psinfo);
    assert_int_equal(camp_process_identify(&fake_source, 70, &process, sizeof process, NULL),
                     sizeof(void *) == 4 ? CAMP_E_NOTSUP : CAMP_OK);
}

static const lwpsinfo_t some_thread = { .pr_lwpid = 3,
                                        .pr_sname = 'O',
                                        .pr_start = { 1700000000, 0 } };

static void a_thread_has_its_own_times_and_a_later_one_with_its_id_is_never_read(void **state)
{
    struct camp_thread threads[4];
    struct camp_process process;
    struct camp_task task;
    lwpsinfo_t other = some_thread;
    size_t count;

    (void)state;
    write_process(70, "daemon");
    write_thread(70, &some_thread, &some_usage);
    other.pr_lwpid = 1;
    write_thread(70, &other, &some_usage);
    other.pr_lwpid = 2;
    other.pr_sname = 'Z';
    write_thread(70, &other, &some_usage);
    process = identify(70);
    assert_int_equal(camp_thread_list(&fake_source, &process, threads, sizeof threads[0],
                                      COUNT(threads), &count, NULL),
                     CAMP_OK);
    assert_int_equal(count, 2);
    assert_int_equal(threads[0].tid, 1);
    assert_int_equal(threads[1].tid, 3);
    assert_int_equal(threads[1].pid, 70);
    assert_int_equal(
        camp_thread_read(&fake_source, &threads[1], CAMP_TASK_ALL, &task, sizeof task, NULL),
        CAMP_OK);
    assert_int_equal(task.state, 'R');
    assert_int_equal(task.cpu_ns, 12 * S + 321);
    assert_int_equal(task.parent, 1);
    assert_int_equal(task.known & (CAMP_TASK_NAME | CAMP_TASK_THREADS | CAMP_TASK_RESIDENT), 0);
    threads[1].start++;
    assert_int_equal(
        camp_thread_read(&fake_source, &threads[1], CAMP_TASK_ALL, &task, sizeof task, NULL),
        CAMP_E_GONE);
}

static void a_process_has_an_executable_and_a_user_and_no_cgroup(void **state)
{
    char link[PATH_MAX], text[8];
    struct camp_process process;
    psinfo_t psinfo;
    uint32_t user_id;
    size_t length;

    (void)state;
    psinfo = write_process(70, "daemon");
    psinfo.pr_uid = 1;
    psinfo.pr_euid = 77;
    write_psinfo(&psinfo);
    process = identify(70);
    assert_int_equal(camp_process_user_id(&fake_source, &process, &user_id, NULL), CAMP_OK);
    assert_int_equal(user_id, 77);
    assert_int_equal(camp_process_text(&fake_source, &process, CAMP_TEXT_EXECUTABLE, text,
                                       sizeof text, &length, NULL),
                     CAMP_E_NOTSUP); /* no link: a process of the kernel */
    write_fake("70/path/other", "", 0);
    snprintf(link, sizeof link, "%s/70/path/a.out", fake_folder);
    assert_int_equal(symlink("/bin/dd", link), 0);
    assert_int_equal(camp_process_text(&fake_source, &process, CAMP_TEXT_EXECUTABLE, text,
                                       sizeof text, &length, NULL),
                     CAMP_OK);
    assert_int_equal(length, 7);
    assert_memory_equal(text, "/bin/dd", 7);
    memset(text, 'x', sizeof text);
    assert_int_equal(
        camp_process_text(&fake_source, &process, CAMP_TEXT_EXECUTABLE, text, 3, &length, NULL),
        CAMP_E_SPACE);
    assert_memory_equal(text, "/bixxxxx", sizeof text);
    assert_int_equal(camp_process_text(&fake_source, &process, CAMP_TEXT_CGROUP, text, sizeof text,
                                       &length, NULL),
                     CAMP_E_NOTSUP);
    process.start++;
    assert_int_equal(camp_process_text(&fake_source, &process, CAMP_TEXT_EXECUTABLE, text,
                                       sizeof text, &length, NULL),
                     CAMP_E_GONE);
    assert_int_equal(camp_process_user_id(&fake_source, &process, &user_id, NULL), CAMP_E_GONE);
}

static void a_process_that_does_not_exist_is_gone(void **state)
{
    struct camp_process process;
    struct camp_error error;

    (void)state;
    assert_int_equal(camp_process_identify(&fake_source, 4, &process, sizeof process, &error),
                     CAMP_E_GONE);
    assert_non_null(strstr(error.message, "/4/psinfo"));
}

static void the_reader_of_a_process_reads_new_values_and_notices_its_end(void **state)
{
    struct camp_reader reader = { { 0 } };
    prusage_t usage = some_usage;
    struct camp_process process;
    struct camp_task task;
    uint64_t cpu_ns;
    psinfo_t psinfo;

    (void)state;
    psinfo = write_process(70, "daemon");
    process = identify(70);
    assert_int_equal(camp_reader_open_process(&reader, &fake_source, &process, NULL), CAMP_OK);
    usage.pr_utime.tv_sec++;
    write_usage(70, &usage);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_OK);
    assert_int_equal(task.cpu_ns, 13 * S + 321);
    assert_string_equal(task.name, "daemon");
    assert_int_equal(camp_reader_process_cpu_ns(&reader, &cpu_ns, NULL), CAMP_OK);
    assert_int_equal(cpu_ns, 13 * S + 321);
    memset(&psinfo.pr_start, 0, sizeof psinfo.pr_start); /* a zombie */
    write_psinfo(&psinfo);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_E_GONE);
    camp_reader_close(&reader);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_reader_process_cpu_ns(&reader, &cpu_ns, NULL), CAMP_E_INVALID);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fake_proc, remove_fake_proc)
    const struct CMUnitTest tests[] = {
        TEST(the_times_of_a_process_are_measured_and_traps_are_system_time),
        TEST(the_time_of_children_is_sampled_although_the_other_times_are_measured),
        TEST(a_process_has_its_counts_and_what_the_system_lacks_is_unknown),
        TEST(a_later_process_with_the_same_pid_is_never_read),
        TEST(a_zombie_has_its_times_but_no_sizes_and_no_name),
        TEST(a_time_that_is_a_little_negative_is_zero_and_an_impossible_one_is_rejected),
        TEST(a_file_that_ends_early_is_a_format_error),
        TEST(a_32_bit_reader_refuses_a_64_bit_process),
        TEST(a_thread_has_its_own_times_and_a_later_one_with_its_id_is_never_read),
        TEST(a_process_has_an_executable_and_a_user_and_no_cgroup),
        TEST(a_process_that_does_not_exist_is_gone),
        TEST(the_reader_of_a_process_reads_new_values_and_notices_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
