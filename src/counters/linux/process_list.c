/*
 * Lists of processes and threads, in ascending order of their ids.
 *
 * The kernel lists processes in ascending order (next_tgid() of fs/proc/base.c), but threads in the
 * order of their creation, and the directories of a test have any order. So each entry is inserted
 * at its place, which is fast if the entries are already in order.
 *
 * getdents64(2) is called directly, because readdir(3) allocates memory. The inode number of
 * /proc/PID identifies a process while the kernel has that entry in its cache. The kernel drops the
 * entry when the process exits (proc_flush_pid()), so the next process with the pid has another
 * inode number.
 */
#include "process.h"

#include "../error.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define EXECUTABLE_SIZE 4096 /* PATH_MAX of the kernel */

/* A mounted /proc has at least this process, so an empty list means that /proc is not mounted. */
static int end_list(const struct camp_source *source, const struct camp_output *array,
                    size_t *ret_count, struct camp_error *error)
{
    const char *unmounted = array->count == 0 ? camp_unmounted(camp_proc(source)) : NULL;

    if (unmounted != NULL)
        return camp_fail(error, CAMP_E_IO, ENOENT, "%s", unmounted);
    return camp_output_end(array, "processes", ret_count, error);
}

int camp_pid_list(const struct camp_source *source, struct camp_pid *pids, size_t size,
                  size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output array = { pids, size, capacity, 0 };
    struct number_directory directory;
    struct number_entry entry;
    int more = camp_output_check("pids", pids, size, sizeof(int32_t), capacity, ret_count, error);

    if (more < 0)
        return more;
    more = camp_numbers_open(&directory, AT_FDCWD, camp_proc(source));
    if (more != 0)
        return camp_fail_errno(error, more, camp_proc(source));
    while ((more = camp_numbers_next(&directory, &entry)) > 0) {
        const struct camp_pid pid = { .pid = entry.number, .token = entry.inode };

        camp_output_insert(
            &array, &(struct camp_element){ &pid, sizeof pid, offsetof(struct camp_pid, pid) });
    }
    camp_numbers_close(&directory);
    if (more < 0)
        return camp_fail_errno(error, -more, camp_proc(source));
    return end_list(source, &array, ret_count, error);
}

/* /proc/TID exists for every thread, although it is not listed, so a tid could be mistaken for a
 * pid. Two things tell them apart: reading the CPU clock fails with a tid that is not a pid, and
 * the file /proc/TID/status names the pid of the thread's process. */
static int check_is_process(const struct camp_source *source, int32_t pid, struct camp_error *error)
{
    char path[PATH_SIZE], text[STATUS_SIZE];
    size_t length;
    uint64_t cpu_ns;
    int32_t group;
    int r;

    if (source == NULL && camp_process_clock(pid, &cpu_ns))
        return CAMP_OK;
    r = camp_task_path(path, source, pid, 0, "status", error);
    if (r < 0)
        return r;
    if (camp_read_file_once(path, text, sizeof text, &length, NULL) < 0 ||
        !camp_status_group(cursor_of(text, length), &group) || group == pid)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_GONE, 0, "%d is a thread of process %d: ask for that", pid,
                     group);
}

int camp_process_identify(const struct camp_source *source, int32_t pid, struct camp_process *ret,
                          size_t size, struct camp_error *error)
{
    struct camp_process process = { .pid = pid };
    struct stat_line line;
    int r;

    if (camp_is_null(error, ret) || camp_is_outside(error, pid, 1, INT32_MAX))
        return CAMP_E_INVALID;
    r = check_is_process(source, pid, error);
    if (r == CAMP_OK)
        r = camp_stat_read(source, pid, 0, &line, error);
    if (r == CAMP_OK)
        r = camp_stat_check(&line, line.start, error);
    if (r < 0)
        return r;
    process.start = line.start;
    camp_hand_out(ret, size, &process, sizeof process);
    return CAMP_OK;
}

/* What is done with each pid of the system. */
struct listing {
    const struct camp_source *source;
    const char *name; /* of the wanted processes */
    uint32_t wanted;  /* fields of each process */
    struct camp_output *array;
};

/* Adds a process to the array. CAMP_E_GONE and CAMP_E_PERM mean that the process is left out;
 * CAMP_E_PERM occurs if /proc is mounted with hidepid=1, which shows pids but hides their files. */
