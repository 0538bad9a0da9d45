/*
 * A frame of the threads that waited for disks in one interval of `camp wait`. Each row is one
 * thread and one disk.
 */
#pragma once

#include "sources/source.h"

#include <camp/states.h>

enum waits_column {
    WAITS_DISK,  /* the thread's time in CAMP_STATE_DISK for this disk, in ns */
    WAITS_MAJOR, /* device number; major and minor are 0 for an unknown disk */
    WAITS_MINOR,
    WAITS_COLUMN_COUNT
};

/* Each entity is a thread, whose id is the tid. The id is 0 for several exited threads with one
 * name. */
extern const struct schema waits_schema;

/* Writes the name of the disk in values[WAITS_COLUMN_COUNT], such as "vda", or its numbers, such as
 * "253:0", if the disk is gone. "" for an unknown disk. */
void waits_disk_name(char ret[CAMP_NAME_SIZE], const uint64_t *values);

/* The waits of each thread for each disk since the session was opened. */
struct wait_reading {
    struct camp_disk_wait *waits; /* [count] */
    bool *accounted;              /* [count] whether the wait was added to the rows of a thread */
    size_t count, capacity;
};

/* A part of a thread's time in state CAMP_STATE_DISK. */
struct wait_part {
    uint32_t major, minor;
    uint64_t wait_ns;
};

/* An all-zero struct is empty. wait_tasks_release() frees the arrays. */
struct wait_tasks {
    struct frame rows;
    struct wait_part *parts; /* [part_count] the parts of the thread that is being added */
    size_t part_count, part_capacity;
    struct wait_reading before, now;
};

/* Reserves space for `count` waits in `now`. Returns false if there is no memory. */
bool wait_tasks_reserve(struct wait_tasks *tasks, size_t count);

/* Reads the waits of a session into `now`. Returns CAMP_OK, CAMP_E_NOMEM or an error of
 * camp_states_disk_waits(). */
int wait_tasks_read(struct wait_tasks *tasks, struct camp_states *session,
                    struct camp_error *error);

/* Makes `now` the start of the first interval, so earlier waits are not accounted. */
void wait_tasks_start(struct wait_tasks *tasks);

/* Fills `rows` from `threads`, whose interval is from `before` to `now`. Then makes `now` the new
 * `before`. The rows of a thread add up to its time in CAMP_STATE_DISK. `tolerance_ns` is the
 * allowed difference between this time and the sum of the waits, because states and waits are read
 * one after the other. Returns CAMP_OK or CAMP_E_NOMEM. */
int wait_tasks_fill(struct wait_tasks *tasks, const struct frame *threads, uint64_t tolerance_ns);

void wait_tasks_release(struct wait_tasks *tasks);
