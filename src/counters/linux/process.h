/*
 * Declarations that the files process*.c share.
 *
 * process_stat.c parses texts. process_files.c opens and reads files. process_beside.c reads
 * schedstat, status and io. process.c fills struct camp_task. process_list.c makes lists.
 */
#pragma once

#include "../text.h"
#include "file.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAT_SIZE 2048 /* bytes: 52 numbers of 20 digits and a name need two thirds */
#define SCHEDSTAT_SIZE 128
#define IO_SIZE 512
#define STATUS_SIZE 8192 /* a longer file is truncated */
#define DIRECTORY_SIZE 32768

/* The used fields of PID/stat or PID/task/TID/stat, in the units of the kernel. */
struct stat_line {
    char name[CAMP_NAME_SIZE];
    char state;
    int32_t parent;
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t user_ticks;
    uint64_t system_ticks;
    uint64_t children_ticks; /* user and system time of children that were waited for */
    uint64_t threads;
    uint64_t start;
    uint64_t virtual_bytes;
    uint64_t resident_pages;
};

struct schedstat_line {
    uint64_t run_ns;
    uint64_t run_delay_ns;
    uint64_t runs; /* how often the task was put on a CPU */
};

struct status_switches {
    uint64_t voluntary;
    uint64_t involuntary;
};

struct io_bytes {
    uint64_t read;
    uint64_t written;
};

/* Each function parses one file. If the text has another format, or ends before the last wanted
 * field, it returns false and *ret is undefined. */
bool camp_stat_parse(struct cursor text, struct stat_line *ret);
bool camp_schedstat_parse(struct cursor text, struct schedstat_line *ret);
bool camp_status_parse(struct cursor text, struct status_switches *ret);
bool camp_io_parse(struct cursor text, struct io_bytes *ret);

/* Parses the effective user id in status. */
bool camp_status_user(struct cursor text, uint64_t *ret_user_id);
/* Parses the proportional set size in smaps_rollup. */
bool camp_smaps_parse(struct cursor text, uint64_t *ret_kib);
/* Finds the path of the cgroup of version 2 in cgroup. */
bool camp_cgroup_parse(struct cursor text, struct cursor *ret_path);

/* Parses the line Tgid of status: the pid of the thread's process. */
bool camp_status_group(struct cursor text, int32_t *ret_pid);

/* True if the link `exe` is a path to a file called `name`. The kernel's " (deleted)" at its end is
 * ignored. */
bool camp_executable_is(struct cursor path, const char *name);

/* The directory of a process or thread in /proc. camp_folder_open() opens it: after the process or
 * thread has exited, opening a file in it fails with ESRCH, even if the pid is reused.
 * camp_folder_at() only stores its path, and sets the descriptor to AT_FDCWD: files opened by this
 * path may be of a later process with the same pid. */
struct task_folder {
    int descriptor;
    char path[PATH_SIZE]; /* ends in '/' */
};

/* Writes PROC/PID/name, or PROC/PID/task/TID/name if tid is not 0, to path[PATH_SIZE]. `name` may
 * be NULL. With snprintf(3), reading stat would be 3 % slower. */
int camp_task_path(char *path, const struct camp_source *source, int32_t pid, int32_t tid,
                   const char *name, struct camp_error *error);

int camp_folder_open(struct task_folder *folder, const struct camp_source *source, int32_t pid,
                     int32_t tid, struct camp_error *error);
int camp_folder_at(struct task_folder *folder, const struct camp_source *source, int32_t pid,
                   int32_t tid, struct camp_error *error);
void camp_folder_close(struct task_folder *folder);

/* Reads the file `name` of the directory, or task/TID/name if tid is not 0, by one read(2). Returns
 * 0 or an errno: ESRCH if the task has exited, ENOENT if this kernel has no such file. */
int camp_folder_read(const struct task_folder *folder, int32_t tid, const char *name, char *buffer,
                     size_t capacity, size_t *ret_length);

/* Like camp_folder_read(), but if the file is longer than `capacity`, only its end is returned. */
int camp_folder_read_end(const struct task_folder *folder, int32_t tid, const char *name,
                         char *buffer, size_t capacity, size_t *ret_length);

