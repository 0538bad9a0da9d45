/*
 * The binary files of /proc (proc(5)), which the files process*.c share.
 *
 * process_files.c reads and checks the files, process.c fills struct camp_task, and process_list.c
 * makes lists. The functions whose name has "parse" take any bytes.
 */
#pragma once

#include "layout.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stdint.h>

#define PATH_SIZE 512

/* Each function copies one struct from the start of a file. It returns false if the file is shorter
 * than the struct, or if a time is no time. The texts in *ret have a NUL at their end. */
bool camp_psinfo_parse(const void *bytes, size_t length, psinfo_t *ret);
bool camp_lwpsinfo_parse(const void *bytes, size_t length, lwpsinfo_t *ret);
bool camp_usage_parse(const void *bytes, size_t length, prusage_t *ret);

/* Returns a time of a parsed struct in ns. The kernel takes times on several CPUs, whose clocks
 * differ a little, so a short time may be negative; 0 is returned then. */
uint64_t camp_proc_ns(timestruc_t time);

/* Writes PROC/PID/name, or PROC/PID/lwp/TID/name if tid is not 0, to path[PATH_SIZE]. `name` may be
 * empty. */
int camp_proc_path(char *path, const struct camp_source *source, int32_t pid, int32_t tid,
                   const char *name, struct camp_error *error);
const char *camp_proc(const struct camp_source *source);

/* Reads a file by one pread(2) at its start. The kernel makes such files when they are read, so all
 * values of one read(2) have the same time. */
int camp_proc_pread(int descriptor, const char *path, void *bytes, size_t capacity,
                    size_t *ret_length, struct camp_error *error);

/* The same by the path of the file. */
int camp_proc_read(const char *path, void *bytes, size_t capacity, size_t *ret_length,
                   struct camp_error *error);

/* Each function reads one file. CAMP_E_GONE if the process or thread has exited. */
int camp_psinfo_read(const struct camp_source *source, int32_t pid, psinfo_t *ret,
                     struct camp_error *error);
int camp_lwpsinfo_read(const struct camp_source *source, int32_t pid, int32_t tid, lwpsinfo_t *ret,
                       struct camp_error *error);
/* tid is 0 for the usage of the whole process, which includes its exited threads. */
int camp_usage_read(const struct camp_source *source, int32_t pid, int32_t tid, prusage_t *ret,
                    struct camp_error *error);

/* Like the functions above, for a file that is already open. */
int camp_psinfo_pread(int descriptor, const char *path, psinfo_t *ret, struct camp_error *error);
int camp_usage_pread(int descriptor, const char *path, prusage_t *ret, struct camp_error *error);

/* CAMP_E_NOTSUP if a program whose pointers have `pointer_bytes` bytes cannot read this process:
 * the kernel sets sizes of a 64-bit process to 0 for a 32-bit reader, and truncates its counts. */
int camp_check_data_model(const psinfo_t *psinfo, size_t pointer_bytes, struct camp_error *error);

/* CAMP_E_GONE if the start time is another one. */
int camp_start_check(timestruc_t time, uint64_t start, struct camp_error *error);

/* Reads the process that has this pid now, whatever its start time. */
int camp_process_read_any(const struct camp_source *source, int32_t pid,
                          struct camp_process_usage *ret, struct camp_error *error);

/* Reads psinfo of the expected process. CAMP_E_GONE if another process has its pid now. */
int camp_psinfo_expect(const struct camp_source *source, const struct camp_process *process,
                       psinfo_t *ret, struct camp_error *error);

/* Fills the fields of *task that come from each struct, and sets their bits in `known`. */
void camp_task_of_psinfo(const psinfo_t *psinfo, struct camp_task *task);
void camp_task_of_lwpsinfo(const lwpsinfo_t *lwpsinfo, struct camp_task *task);
void camp_task_of_usage(const prusage_t *usage, struct camp_task *task);
