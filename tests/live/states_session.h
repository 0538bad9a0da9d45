/* A session of microstates, or a skip that says why; its threads, and children that are watched. */
#ifndef CAMP_TESTS_STATES_SESSION_H
#define CAMP_TESTS_STATES_SESSION_H

#include "clocks.h"
#include "cpu_steal.h"

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

/* How near a time has to be to its witness: the coarser of the two. */
#define NEAR_NS (2 * (uint64_t)NS_PER_MS)

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

/* Ends the session, and says what it could not see. */
static inline void close_states(struct camp_states *session)
{
    struct camp_states_losses losses;

    assert_int_equal(camp_states_losses(session, &losses, sizeof losses, NULL), CAMP_OK);
    print_message("%llu switches, %llu unseen\n", (unsigned long long)losses.switches,
                  (unsigned long long)losses.unseen);
    assert_int_equal(losses.lost, 0);
    assert_int_equal(losses.exits_lost, 0);
    camp_states_close(session);
}

/* ------------------------------------------------------------------------------ Threads -- */

struct threads {
    struct camp_thread_states *of; /* [count] */
    size_t count;
};

static inline struct threads look(struct camp_states *session)
{
    struct threads threads = { calloc(THREADS_MAX, sizeof *threads.of), 0 };
    struct camp_error error;

    assert_non_null(threads.of);
    if (camp_states_threads(session, threads.of, sizeof *threads.of, THREADS_MAX, &threads.count,
                            &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return threads;
}

/* Adds who ended meanwhile; begin with { 0 }. */
static inline void take_ended(struct camp_states *session, struct threads *ended)
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

/* The last one of that number, or NULL. */
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

/* The last numbers of a thread that ends: a child is waited for before it has left its CPU. */
static inline struct camp_thread_states last_of(struct camp_states *session, struct threads *ended,
                                                int32_t tid)
{
    const struct camp_thread_states *last = NULL;

    for (int i = 0; i < 2000 && last == NULL; i++) {
        take_ended(session, ended);
        last = find_tid(ended, tid);
        if (last == NULL)
            usleep(1000);
    }
    if (last == NULL)
        fail_msg("no last record of thread %d within 2 s", tid);
    return *last;
}

static inline uint64_t on_cpu_ns(const struct camp_thread_states *thread)
{
    return thread->state_ns[CAMP_STATE_USER] + thread->state_ns[CAMP_STATE_SYSTEM] +
           thread->state_ns[CAMP_STATE_IRQ];
}

static inline uint64_t sum_ns(const struct camp_thread_states *thread)
{
    uint64_t sum = 0;

    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        sum += thread->state_ns[i];
    return sum;
}

/* Of a share of a witness, but never finer than NEAR_NS. */
static inline uint64_t near_ns(uint64_t witness_ns, unsigned percent)
{
    uint64_t share = witness_ns / 100 * percent;

    return share > NEAR_NS ? share : NEAR_NS;
}

static inline void assert_near(const char *what, uint64_t ns, uint64_t witness_ns, uint64_t room_ns)
{
    assert_at_least(what, ns, witness_ns, room_ns);
    assert_at_most(what, ns, witness_ns, room_ns);
}

/* ----------------------------------------------------------------------------- Children -- */

/* Memory that children write to. */
static inline void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    return memory;
}

/* Who goes first is not kept from what it is about; its children are as all others. Nothing where
 * it may not. */
static inline void go_first(int policy)
{
    struct sched_param priority = { .sched_priority = policy == SCHED_FIFO };

    sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &priority);
}

/* A child that does one thing, and ends. `truth`: shared memory, for what it knows of itself. It is
 * made at one go: until it is, it has begun already, and sleeps. */
static inline pid_t start(void act(void *truth), void *truth)
{
    pid_t pid;

    go_first(SCHED_FIFO);
    pid = fork();
    if (pid != 0)
        go_first(SCHED_OTHER);
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

/* In a child: stays on this CPU alone. */
static inline void stay_on(size_t cpu)
{
    cpu_set_t only;

    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    if (sched_setaffinity(0, sizeof only, &only) != 0)
        _exit(1);
}

/* The last CPU that this process may run on. */
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

#endif
