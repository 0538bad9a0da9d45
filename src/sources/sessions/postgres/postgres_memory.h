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

/* Memory of other processes, read by process_vm_readv(2): one system call, without stopping them.
 * It needs the right to ptrace(2): the same user, or CAP_SYS_PTRACE. */

/* Reads all of it. CAMP_E_GONE: the process has ended; CAMP_E_PERM: the message says what to do;
 * CAMP_E_IO: the address is not mapped. */
int process_memory_read(int32_t pid, uint64_t address, void *ret, size_t size,
                        struct camp_error *error);

/* Reads a pointer of a program of camp's own word size; others cannot be read. */
int process_memory_read_pointer(int32_t pid, uint64_t address, uint64_t *ret,
                                struct camp_error *error);

/* Fills `error` for errno of process_vm_readv(2), or of a file in /proc with the same access
 * rule. */
int process_memory_fail(int32_t pid, int system_error, struct camp_error *error);
