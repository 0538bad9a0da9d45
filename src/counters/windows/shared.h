/* Declarations that the files of this folder share. */
#pragma once

#include "../error.h"
#include "native.h"

#include <camp/camp.h>

/* Like camp_fail(), but for a failed call of Windows on `what`; `system_error` is GetLastError(). A
 * missing right gives CAMP_E_PERM, a missing object CAMP_E_GONE, missing memory CAMP_E_NOMEM, and a
 * function that the system does not have CAMP_E_NOTSUP. All other errors give CAMP_E_IO. */
int camp_fail_windows(struct camp_error *error, uint32_t system_error, const char *what);

/* The same, for a failed call of the native interface. */
int camp_fail_status(struct camp_error *error, NTSTATUS status, const char *what);

/* Returns CAMP_E_NOTSUP if there is a source: Windows has no files that could be read instead. */
int camp_this_machine_only(const struct camp_source *source, struct camp_error *error);

/* Copies `length` units of UTF-16 as UTF-8, truncated at a whole character. A surrogate without its
 * partner becomes U+FFFD. */
void camp_utf8_of(const WCHAR *text, size_t length, char *ret, size_t capacity);

/* Copies a UTF-8 string as UTF-16. Returns false if it is not UTF-8, or too long. */
bool camp_utf16_of(const char *text, WCHAR *ret, size_t capacity);

/* True if Wine imitates Windows. Wine has no numbers for many things and reports 0 then, so a value
 * that is known on Windows may be unknown there (docs/windows.md). */
bool camp_is_imitation(void);

/* The time that the clock interrupt charges to what it interrupts: the unit of all sampled times.
 */
uint64_t camp_tick_ns(void);

/* The moment of the boot, in units of 100 ns since 1601; 0 if it is unknown. */
int64_t camp_boot_time(void);

/* The frequency of the cycle counters; 0 if it is unknown. See cycles.c. */
uint64_t camp_cycles_hz(void);

/* Returns CPU cycles in ns. */
uint64_t camp_ns_of_cycles(uint64_t cycles, uint64_t hz);

/* Adds up the interrupts of all CPUs. */
int camp_count_interrupts(uint64_t *ret_count, struct camp_error *error);

/* Returns the state of a thread: R, D, S, T or X. */
char camp_thread_state(const struct native_thread *thread);

/* All processes and threads at one moment, ascending by pid, without the idle process (pid 0). */
struct process_table {
    uint64_t time_ns;
    void *bytes;
    const struct native_process **processes;
    size_t count;
};

/* Space of the process heap is taken, so that the caller needs none. camp_table_close() returns
 * it, also after a failure. */
int camp_table_open(struct process_table *table, struct camp_error *error);
void camp_table_close(struct process_table *table);

/* Returns the process, or NULL if no process has this pid. */
const struct native_process *camp_table_find(const struct process_table *table, int32_t pid);

/* Returns the process. If it has ended, *error is filled, and the result is NULL. */
const struct native_process *camp_table_expect(const struct process_table *table,
                                               const struct camp_process *process,
                                               struct camp_error *error);

struct camp_process camp_identity_of(const struct native_process *process);

/* Like camp_output_check(). Returns CAMP_E_NOTSUP if there is a source. */
int camp_check_list(const struct camp_source *source, const char *name, const void *first,
                    size_t size, size_t least, size_t capacity, const size_t *ret_count,
                    struct camp_error *error);

/* Opens a process or thread to read its cycles. As long as it is open, no other process or thread
 * gets its number. Returns NULL, and GetLastError(), if it cannot be opened. */
HANDLE camp_process_open(int32_t pid);
HANDLE camp_thread_open(int32_t tid);

/* Returns whether the open process was created at `start`. Wine returns the time of the caller. */
bool camp_was_created_at(HANDLE process, uint64_t start);

/* Like camp_process_cpu_ns(), of a process opened by camp_process_open(). CAMP_E_PERM: it is NULL,
 * as the process may not be opened. */
int camp_process_cpu_opened(int32_t pid, HANDLE opened, uint64_t *ret_ns, struct camp_error *error);

/* Like camp_process_read(). `opened` is of camp_process_open(). It may be NULL; the cycles are then
 * unknown. */
int camp_process_read_opened(const struct camp_process *identity, HANDLE opened,
                             struct camp_task *ret, struct camp_error *error);
