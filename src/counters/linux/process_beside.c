/*
 * What of a process or thread lies in files beside stat: schedstat, status, io.
 *
 * Run-queue delay and context switches are counted per thread, and /proc/PID/schedstat and status
 * hold those of the first thread alone: a second thread's 300 ms showed there as 0.69 ms. So the
 * threads are added up; what threads that ended had is not kept by the kernel where it can be read.
 * io is of the whole process, threads that ended included (do_io_accounting() of fs/proc/base.c).
 */
#include "process.h"

#include "../error.h"

#include <errno.h>

/* A file beside stat: unknown when it may not be read, or this kernel does not have it. */
static bool is_unknown(int system_error)
{
    return system_error == EACCES || system_error == EPERM || system_error == ENOENT;
}

/* tid 0: the folder's own task. 0, or an errno; EBADMSG: not the text the kernel writes. */
static int add_schedstat(const struct task_folder *folder, int32_t tid, struct thread_sums *sums)
{
    char text[SCHEDSTAT_SIZE];
    struct schedstat_line line;
    size_t length;
    int system_error = camp_folder_read(folder, tid, "schedstat", text, sizeof text, &length);

    if (system_error != 0)
        return system_error;
    if (!camp_schedstat_parse(cursor_of(text, length), &line) ||
        __builtin_add_overflow(sums->run_ns, line.run_ns, &sums->run_ns) ||
        __builtin_add_overflow(sums->run_delay_ns, line.run_delay_ns, &sums->run_delay_ns) ||
        __builtin_add_overflow(sums->runs, line.runs, &sums->runs))
        return EBADMSG;
    return 0;
}

static int add_switches(const struct task_folder *folder, int32_t tid, struct thread_sums *sums)
{
    char text[STATUS_SIZE];
    struct status_switches switches, *sum = &sums->switches;
    size_t length;
    int system_error = camp_folder_read_end(folder, tid, "status", text, sizeof text, &length);

    if (system_error != 0)
        return system_error;
    if (!camp_status_parse(cursor_of(text, length), &switches) ||
        __builtin_add_overflow(sum->voluntary, switches.voluntary, &sum->voluntary) ||
        __builtin_add_overflow(sum->involuntary, switches.involuntary, &sum->involuntary))
        return EBADMSG;
    return 0;
}

/* The folder's own task. It says too which of the files there are. */
static int add_first(const struct task_folder *folder, struct thread_sums *sums)
{
    int system_error = 0;

    if ((sums->known & CAMP_TASK_RUN_DELAY) != 0) {
        system_error = add_schedstat(folder, 0, sums);
        if (is_unknown(system_error)) {
            sums->known &= ~(uint32_t)CAMP_TASK_RUN_DELAY;
            system_error = 0;
        }
    }
    if (system_error == 0 && (sums->known & CAMP_TASK_SWITCHES) != 0) {
        system_error = add_switches(folder, 0, sums);
        if (is_unknown(system_error)) {
            sums->known &= ~(uint32_t)CAMP_TASK_SWITCHES;
            system_error = 0;
        }
    }
    return system_error;
}

/* A thread that ended since the directory was read is no longer a living one: it is left out. */
static int add_other(const struct task_folder *folder, int32_t tid, struct thread_sums *sums)
{
    int system_error = 0;

    if ((sums->known & CAMP_TASK_RUN_DELAY) != 0)
        system_error = add_schedstat(folder, tid, sums);
    if (system_error == 0 && (sums->known & CAMP_TASK_SWITCHES) != 0)
        system_error = add_switches(folder, tid, sums);
    return system_error == ENOENT || system_error == ESRCH ? 0 : system_error;
}

static int add_others(const struct task_folder *folder, int32_t pid, struct thread_sums *sums)
{
    struct number_directory directory;
    struct number_entry entry;
    int system_error = camp_numbers_open(&directory, folder->descriptor, "task");
    int more = 0;

    if (system_error != 0)
        return system_error;
    while (system_error == 0 && (more = camp_numbers_next(&directory, &entry)) > 0) {
        if (entry.number != pid)
            system_error = add_other(folder, entry.number, sums);
    }
    camp_numbers_close(&directory);
    return more < 0 ? -more : system_error;
}

static void set_sums(struct camp_task *task, const struct thread_sums *sums)
{
    /* A kernel without SCHED_INFO has the file, but writes "0 0 0" of tasks that have run. */
    const bool counted = sums->runs > 0 || task->user_ns + task->system_ns == 0;

    if ((sums->known & CAMP_TASK_RUN_DELAY) != 0 && counted) {
        task->known |= CAMP_TASK_RUN_DELAY;
        task->run_delay_ns = sums->run_delay_ns;
    }
    if ((sums->known & CAMP_TASK_SWITCHES) != 0) {
        task->known |= CAMP_TASK_SWITCHES;
        task->voluntary_switches = sums->switches.voluntary;
        task->involuntary_switches = sums->switches.involuntary;
    }
}

static int set_io(const struct task_folder *folder, struct camp_task *task)
{
    char text[IO_SIZE];
    struct io_bytes bytes;
    size_t length;
    int system_error = camp_folder_read(folder, 0, "io", text, sizeof text, &length);

    if (system_error != 0)
        return is_unknown(system_error) ? 0 : system_error;
    if (!camp_io_parse(cursor_of(text, length), &bytes))
        return EBADMSG;
    task->known |= CAMP_TASK_IO;
    task->read_bytes = bytes.read;
    task->written_bytes = bytes.written;
    return 0;
}

int camp_task_read_beside(const struct task_folder *folder, uint32_t wanted, int32_t others,
                          struct camp_task *task, struct thread_sums *sums,
                          struct camp_error *error)
{
    int system_error;

    sums->known = wanted & OF_THREADS;
    system_error = add_first(folder, sums);
    if (system_error == 0 && others != 0 && sums->known != 0)
        system_error = add_others(folder, others, sums);
    if (system_error == 0 && (wanted & CAMP_TASK_IO) != 0)
        system_error = set_io(folder, task);
    if (system_error == EBADMSG)
        return camp_fail(error, CAMP_E_FORMAT, 0, "a file of %s is not what the kernel writes",
                         folder->path);
    if (system_error != 0)
        return camp_folder_fail(folder, "", system_error, error);
    set_sums(task, sums);
    return CAMP_OK;
}
