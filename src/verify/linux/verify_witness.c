/*
 * Measures the CPU time of all processes together, including exited ones.
 *
 * A living process or a zombie counts with its CPU clock, in ns. A reaped process counts in its
 * parent, in cutime + cstime of /proc/PID/stat. wait4(2) adds to them the time of the reaped
 * process and of its own reaped children. The kernel keeps the sum in ns, and shows it in 1/100 s.
 * When the parent is reaped, this time goes to the parent's parent. So the sum of clocks, cutime
 * and cstime of all processes grows by exactly the time that processes ran. The sum lacks children
 * of processes that ignore SIGCHLD, and the last moments of kernel threads that exit. Exit records
 * (taskstats) would include these, but would lack the last moments of each process: freeing the
 * memory of a compiler takes half a millisecond.
 *
 * No process may be reaped between the reading of its parent and its own reading. So a snapshot is
 * repeated until the list and all cutimes are the same before and after the clocks were read.
 *
 * This file reads /proc itself, so that it is independent of the library under test.
 */
#include "verify_witness.h"

#include "ledger/array.h"
#include "verify_trials.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "load/load_tools.h"
#include "sources/machine/idle_time.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SNAPSHOTS_MAX 100
#define STAT_SIZE 1024
#define CPUCLOCK_SCHED 2
#define KTHREADD 2 /* the parent of all kernel threads */

struct witnessed {
    int32_t pid, parent;
    uint64_t clock_ns;
    uint64_t children_user_units, children_system_units;
};

/* Reads the parent, cutime and cstime, the fields 4, 16 and 17 of /proc/PID/stat. The process name
 * in field 2 may contain any character, even ')'. */
static bool read_children(struct witnessed *process)
{
    char path[48], text[STAT_SIZE];
    unsigned long long user, system;
    const char *rest;
    ssize_t length;
    int file;

    snprintf(path, sizeof path, "/proc/%d/stat", process->pid);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return false;
    text[length] = '\0';
    rest = strrchr(text, ')');
    if (rest == NULL ||
        sscanf(rest, ") %*c %" SCNd32 " %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %llu %llu",
               &process->parent, &user, &system) != 3)
        return false;
    process->children_user_units = user;
    process->children_system_units = system;
    return true;
}

static int by_pid(const void *a, const void *b)
{
    const struct witnessed *first = a, *second = b;

    return first->pid < second->pid ? -1 : first->pid > second->pid;
}

static int list_processes(struct witness *witness, struct camp_error *error)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    size_t capacity = 0;

    witness->count = 0;
    witness->processes = NULL;
    if (folder == NULL)
        return camp_fail(error, CAMP_E_IO, 0, "/proc cannot be listed; is it mounted?");
    while ((entry = readdir(folder)) != NULL) {
        struct witnessed process = { .pid = (int32_t)strtol(entry->d_name, NULL, 10) };

        if (process.pid <= 0 || !read_children(&process))
            continue;
        if (!ARRAY_RESERVE(witness->processes, capacity, witness->count + 1)) {
            closedir(folder);
            return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a list of processes");
        }
        witness->processes[witness->count++] = process;
    }
    closedir(folder);
    if (witness->count > 0)
        qsort(witness->processes, witness->count, sizeof *witness->processes, by_pid);
    return CAMP_OK;
}

static bool read_clocks(struct witness *witness)
{
    for (size_t i = 0; i < witness->count; i++) {
        clockid_t clock = (clockid_t)(~(uint32_t)witness->processes[i].pid << 3 | CPUCLOCK_SCHED);
        struct timespec time;

        if (clock_gettime(clock, &time) != 0)
            return false;
        witness->processes[i].clock_ns = ns_of_timespec(time);
    }
    return true;
}

/* Returns whether both lists are equal: then no process was reaped or started between them. */
static bool same(const struct witness *a, const struct witness *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct witnessed *one = &a->processes[i], *other = &b->processes[i];

        if (one->pid != other->pid || one->children_user_units != other->children_user_units ||
            one->children_system_units != other->children_system_units)
            return false;
    }
    return true;
}

/* Reads the clocks, and calls `read_beside` for the numbers that are compared with them. Returns
 * false if this process was preempted meanwhile. */
static bool read_moment(struct witness *witness, void (*read_beside)(void *context), void *context)
{
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC);
    long before = load_preemptions();

    if (!read_clocks(witness))
        return false;
    read_beside(context);
    witness->moment_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    return load_preemptions() == before;
}

