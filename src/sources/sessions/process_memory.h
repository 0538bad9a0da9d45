/* Reading memory of other processes: one system call, nothing is stopped. */
#ifndef CAMP_SOURCES_SESSIONS_PROCESS_MEMORY_H
#define CAMP_SOURCES_SESSIONS_PROCESS_MEMORY_H

#include <camp/camp.h>

#include <stddef.h>

/* All of it, or CAMP_E_GONE: the process has ended; CAMP_E_PERM: not for us, what to do is in the
 * message; CAMP_E_IO: nothing is at that address. */
int process_memory_read(int32_t pid, uint64_t address, void *ret, size_t size,
                        struct camp_error *error);

/* A pointer of a program of the same word size as camp: the only ones that can be read. */
int process_memory_read_pointer(int32_t pid, uint64_t address, uint64_t *ret,
                                struct camp_error *error);

/* Fills `error` for errno of process_vm_readv(2), or of a file of /proc that asks for the same
 * right. */
int process_memory_fail(int32_t pid, int system_error, struct camp_error *error);

#endif
