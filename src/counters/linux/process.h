/*
 * Processes and threads: what the files process_*.c share.
 *
 * process_stat.c reads texts, process_files.c finds and opens them, process.c makes a
 * struct camp_task of them, process_list.c enumerates, reader.c keeps one open.
 */
#pragma once

#include "../text.h"
#include "file.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAT_SIZE 2048       /* one and a half times 52 numbers of at most 20 digits and a name */
#define SCHEDSTAT_SIZE 128   /* 3 numbers */
#define IO_SIZE 512          /* 7 lines with a word and a number each */
#define STATUS_SIZE 8192     /* only the end of the file is needed */
#define DIRECTORY_SIZE 32768 /* entries read at once: 1,300 of /proc */

/* One line of PID/stat or task/TID/stat: the fields that are used here, in the kernel's units. */
struct stat_line {
    char name[CAMP_NAME_SIZE];
    char state;
    int32_t parent;
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t user_ticks;
    uint64_t system_ticks;
    uint64_t threads;
    uint64_t start;
    uint64_t virtual_bytes;
    uint64_t resident_pages;
};

struct schedstat_line {
    uint64_t run_ns;
    uint64_t run_delay_ns;
    uint64_t runs; /* number of times it was put on a CPU */
};

struct status_switches {
    uint64_t voluntary;
    uint64_t involuntary;
};

struct io_bytes {
    uint64_t read;
    uint64_t written;
};

/* Each parses one of the files. False: the text is not what the kernel writes, or is cut before the
 * last wanted field; *ret is then undefined. */
bool camp_stat_parse(struct cursor text, struct stat_line *ret);
bool camp_schedstat_parse(struct cursor text, struct schedstat_line *ret);
bool camp_status_parse(struct cursor text, struct status_switches *ret);
bool camp_io_parse(struct cursor text, struct io_bytes *ret);

/* The thread group of a task (Tgid of status): its process. */
bool camp_status_group(struct cursor text, int32_t *ret_pid);

/* Does an executable's path (as of readlink PID/exe) or an argv[0] end in this name? A login
 * shell's leading '-' and the kernel's " (deleted)" are ignored. */
bool camp_executable_is(struct cursor path, const char *name);
bool camp_argument_is(struct cursor command_line, const char *name);

/* The folder of one process or thread. An open folder belongs to that task for ever: files below it
 * cannot be opened after the task has exited (ESRCH), even if its pid is reused. A folder that is
 * only named (descriptor AT_FDCWD) belongs to the owner of the pid at each open. */
struct task_folder {
    int descriptor;
    char path[PATH_SIZE]; /* ends in '/' */
};

/* PROC/PID or PROC/PID/task/TID (tid not 0), followed by /name when that is not NULL, into
 * path[PATH_SIZE]. Written out because printf(3) costs 3 % of a whole read of stat. */
int camp_task_path(char *path, const struct camp_source *source, int32_t pid, int32_t tid,
                   const char *name, struct camp_error *error);

int camp_folder_open(struct task_folder *folder, const struct camp_source *source, int32_t pid,
                     int32_t tid, struct camp_error *error);
int camp_folder_at(struct task_folder *folder, const struct camp_source *source, int32_t pid,
                   int32_t tid, struct camp_error *error);
void camp_folder_close(struct task_folder *folder);

/* Reads folder/name, or folder/task/TID/name (tid not 0), with one read(2). Returns 0, or an errno:
 * ESRCH when the task has exited, ENOENT when this kernel has no such file. */
int camp_folder_read(const struct task_folder *folder, int32_t tid, const char *name, char *buffer,
                     size_t capacity, size_t *ret_length);

/* Reads in the same way, but of a file longer than `capacity` the end. */
int camp_folder_read_end(const struct task_folder *folder, int32_t tid, const char *name,
                         char *buffer, size_t capacity, size_t *ret_length);

/* Fails with the name of the file of the folder, or of its task/TID (tid not 0), that could not be
 * read; EBADMSG: the file is not what the kernel writes. */
int camp_folder_fail(const struct task_folder *folder, int32_t tid, const char *name,
                     int system_error, struct camp_error *error);

/* Iterates over the entries of a directory that are numbers: pids, tids. */
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

/* Opens the directory `name` below `base` (a descriptor or AT_FDCWD). Returns 0 or an errno. */
int camp_numbers_open(struct number_directory *directory, int base, const char *name);
/* 1: *ret is the next entry; 0: none left; below 0: a negative errno. */
int camp_numbers_next(struct number_directory *directory, struct number_entry *ret);
void camp_numbers_close(struct number_directory *directory);

/* Reads the CPU clock of the process that has this pid now. False: there is none, or it is a
 * thread's id. */
bool camp_process_clock(int32_t pid, uint64_t *ret_ns);

/* Reads PID/stat (tid 0) or task/TID/stat by its path. */
int camp_stat_read(const struct camp_source *source, int32_t pid, int32_t tid,
                   struct stat_line *ret, struct camp_error *error);

/* Reads the same file below a folder. */
int camp_stat_read_folder(const struct task_folder *folder, int32_t tid, struct stat_line *ret,
                          struct camp_error *error);

/* CAMP_E_GONE: the line is of an exited task, or its start is not `start`. */
int camp_stat_check(const struct stat_line *line, uint64_t start, struct camp_error *error);

/* Fills all fields that stat has, and cpu_ns with utime + stime if `with_cpu`. */
int camp_task_of_stat(const struct stat_line *line, bool with_cpu, struct camp_task *task,
                      struct camp_error *error);

/* These bits need files beside stat. */
#define OF_THREADS (CAMP_TASK_RUN_DELAY | CAMP_TASK_SWITCHES)
#define BESIDE_STAT (OF_THREADS | CAMP_TASK_IO)

/* The data of a process or thread that are in other files than stat. */
struct beside_stat {
    uint32_t known;  /* bits of BESIDE_STAT; while reading: the ones still to be added */
    uint64_t run_ns; /* this and the next three members: sums over the threads */
    uint64_t run_delay_ns;
    uint64_t runs;
    struct status_switches switches;
    struct io_bytes io; /* the kernel's own sum, including exited threads */
    const char *file;   /* name of the last file read; if tid is not 0, the one of that thread */
    int32_t tid;
};

/* Reads what `wanted` has of BESIDE_STAT. `others`: the pid whose other threads are added; 0: only
 * the folder's own task is read. */
int camp_task_read_beside(const struct task_folder *folder, uint32_t wanted, int32_t others,
                          struct beside_stat *ret, struct camp_error *error);

/* Copies the data to *task, which already has those of stat. */
void camp_task_of_beside(const struct beside_stat *beside, struct camp_task *task);

/* Fills cpu_ns. */
void camp_task_set_cpu(struct camp_task *task, uint64_t cpu_ns, uint64_t resolution_ns);
