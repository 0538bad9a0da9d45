/*
 * The number of hidden threads is the number of all threads in /proc/loadavg, minus the threads of
 * the processes that /proc lists. /proc/loadavg counts hidden threads, too. It also counts the
 * threads of other PID namespaces, so only a process in the machine's PID namespace uses this
 * number.
 */
#include "hidden.h"

#include "ledger/array.h"
#include "pid_namespace.h"

#include <camp/camp.h>

#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_FIRST 256

/* Process 1 always exists. With hidepid=1 its files are unreadable, otherwise it seems missing. */
bool hidden_processes(void)
{
    struct camp_process first;
    const int r = camp_process_identify(NULL, 1, &first, sizeof first, NULL);

    return r == CAMP_E_GONE || r == CAMP_E_PERM;
}

/* If several file systems are mounted at /proc, the last one counts. Without the list, processes
 * count as hidden. */
bool hidden_from_others(void)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    char strings[PATH_MAX + 1024];
    struct mntent entry;
    bool hides = true;

    if (mounts == NULL)
        return true;
    while (getmntent_r(mounts, &entry, strings, sizeof strings) != NULL) {
        if (strcmp(entry.mnt_dir, "/proc") == 0)
            hides = hasmntopt(&entry, "hidepid") != NULL;
    }
    endmntent(mounts);
    return hides;
}

/* Returns the number of threads in the kernel, or 0 if it is unknown. */
static uint64_t count_all(void)
{
    FILE *file = fopen("/proc/loadavg", "re");
    unsigned long long count = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%*s %*s %*s %*u/%llu", &count) != 1 || !pid_namespace_is_of_machine())
        count = 0;
    fclose(file);
    return count;
}

static uint64_t threads_of(const struct camp_process *process)
{
    struct camp_task task = { 0 };

    camp_process_read(NULL, process, CAMP_TASK_THREADS, &task, sizeof task, NULL);
    return (task.known & CAMP_TASK_THREADS) != 0 ? task.threads : 0;
}

static uint64_t count_listed(void)
{
    struct camp_process *processes = NULL;
    size_t count = AT_FIRST, capacity = 0;
    uint64_t threads = 0;
    int r = CAMP_E_SPACE;

    while (r == CAMP_E_SPACE && ARRAY_RESERVE(processes, capacity, count))
        r = camp_process_list(NULL, processes, sizeof *processes, capacity, &count, NULL);
    for (size_t i = 0; r == CAMP_OK && i < count; i++)
        threads += threads_of(&processes[i]);
    free(processes);
    return threads;
}

void hidden_note(char ret[HIDDEN_NOTE_SIZE])
{
    uint64_t all, listed;

    ret[0] = '\0';
    if (!hidden_processes())
        return;
    all = count_all();
    listed = count_listed();
    if (listed > 0 && all > listed)
        snprintf(ret, HIDDEN_NOTE_SIZE,
                 "%llu of %llu threads are hidden (/proc is mounted with hidepid): " HIDDEN_CHANGE,
                 (unsigned long long)(all - listed), (unsigned long long)all);
    else
        snprintf(
            ret, HIDDEN_NOTE_SIZE,
            "Processes of other users are hidden (/proc is mounted with hidepid): " HIDDEN_CHANGE);
}