typedef int (*add_process)(const struct listing *listing, int32_t pid, struct camp_error *error);

static void insert(const struct listing *listing, const struct camp_process *process)
{
    camp_output_insert(
        listing->array,
        &(struct camp_element){ process, sizeof *process, offsetof(struct camp_process, pid) });
}

static int add_any(const struct listing *listing, int32_t pid, struct camp_error *error)
{
    struct stat_line line;
    int r = camp_stat_read(listing->source, pid, 0, &line, error);

    if (r == CAMP_OK)
        r = camp_stat_check(&line, line.start, error);
    if (r == CAMP_OK)
        insert(listing, &(struct camp_process){ .pid = pid, .start = line.start });
    return r;
}

static int add_usage(const struct listing *listing, int32_t pid, struct camp_error *error)
{
    struct camp_process_usage usage = { .process.pid = pid };
    int r = camp_process_read_any(listing->source, pid, listing->wanted, &usage.task, error);

    if (r != CAMP_OK)
        return r;
    usage.process.start = usage.task.start;
    camp_output_insert(listing->array,
                       &(struct camp_element){ &usage, sizeof usage,
                                               offsetof(struct camp_process_usage, process.pid) });
    return CAMP_OK;
}

/* What the link `exe` and the arguments of a process say about a name. */
enum match {
    MATCHES_NOT,
    MATCHES,
    MATCHES_IF_NAMED /* if the process has this name: it is a script, or has neither text */
};

static enum match match_texts(const struct task_folder *folder, const char *name)
{
    char text[EXECUTABLE_SIZE];
    struct cursor arguments;
    size_t length = 0;
    const ssize_t executable = readlinkat(folder->descriptor, "exe", text, sizeof text);

    if (executable > 0 && camp_executable_is(cursor_of(text, (size_t)executable), name))
        return MATCHES;
    if (camp_folder_read(folder, 0, "cmdline", text, sizeof text, &length) != 0 || length == 0)
        return executable > 0 ? MATCHES_NOT : MATCHES_IF_NAMED;
    arguments = cursor_of(text, length);
    if (camp_invoked_as(arguments, name))
        return MATCHES;
    return camp_interprets(arguments, name) ? MATCHES_IF_NAMED : MATCHES_NOT;
}

/* stat is read only of processes that may match. All files are opened through the directory of the
 * process, so that the texts and the start time belong to the same process. */
static int match_process(const struct task_folder *folder, const char *name, uint64_t *ret_start,
                         struct camp_error *error)
{
    const enum match match = match_texts(folder, name);
    struct stat_line line;
    int r;

    if (match == MATCHES_NOT)
        return CAMP_E_GONE;
    r = camp_stat_read_folder(folder, 0, &line, error);
    if (r == CAMP_OK)
        r = camp_stat_check(&line, line.start, error);
    if (r == CAMP_OK && match == MATCHES_IF_NAMED && !camp_process_name_is(line.name, name))
        r = CAMP_E_GONE;
    if (r == CAMP_OK)
        *ret_start = line.start;
    return r;
}

static int add_called(const struct listing *listing, int32_t pid, struct camp_error *error)
{
    struct camp_process process = { .pid = pid };
    struct task_folder folder;
    int r = camp_folder_open(&folder, listing->source, pid, 0, error);

    if (r < 0)
        return r;
    r = match_process(&folder, listing->name, &process.start, error);
    camp_folder_close(&folder);
    if (r == CAMP_OK)
        insert(listing, &process);
    return r;
}

static bool is_left_out(int result)
{
    return result == CAMP_E_GONE || result == CAMP_E_PERM;
}

static int pass_on(struct camp_error *error, const struct camp_error *failure)
{
    if (error != NULL)
        *error = *failure;
    return failure->code;
}

static int list_processes(const struct listing *listing, add_process add, size_t *ret_count,
                          struct camp_error *error)
{
    const char *proc = camp_proc(listing->source);
    struct number_directory directory;
    struct number_entry entry;
    struct camp_error failure = { 0 };
    int r, more = camp_numbers_open(&directory, AT_FDCWD, proc);

