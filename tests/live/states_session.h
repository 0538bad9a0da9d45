/* For tests of microstates: opens sessions, reads their threads, and starts children. */
#pragma once

#include "clocks.h"
#include "cpu_steal.h"
#include "microstates/table.h"
#include "scheduler_witness.h"

#include <camp/camp.h>
#include <camp/states.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_MAX 40000

static inline struct camp_states *open_states_or_skip(uint32_t options)
{
    struct camp_states *session = NULL;
    struct camp_error error;
    int r = camp_states_open(&session, options, &error);

    if (r == CAMP_E_PERM || r == CAMP_E_NOTSUP) {
        print_message("skipped, not passed: %s\n", error.message);
        skip();
    }
    if (r != CAMP_OK)
        fail_msg("%s", error.message);
    return session;
}

/* Prints the losses of the session and closes it. Returns how many switches it did not see. On
 * PREEMPT_RT a program that runs with interrupts disabled cannot always get the memory for an
 * account, which counts as lost. */
static inline uint64_t close_states(struct camp_states *session)
{
    struct camp_states_losses losses;

    assert_int_equal(camp_states_losses(session, &losses, sizeof losses, NULL), CAMP_OK);
    print_message("%llu switches, %llu unseen; %llu ends without space; %llu threads lost\n",
                  (unsigned long long)losses.switches, (unsigned long long)losses.unseen,
                  (unsigned long long)losses.exits_lost, (unsigned long long)losses.lost);
    if (access("/sys/kernel/realtime", F_OK) != 0)
        assert_int_equal(losses.lost, 0);
    camp_states_close(session);
    return losses.unseen;
}

struct threads {
    struct camp_thread_states *of; /* [count] */
    size_t count;
};

static inline struct threads read_threads(struct camp_states *session)
{
    struct threads threads = { calloc(THREADS_MAX, sizeof *threads.of), 0 };
    struct camp_error error;

    assert_non_null(threads.of);
    if (camp_states_threads(session, threads.of, sizeof *threads.of, THREADS_MAX, &threads.count,
                            &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return threads;
}

/* Adds the threads that exited since the last call. The first call takes a zeroed struct. */
static inline void add_exited(struct camp_states *session, struct threads *ended)
{
    size_t count;

    if (ended->of == NULL)
        ended->of = calloc(THREADS_MAX, sizeof *ended->of);
    assert_non_null(ended->of);
    assert_int_equal(camp_states_exits(session, ended->of + ended->count, sizeof *ended->of,
                                       THREADS_MAX - ended->count, &count, NULL),
                     CAMP_OK);
    ended->count += count;
}

/* Returns the last thread with this tid, or NULL. */
static inline const struct camp_thread_states *find_tid(const struct threads *threads, int32_t tid)
{
    for (size_t i = threads->count; i > 0; i--) {
        if (threads->of[i - 1].tid == tid)
            return &threads->of[i - 1];
    }
    return NULL;
}

static inline const struct camp_thread_states *find(const struct threads *threads, int32_t tid,
                                                    uint64_t start_ns)
{
    for (size_t i = 0; i < threads->count; i++) {
        if (threads->of[i].tid == tid && threads->of[i].start_ns == start_ns)
            return &threads->of[i];
    }
    return NULL;
}

/* Returns the number of exited threads without their own record. They are in a total, or they are
 * lost. */
static inline uint64_t ends_without_space(struct camp_states *session)
{
    struct camp_states_losses losses;

    assert_int_equal(camp_states_losses(session, &losses, sizeof losses, NULL), CAMP_OK);
    return losses.exits_added_up + losses.exits_lost;
}

/* Returns the last record of a thread that has exited. */
static inline struct camp_thread_states last_of(struct camp_states *session, struct threads *ended,
                                                int32_t tid)
{
    const struct camp_thread_states *last;
    uint64_t left;

    assert_int_equal(camp_states_await_exits(session, PATIENCE_NS, &left, NULL), CAMP_OK);
    add_exited(session, ended);
    last = find_tid(ended, tid);
    if (last == NULL && ends_without_space(session) > 0) {
        print_message("skipped, not passed: more threads of the machine ended than fit\n");
        skip();
    }
    if (last == NULL)
        fail_msg("no last record of thread %d", tid);
    return *last;
}

static inline uint64_t on_cpu_ns(const struct camp_thread_states *thread)
{
    return states_busy_ns(thread->state_ns) + thread->state_ns[CAMP_STATE_IRQ];
}

static inline bool is_asleep(int state)
{
    return state >= CAMP_STATE_TEXT_FAULT && state != CAMP_STATE_RUN_QUEUE &&
           state != CAMP_STATE_THROTTLED && state != CAMP_STATE_TRAP;
}

/* The scheduler's run_delay has both in one. */
static inline uint64_t waited_for_cpu_ns(const struct camp_thread_states *thread)
{
    return thread->state_ns[CAMP_STATE_RUN_QUEUE] + thread->state_ns[CAMP_STATE_THROTTLED];
}

static inline uint64_t sum_ns(const struct camp_thread_states *thread)
{
    uint64_t sum = 0;

    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        sum += thread->state_ns[i];
    return sum;
}

static inline uint64_t tolerance_of(const struct camp_thread_states *thread)
{
    return switches_tolerance(thread->voluntary_switches, thread->involuntary_switches);
}

/* Compares the thread's time on a CPU and in the run queue with the scheduler's counts. The
 * tolerance covers switches, stolen time, and interrupts. The scheduler does not count interrupts
 * if the kernel has CONFIG_IRQ_TIME_ACCOUNTING. unseen_ns is the time around switches that the
 * session did not see. */
static inline void assert_scheduled(const struct camp_thread_states *last, uint64_t stolen_ns,
                                    uint64_t unseen_ns)
{
    const uint64_t queue = waited_for_cpu_ns(last), on_cpu = on_cpu_ns(last);
    const uint64_t tolerance = tolerance_of(last) + unseen_ns;

    print_message("on a CPU %.3f ms (scheduler %.3f), run queue %.3f (%.3f); tolerance %.3f\n",
                  (double)on_cpu / 1e6, (double)last->cpu_ns / 1e6, (double)queue / 1e6,
                  (double)last->run_delay_ns / 1e6, (double)tolerance / 1e6);
    assert_at_least("on a CPU", on_cpu, last->cpu_ns, tolerance);
    assert_at_most("on a CPU", on_cpu, last->cpu_ns,
                   tolerance + stolen_ns + last->state_ns[CAMP_STATE_IRQ]);
    assert_near("run queue", queue, last->run_delay_ns, tolerance);
}

static inline void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    return memory;
}

/* With SCHED_FIFO, no other task delays the caller. Its children get the normal policy. Has no
 * effect without permission. */
static inline void run_first(int policy)
{
    struct sched_param priority = { .sched_priority = policy == SCHED_FIFO };

    sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &priority);
}

