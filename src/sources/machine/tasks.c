/*
 * Processes, each with two measures of its CPU time: measured by the scheduler, and sampled by
 * ticks. This file has two measurement tiers.
 *
 * Tier "taskstats": both times come from one message of the kernel. No message is requested for a
 * process whose CPU clock (one system call) has not moved since the previous snapshot, because the
 * process has not run. A process that ends leaves an exit record with its final times. Exit records
 * are read after the processes. So a process that ends during the snapshot is accounted once, by
 * its record. With CAP_BPF and CAP_PERFMON the final clock of the process replaces the times of the
 * record (final_exits.h).
 *
 * Tier "schedstat": only CPU clocks are read, which any user may do. A process that ends between
 * two snapshots is not accounted, but counted as a loss.
 *
 * If a process runs on another CPU during the snapshot, its time is only known up to the newest
 * tick of that CPU. The time since then counts in the next interval.
 */
#include "final_exits.h"
#include "ledger/array.h"
#include "tasks_frame.h"
#include "tasks_table.h"

#include <camp/linux.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Exit records are read this often, because the kernel's buffer for exit records is small. */
#define DRAIN_INTERVAL_NS 100000000u
#define EXITS_AT_ONCE 64
#define ASKED_AT_ONCE 256

struct tasks_source {
    /* must be the first member, because functions cast it to struct tasks_source */
    struct tasks_common common;
    const volatile sig_atomic_t *stop;
    enum tasks_tier tier;
    struct camp_taskstats ask, listen;
    struct final_clocks *clocks; /* NULL if there are no final clocks: see open_final_clocks() */
    struct final_exits exits;
    uint64_t drained_ns; /* CLOCK_MONOTONIC before the newest drain() */
    struct tasks_table table;
    struct camp_pid *pids;
    size_t pid_count, pid_capacity;
    uint64_t snapshot_ns;
    uint64_t snapshot_start_ns; /* CLOCK_MONOTONIC at the start of the newest snapshot */
    /* number of ended processes that started before this interval, but were never listed */
    uint64_t older;
    uint64_t overruns, forks; /* at the newest snapshot */
    uint64_t stolen_ns;       /* time stolen by the hypervisor since boot, as of note_stolen() */
    struct frame frame;
};

static const struct schema *describe(const struct source *source)
{
    (void)source;
    return &tasks_schema;
}

/* Accounts the exit record of a process. Exit records of threads are ignored, because the record of
 * their process includes their time.
 *
 * In kernels before 5.19 the record of a thread does not name its process. There each thread is
 * accounted as if it were a process, so a thread that ends before its process is accounted twice.
 * The record of a process that is not in the table is ignored: only its threads are accounted. */
static int account_exit(struct tasks_source *source, const struct camp_task_exit *exit)
{
    struct camp_task_exit process = *exit;

    if (source->listen.version < CAMP_TASKSTATS_WITH_PROCESSES) {
        if (exit->is_process && !tasks_table_has(&source->table, exit->pid))
            return CAMP_OK;
        process.pid = exit->is_process ? exit->pid : exit->tid;
    } else if (!exit->is_process) {
        return CAMP_OK;
    }
    /* A process that started before this interval, but was never listed, is hidden from this user
     * (hidepid). Its exit record is ignored, because it contains time from before the interval. */
    if (exit->elapsed_ns > source_clock_ns(CLOCK_MONOTONIC) - source->snapshot_start_ns &&
        !tasks_table_has(&source->table, process.pid)) {
        source->older++;
        return CAMP_OK;
    }
    if (source->clocks == NULL)
        return tasks_table_end(&source->table, &process);
    return final_exits_add(&source->exits, &process, source->drained_ns,
                           source_clock_ns(CLOCK_MONOTONIC));
}

/* Adds to table.stolen_ns the time that the hypervisor has stolen since the previous call. Must be
 * called before tasks_table_end(), which subtracts this time. */
static int note_stolen(struct tasks_source *source, struct camp_error *error)
{
    struct camp_cpu total;
    int r;

    if (source->tier != TASKS_TASKSTATS)
        return CAMP_OK;
    r = camp_cpu_read(NULL, CAMP_CPU_TOTAL, &total, sizeof total, error);
    if (r != CAMP_OK)
        return r;
    source->table.stolen_ns += counted_since(source->stolen_ns, total.steal_ns);
    source->stolen_ns = total.steal_ns;
    return CAMP_OK;
}

