/*
 * Compares the taskstats of living processes with values that test processes read about themselves.
 * The tests need CAP_NET_ADMIN. Without it, only the refusal is tested.
 */
#include "cpu_steal.h"
#include "taskstats_session.h"

#include <camp/linux.h>

#include <grp.h>

static void the_measured_time_of_the_test_process_equals_its_own_clock(void **state)
{
    struct camp_taskstats session = open_or_skip(false);
    int32_t pid = (int32_t)getpid();
    struct camp_taskstat task;
    uint64_t before, after;

    (void)state;
    for (int i = 0; i < 5; i++) {
        burn(CLOCK_PROCESS_CPUTIME_ID, 10 * NS_PER_MS);
        sleep_ms(5);
    }
    before = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    assert_int_equal(camp_taskstats_read(&session, &pid, 1, &task, sizeof task, NULL), CAMP_OK);
    after = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    assert_int_equal(task.result, CAMP_OK);
    assert_in_range(task.measured_ns, before, after);
    assert_true(task.runs > 0);
    camp_taskstats_close(&session);
}

/* Returns the length of all whole ticks in an interval. */
static uint64_t ticks_ns(uint64_t from_ns, uint64_t to_ns)
{
    return (to_ns - from_ns) / tick_ns() * tick_ns();
}

/* A tick charges its whole length to the running task. So a task is charged for at most the ticks
 * in the interval, and for ticks that stolen time delayed. test_load_time.c tests that the task is
 * charged at all. */
static void the_sampled_time_of_a_process_is_at_most_the_time_of_all_ticks(void **state)
{
    struct camp_taskstats session = open_or_skip(false);
    struct camp_taskstat before, after;
    int32_t pid = (int32_t)getpid();
    uint64_t steal = steal_ns(), began, ended;

    (void)state;
    began = now_ns(CLOCK_MONOTONIC_COARSE);
    camp_taskstats_read(&session, &pid, 1, &before, sizeof before, NULL);
    burn(CLOCK_PROCESS_CPUTIME_ID, 100 * NS_PER_MS);
    camp_taskstats_read(&session, &pid, 1, &after, sizeof after, NULL);
    ended = now_ns(CLOCK_MONOTONIC_COARSE);
    assert_at_most("sampled", after.sampled_ns - before.sampled_ns, ticks_ns(began, ended),
                   2 * tick_ns() + stolen_since(steal));
    camp_taskstats_close(&session);
}

static void a_batch_of_queries_reports_exited_processes_as_gone(void **state)
{
    struct camp_taskstats session = open_or_skip(false);
    struct camp_taskstat tasks[70];
    int32_t pids[70];
    pid_t gone = fork();

    (void)state;
    if (gone == 0)
        _exit(0);
    reap(gone);
    for (int i = 0; i < 70; i++)
        pids[i] = i % 3 == 0 ? (int32_t)gone : i == 1 ? -1 : (int32_t)getpid();
    assert_int_equal(camp_taskstats_read(&session, pids, 70, tasks, sizeof tasks[0], NULL),
                     CAMP_OK);
    for (int i = 0; i < 70; i++) {
        bool lives = pids[i] == getpid();

        assert_int_equal(tasks[i].pid, pids[i]);
        assert_int_equal(tasks[i].result, lives ? CAMP_OK : CAMP_E_GONE);
        assert_true((tasks[i].measured_ns > 0) == lives);
    }
    camp_taskstats_close(&session);
}

static void taskstats_reports_0_runs_of_a_zombie(void **state)
{
    struct camp_taskstats session = open_or_skip(false);
    struct camp_taskstat task;
    pid_t pid = fork();
    siginfo_t information;
    int32_t id = (int32_t)pid;

    (void)state;
    if (pid == 0) {
        burn(CLOCK_PROCESS_CPUTIME_ID, NS_PER_MS);
        _exit(0);
    }
    waitid(P_PID, (id_t)pid, &information, WEXITED | WNOWAIT);
    assert_int_equal(camp_taskstats_read(&session, &id, 1, &task, sizeof task, NULL), CAMP_OK);
    assert_int_equal(task.runs, 0);
    reap(pid);
    camp_taskstats_close(&session);
}

static void a_taskstats_session_for_exits_refuses_queries(void **state)
{
    struct camp_taskstats session = open_or_skip(true);
    int32_t pid = (int32_t)getpid();
    struct camp_taskstat task;

    (void)state;
    assert_int_equal(camp_taskstats_read(&session, &pid, 1, &task, sizeof task, NULL),
                     CAMP_E_INVALID);
    camp_taskstats_close(&session);
}

/* The test runs in a child, because the process loses its capabilities. */
static void taskstats_cannot_be_opened_without_cap_net_admin(void **state)
{
    pid_t pid = fork();
    int status;

    (void)state;
    if (pid == 0) {
        struct camp_taskstats session = CAMP_TASKSTATS_NONE;
        struct camp_error error = { 0 };
        int result;

        if (getuid() == 0 && (setgroups(0, NULL) != 0 || setresuid(65534, 65534, 65534) != 0))
            _exit(2);
        result = camp_taskstats_open(&session, &error);
        if (result == CAMP_E_NOTSUP)
            _exit(3);
        _exit(result == CAMP_E_PERM && strstr(error.message, "CAP_NET_ADMIN") != NULL &&
                      session.descriptor == -1
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
        print_message("skipped, not passed: this kernel has no taskstats to refuse\n");
        skip();
    }
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_measured_time_of_the_test_process_equals_its_own_clock),
        cmocka_unit_test(the_sampled_time_of_a_process_is_at_most_the_time_of_all_ticks),
        cmocka_unit_test(a_batch_of_queries_reports_exited_processes_as_gone),
        cmocka_unit_test(taskstats_reports_0_runs_of_a_zombie),
        cmocka_unit_test(a_taskstats_session_for_exits_refuses_queries),
        cmocka_unit_test(taskstats_cannot_be_opened_without_cap_net_admin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
