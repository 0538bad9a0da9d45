/*
 * Rows of idle threads in a frame of threads (enum idle_rows).
 *
 * The row of the idle threads of each process is kept, and copied in each interval. A thread that
 * was read is kept until a frame has an idle row of it that a reader may repeat.
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
struct recent_thread {
    struct entity entity;
    uint32_t state;   /* enum camp_state */
    uint64_t time_ns; /* of the reading, or the end of its last accounted wait */
    bool is_done;     /* it has a row of this interval, or it is no longer there */
    size_t order;     /* recent_threads_add() sets it */
};

struct recent_list {
    struct recent_thread *threads; /* [count] */
    size_t count, capacity;
    bool is_unsorted;
    size_t next; /* index of the thread after the last one that was found */
};

/* The threads that were read in the last interval, and those that are read in this one. */
struct recent_threads {
    struct recent_list last, now;
};

void recent_threads_start_interval(struct recent_threads *recent);

/* Notes that a thread has a row of this interval, or is no longer there. */
void recent_threads_forget(struct recent_threads *recent, int32_t tid);

/* Keeps a thread for the next interval. Returns CAMP_OK or CAMP_E_NOMEM. */
int recent_threads_add(struct recent_threads *recent, const struct recent_thread *thread);

void recent_threads_release(struct recent_threads *recent);
