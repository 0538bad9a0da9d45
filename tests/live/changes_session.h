/*
 * For tests of snapshots from the list of changes: opens sessions, reads snapshots by one way or
 * the other, and starts processes whose threads sleep.
 *
 * The number of snapshots by the iterator is the witness of the way.
 */
#pragma once

#include "microstates/linux/session.h"
#include "states_session.h"

#include <pthread.h>
#include <stdatomic.h>

static inline struct camp_states *open_changes_session(void)
{
    struct camp_states *session = open_states_or_skip(0);

    if (!session->lists_changes) {
        print_message("skipped, not passed: snapshots come from the iterator here (the kernel is "
                      "older than Linux 6.10, or this is a PID namespace)\n");
        close_states(session);
        skip();
    }
    return session;
}

static inline struct threads read_list(struct camp_states *session)
{
    const uint32_t iterated = session->snapshots;
    struct threads threads = read_threads(session);

    assert_int_equal(session->snapshots, iterated);
    return threads;
}

/* The iterator reads the full record of each thread if the session does not know all threads. */
static inline struct threads read_iterator(struct camp_states *session)
{
    const uint32_t iterated = session->snapshots;
    struct threads threads;

    session->known_whole = false;
    threads = read_threads(session);
    assert_int_equal(session->snapshots, iterated + 1);
    return threads;
}

static inline size_t count_of_process(const struct threads *threads, pid_t pid)
{
    size_t count = 0;

    for (size_t i = 0; i < threads->count; i++)
        count += threads->of[i].pid == pid;
    return count;
}

/* Returns how often the first thread of a process has left its CPU to sleep. */
static inline uint64_t sleeps_of(pid_t pid)
{
    unsigned long long sleeps = 0;
    char path[64], line[256];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "voluntary_ctxt_switches: %llu", &sleeps) == 1)
            break;
    }
    fclose(file);
    return sleeps;
}

/* A process whose threads sleep. It is in shared memory. */
struct sleepers {
    int threads;       /* with the first one */
    atomic_int asleep; /* how many of them have nothing left to do but to sleep */
    atomic_int last_tid;
};

static inline void sleep_for_ever(struct sleepers *sleepers)
{
    atomic_fetch_add(&sleepers->asleep, 1);
    for (;;)
        pause();
}

static inline void *be_a_sleeper(void *memory)
{
    struct sleepers *sleepers = memory;

    sleepers->last_tid = gettid();
    sleep_for_ever(sleepers);
    return NULL;
}

static inline void add_sleepers(struct sleepers *sleepers)
{
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 1; i < sleepers->threads; i++) {
        if (pthread_create(&thread, &small, be_a_sleeper, sleepers) != 0)
            _exit(1);
    }
}

static inline void be_sleepers(void *memory)
{
    add_sleepers(memory);
    sleep_for_ever(memory);
}

static inline struct sleepers *make_sleepers(int threads)
{
    struct sleepers *sleepers = shared_memory(sizeof *sleepers);

    sleepers->threads = threads;
    return sleepers;
}

static inline bool all_sleep(const struct threads *threads, pid_t pid, size_t expected)
{
    size_t count = 0;

    for (size_t i = 0; i < threads->count; i++)
        count += threads->of[i].pid == pid && is_asleep((int)threads->of[i].state);
    return count == expected;
}

/* Waits until snapshots from the list of changes report that all threads of a process sleep. */
static inline void await_sleep(struct camp_states *session, pid_t pid,
                               const struct sleepers *sleepers)
{
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    bool asleep;

    while (sleepers->asleep < sleepers->threads && wait_on(began_ns))
        continue;
    do {
        struct threads threads = read_list(session);

        asleep = sleepers->asleep == sleepers->threads &&
                 all_sleep(&threads, pid, (size_t)sleepers->threads);
        free(threads.of);
    } while (!asleep && wait_on(began_ns));
    assert_true(asleep);
}

static inline void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
