/* The tasks that waited for a disk in one interval of `camp wait`, and for which disk. */
#pragma once

#include "sources/source.h"

#include <camp/states.h>

struct wait_task {
    int32_t pid, tid;      /* 0: several exited threads of one name */
    uint32_t major, minor; /* of the disk or partition; 0 0: unknown */
    uint64_t wait_ns;
    char name[CAMP_NAME_SIZE];
};

/* Waits by thread and disk, since the session was opened. */
struct wait_reading {
    struct camp_disk_wait *waits; /* [count] */
    bool *accounted; /* [count] the wait was accounted in the interval that ends here */
    size_t count, capacity;
};

/* wait_tasks_release() frees its arrays. All zero is an empty struct. */
struct wait_tasks {
    struct wait_task *tasks; /* [count], longest wait first */
    size_t count, capacity;
    struct wait_reading before, now;
};

/* Reserves space for `count` waits in `now`. False: no memory. */
bool wait_tasks_reserve(struct wait_tasks *tasks, size_t count);

/* Reads the waits of a session into `now`. */
int wait_tasks_read(struct wait_tasks *tasks, struct camp_states *session,
                    struct camp_error *error);

/* Excludes the waits so far from all intervals. */
void wait_tasks_start(struct wait_tasks *tasks);

/* Fills `tasks` from `threads`, whose interval is from `before` to `now`, then makes `now` the new
 * `before`. Each thread's rows add up to its state CAMP_STATE_DISK. `tolerance_ns`: allowed
 * difference between the state and its disks, because both were read one after the other.
 * CAMP_E_NOMEM. */
int wait_tasks_fill(struct wait_tasks *tasks, const struct frame *threads, uint64_t tolerance_ns);

void wait_tasks_release(struct wait_tasks *tasks);
