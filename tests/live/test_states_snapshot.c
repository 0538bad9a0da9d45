/* Tests threads that did nothing since the last snapshot. The BPF program reports such threads with
 * short records, but their values must be complete and up to date. */
#include "states_session.h"

#include <pthread.h>
#include <string.h>

#define SLEEPERS 40u

/* rt_sigsuspend(2), which is CAMP_STATE_OTHER_SLEEP. pause() is ppoll(2) on arm64. */
static void sleep_on(void *unused)
{
    sigset_t none;

    (void)unused;
    sigemptyset(&none);
    for (;;)
        sigsuspend(&none);
}

/* Returns the thread in a new snapshot. */
static struct camp_thread_states one_of(struct camp_states *session, pid_t pid)
{
    struct threads threads = read_threads(session);
    const struct camp_thread_states *found = find_tid(&threads, pid);
    struct camp_thread_states thread;

    assert_non_null(found);
    thread = *found;
    free(threads.of);
    return thread;
}

static void await_state(struct camp_states *session, pid_t pid, enum camp_state state)
{
    uint64_t began_ns = now_ns(CLOCK_MONOTONIC);

    while (one_of(session, pid).state != state && wait_on(began_ns))
        continue;
    assert_int_equal(one_of(session, pid).state, state);
}

/* A new thread that has not run yet is also in CAMP_STATE_OTHER_SLEEP. So the thread must have made
 * a system call. */
static void await_sleeper(struct camp_states *session, pid_t pid)
{
    uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    struct camp_thread_states thread;

    do
        thread = one_of(session, pid);
    while ((thread.state != CAMP_STATE_OTHER_SLEEP || thread.system_calls == 0) &&
           wait_on(began_ns));
    assert_int_equal(thread.state, CAMP_STATE_OTHER_SLEEP);
}

