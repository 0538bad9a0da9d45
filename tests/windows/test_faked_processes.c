/* What camp makes of the processes and threads of a real Windows. */
#include "fakes.h"

#include <camp/system.h>

static struct camp_process fake_identity(void)
{
    return (struct camp_process){ .pid = FAKE_PID, .start = FAKE_BOOT_TIME + 50000000 };
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
    struct camp_reader reader = { { 0 } };
    uint64_t cpu_ns = 0;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_reader_open_process(&reader, NULL, &identity, NULL), CAMP_OK);
    assert_int_equal(camp_reader_process_cpu_ns(&reader, &cpu_ns, NULL), CAMP_OK);
    assert_int_equal(cpu_ns, 3000000000);
    assert_int_equal(camp_process_cpu_ns(NULL, &identity, &cpu_ns, NULL), CAMP_OK);
    assert_int_equal(cpu_ns, 3000000000);
    identity.start++;
    assert_int_equal(camp_process_cpu_ns(NULL, &identity, &cpu_ns, NULL), CAMP_E_GONE);
    identity.start--;
    fakes.process_has_ended = true;
    assert_int_equal(camp_process_cpu_ns(NULL, &identity, &cpu_ns, NULL), CAMP_E_GONE);
    assert_int_equal(camp_reader_process_cpu_ns(&reader, &cpu_ns, NULL), CAMP_E_GONE);
    camp_reader_close(&reader);
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

static void faked_utilisation_without_a_measured_time_is_an_error_and_not_zero(void **state)
{
    const struct camp_process identity = fake_identity();
    struct camp_task_utilisation utilisation;
    struct camp_error error;

    (void)state;
    fakes_reset();
    fakes.process_can_be_opened = false;
    assert_int_equal(camp_process_utilisation(NULL, &identity, 1, NULL, &utilisation,
                                              sizeof utilisation, &error),
                     CAMP_E_PERM);
    assert_non_null(strstr(error.message, "administrator"));
    fakes_reset();
    fakes.process_cycles = 0;
    assert_int_equal(camp_process_utilisation(NULL, &identity, 1, NULL, &utilisation,
                                              sizeof utilisation, &error),
                     CAMP_E_NOTSUP);
    assert_int_equal(fake_handles, 0);
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

static void faked_processes_are_read_from_one_table(void **state)
{
    const struct camp_process identity = fake_identity();
    struct camp_process_usage usages[3];
    struct camp_task alone;
    size_t count;

    (void)state;
    fakes_reset();
    assert_int_equal(camp_process_read_all(NULL, CAMP_TASK_ALL, usages, sizeof usages[0],
                                           COUNT(usages), &count, NULL),
                     CAMP_OK);
    assert_int_equal(fakes.tables_read, 1);
    assert_int_equal(fake_handles, 0);
    assert_int_equal(count, 2);
    /* The fake refuses to open process 4. */
    assert_int_equal(usages[0].process.pid, 4);
    assert_int_equal(usages[0].task.known & (CAMP_TASK_CPU | CAMP_TASK_CYCLES), 0);
    assert_int_equal(usages[0].task.threads, 3);
    assert_memory_equal(&usages[1].process, &identity, sizeof identity);
    assert_int_equal(usages[1].task.cpu_ns, 3000000000);
    assert_int_equal(camp_process_read(NULL, &identity, CAMP_TASK_ALL, &alone, sizeof alone, NULL),
                     CAMP_OK);
    alone.time_ns = usages[1].task.time_ns;
    assert_memory_equal(&usages[1].task, &alone, sizeof alone);
    assert_int_equal(
        camp_process_read_all(NULL, CAMP_TASK_ALL, usages, sizeof usages[0], 1, &count, NULL),
        CAMP_E_SPACE);
    assert_int_equal(count, 2);
}

static void faked_process_whose_pid_is_reused_has_no_cycles_of_the_later_one(void **state)
{
    struct camp_process_usage usages[2];
    size_t count;

    (void)state;
    fakes_reset();
    fakes.pid_is_reused = true;
    assert_int_equal(
        camp_process_read_all(NULL, CAMP_TASK_ALL, usages, sizeof usages[0], 2, &count, NULL),
        CAMP_OK);
    assert_int_equal(usages[1].task.known & (CAMP_TASK_CPU | CAMP_TASK_CYCLES), 0);
    assert_true((usages[1].task.known & CAMP_TASK_SAMPLED) != 0);
    assert_int_equal(fake_handles, 0);
}

static int read_line(char *buffer, size_t capacity, size_t *ret_length)
{
    const struct camp_process identity = fake_identity();

    return camp_process_text(NULL, &identity, CAMP_TEXT_COMMAND_LINE, buffer, capacity, ret_length,
                             NULL);
}

static void faked_command_line_is_one_text_of_any_length(void **state)
{
    static WCHAR longest[32767];
    static char text[3 * 32767];
    size_t length;

    (void)state;
    fakes_reset();
    assert_int_equal(read_line(text, sizeof text, &length), CAMP_E_NOTSUP);
    fakes.command_line = L"\"C:\\caf\u00e9.exe\"  -x";
    assert_int_equal(read_line(text, sizeof text, &length), CAMP_OK);
    assert_int_equal(length, 19);
    assert_memory_equal(text, "\"C:\\caf\xc3\xa9.exe\"  -x", 19);
    memset(text, 'x', sizeof text);
    assert_int_equal(read_line(text, 3, &length), CAMP_E_SPACE);
    assert_int_equal(length, 19);
    assert_memory_equal(text, "\"C:x", 4);
    fakes.command_line = L"";
    assert_int_equal(read_line(text, sizeof text, &length), CAMP_OK);
    assert_int_equal(length, 0);
    for (size_t i = 0; i + 1 < COUNT(longest); i++)
        longest[i] = L'\u65e5';
    fakes.command_line = longest;
    assert_int_equal(read_line(text, sizeof text, &length), CAMP_OK);
    assert_int_equal(length, 3 * 32766 + 1);
    assert_int_equal(text[length - 2], (char)0xa5);
    assert_int_equal(text[length - 1], '\0');
    fakes.process_can_be_opened = false;
    assert_int_equal(read_line(text, sizeof text, &length), CAMP_E_PERM);
    assert_int_equal(fake_handles, 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faked_process_has_measured_and_sampled_time_and_all_counts),
        cmocka_unit_test(faked_time_of_a_process_is_read_without_the_table),
        cmocka_unit_test(faked_process_that_may_not_be_opened_has_no_measured_time),
        cmocka_unit_test(faked_utilisation_without_a_measured_time_is_an_error_and_not_zero),
        cmocka_unit_test(faked_cycles_of_0_are_unknown),
        cmocka_unit_test(faked_cycles_without_a_rate_are_no_time),
        cmocka_unit_test(faked_process_that_has_ended_but_is_open_elsewhere_is_gone),
        cmocka_unit_test(faked_parent_that_is_younger_is_another_process),
        cmocka_unit_test(faked_idle_process_is_not_listed),
        cmocka_unit_test(faked_processes_are_read_from_one_table),
        cmocka_unit_test(faked_process_whose_pid_is_reused_has_no_cycles_of_the_later_one),
        cmocka_unit_test(faked_command_line_is_one_text_of_any_length),
        cmocka_unit_test(faked_states_of_threads_are_those_of_proc),
        cmocka_unit_test(faked_thread_has_measured_and_sampled_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