    if (more != 0)
        return camp_fail_errno(error, more, proc);
    while ((more = camp_numbers_next(&directory, &entry)) > 0) {
        r = add(listing, entry.number, &failure);
        if (r < 0 && !is_left_out(r))
            break;
    }
    camp_numbers_close(&directory);
    if (more < 0)
        return camp_fail_errno(error, -more, proc);
    return more > 0 ? pass_on(error, &failure)
                    : end_list(listing->source, listing->array, ret_count, error);
}

int camp_process_list(const struct camp_source *source, struct camp_process *processes, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output array = { processes, size, capacity, 0 };
    const struct listing listing = { .source = source, .array = &array };
    int r = camp_output_check("processes", processes, size, sizeof(int32_t), capacity, ret_count,
                              error);

    return r == CAMP_OK ? list_processes(&listing, add_any, ret_count, error) : r;
}

int camp_process_find(const struct camp_source *source, const char *name,
                      struct camp_process *processes, size_t size, size_t capacity,
                      size_t *ret_count, struct camp_error *error)
{
    struct camp_output array = { processes, size, capacity, 0 };
    const struct listing listing = { .source = source, .name = name, .array = &array };
    int r = camp_output_check("processes", processes, size, sizeof(int32_t), capacity, ret_count,
                              error);

    if (r == CAMP_OK && camp_is_empty_name(error, name))
        r = CAMP_E_INVALID;
    return r == CAMP_OK ? list_processes(&listing, add_called, ret_count, error) : r;
}

int camp_process_read_all(const struct camp_source *source, uint32_t wanted,
                          struct camp_process_usage *usages, size_t size, size_t capacity,
                          size_t *ret_count, struct camp_error *error)
{
    struct camp_output array = { usages, size, capacity, 0 };
    const struct listing listing = { .source = source,
                                     .wanted = capacity > 0 ? wanted : 0,
                                     .array = &array };
    int r = camp_output_check("usages", usages, size, sizeof(struct camp_process), capacity,
                              ret_count, error);

    return r == CAMP_OK ? list_processes(&listing, add_usage, ret_count, error) : r;
}

static int list_threads(const struct task_folder *folder, int32_t pid, struct camp_output *array,
                        struct camp_error *error)
{
    struct number_directory directory;
    struct number_entry entry;
    struct stat_line line;
    struct camp_error failure = { 0 };
    int r, more = camp_numbers_open(&directory, folder->descriptor, "task");

    if (more != 0)
        return camp_folder_fail(folder, 0, "task", more, error);
    while ((more = camp_numbers_next(&directory, &entry)) > 0) {
        struct camp_thread thread = { .pid = pid, .tid = entry.number };

        r = camp_stat_read_folder(folder, entry.number, &line, &failure);
        if (is_left_out(r))
            continue;
        if (r < 0)
            break;
        thread.start = line.start;
        camp_output_insert(array, &(struct camp_element){ &thread, sizeof thread,
                                                          offsetof(struct camp_thread, tid) });
    }
    camp_numbers_close(&directory);
    if (more < 0)
        return camp_folder_fail(folder, 0, "task", -more, error);
    return more > 0 ? pass_on(error, &failure) : CAMP_OK;
}

int camp_thread_list(const struct camp_source *source, const struct camp_process *process,
                     struct camp_thread *threads, size_t size, size_t capacity, size_t *ret_count,
                     struct camp_error *error)
{
    struct camp_output array = { threads, size, capacity, 0 };
    struct task_folder folder;
    struct stat_line line;
    int r = camp_output_check("threads", threads, size, 2 * sizeof(int32_t), capacity, ret_count,
                              error);

    if (r == CAMP_OK &&
        (camp_is_null(error, process) || camp_is_outside(error, process->pid, 1, INT32_MAX)))
        r = CAMP_E_INVALID;
    if (r == CAMP_OK)
        r = camp_folder_open(&folder, source, process->pid, 0, error);
    if (r != CAMP_OK)
        return r;
    r = camp_stat_read_folder(&folder, 0, &line, error);
    if (r == CAMP_OK)
        r = camp_stat_check(&line, process->start, error);
    if (r == CAMP_OK)
        r = list_threads(&folder, process->pid, &array, error);
    camp_folder_close(&folder);
    return r == CAMP_OK ? camp_output_end(&array, "threads", ret_count, error) : r;
}
