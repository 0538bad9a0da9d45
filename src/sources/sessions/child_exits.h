/*
 * The last CPU and run-queue times of the children of a process, such as a database server, that
 * exited: from the kernel's exit records (taskstats). /proc has no times of a process that has
 * exited, so without these records the times since its last reading are lost.
 */
#pragma once

#include <camp/linux.h>

#include <stdbool.h>

struct child_exit {
    int32_t pid;
    uint64_t began_s; /* since 1970 */
    uint64_t cpu_ns, run_queue_ns, elapsed_ns;
};

#define CHILD_EXITS 4096 /* a power of two: the records that are kept */

struct child_exits {
    struct camp_taskstats taskstats;
    bool is_open;
    struct child_exit *records; /* [CHILD_EXITS], a ring */
    uint64_t count;
};

/* Starts to listen. CAP_NET_ADMIN is needed only for this call. Errors are those of
 * camp_taskstats_open() and camp_taskstats_listen(). */
int child_exits_open(struct child_exits *exits, struct camp_error *error);

/* Does nothing if the struct is all zero. */
void child_exits_close(struct child_exits *exits);

/* Reads the records of children of `parent` that wait, and never blocks. A failure is ignored:
 * the times of exited children are then unknown. Call it at least ten times a second, because the
 * kernel keeps only so many. */
void child_exits_read(struct child_exits *exits, int32_t parent);

/* Returns the record of a process with this pid that started within 2 s of start_us (since 1970),
 * or NULL. */
const struct child_exit *child_exits_find(const struct child_exits *exits, int32_t pid,
                                          int64_t start_us);
