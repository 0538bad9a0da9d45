/* The system call in which a thread sleeps now, and its first arguments: of
 * /proc/PID/task/TID/syscall (Linux: proc_pid_syscall()). Only root, or a caller that may trace the
 * process, can read that file. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The number of a call that is not known. */
#define CALL_UNKNOWN (-2)

#define OPEN_CALL_ARGUMENTS 3

/* Parses the text of a file such as /proc/PID/task/TID/syscall, which ends with a NUL: "0 0x3
 * 0x7ffd...", "-1 0x7ffd... 0x7f..." outside of system calls, or "running". Sets the call and its
 * first arguments; those that the text lacks are 0. Returns false, and CALL_UNKNOWN, if the thread
 * runs or the text is another one. */
bool open_call_parse(const char *text, int32_t *ret_call,
                     uint64_t ret_arguments[OPEN_CALL_ARGUMENTS]);

/* Reads the call in which a thread sleeps, and its arguments. The results are those of
 * open_call_parse(). */
bool open_call_read_all(int32_t pid, int32_t tid, const char *folder, int32_t *ret_call,
                        uint64_t ret_arguments[OPEN_CALL_ARGUMENTS]);

/* The same, but only the first argument, if the call's object is known by it. */
bool open_call_read(int32_t pid, int32_t tid, const char *folder, int32_t *ret_call,
                    uint64_t *ret_argument);
