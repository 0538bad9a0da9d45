/*
 * Reads schedstat, status and io of a process or thread.
 *
 * /proc/PID/schedstat and /proc/PID/status show the run-queue delay and the context switches of the
 * first thread only, so the values of all living threads are added up here. The values of exited
 * threads are not available. io includes exited threads (do_io_accounting() of fs/proc/base.c).
 */
#include "process.h"

#include <errno.h>

/* True if the error means that a file may not be read or does not exist. Its values are then
 * unknown. */
static bool is_unknown(int system_error)
{
    return system_error == EACCES || system_error == EPERM || system_error == ENOENT;
}

static void note_file(struct beside_stat *sums, int32_t tid, const char *name)
{
    sums->file = name;
    sums->tid = tid;
}

/* Adds the values of schedstat, or of task/TID/schedstat if tid is not 0. Returns 0 or an errno:
 * EBADMSG if the text has another format. */
static int add_schedstat(const struct task_folder *folder, int32_t tid, struct beside_stat *sums)
{
    char text[SCHEDSTAT_SIZE];
    struct schedstat_line line;
    size_t length;
    int system_error = camp_folder_read(folder, tid, "schedstat", text, sizeof text, &length);

    note_file(sums, tid, "schedstat");
    if (system_error != 0)
        return system_error;
    if (!camp_schedstat_parse(cursor_of(text, length), &line) ||
        __builtin_add_overflow(sums->run_ns, line.run_ns, &sums->run_ns) ||
        __builtin_add_overflow(sums->run_delay_ns, line.run_delay_ns, &sums->run_delay_ns) ||
        __builtin_add_overflow(sums->runs, line.runs, &sums->runs))
        return EBADMSG;
    return 0;
}

static int add_switches(const struct task_folder *folder, int32_t tid, struct beside_stat *sums)
{
    char text[STATUS_SIZE];
    struct status_switches switches, *sum = &sums->switches;
    size_t length;
    int system_error = camp_folder_read_end(folder, tid, "status", text, sizeof text, &length);

    note_file(sums, tid, "status");
    if (system_error != 0)
        return system_error;
    if (!camp_status_parse(cursor_of(text, length), &switches) ||
        __builtin_add_overflow(sum->voluntary, switches.voluntary, &sum->voluntary) ||
        __builtin_add_overflow(sum->involuntary, switches.involuntary, &sum->involuntary))
        return EBADMSG;
    return 0;
}

/* Adds the values of the first thread. If one of its files is unreadable, its bit in sums->known is
 * cleared, so that add_other() does not read it for the other threads. */
static int add_first(const struct task_folder *folder, struct beside_stat *sums)
{
    int system_error = 0;

    if ((sums->known & CAMP_TASK_RUN_DELAY) != 0) {
        system_error = add_schedstat(folder, 0, sums);
        if (is_unknown(system_error)) {
            sums->known &= ~(uint32_t)CAMP_TASK_RUN_DELAY;
            system_error = 0;
        }
    }
    if (system_error == 0 && (sums->known & OF_STATUS) != 0) {
        system_error = add_switches(folder, 0, sums);
        if (is_unknown(system_error)) {
            sums->known &= ~(uint32_t)OF_STATUS;
            system_error = 0;
        }
    }
    return system_error;
}

/* Adds the values of another thread, unless it has exited meanwhile. */
static int add_other(const struct task_folder *folder, int32_t tid, struct beside_stat *sums)
{
    int system_error = 0;

    if ((sums->known & CAMP_TASK_RUN_DELAY) != 0)
        system_error = add_schedstat(folder, tid, sums);
    if (system_error == 0 && (sums->known & OF_STATUS) != 0)
        system_error = add_switches(folder, tid, sums);
    return system_error == ENOENT || system_error == ESRCH ? 0 : system_error;
}

static int add_others(const struct task_folder *folder, int32_t pid, struct beside_stat *sums)
{
    struct number_directory directory;
    struct number_entry entry;
    int system_error = camp_numbers_open(&directory, folder->descriptor, "task");
    int more = 0;

    note_file(sums, 0, "task");
    if (system_error != 0)
        return system_error;
    while (system_error == 0 && (more = camp_numbers_next(&directory, &entry)) > 0) {
        if (entry.number != pid)
            system_error = add_other(folder, entry.number, sums);
    }
    camp_numbers_close(&directory);
    if (more < 0)
        note_file(sums, 0, "task");
    return more < 0 ? -more : system_error;
}

static int read_io(const struct task_folder *folder, struct beside_stat *ret)
{
    char text[IO_SIZE];
    size_t length;
    int system_error = camp_folder_read(folder, 0, "io", text, sizeof text, &length);

    note_file(ret, 0, "io");
    if (is_unknown(system_error)) {
        ret->known &= ~(uint32_t)OF_IO;
        return 0;
    }
    if (system_error != 0)
        return system_error;
    return camp_io_parse(cursor_of(text, length), &ret->io) ? 0 : EBADMSG;
}

/* A file has all its fields or none of them. */
static uint32_t known_by_files(uint32_t wanted)
{
    return ((wanted & OF_SCHEDSTAT) != 0 ? OF_SCHEDSTAT : 0u) |
           ((wanted & OF_STATUS) != 0 ? OF_STATUS : 0u) | ((wanted & OF_IO) != 0 ? OF_IO : 0u);
}

int camp_task_read_beside(const struct task_folder *folder, uint32_t wanted, int32_t others,
                          struct beside_stat *ret, struct camp_error *error)
{
    int system_error;

    *ret = (struct beside_stat){ .known = known_by_files(wanted) };
    system_error = add_first(folder, ret);
    if (system_error == 0 && others != 0 && (ret->known & OF_THREADS) != 0)
        system_error = add_others(folder, others, ret);
    if (system_error == 0 && (ret->known & OF_IO) != 0)
        system_error = read_io(folder, ret);
    return system_error != 0 ? camp_folder_fail(folder, ret->tid, ret->file, system_error, error)
                             : CAMP_OK;
}

void camp_task_of_beside(const struct beside_stat *beside, struct camp_task *task)
{
    /* A kernel without SCHED_INFO writes "0 0 0" to schedstat, even if the task has run. */
    const bool counted = beside->runs > 0 || task->user_ns + task->system_ns == 0;

    task->known |= beside->known & ~(counted ? 0u : (uint32_t)CAMP_TASK_RUN_DELAY);
    if ((task->known & CAMP_TASK_RUN_DELAY) != 0)
        task->run_delay_ns = beside->run_delay_ns;
    if ((task->known & OF_STATUS) != 0) {
        task->voluntary_switches = beside->switches.voluntary;
        task->involuntary_switches = beside->switches.involuntary;
        task->switches = task->voluntary_switches + task->involuntary_switches;
    }
    if ((task->known & OF_IO) != 0) {
        task->read_bytes = beside->io.read;
        task->written_bytes = beside->io.written;
    }
}
