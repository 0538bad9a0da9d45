/*
 * The last CPU and run-queue times of the server's processes that ended, from the kernel's exit
 * records (taskstats). /proc has no times of a process that has ended, so without these records a
 * session loses the times since its last sample: all of them, if it was short.
 */
#pragma once

#include <camp/linux.h>

#include <stdbool.h>

struct postgres_exit {
    int32_t pid;
    uint64_t began_s; /* since 1970 */
    uint64_t cpu_ns, run_queue_ns, elapsed_ns;
};

#define POSTGRES_EXITS 4096 /* a power of two: the records that are kept */

struct postgres_exits {
    struct camp_taskstats taskstats;
    bool is_open;
    struct postgres_exit *records; /* [POSTGRES_EXITS], a ring */
    uint64_t count;
};

/* Starts to listen, which needs CAP_NET_ADMIN only now. Errors are those of camp_taskstats_open()
 * and camp_taskstats_listen(). */
int postgres_exits_open(struct postgres_exits *exits, struct camp_error *error);

/* Does nothing if the struct is all zero. */
void postgres_exits_close(struct postgres_exits *exits);

/* Reads the records of children of `postmaster` that wait, and never blocks. A failure is ignored:
 * the times of ended sessions are then unknown. Call it at least ten times a second, because the
 * kernel keeps only so many. */
void postgres_exits_read(struct postgres_exits *exits, int32_t postmaster);

/* Returns the record of a process with this pid that started within 2 s of start_us (since 1970),
 * or NULL. */
const struct postgres_exit *postgres_exits_find(const struct postgres_exits *exits, int32_t pid,
                                                int64_t start_us);
