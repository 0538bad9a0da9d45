/*
 * Rows of threads in the columns of pea.se, the process lister of the SE toolkit that the papers on
 * CPU time measurement use. Microstates and counters come from the rows. The sizes of a process,
 * its parent and the CPU time of its children come from /proc/PID/stat, read once in each interval.
 */
#pragma once

#include "ledger/group.h"
#include "sources/user_names.h"
#include "views/record.h"

#include <camp/camp.h>

struct pea_process {
    int32_t pid;
    struct camp_task task;
};

struct pea_reading {
    struct pea_process *processes; /* [count], ascending by pid */
    size_t count, capacity;
};

/* An all-zero struct is empty: all sizes are unknown. pea_release() frees the members. */
struct pea {
    struct pea_reading before, now;
    struct camp_process *list;
    size_t list_capacity;
    uint64_t end_ns; /* the end of the interval for which `now` was read */
};

/* Reads all processes of this machine, unless they were read for this interval already. A process
 * that cannot be read is unknown. Returns CAMP_OK or CAMP_E_NOMEM. */
int pea_read(struct pea *pea, uint64_t end_ns);
void pea_release(struct pea *pea);

/* The columns of JSON and CSV beside those of the row. */
enum pea_field { PEA_VIRTUAL, PEA_RESIDENT, PEA_CHILDREN, PEA_FIELD_COUNT };
extern const struct field pea_fields[PEA_FIELD_COUNT];
void pea_fill(struct cell ret[PEA_FIELD_COUNT], const struct pea *pea, const struct frame *rows,
              size_t row, enum group_key key);

/* Why sizes are unknown in rows that are not of this moment. */
#define PEA_UNKNOWN                                                                                \
    "size, rss and chld% (CPU time of children) are unknown: a recording does not have them"

const char *pea_heading(bool ended);

/* Writes a row of a frame of threads as a line. `key` is what the threads are grouped by. */
void pea_line(char *ret, size_t capacity, const struct pea *pea, const struct frame *rows,
              size_t row, enum group_key key, struct user_names *users, const char *name);
