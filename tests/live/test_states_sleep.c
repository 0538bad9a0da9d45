/* Compares the time in each kind of sleep with the sleeper's own clocks. */
#include "states_session.h"

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#define SLEEP_MS 200

static void sleep_a_while(void)
{
    struct timespec time = { .tv_nsec = SLEEP_MS * (long)NS_PER_MS };

    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static pid_t do_later(void act(int), int argument)
{
    pid_t pid = fork();

    if (pid == 0) {
        sleep_a_while();
        act(argument);
        _exit(0);
    }
    return pid;
}

static void write_byte(int descriptor)
{
    if (write(descriptor, "", 1) != 1)
        _exit(1);
}

static void do_nothing(int argument)
{
    (void)argument;
}

/* A child calls one of these functions between two readings of its clocks. */

static void sleep_in_lock(int unused)
{
    static uint32_t word;
    struct timespec time = { .tv_nsec = SLEEP_MS * (long)NS_PER_MS };

    (void)unused;
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

static void sleep_in_poll(int unused)
{
    (void)unused;
    poll(NULL, 0, SLEEP_MS);
}

static void sleep_in_recv(int descriptor)
{
    char byte;

    if (recv(descriptor, &byte, 1, 0) != 1)
        _exit(1);
}

static void sleep_in_read(int descriptor)
{
    char byte;

    if (read(descriptor, &byte, 1) != 1)
        _exit(1);
}

static void sleep_in_nanosleep(int unused)
{
    (void)unused;
    sleep_a_while();
}

static void sleep_in_wait(int pid)
{
    waitpid(pid, NULL, 0);
}

static void sleep_in_sigtimedwait(int unused)
{
    struct timespec time = { .tv_nsec = SLEEP_MS * (long)NS_PER_MS };
    sigset_t none;

    (void)unused;
    sigemptyset(&none);
    sigtimedwait(&none, NULL, &time);
}

static void stop_itself(int unused)
{
    (void)unused;
    raise(SIGSTOP);
}

/* These functions prepare a sleep, and return the argument of the sleeping function. */

static int late_sender(void)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        _exit(1);
    do_later(write_byte, ends[1]);
    return ends[0];
}

static int late_writer(void)
{
    int ends[2];

    if (pipe(ends) != 0)
        _exit(1);
    do_later(write_byte, ends[1]);
    return ends[0];
}

static int sleeping_child(void)
{
    return do_later(do_nothing, 0);
}

/* Upper bound of the time that a sleeper was stopped. Shared memory. */
static uint64_t *stopped_ns;

/* Stops the sleeping thread for a moment. Its sleep then continues in another system call,
 * restart_syscall(2). */
static int stop_in_between(void)
{
    struct timespec time = { .tv_nsec = SLEEP_MS / 4 * (long)NS_PER_MS };
    uint64_t began_ns;

    stopped_ns = shared_memory(sizeof *stopped_ns);
    if (fork() == 0) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
        began_ns = now_ns(CLOCK_MONOTONIC);
        kill(getppid(), SIGSTOP);
        time.tv_nsec = SLEEP_MS / 10 * (long)NS_PER_MS;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
        kill(getppid(), SIGCONT);
        *stopped_ns = now_ns(CLOCK_MONOTONIC) - began_ns;
        _exit(0);
    }
    return 0;
}

static int nothing(void)
{
    return 0;
}

static const struct sleep {
    enum camp_state state;
    const char *call;
    void (*sleep)(int argument);
    int (*prepare)(void);
} sleeps[] = {
    { CAMP_STATE_LOCK, "futex", sleep_in_lock, nothing },
    { CAMP_STATE_POLL, "poll", sleep_in_poll, nothing },
    { CAMP_STATE_SOCKET, "recv", sleep_in_recv, late_sender },
    { CAMP_STATE_SOCKET, "read of a socket", sleep_in_read, late_sender },
    { CAMP_STATE_PIPE, "read of a pipe", sleep_in_read, late_writer },
    { CAMP_STATE_TIMER, "clock_nanosleep", sleep_in_nanosleep, nothing },
    { CAMP_STATE_CHILD, "waitpid", sleep_in_wait, sleeping_child },
    { CAMP_STATE_LOCK, "futex, stopped", sleep_in_lock, stop_in_between },
    { CAMP_STATE_POLL, "poll, stopped", sleep_in_poll, stop_in_between },
    { CAMP_STATE_TIMER, "clock_nanosleep, stopped", sleep_in_nanosleep, stop_in_between },
    { CAMP_STATE_OTHER_SLEEP, "sigtimedwait", sleep_in_sigtimedwait, nothing },
    { CAMP_STATE_STOPPED, "SIGSTOP", stop_itself, nothing },
};