/* Starts a child that calls act(truth) and exits. `truth` is shared memory for the child's own
 * measurements. The parent uses SCHED_FIFO, so that no other task runs before fork(2) returns. */
static inline pid_t start(void act(void *truth), void *truth)
{
    pid_t pid;

    run_first(SCHED_FIFO);
    pid = fork();
    if (pid != 0)
        run_first(SCHED_OTHER);
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        act(truth);
        _exit(0);
    }
    return pid;
}

static inline void reap_well(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Waits until the child has stopped itself, returns its states, and lets it continue. */
static inline struct camp_thread_states stopped(struct camp_states *session, pid_t child)
{
    const struct camp_thread_states *found;
    struct camp_thread_states states;
    struct threads threads;
    int status;

    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    threads = read_threads(session);
    found = find_tid(&threads, child);
    assert_non_null(found);
    states = *found;
    free(threads.of);
    kill(child, SIGCONT);
    return states;
}

static inline void stay_on(size_t cpu)
{
    cpu_set_t only;

    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    if (sched_setaffinity(0, sizeof only, &only) != 0)
        _exit(1);
}

static inline size_t last_cpu(void)
{
    cpu_set_t allowed;
    size_t last = 0;

    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &allowed))
            last = i;
    }
    return last;
}

/* Runs on each CPU once, because the session knows a CPU only after its first switch. */
static inline void switch_on_every_cpu(struct camp_states *session)
{
    struct camp_cpu_states *cpus = calloc(CPU_SETSIZE, sizeof *cpus);
    cpu_set_t allowed;
    uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    size_t count;

    assert_non_null(cpus);
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &allowed))
            stay_on(i);
    }
    sched_setaffinity(0, sizeof allowed, &allowed);
    do {
        assert_int_equal(camp_states_cpus(session, cpus, sizeof *cpus, CPU_SETSIZE, &count, NULL),
                         CAMP_OK);
    } while (count < (size_t)CPU_COUNT(&allowed) && wait_on(began_ns));
    free(cpus);
}