static void of_a_sleeping_thread_only_the_time_in_the_current_sleep_state_grows(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    pid_t child = start(sleep_on, NULL);
    struct camp_thread_states before, now;

    (void)state;
    await_sleeper(session, child);
    before = one_of(session, child);
    for (int i = 0; i < 5; i++) {
        uint64_t passed, slept_ns = now_ns(CLOCK_MONOTONIC);

        usleep(20000);
        slept_ns = now_ns(CLOCK_MONOTONIC) - slept_ns;
        now = one_of(session, child);
        passed = now.time_ns - before.time_ns;
        assert_at_least("passed", passed, slept_ns, 0);
        assert_int_equal(now.state, CAMP_STATE_OTHER_SLEEP);
        assert_int_equal(now.state_ns[CAMP_STATE_OTHER_SLEEP],
                         before.state_ns[CAMP_STATE_OTHER_SLEEP] + passed);
        now.state_ns[CAMP_STATE_OTHER_SLEEP] = before.state_ns[CAMP_STATE_OTHER_SLEEP];
        now.time_ns = before.time_ns;
        assert_memory_equal(&now, &before, sizeof now);
        before = one_of(session, child);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close_states(session);
}

struct worker {
    int work[2], done[2];
    uint64_t own_ns; /* CPU clock of the child after its work */
};

static void work_when_told(void *truth)
{
    struct worker *self = truth;
    char byte;

    while (read(self->work[0], &byte, 1) == 1) {
        burn(CLOCK_PROCESS_CPUTIME_ID, 10 * (uint64_t)NS_PER_MS);
        self->own_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        if (write(self->done[1], &byte, 1) != 1)
            _exit(1);
    }
}

/* The thread sleeps in both snapshots, and works between them. */
static void the_cpu_time_of_a_thread_between_two_sleeps_is_reported(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct worker *worker = shared_memory(sizeof *worker);
    uint64_t steal = steal_ns();
    pid_t child;

    (void)state;
    assert_int_equal(pipe(worker->work), 0);
    assert_int_equal(pipe(worker->done), 0);
    child = start(work_when_told, worker);
    await_state(session, child, CAMP_STATE_PIPE);
    for (int i = 0; i < 5; i++) {
        struct camp_thread_states thread;
        char byte;

        assert_int_equal(write(worker->work[1], "", 1), 1);
        assert_int_equal(read(worker->done[0], &byte, 1), 1);
        await_state(session, child, CAMP_STATE_PIPE);
        thread = one_of(session, child);
        assert_at_least("on a CPU", on_cpu_ns(&thread), worker->own_ns,
                        tolerance_of(&thread) + stolen_since(steal));
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close_states(session);
}

static void wake_up(int signal)
{
    (void)signal;
}

static void *be_named(void *tid)
{
    sigset_t none;

    sigemptyset(&none);
    *(volatile pid_t *)tid = gettid();
    sigsuspend(&none);
    return NULL;
}

/* Only a thread of the same process may rename another thread. */
static void the_new_name_of_a_sleeping_thread_is_reported(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    volatile pid_t tid = 0;
    char path[64];
    pthread_t thread;
    FILE *file;

    (void)state;
    signal(SIGUSR1, wake_up);
    assert_int_equal(pthread_create(&thread, NULL, be_named, (void *)&tid), 0);
    while (tid == 0)
        usleep(1000);
    await_state(session, tid, CAMP_STATE_OTHER_SLEEP);
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("another name", file);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(one_of(session, tid).name, "another name");
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    close_states(session);
}

static void have_a_child(void *truth)
{
    pid_t child = fork();

    if (child > 0)
        *(pid_t *)truth = child;
    sleep_on(NULL);
}

static void the_new_parent_of_a_sleeping_process_is_reported(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    volatile pid_t *grandchild = shared_memory(sizeof *grandchild);
    pid_t child;

    (void)state;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    child = start(have_a_child, (void *)grandchild);
    while (*grandchild == 0)
        usleep(1000);
    await_sleeper(session, *grandchild);
    assert_int_equal(one_of(session, *grandchild).parent, child);
    assert_int_equal(one_of(session, *grandchild).parent, child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(one_of(session, *grandchild).parent, getpid());
    kill(*grandchild, SIGKILL);
    waitpid(*grandchild, NULL, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    munmap((void *)grandchild, sizeof *grandchild);
    close_states(session);
}

static void a_snapshot_has_every_thread_once_while_other_threads_start_and_exit(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    pid_t children[SLEEPERS] = { 0 };

    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        pid_t *child = &children[round * 7 % SLEEPERS];
        struct threads threads;

        if (*child != 0) {
            kill(*child, SIGKILL);
            waitpid(*child, NULL, 0);
            *child = 0;
        } else {
            *child = start(sleep_on, NULL);
        }
        threads = read_threads(session);
        for (size_t i = 1; i < threads.count; i++)
            assert_true(threads.of[i - 1].tid < threads.of[i].tid);
        for (size_t i = 0; i < threads.count; i++)
            assert_true((threads.of[i].flags & CAMP_THREAD_UNSURE) != 0 ||
                        sum_ns(&threads.of[i]) == threads.of[i].time_ns - threads.of[i].begin_ns);
        for (unsigned i = 0; i < SLEEPERS; i++)
            assert_true(children[i] == 0 || find_tid(&threads, children[i]) != NULL);
        free(threads.of);
    }
    for (unsigned i = 0; i < SLEEPERS; i++) {
        if (children[i] != 0) {
            kill(children[i], SIGKILL);
            waitpid(children[i], NULL, 0);
        }
    }
    close_states(session);
}

static void a_snapshot_into_a_short_array_loses_no_thread(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    pid_t child = start(sleep_on, NULL);
    struct camp_thread_states few[2];
    size_t count;

    (void)state;
    assert_int_equal(camp_states_threads(session, few, sizeof few[0], 2, &count, NULL),
                     CAMP_E_SPACE);
    assert_at_least("threads", count, 3, 0);
    assert_int_equal(one_of(session, child).pid, child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_sleeping_thread_only_the_time_in_the_current_sleep_state_grows),
        cmocka_unit_test(the_cpu_time_of_a_thread_between_two_sleeps_is_reported),
        cmocka_unit_test(the_new_name_of_a_sleeping_thread_is_reported),
        cmocka_unit_test(the_new_parent_of_a_sleeping_process_is_reported),
        cmocka_unit_test(a_snapshot_has_every_thread_once_while_other_threads_start_and_exit),
        cmocka_unit_test(a_snapshot_into_a_short_array_loses_no_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