int witness_read(struct witness *witness, void (*read_beside)(void *context), void *context,
                 struct camp_error *error)
{
    struct witness check = { 0 };
    int r = CAMP_OK;

    for (int i = 0; i < SNAPSHOTS_MAX && r == CAMP_OK; i++) {
        bool stable;

        r = list_processes(witness, error);
        stable = r == CAMP_OK && read_moment(witness, read_beside, context);
        if (stable)
            r = list_processes(&check, error);
        stable = stable && r == CAMP_OK && same(witness, &check);
        witness_release(&check);
        if (stable)
            return CAMP_OK;
        witness_release(witness);
    }
    return r != CAMP_OK ? r
                        : camp_fail(error, CAMP_E_SPACE, 0,
                                    "processes come and go too fast for a snapshot of all of them");
}

static const struct witnessed *find_process(const struct witness *witness, int32_t pid)
{
    const struct witnessed key = { .pid = pid };

    return ARRAY_FIND(&key, witness->processes, witness->count, by_pid);
}

void witness_compare(const struct witness *before, const struct witness *after,
                     struct testimony *ret)
{
    const double unit_ns = (double)proc_time_unit_ns();
    double total_ns = 0, changed = 0;

    for (size_t j = 0; j < before->count; j++) {
        const struct witnessed *one = &before->processes[j];

        if (one->parent == KTHREADD && find_process(after, one->pid) == NULL)
            continue;
        total_ns -= (double)one->clock_ns +
                    unit_ns * (double)(one->children_user_units + one->children_system_units);
    }
    for (size_t j = 0; j < after->count; j++) {
        const struct witnessed *one = &after->processes[j];
        const struct witnessed *was = find_process(before, one->pid);

        total_ns += (double)one->clock_ns +
                    unit_ns * (double)(one->children_user_units + one->children_system_units);
        changed += one->children_user_units != (was != NULL ? was->children_user_units : 0);
        changed += one->children_system_units != (was != NULL ? was->children_system_units : 0);
    }
    ret->tasks_ns = total_ns;
    ret->moments_ns = (double)before->moment_ns + (double)after->moment_ns;
    /* cutime and cstime are each truncated to a unit in both snapshots. So a difference has a
     * variance of unit^2 / 6, and its error is less than a unit. */
    ret->uncertain_ns = unit_ns * fmin(DEVIATIONS * sqrt(changed / 6), changed);
}

void witness_release(struct witness *witness)
{
    free(witness->processes);
    *witness = (struct witness){ 0 };
}

double verify_sum_of(const char *path, const char *name, double unknown)
{
    FILE *file = fopen(path, "re");
    double sum = 0;
    bool found = false;
    char *line = NULL;
    size_t size = 0;

    while (file != NULL && getline(&line, &size, file) > 0) {
        const char *text = line + strspn(line, " ");

        if (strncmp(text, name, strlen(name)) != 0)
            continue;
        sum += strtod(text + strlen(name), NULL);
        found = true;
    }
    free(line);
    if (file != NULL)
        fclose(file);
    return found ? sum : unknown;
}

uint64_t verify_stolen_ns(void)
{
    struct camp_cpu total;

    return camp_cpu_read(NULL, CAMP_CPU_TOTAL, &total, sizeof total, NULL) == CAMP_OK
               ? total.steal_ns
               : 0;
}

static uint64_t read_off_task(int32_t cpu, double *ret_unit_ns)
{
    struct camp_cpu now;

    *ret_unit_ns = 0;
    if (camp_cpu_read(NULL, cpu, &now, sizeof now, NULL) != CAMP_OK)
        return 0;
    *ret_unit_ns = (double)proc_time_unit_ns() *
                   ((now.steal_ns > 0) + (now.irq_ns > 0) + (now.softirq_ns > 0));
    return now.steal_ns + now.irq_ns + now.softirq_ns;
}

uint64_t verify_off_task_ns(int32_t cpu)
{
    double unit_ns;

    return read_off_task(cpu, &unit_ns);
}

double verify_off_task_since_ns(int32_t cpu, uint64_t before_ns)
{
    double unit_ns;
    uint64_t now_ns = read_off_task(cpu, &unit_ns);

    return (double)(now_ns - before_ns) + unit_ns;
}

const char *verify_busy_doubt(void)
{
    struct camp_kernel kernel = { 0 };

    (void)camp_kernel_read(NULL, &kernel, sizeof kernel, NULL);
    return idle_time_doubt(&kernel);
}
