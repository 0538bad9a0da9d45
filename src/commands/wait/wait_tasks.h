/* The tasks that waited for a disk in one interval of `camp wait`, and on which. */
#ifndef CAMP_COMMANDS_WAIT_WAIT_TASKS_H
#define CAMP_COMMANDS_WAIT_WAIT_TASKS_H

#include "sources/source.h"

#include <camp/states.h>

struct wait_task {
    int32_t pid, tid;      /* 0: many that ended, of one name */
    uint32_t major, minor; /* of the disk or partition; 0 0: of none that is its own */
    uint64_t wait_ns;
    char name[CAMP_NAME_SIZE];
};

/* Waits by thread and disk, since the session was opened. */
struct wait_reading {
    struct camp_disk_wait *waits; /* [count] */
    bool *booked;                 /* [count] in the interval that ends with it */
    size_t count, capacity;
};

/* Owns its arrays: wait_tasks_release(). All zero is an empty one. */
struct wait_tasks {
    struct wait_task *tasks; /* [count], who waited longest first */
    size_t count, capacity;
    struct wait_reading before, now;
};

/* Room for `count` waits in `now`. False: no memory. */
bool wait_tasks_reserve(struct wait_tasks *tasks, size_t count);

/* Reads the waits of a session into `now`. */
int wait_tasks_read(struct wait_tasks *tasks, struct camp_states *session,
                    struct camp_error *error);

/* What was waited until now is in no interval. */
void wait_tasks_begin(struct wait_tasks *tasks);

/* Fills `tasks` from `threads`, whose interval is from `before` to `now`, and makes `now` what was
 * before. Each thread's rows add up to its state CAMP_STATE_DISK. `tolerance_ns`: so much of it may
 * be missing from its disks, or too much, because both were read one after the other.
 * CAMP_E_NOMEM. */
int wait_tasks_fill(struct wait_tasks *tasks, const struct frame *threads, uint64_t tolerance_ns);

void wait_tasks_release(struct wait_tasks *tasks);

#endif
