#include "tasks_table.h"

#include "ledger/array.h"

#include <camp/linux.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOOT_TICK_NS 10000000u /* resolution of the start time of a process */

void tasks_table_release(struct tasks_table *table)
{
    free(table->tasks);
    free(table->merged);
    free(table->ended);
    *table = (struct tasks_table){ 0 };
}

/* Called for a pid whose token (struct camp_pid) has changed. Returns whether the pid now belongs
 * to another process: it does if the process started after the previous snapshot. Otherwise the
 * kernel has only dropped the inode of /proc/PID. */
static bool is_another(const struct camp_pid *listed, uint64_t previous_snapshot_ns)
{
    struct camp_process process;
    struct camp_task task;

    if (camp_process_identify(NULL, listed->pid, &process, sizeof process, NULL) != CAMP_OK ||
        camp_process_read(NULL, &process, CAMP_TASK_START, &task, sizeof task, NULL) != CAMP_OK)
        return false; /* the process has ended, so the next snapshot does not list it */
    return task.started_ns + BOOT_TICK_NS > previous_snapshot_ns;
}

static void add_new(struct tasks_table *table, size_t *count, const struct camp_pid *listed)
{
    table->merged[(*count)++] = (struct known_task){
        .pid = listed->pid,
        .flags = TASK_NEW,
        .token = listed->token,
        .clock_ns = UINT64_MAX,
    };
}

int tasks_table_merge(struct tasks_table *table, const struct camp_pid *pids, size_t count,
                      uint64_t previous_snapshot_ns)
{
    struct known_task *swap;
    size_t merged = 0;
    size_t known = 0;

    if (!ARRAYS_RESERVE(table->capacity, table->count + count, ARRAY(table->tasks),
                        ARRAY(table->merged)))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i <= count; i++) {
        bool found = false;

        while (known < table->count && (i == count || table->tasks[known].pid <= pids[i].pid)) {
            struct known_task *task = &table->merged[merged++];

            *task = table->tasks[known++];
            if (i == count || task->pid < pids[i].pid || (task->flags & TASK_GONE) != 0) {
                task->flags |= TASK_GONE;
            } else if (task->token != pids[i].token && is_another(&pids[i], previous_snapshot_ns)) {
                task->flags |= TASK_GONE;
            } else {
                task->token = pids[i].token;
                found = true;
            }
        }
        if (i < count && !found)
            add_new(table, &merged, &pids[i]);
    }
    swap = table->tasks;
    table->tasks = table->merged;
    table->merged = swap;
    table->count = merged;
    return CAMP_OK;
}

static int compare_pids(const void *key, const void *element)
{
    const int32_t pid = *(const int32_t *)key, other = ((const struct known_task *)element)->pid;

    return pid < other ? -1 : pid > other;
}

/* Returns the oldest row with this pid whose exit record has not arrived. */
static struct known_task *find_unended(struct tasks_table *table, int32_t pid)
{
    size_t at = ARRAY_POSITION(&pid, table->tasks, table->count, compare_pids);

    for (; at < table->count && table->tasks[at].pid == pid; at++) {
        if ((table->tasks[at].flags & TASK_ENDED) == 0)
            return &table->tasks[at];
    }
    return NULL;
}

static int compare_names(const void *key, const void *element)
{
    return strcmp(key, ((const struct ended_group *)element)->name);
}

static struct ended_group *group_of(struct tasks_table *table, const char *name)
{
    const size_t at = ARRAY_POSITION(name, table->ended, table->ended_count, compare_names);

    if (at < table->ended_count && strcmp(table->ended[at].name, name) == 0)
        return &table->ended[at];
    if (!ARRAY_INSERT(table->ended, table->ended_count, table->ended_capacity, at))
        return NULL;
    memcpy(table->ended[at].name, name, sizeof table->ended[at].name);
    return &table->ended[at];
}

static void name_task(struct known_task *task, const struct camp_task_exit *exit)
{
    if ((task->flags & TASK_NAMED) != 0)
        return;
    memcpy(task->name, exit->name, sizeof task->name);
    task->flags |= TASK_NAMED | (exit->parent == 2 ? TASK_KERNEL : 0);
}

/* The exit record lacks the CPU time since the last tick or switch, which is at most since_ns.
 *
 * If the process never slept, it ran for all of since_ns, except for stolen time. It is unknown
 * from which processes the hypervisor stole time. So table->stolen_ns is subtracted from the first
 * processes that end, until it is used up.
 *
 * If the process slept, it is unknown how long it ran after the tick or switch. So nothing is added
 * to the time in the record. */
uint64_t tasks_table_estimate(struct tasks_table *table, const struct camp_task_exit *exit)
{
    uint64_t since_ns =
        exit->at_most_ns > exit->measured_ns ? exit->at_most_ns - exit->measured_ns : 0;
    uint64_t unread_ns = since_ns;

    if (exit->voluntary_switches == 0) {
        unread_ns = since_ns < table->stolen_ns ? since_ns : table->stolen_ns;
        table->stolen_ns -= unread_ns;
    }
    table->unread_ns += unread_ns;
    return exit->measured_ns + since_ns - unread_ns;
}

bool tasks_table_has(struct tasks_table *table, int32_t pid)
{
    return find_unended(table, pid) != NULL;
}

int tasks_table_end(struct tasks_table *table, const struct camp_task_exit *exit)
{
    struct known_task *task = find_unended(table, exit->pid);
    uint64_t measured_ns = tasks_table_estimate(table, exit);
    struct ended_group *group;

    if (task != NULL) {
        /* the times of a process must not decrease */
        if (measured_ns > task->measured_ns)
            task->measured_ns = measured_ns;
        if (exit->sampled_ns > task->sampled_ns)
            task->sampled_ns = exit->sampled_ns;
        task->flags |= TASK_ENDED;
        name_task(task, exit);
        return CAMP_OK;
    }
    group = group_of(table, exit->name);
    if (group == NULL)
        return CAMP_E_NOMEM;
    group->count++;
    group->kernel = exit->parent == 2;
    accuracy_add(&group->sum, (double)measured_ns, (double)exit->sampled_ns);
    return CAMP_OK;
}

int tasks_table_end_later(struct tasks_table *table, const struct camp_task_exit *exit,
                          uint64_t measured_ns, uint64_t sampled_ns)
{
    const struct accuracy more = {
        .measured = (double)measured_ns,
        .sampled = (double)sampled_ns,
        .absolute = fabs((double)sampled_ns - (double)measured_ns),
    };
    struct ended_group *group;

    if (measured_ns == 0 && sampled_ns == 0)
        return CAMP_OK;
    group = group_of(table, exit->name);
    if (group == NULL)
        return CAMP_E_NOMEM;
    group->kernel = exit->parent == 2;
    accuracy_merge(&group->sum, &more);
    return CAMP_OK;
}

void tasks_table_start_interval(struct tasks_table *table)
{
    size_t kept = 0;

    for (size_t i = 0; i < table->count; i++) {
        struct known_task task = table->tasks[i];

        if ((task.flags & TASK_GONE) != 0)
            continue;
        if ((task.flags & TASK_ENDED) != 0)
            task.flags |= TASK_REPORTED;
        task.flags &= ~(uint32_t)TASK_NEW;
        task.measured_before_ns = task.measured_ns;
        task.sampled_before_ns = task.sampled_ns;
        table->tasks[kept++] = task;
    }
    table->count = kept;
    table->ended_count = 0;
    table->unread_ns = 0;
    table->stolen_ns = 0;
}