/* Fills *error for a file that camp_folder_read() could not read. A system_error of EBADMSG means
 * that the file has an unexpected format. */
int camp_folder_fail(const struct task_folder *folder, int32_t tid, const char *name,
                     int system_error, struct camp_error *error);

/* Iterates over the entries of a directory whose names are numbers, such as pids. */
struct number_directory {
    int descriptor;
    size_t at;
    size_t length;
    _Alignas(uint64_t) char entries[DIRECTORY_SIZE];
};

struct number_entry {
    int32_t number;
    uint64_t inode;
};

/* Opens the directory `name` below `base`, which is a descriptor or AT_FDCWD. Returns 0 or an
 * errno. */
int camp_numbers_open(struct number_directory *directory, int base, const char *name);
/* Returns 1 and stores the next entry in *ret. Returns 0 after the last entry, or a negative errno.
 */
int camp_numbers_next(struct number_directory *directory, struct number_entry *ret);
void camp_numbers_close(struct number_directory *directory);

/* Reads the CPU clock of the process that has this pid now. Returns false if no process has the
 * pid, even if a thread has it as its tid. */
bool camp_process_clock(int32_t pid, uint64_t *ret_ns);

/* Reads PID/stat, or PID/task/TID/stat if tid is not 0, by its path. */
int camp_stat_read(const struct camp_source *source, int32_t pid, int32_t tid,
                   struct stat_line *ret, struct camp_error *error);

int camp_stat_read_folder(const struct task_folder *folder, int32_t tid, struct stat_line *ret,
                          struct camp_error *error);

/* Returns CAMP_E_GONE if the task has exited or has another start time than `start`. */
int camp_stat_check(const struct stat_line *line, uint64_t start, struct camp_error *error);

/* Like camp_process_read(), for the process that has this pid now, whatever its start time. The
 * directory of the process is opened first, so all values are of one process. */
int camp_process_read_any(const struct camp_source *source, int32_t pid, uint32_t wanted,
                          struct camp_task *ret, struct camp_error *error);

/* Fills the fields of *task that come from stat. If with_cpu is true, cpu_ns becomes the sum of
 * user and system time. */
int camp_task_of_stat(const struct stat_line *line, bool with_cpu, struct camp_task *task,
                      struct camp_error *error);

/* BESIDE_STAT: fields that are not in stat. OF_THREADS: the part of them that the kernel shows for
 * single threads only. */
#define OF_SCHEDSTAT CAMP_TASK_RUN_DELAY
#define OF_STATUS                                                                                  \
    (CAMP_TASK_VOLUNTARY_SWITCHES | CAMP_TASK_INVOLUNTARY_SWITCHES | CAMP_TASK_SWITCHES)
#define OF_IO (CAMP_TASK_READ_BYTES | CAMP_TASK_WRITTEN_BYTES)
#define OF_THREADS (OF_SCHEDSTAT | OF_STATUS)
#define BESIDE_STAT (OF_THREADS | OF_IO)

/* Values of a process or thread from schedstat, status and io. */
struct beside_stat {
    uint32_t known; /* bits of BESIDE_STAT */
    /* For a process, run_ns, run_delay_ns, runs and switches are sums over its threads. */
    uint64_t run_ns;
    uint64_t run_delay_ns;
    uint64_t runs;
    struct status_switches switches;
    struct io_bytes io; /* added up by the kernel, including exited threads */
    const char *file;   /* name of the last file read (of thread `tid`), for error messages */
    int32_t tid;
};

/* Reads the wanted values of the process or thread whose directory is `folder`. For a process with
 * several threads, `others` is its pid, and the values of all living threads are added up. For any
 * other process, and for a thread, `others` is 0. */
int camp_task_read_beside(const struct task_folder *folder, uint32_t wanted, int32_t others,
                          struct beside_stat *ret, struct camp_error *error);

/* Copies the values of *beside to *task, which camp_task_of_stat() must already have filled. */
void camp_task_of_beside(const struct beside_stat *beside, struct camp_task *task);

void camp_task_set_cpu(struct camp_task *task, uint64_t cpu_ns, uint64_t resolution_ns);
