/*
 * Rows of idle threads in a frame of threads (enum idle_rows).
 *
 * Of each process, the row of its idle threads is kept, so that it is copied and not made again.
 * Threads that were read in an interval are kept until a frame has an idle row of them that speaks
 * for all later intervals: a row of one state for about the whole interval.
 */
#pragma once

#include "ledger/frame.h"
#include "ledger/index.h"

#include <camp/states.h>

struct idle_processes {
    struct entity *rows; /* [count] by the number of a group in the registry of threads */
    size_t count, capacity;
    struct index index;
};

/* Finds the number of a thread's process, as thread_user.group() does. Threads with different users
 * or cgroups are apart. Returns CAMP_OK or CAMP_E_NOMEM. */
int idle_processes_find(struct idle_processes *processes, const struct camp_thread_states *before,
                        const struct camp_thread_states *thread, uint32_t *group);

/* Forgets all processes. The numbers of all threads must then be found again. */
void idle_processes_clear(struct idle_processes *processes);

void idle_processes_release(struct idle_processes *processes);

/* A thread that was read, and its state since then. */
struct fresh_thread {
    struct entity entity;
    uint32_t state;   /* enum camp_state */
    uint64_t time_ns; /* of the reading; 0: the end of its wait in this snapshot */
    bool did;         /* something in this interval, or it is no longer there */
    size_t order;     /* fresh_threads_add() sets it */
};

struct fresh_list {
    struct fresh_thread *threads; /* [count] */
    size_t count, capacity;
    bool is_unsorted;
    size_t next; /* index of the thread after the last one that was found */
};

/* The threads that were read in the last interval, and those that are read in this one. */
struct fresh_threads {
    struct fresh_list last, now;
};

void fresh_threads_start_interval(struct fresh_threads *fresh);

/* Notes that a thread did something in this interval, or is no longer there. */
void fresh_threads_forget(struct fresh_threads *fresh, int32_t tid);

/* Keeps a thread for the next interval. Returns CAMP_OK or CAMP_E_NOMEM. */
int fresh_threads_add(struct fresh_threads *fresh, const struct fresh_thread *thread);

void fresh_threads_release(struct fresh_threads *fresh);
