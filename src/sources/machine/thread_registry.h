/*
 * The threads of a session of microstates (camp_states_open()), and what each of them did in an
 * interval, which a snapshot ends. The session has the last reading of each thread. The registry
 * adds what the session does not know: readings of threads that are missing, and how many threads
 * wait in which state. It does nothing for a thread that did nothing.
 *
 * These rules account each nanosecond of a thread once:
 *
 * - A thread is its process, the start of its account (begin_ns) and its tid. exec(2) may change
 *   the tid to that of the process. So of two readings with the same pid and begin_ns, a tid that
 *   equals the pid matches each other tid, if no reading has just that tid. A thread with a reused
 *   tid has another begin_ns.
 * - From the reading of a thread in a snapshot, or from its final reading, the reading before is
 *   subtracted.
 * - A thread without a reading before is new, if it started after the previous snapshot. If it is
 *   older, then a snapshot may have missed it. It is late: it is matched at the end of the interval
 *   with the readings that are kept.
 * - A thread is missing if a snapshot lacks it, and its final reading has not arrived. Its last
 *   reading is kept for this and three further snapshots.
 * - Exits are read before a snapshot, and again after it. A final reading of the second time
 *   belongs to this interval if the snapshot lacks the thread, and to the next one if the snapshot
 *   has it, or if the thread started later. So a thread has one row in an interval.
 * - The final readings of several threads may arrive as one sum, called a total
 *   (CAMP_THREAD_TOTAL). Which threads it has is unknown. So it is resolved at the end of an
 *   interval, after all single readings: kept readings are subtracted from it, of at most as many
 *   threads as it has. All its threads had one name, and one parent when they exited. So readings
 *   with this name and parent come first, and then those with another parent, which may have exited
 *   after the reading. A reading is left out if it has more time in a state than the rest of the
 *   total. Longer readings come first, so that shorter ones are left for shorter totals.
 * - If the final reading of such a thread arrives after all, then it was not in the total, but
 *   another kept reading with this name was, if there is one. The other reading is subtracted from
 *   the final reading, so that the sum is right.
 * - A thread that stays in its state is idle. Per group and state the registry has the number of
 *   threads, and the sum of the times since which they wait. So the waits of all idle threads are
 *   one subtraction. Rows of idle threads are made only if the user has a function for them.
 *
 * Threads that are read from /proc (threads_schedstat.c) have no final readings and no sums, so
 * these rules are not for them.
 */
#pragma once

#include "kept_threads.h"

/* What a registry calls. Each pointer is valid only during the call. A group is a number below
 * 2^32 - 1, which the user chooses; small numbers save memory. If a function does not return
 * CAMP_OK, then the first such result is that of thread_registry_read(). */
struct thread_user {
    void *context;
    /* Called with what a thread, or a total, did in the interval: after thread_since(). */
    int (*did)(void *context, const struct camp_thread_states *since, uint32_t group);
    /* Called for each idle thread. If NULL, idle() is called instead. */
    int (*waited)(void *context, const struct camp_states_wait *wait, uint32_t group);
    /* Called with the sum of the waits of all idle threads of a group in a state. May be NULL. */
    int (*idle)(void *context, uint32_t group, uint32_t state, uint64_t threads, uint64_t wait_ns);
    /* Sets *group to the thread's group. If `before` is not NULL, it is an earlier reading, and
     * *group is the group of that reading. Without this function, all threads are in group 0. */
    int (*group)(void *context, const struct camp_thread_states *before,
                 const struct camp_thread_states *thread, uint32_t *group);
    /* Called for a thread that has exited, or is missing, after its group was found. May be
     * NULL. */
    void (*left)(void *context, const struct camp_thread_states *last);
};

/* Threads of one group in one state. `ends` is the sum of the times at which their last readings,
 * or their last accounted waits, end. It may overflow, and differences are still right. */
struct thread_cell {
    uint32_t group, state;
    uint32_t next;                   /* 1 + index of another cell of the group; 0: none */
    uint32_t threads, fresh_threads; /* fresh: read in the snapshot that is being taken */
    uint64_t ends, fresh_ends;
};

struct late_list {
    struct late_thread {
        struct camp_thread_states thread;
        uint32_t group;
    } * threads; /* [count] */
    size_t count, capacity;
};

/* thread_registry_init() fills this struct, and thread_registry_release() frees its arrays. */
struct thread_registry {
    struct thread_user user;
    uint64_t threads, processes; /* living in the last snapshot, less those that exited since */
    uint64_t snapshot_ns;        /* CLOCK_MONOTONIC at the end of the last snapshot */
    uint64_t idle_ns;            /* CLOCK_MONOTONIC at which the waits of idle threads end in it */
    /* If true, the next snapshot finds the group of each thread again. Set by the user if group
     * numbers or rules have changed. A snapshot sets it to false when it has visited all. */
    bool regroups;

    struct thread_cell *cells; /* [cell_count] for each state in which a group ever had a thread */
    size_t cell_count, cell_capacity;
    uint32_t *first_cells; /* [group_count] 1 + index of a cell of the group; 0: it has none */
    size_t group_count;
    struct kept_threads kept;
    struct late_list late; /* final readings, totals and readings to be matched */
    struct late_list held; /* what belongs to the next interval */
    bool is_listed;        /* the snapshot was taken, and exits are read again */
    bool tells;            /* idle threads are visited one by one */
    int result;
};

void thread_registry_init(struct thread_registry *ret, const struct thread_user *user);
void thread_registry_release(struct thread_registry *registry);

/* Takes a snapshot, which ends the interval. The first snapshot has what happened since the session
 * was opened. Returns CAMP_OK, the error of camp_states_visit(), or that of a function of the user.
 * After an error, the next snapshot has what this one lacks. */
int thread_registry_read(struct thread_registry *registry, struct camp_states *session,
                         struct camp_error *error);

/* Reads the threads that exited, so that the session has space for further ones. Must be called
 * often between two snapshots. */
int thread_registry_read_exited(struct thread_registry *registry, struct camp_states *session,
                                struct camp_error *error);

/* Reads exits of the interval that the last snapshot ended once more: of threads that it lacks, and
 * totals. What belongs to the next interval is left to it. */
int thread_registry_read_late(struct thread_registry *registry, struct camp_states *session,
                              struct camp_error *error);
