/*
 * The threads that waited for a disk in one interval of `camp wait`, as a frame: a row for each
 * thread and disk.
 */
#pragma once

#include "sources/source.h"

#include <camp/states.h>

enum waits_column {
    WAITS_DISK,  /* the thread's time in state CAMP_STATE_DISK for this disk */
    WAITS_MAJOR, /* the device number of the disk or partition; 0 and 0 if it is unknown */
    WAITS_MINOR,
    WAITS_COLUMN_COUNT
};

/* An entity is a thread: its id is the tid, which is 0 for several exited threads of one name. */
extern const struct schema waits_schema;

/* The waits by thread and disk since the session was opened. */
struct wait_reading {
    struct camp_disk_wait *waits; /* [count] */
    bool *accounted; /* [count] the wait was accounted in the interval that ends here */
    size_t count, capacity;
};

/* A part of a thread's time in state CAMP_STATE_DISK. */
struct wait_part {
    uint32_t major, minor;
    uint64_t wait_ns;
};

/* wait_tasks_release() frees its arrays. All zero is an empty struct. */
struct wait_tasks {
    struct frame rows;
    struct wait_part *parts; /* [part_count] of the thread that is being added */
    size_t part_count, part_capacity;
    struct wait_reading before, now;
};

/* Reserves space for `count` waits in `now`. False: no memory. */
bool wait_tasks_reserve(struct wait_tasks *tasks, size_t count);

/* Reads the waits of a session into `now`. */
int wait_tasks_read(struct wait_tasks *tasks, struct camp_states *session,
                    struct camp_error *error);

/* Excludes the waits before `now` from all intervals. */
void wait_tasks_start(struct wait_tasks *tasks);

/* Fills `rows` from `threads`, whose interval is from `before` to `now`, then makes `now` the new
 * `before`. The rows of a thread add up to its state CAMP_STATE_DISK. `tolerance_ns` is the allowed
 * difference between the state and the sum of the waits, which were read one after the other.
 * CAMP_OK or CAMP_E_NOMEM. */
int wait_tasks_fill(struct wait_tasks *tasks, const struct frame *threads, uint64_t tolerance_ns);

void wait_tasks_release(struct wait_tasks *tasks);
