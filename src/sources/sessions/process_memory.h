/* Reads memory of other processes: one system call, without stopping them. */
#pragma once

#include <camp/camp.h>

#include <stddef.h>

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