static int drain(struct tasks_source *source, struct camp_error *error)
{
    struct camp_task_exit exits[EXITS_AT_ONCE];
    const uint64_t began_ns = source_clock_ns(CLOCK_MONOTONIC);
    size_t count;
    int r = CAMP_OK;

    if (source->tier != TASKS_TASKSTATS)
        return CAMP_OK;
    if (source->clocks != NULL)
        r = final_exits_read(&source->exits, source->clocks);
    if (r != CAMP_OK)
        return r;
    do {
        r = camp_taskstats_exits(&source->listen, exits, sizeof exits[0], EXITS_AT_ONCE, &count,
                                 error);
        if (r == CAMP_OK && count > 0)
            r = note_stolen(source, error);
        for (size_t i = 0; r == CAMP_OK && i < count; i++)
            r = account_exit(source, &exits[i]);
        if (r != CAMP_OK)
            return r;
    } while (count == EXITS_AT_ONCE);
    source->drained_ns = began_ns;
    return final_exits_match(&source->exits, &source->table);
}

static int list_pids(struct tasks_source *source, struct camp_error *error)
{
    for (;;) {
        int r = camp_pid_list(NULL, source->pids, sizeof *source->pids, source->pid_capacity,
                              &source->pid_count, error);

        if (r != CAMP_E_SPACE)
            return r;
        if (!ARRAY_RESERVE(source->pids, source->pid_capacity, source->pid_count))
            return CAMP_E_NOMEM;
    }
}

static bool read_details(struct known_task *task, struct camp_task *ret)
{
    const uint32_t wanted = CAMP_TASK_NAME | CAMP_TASK_PARENT | CAMP_TASK_STATE | CAMP_TASK_THREADS;
    struct camp_process process;

    if (camp_process_identify(NULL, task->pid, &process, sizeof process, NULL) != CAMP_OK ||
        camp_process_read(NULL, &process, wanted, ret, sizeof *ret, NULL) != CAMP_OK)
        return false; /* the process has ended, and its exit record has its name */
    memcpy(task->name, ret->name, sizeof task->name);
    task->flags |= TASK_NAMED | (ret->parent == 2 || task->pid == 2 ? TASK_KERNEL : 0);
    return true;
}

/* Called for a process that is listed for the first time. If the process is a zombie, its exit
 * record counts in an ended_group, so the process must not get a row, too. */
static void add_process(struct known_task *task)
{
    struct camp_task details;

    if (read_details(task, &details) && (details.state == 'Z' || details.state == 'X') &&
        details.threads <= 1)
        task->flags |= TASK_ENDED | TASK_REPORTED;
}

static int ask(struct tasks_source *source, struct known_task *const *tasks, const int32_t *pids,
               size_t count, struct camp_error *error)
{
    struct camp_taskstat answers[ASKED_AT_ONCE];
    int r = camp_taskstats_read(&source->ask, pids, count, answers, sizeof answers[0], error);

    for (size_t i = 0; r == CAMP_OK && i < count; i++) {
        /* The kernel reports zeros for a zombie. */
        if (answers[i].result == CAMP_OK && answers[i].runs == 0 &&
            (tasks[i]->flags & TASK_NEW) != 0)
            add_process(tasks[i]);
        if (answers[i].result != CAMP_OK || answers[i].measured_ns < tasks[i]->measured_ns)
            continue;
        tasks[i]->measured_ns = answers[i].measured_ns;
        tasks[i]->sampled_ns = answers[i].sampled_ns;
    }
    return r;
}

/* Reads the times of each living process that has run since the previous snapshot. */
static int read_all(struct tasks_source *source, bool first, struct camp_error *error)
{
    struct known_task *asked[ASKED_AT_ONCE];
    int32_t pids[ASKED_AT_ONCE];
    size_t count = 0;
    int r = CAMP_OK;

    for (size_t i = 0; i < source->table.count && r == CAMP_OK; i++) {
        struct known_task *task = &source->table.tasks[i];
        uint64_t now_ns;

        if ((task->flags & (TASK_ENDED | TASK_GONE)) != 0)
            continue;
        if (!first && (task->flags & TASK_NEW) != 0)
            add_process(task);
        if ((task->flags & TASK_ENDED) != 0 || camp_pid_cpu_ns(task->pid, &now_ns) != CAMP_OK ||
            now_ns == task->clock_ns)
            continue;
        task->clock_ns = now_ns;
        if (source->tier != TASKS_TASKSTATS) {
            if (now_ns > task->measured_ns)
                task->measured_ns = now_ns;
            continue;
        }
        asked[count] = task;
        pids[count++] = task->pid;
        if (count == ASKED_AT_ONCE) {
            r = ask(source, asked, pids, count, error);
            count = 0;
        }
    }
    return r == CAMP_OK && count > 0 ? ask(source, asked, pids, count, error) : r;
}

