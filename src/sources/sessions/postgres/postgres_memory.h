/*
 * What all backends of a PostgreSQL server do at this moment, read from their shared memory: one
 * system call for some 300 backends, no query, no program in the kernel.
 *
 * A backend keeps its last wait event until it has a CPU again, so the event of a runnable backend
 * means nothing: proc_clock.h has its state.
 */
#pragma once

#include "postgres_layout.h"

#include <stdbool.h>

struct postgres_backend {
    int32_t pid;
    bool known; /* false: it has ended, or has no entry in the server's table (yet) */
    uint32_t event;
    uint32_t code; /* postgres_layout_activity() translates it */
    /* Where these are, for the next reading; 0: unknown. */
    uint64_t event_address, entry_address;
};

/* Fills backends[count], of which the caller has set the pid, and the addresses if it knows them.
 * The layout's activities are known. CAMP_E_GONE: the postmaster has ended; CAMP_E_PERM. The end of
 * a backend is no failure. */
int postgres_memory_read(const struct postgres_layout *layout, struct postgres_backend *backends,
                         size_t count, struct camp_error *error);
