/* What the loads and the verification share on Windows. */
#pragma once

#include "load/load_file.h"
#include "windows/imitation.h"
#include "windows/windows.h"

#include <camp/camp.h>

#include <stdint.h>

/* Fills *error for a system error (GetLastError()) at `what`, and returns its CAMP_E_*. */
int windows_failed(struct camp_error *error, DWORD system_error, const char *what);

/* CPU time of a process, also after its exit as long as the handle is open. Returns 0 if it is
 * unknown. Like load_process_ns(). */
uint64_t process_clock_ns(HANDLE process);

/* Opens an existing file for reading. The caller must call load_file_close(), even after a failure.
 */
int load_file_open_existing(struct load_file *ret, const char *path, struct camp_error *error);

/* Whether CPU clocks are cycles. Otherwise they are GetProcessTimes(). */
bool clock_has_cycles(void);

/* Cycles of the time-stamp counter per second, measured once. A child process gets the rate of its
 * parent. 0 means that it is not measured yet. */
double cycles_per_second(void);
void set_cycles_per_second(double rate);

/* A child process that runs this program. Windows has no fork(2), so the program is started again,
 * as `camp load child ROLE SECTION PARENT RATE NUMBER...`. The child inherits the handle of the
 * section, and a handle of this process, so that it can notice the end of its parent. */
struct child {
    HANDLE process;
    DWORD pid;
};

/* What a child knows from its arguments. */
struct child_role {
    HANDLE section, parent;
    uint64_t numbers[2];
};

/* Creates memory of `bytes` bytes that children can map, and maps it. After a failure returns NULL,
 * and *ret_section is NULL. */
void *section_create(size_t bytes, HANDLE *ret_section);

/* Maps the whole section of the parent. Returns NULL after a failure. */
void *section_map(HANDLE section);

bool child_start(struct child *ret, const char *role, HANDLE section, uint64_t first,
                 uint64_t second);

/* The roles, which return the exit status of the child. */
int child_burn(const struct child_role *role);
int child_subject(const struct child_role *role);
