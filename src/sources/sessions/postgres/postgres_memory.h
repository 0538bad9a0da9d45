/*
 * What all backends of a PostgreSQL server do at this moment, read from the memory that they share:
 * one system call for some 300 of them, no query, no program in the kernel.
 *
 * A backend keeps its last wait event until it has a CPU again, so that a sample of one that is
 * runnable says nothing: proc_clock.h has its state.
 */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_MEMORY_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_MEMORY_H

#include "postgres_layout.h"

#include <stdbool.h>

struct postgres_memory;

struct postgres_backend {
    int32_t pid;
    bool known; /* else it has ended, or is not in the server's table (yet) */
    uint32_t event;
    uint32_t code; /* of its activity: postgres_layout_activity() */
};

/* `layout` was activities_known. CAMP_E_NOMEM, CAMP_E_INVALID. */
int postgres_memory_open(struct postgres_memory **ret, const struct postgres_layout *layout,
                         struct camp_error *error);

/* Fills backends[count], ascending by pid, which the caller has set. CAMP_E_GONE: the postmaster
 * has ended; CAMP_E_PERM. Who ended is not a failure. */
int postgres_memory_read(struct postgres_memory *memory, struct postgres_backend *backends,
                         size_t count, struct camp_error *error);

/* NULL is nothing to close. */
void postgres_memory_close(struct postgres_memory *memory);

#endif
