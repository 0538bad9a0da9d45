/*
 * Reads what all backends of a PostgreSQL server do at this moment from their shared memory: by one
 * system call for some 300 backends, without a query or a program in the kernel.
 *
 * A backend keeps its last wait event until it has a CPU again, so the event of a runnable backend
 * means nothing. proc_clock.h reads whether it is runnable.
 */
#pragma once

#include "postgres_layout.h"

#include <stdbool.h>

struct postgres_backend {
    int32_t pid;
    bool known; /* false: the backend has ended, or has no entry in the server's table (yet) */
    uint32_t event;
    uint32_t code; /* postgres_layout_activity() translates it */
    /* The addresses of event and entry, for the next reading; 0: unknown. */
    uint64_t event_address, entry_address;
};

/* Fills backends[count], in which the caller has set the pids, and the addresses if it knows them.
 * The activities of the layout must be known. CAMP_E_GONE: the postmaster has ended; CAMP_E_PERM.
 * The end of a backend is no failure. */
int postgres_memory_read(const struct postgres_layout *layout, struct postgres_backend *backends,
                         size_t count, struct camp_error *error);

/* Memory of other processes, read by process_vm_readv(2): one system call, without stopping them.
 * It needs the right to ptrace(2): the same user, or CAP_SYS_PTRACE. */

/* Reads `size` bytes, or fails. CAMP_E_GONE: the process has ended; CAMP_E_PERM: the message says
 * what to do; CAMP_E_IO: the address is not mapped. */
int process_memory_read(int32_t pid, uint64_t address, void *ret, size_t size,
                        struct camp_error *error);

/* Reads a pointer of a program that has the same word size as camp. */
int process_memory_read_pointer(int32_t pid, uint64_t address, uint64_t *ret,
                                struct camp_error *error);

/* Fills `error` for the errno of process_vm_readv(2), or of a file in /proc with the same access
 * rule. */
int process_memory_fail(int32_t pid, int system_error, struct camp_error *error);