#define SLEEPS (sizeof sleeps / sizeof sleeps[0])

struct sleeper {
    const struct sleep *how;
    pid_t pid;
    struct stretch own;
    uint64_t stopped_ns; /* upper bound */
};

static void sleep_once(void *truth)
{
    struct sleeper *self = truth;
    int argument = self->how->prepare();

    begin_stretch(&self->own);
    self->how->sleep(argument);
    end_stretch(&self->own);
    if (stopped_ns != NULL) {
        while (waitpid(-1, NULL, 0) <
               0) /* The process that stopped this one stores the time before it exits. */
            continue;
        self->stopped_ns = *stopped_ns;
    }
}

/* Asserts that the sleep is within the bounds of the thread's own clocks, without the time when the
 * thread was stopped. Between its clock readings, the thread must have no other sleep. */
static void assert_slept(const struct sleeper *sleeper, const struct camp_thread_states *last,
                         uint64_t stolen_ns)
{
    const uint64_t slept = last->state_ns[sleeper->how->state];
    const uint64_t outside = last->time_ns - last->start_ns - sleeper->own.wall_ns;
    const bool is_stopped = sleeper->how->prepare == stop_in_between;

    print_message("%s: %.3f ms %s, by its own clocks %.3f to %.3f; outside of them %.3f\n",
                  sleeper->how->call, (double)slept / 1e6,
                  camp_state_name((int)sleeper->how->state),
                  (double)least_asleep_ns(&sleeper->own) / 1e6, (double)sleeper->own.wall_ns / 1e6,
                  (double)outside / 1e6);
    assert_at_least(sleeper->how->call, slept,
                    less(least_asleep_ns(&sleeper->own), sleeper->stopped_ns),
                    tolerance_of(last) + stolen_ns);
    assert_at_most(sleeper->how->call, slept, sleeper->own.wall_ns, outside);
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        if (i == (int)sleeper->how->state || !is_asleep(i))
            continue;
        assert_at_most(camp_state_name(i), last->state_ns[i], outside,
                       is_stopped && i == CAMP_STATE_STOPPED ? sleeper->stopped_ns : 0);
    }
}

static void each_kind_of_sleep_is_accounted_to_its_state(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct sleeper *sleepers = shared_memory(SLEEPS * sizeof *sleepers);
    struct threads ended = { 0 };
    uint64_t steal = steal_ns(), stolen;

    (void)state;
    for (size_t i = 0; i < SLEEPS; i++) {
        sleepers[i].how = &sleeps[i];
        sleepers[i].pid = start(sleep_once, &sleepers[i]);
    }
    usleep(SLEEP_MS * 1000);
    for (size_t i = 0; i < SLEEPS; i++) {
        if (sleeps[i].state == CAMP_STATE_STOPPED) {
            assert_int_equal(waitpid(sleepers[i].pid, NULL, WUNTRACED), sleepers[i].pid);
            kill(sleepers[i].pid, SIGCONT);
        }
        reap_well(sleepers[i].pid);
    }
    stolen = stolen_since(steal);
    for (size_t i = 0; i < SLEEPS; i++) {
        struct camp_thread_states last = last_of(session, &ended, sleepers[i].pid);

        assert_slept(&sleepers[i], &last, stolen);
    }
    munmap(sleepers, SLEEPS * sizeof *sleepers);
    free(ended.of);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_sleep_is_accounted_to_its_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