static int take_snapshot(struct tasks_source *source, bool first, struct camp_error *error)
{
    uint64_t now_ns = source_clock_ns(CLOCK_BOOTTIME);
    uint64_t began_ns = source_clock_ns(CLOCK_MONOTONIC);
    int r = drain(source, error);

    if (r == CAMP_OK)
        /* Counts the time stolen until now in this interval, not in the next. */
        r = note_stolen(source, error);
    if (r == CAMP_OK)
        r = list_pids(source, error);
    if (r == CAMP_OK)
        r = tasks_table_merge(&source->table, source->pids, source->pid_count, source->snapshot_ns);
    if (r == CAMP_OK)
        r = read_all(source, first, error);
    if (r == CAMP_OK)
        r = drain(source, error);
    if (r == CAMP_OK)
        r = final_exits_finish(&source->exits, &source->table, began_ns);
    source->snapshot_ns = now_ns;
    source->snapshot_start_ns = began_ns;
    return r;
}

/* Adds a row for a process of the table, if the process ran, started or ended in the interval. */
static int add_task(struct tasks_source *source, struct known_task *task)
{
    bool ended = (task->flags & (TASK_ENDED | TASK_GONE)) != 0;
    struct accuracy sum = { 0 };
    struct camp_task details;
    uint32_t flags;

    if ((task->flags & TASK_REPORTED) != 0)
        return CAMP_OK;
    if (ended && (task->flags & TASK_ENDED) == 0)
        source->frame.losses.partial++;
    if (task->measured_ns == task->measured_before_ns &&
        task->sampled_ns == task->sampled_before_ns && (task->flags & TASK_NEW) == 0 && !ended &&
        !tasks_is_kept(&source->common, task->pid))
        return CAMP_OK;
    if ((task->flags & TASK_NAMED) == 0)
        read_details(task, &details);
    flags = ((task->flags & TASK_NEW) != 0 ? ENTITY_NEW : 0) | (ended ? ENTITY_ENDED : 0) |
            ((task->flags & TASK_KERNEL) != 0 ? ENTITY_KERNEL : 0);
    accuracy_add(&sum, (double)counted_since(task->measured_before_ns, task->measured_ns),
                 (double)counted_since(task->sampled_before_ns, task->sampled_ns));
    return tasks_add_row(&source->frame, task->pid, flags, 1, task->name, &sum);
}

static int count_losses(struct tasks_source *source, size_t newcomers, struct camp_error *error)
{
    struct losses *losses = &source->frame.losses;
    uint64_t forks;
    int r;

    losses->unread_ns = source->table.unread_ns;
    losses->partial += source->older;
    source->older = 0;
    if (source->tier == TASKS_TASKSTATS) {
        losses->lost = source->listen.overruns - source->overruns;
        source->overruns = source->listen.overruns;
        return CAMP_OK;
    }
    r = camp_fork_count(NULL, &forks, error);
    if (r != CAMP_OK)
        return r;
    losses->unseen = counted_since(source->forks + newcomers, forks);
    source->forks = forks;
    return CAMP_OK;
}

static int fill_frame(struct tasks_source *source, struct camp_error *error)
{
    struct tasks_table *table = &source->table;
    size_t newcomers = 0;
    int r = CAMP_OK;

    source->common.living = 0;
    for (size_t i = 0; i < table->count && r == CAMP_OK; i++) {
        newcomers += (table->tasks[i].flags & TASK_NEW) != 0;
        source->common.living += (table->tasks[i].flags & (TASK_ENDED | TASK_GONE)) == 0;
        r = add_task(source, &table->tasks[i]);
    }
    for (size_t i = 0; i < table->ended_count && r == CAMP_OK; i++) {
        const struct ended_group *group = &table->ended[i];

        r = tasks_add_row(&source->frame, 0,
                          ENTITY_NEW | ENTITY_ENDED | (group->kernel ? ENTITY_KERNEL : 0),
                          group->count, group->name, &group->sum);
    }
    return r == CAMP_OK ? count_losses(source, newcomers, error) : r;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct tasks_source *source = (struct tasks_source *)base;
    int r = CAMP_OK;

    while (r == CAMP_OK && source_wait(deadline_ns, DRAIN_INTERVAL_NS, source->stop))
        r = drain(source, error);
    frame_clear(&source->frame);
    source->frame.start_ns = source->frame.end_ns;
    source->frame.end_ns = source_clock_ns(CLOCK_MONOTONIC);
    source->frame.wall_clock_ns = (int64_t)source_clock_ns(CLOCK_REALTIME);
    if (r == CAMP_OK)
        r = take_snapshot(source, false, error);
    if (r == CAMP_OK)
        r = fill_frame(source, error);
    tasks_table_start_interval(&source->table);
    *ret_frame = &source->frame;
    return r;
}

