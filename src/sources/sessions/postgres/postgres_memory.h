/*
 * Reads from shared memory what all backends of a PostgreSQL server do at this moment. One system
 * call reads some 300 backends. No query and no program in the kernel is needed.
 *
 * A backend keeps its last wait event until it has a CPU again, so the event of a runnable backend
 * is not valid. proc_clock_state() shows whether a backend is runnable.
 */
#pragma once

#include "postgres_layout.h"

#include <stdbool.h>

struct postgres_backend {
    int32_t pid;
    bool known; /* false if the backend has ended, or has no entry in the server's table (yet) */
    uint32_t event;
    uint32_t code;     /* activity, translated by postgres_layout_activity() */
    int64_t statement; /* id of the statement that ran last; 0 without layout->statement_offset */
    /* Addresses of the event and of the entry, for the next reading; 0 if unknown. */
    uint64_t event_address, entry_address;
};

/* Fills backends[count]. The caller has set the pids. The addresses must be those of the last
 * reading, or 0. layout->activities_known must be set. CAMP_E_GONE if the postmaster has ended, or
 * CAMP_E_PERM. The end of a backend is no failure. */
int postgres_memory_read(const struct postgres_layout *layout, struct postgres_backend *backends,
                         size_t count, struct camp_error *error);

/* The following functions read the memory of other processes by process_vm_readv(2), without
 * stopping them. camp needs the right to ptrace(2) the process: the same user, or CAP_SYS_PTRACE.
 */

/* Reads `size` bytes. CAMP_E_GONE if the process has ended. CAMP_E_PERM if camp may not read it;
 * the message says what to do. CAMP_E_IO if the address is not mapped. */
int process_memory_read(int32_t pid, uint64_t address, void *ret, size_t size,
                        struct camp_error *error);

int process_memory_read_pointer(int32_t pid, uint64_t address, uint64_t *ret,
                                struct camp_error *error);

/* Fills *error for an errno of process_vm_readv(2), or of a file in /proc with the same access
 * rule. */
int process_memory_fail(int32_t pid, int system_error, struct camp_error *error);
