/*
 * Processes whose CPU time was read are kept open, because a kept reader reads it several times
 * faster, and by itself knows when the pid belongs to another process.
 *
 * A Process of Python is only a pid and a start, so the readers are in a table of the module. It
 * has a limit, as a program may read thousands of processes. The GIL protects the table.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct kept_process; /* a process and its reader */

#define KEPT_LISTS 128 /* lists of the hash table */

struct kept_processes {
    struct kept_process *lists[KEPT_LISTS]; /* by pid */
    size_t count;
    uint64_t reads;  /* number of reads of kept processes */
    uint64_t misses; /* number of reads of processes that were not kept, since the table was full */
};

/* Closes all readers. */
void kept_processes_close(struct kept_processes *kept);