static void close_tasks(struct source *base)
{
    struct tasks_source *source = (struct tasks_source *)base;

    camp_taskstats_close(&source->ask);
    camp_taskstats_close(&source->listen);
    final_clocks_close(source->clocks);
    final_exits_release(&source->exits);
    tasks_table_release(&source->table);
    free(source->pids);
    frame_release(&source->frame);
    free(source);
}

/* Opens the final clocks, if the capabilities are held. Without final clocks, a process ends with
 * its exit record. Before version 12 of taskstats final clocks are not used, because it is unknown
 * which exit records are those of processes. */
static void open_final_clocks(struct tasks_source *source)
{
    if (source->listen.version >= CAMP_TASKSTATS_WITH_PROCESSES &&
        final_clocks_open(&source->clocks, NULL) != CAMP_OK)
        source->clocks = NULL;
    source->common.has_final_clocks = source->clocks != NULL;
}

static int open_taskstats(struct tasks_source *source, struct camp_error *error)
{
    int r = camp_taskstats_open(&source->ask, error);

    if (r == CAMP_OK)
        r = camp_taskstats_open(&source->listen, error);
    if (r == CAMP_OK)
        r = camp_taskstats_listen(&source->listen, error);
    if (r == CAMP_OK)
        open_final_clocks(source);
    return r;
}

/* TASKS_AUTOMATIC chooses taskstats if it is permitted, and schedstat otherwise. */
static int choose_tier(struct tasks_source *source, enum tasks_tier tier, struct camp_error *error)
{
    int r = CAMP_OK;

    source->tier = TASKS_SCHEDSTAT;
    if (tier == TASKS_SCHEDSTAT)
        return camp_fork_count(NULL, &source->forks, error);
    r = open_taskstats(source, error);
    if (r == CAMP_OK)
        source->tier = TASKS_TASKSTATS;
    else if (tier == TASKS_AUTOMATIC && (r == CAMP_E_PERM || r == CAMP_E_NOTSUP))
        r = camp_fork_count(NULL, &source->forks, error);
    return r;
}

const char *const tasks_tier_choices[] = { "auto", "taskstats", "schedstat", "bpf", NULL };
const char tasks_tier_help[] =
    "How processes are read: auto (taskstats where it is permitted, otherwise schedstat), "
    "taskstats, schedstat, or bpf (needs CAP_BPF and CAP_PERFMON; is also exact for processes that "
    "ended and for CPUs). The tiers of database sessions are in docs/sessions.md.";
const char tasks_status_help[] =
    "the kernel dropped exit records, so totals are partial.\n"
    "Tasks that tier schedstat did not see, because they came and went between two\n"
    "snapshots, are counted; the status is then 0.";

int tasks_source_open(enum tasks_tier tier, const volatile sig_atomic_t *stop, struct source **ret,
                      enum tasks_tier *ret_tier, struct camp_error *error)
{
    struct tasks_source *source;
    int r;

    if (tier == TASKS_BPF) {
        *ret_tier = tier;
        return tasks_states_open(stop, ret, error);
    }
    source = calloc(1, sizeof *source);
    if (source == NULL)
        return CAMP_E_NOMEM;
    source->common.source = (struct source){ describe, next, close_tasks };
    source->stop = stop;
    source->ask = (struct camp_taskstats)CAMP_TASKSTATS_NONE;
    source->listen = (struct camp_taskstats)CAMP_TASKSTATS_NONE;
    frame_init(&source->frame, &tasks_schema);
    r = choose_tier(source, tier, error);
    source->frame.end_ns = source_clock_ns(CLOCK_MONOTONIC);
    if (r == CAMP_OK)
        r = take_snapshot(source, true, error);
    if (r != CAMP_OK) {
        close_tasks(&source->common.source);
        return r;
    }
    tasks_table_start_interval(&source->table);
    source->exits.waiting_count = 0; /* these processes ended before the first interval */
    source->older = 0;
    *ret_tier = source->tier;
    *ret = &source->common.source;
    return CAMP_OK;
}
