/*
 * Processes by microstates: the times of all threads of a process, including its exited threads,
 * are added up. The CPUs come from the same snapshot as the threads.
 *
 * The measured and the sampled time of a thread are read at the same moment. For an exited thread
 * this moment is its last switch, after which it does not run. If a thread runs during the
 * snapshot, its times are only known up to its newest tick or switch. The time since then counts in
 * the next interval.
 */
#include "ledger/array.h"
#include "tasks_frame.h"

#include <stdlib.h>
#include <string.h>

struct process_sum {
    int32_t pid;
    uint32_t flags; /* enum entity_flag of the first thread */
    uint32_t count;
    const char *name;
    uint64_t measured_ns, sampled_ns;
};

struct states_source {
    /* must be the first member, because functions cast it to struct states_source */
    struct tasks_common common;
    struct source *threads;
    struct process_sum *processes;
    size_t process_count, process_capacity;
    /* [order_capacity] indices of the rows in the frame of threads, sorted by process */
    size_t *order;
    size_t order_capacity;
    struct frame frame;
};

static const struct schema *describe(const struct source *source)
{
    (void)source;
    return &tasks_schema;
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct frame *threads = context;

    return entity_compare_by_process(&threads->entities[*(const size_t *)a],
                                     &threads->entities[*(const size_t *)b]);
}

/* Adds up the threads of each process. If a pid was reused within the interval, two processes have
 * this pid. So each row of a first thread, whose tid is the pid, starts a new process. */
static void add_up(struct states_source *source, const struct frame *threads)
{
    const size_t measured = threads_column(threads->schema, THREADS_CPU);
    const size_t sampled = threads_column(threads->schema, THREADS_SAMPLED);
    struct process_sum *process = NULL;

    source->process_count = 0;
    for (size_t i = 0; i < threads->entity_count; i++)
        source->order[i] = i;
    qsort_r(source->order, threads->entity_count, sizeof *source->order, compare_rows,
            (void *)threads);
    for (size_t i = 0; i < threads->entity_count; i++) {
        const struct entity *entity = &threads->entities[source->order[i]];
        const uint64_t *values = frame_values(threads, source->order[i]);

        if ((entity->flags & ENTITY_OUTSIDE) != 0)
            continue; /* this row has no sampled time */
        if (process == NULL || process->pid != entity->pid ||
            (entity->id == entity->pid && (entity->flags & ENTITY_ALIKE) == 0)) {
            process = &source->processes[source->process_count++];
            *process = (struct process_sum){ .pid = entity->pid,
                                             .flags = entity->flags & ~(uint32_t)ENTITY_ALIKE,
                                             .count = entity->count,
                                             .name = entity->name };
        }
        process->measured_ns += values[measured];
        process->sampled_ns += values[sampled];
    }
}

static bool is_brief(const struct process_sum *process)
{
    const uint32_t brief = ENTITY_NEW | ENTITY_ENDED;

    return (process->flags & brief) == brief;
}

/* Sorts by pid. Processes that started and ended within the interval come last, sorted by name. */
static int compare_processes(const void *a, const void *b)
{
    const struct process_sum *left = a, *right = b;

    if (is_brief(left) != is_brief(right))
        return is_brief(left) ? 1 : -1;
    if (is_brief(left))
        return strcmp(left->name, right->name);
    return left->pid < right->pid ? -1 : left->pid > right->pid;
}

static int add_living(struct states_source *source, const struct process_sum *process)
{
    struct accuracy sum = { 0 };
    bool ended = (process->flags & ENTITY_ENDED) != 0;

    source->common.living += !ended;
    if (process->measured_ns == 0 && process->sampled_ns == 0 && !ended &&
        (process->flags & ENTITY_NEW) == 0 && !tasks_is_kept(&source->common, process->pid))
        return CAMP_OK;
    accuracy_add(&sum, (double)process->measured_ns, (double)process->sampled_ns);
    return tasks_add_row(&source->frame, process->pid, process->flags, 1, process->name, &sum);
}

static int fill_frame(struct states_source *source)
{
    const struct process_sum *processes = source->processes;
    const size_t count = source->process_count;
    int r = CAMP_OK;

    source->common.living = 0;
    if (count > 0)
        qsort(source->processes, count, sizeof *processes, compare_processes);
    for (size_t i = 0, next = 0; i < count && r == CAMP_OK; i = next) {
        struct accuracy sum = { 0 };
        uint32_t ended = 0;

        next = i + 1;
        if (!is_brief(&processes[i])) {
            r = add_living(source, &processes[i]);
            continue;
        }
        for (next = i; next < count && strcmp(processes[next].name, processes[i].name) == 0;
             next++) {
            ended += processes[next].count;
            accuracy_add(&sum, (double)processes[next].measured_ns,
                         (double)processes[next].sampled_ns);
        }
        r = tasks_add_row(&source->frame, 0, processes[i].flags, ended, processes[i].name, &sum);
    }
    return r;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct states_source *source = (struct states_source *)base;
    const struct frame *threads;
    int r = source->threads->next(source->threads, deadline_ns, &threads, error);

    if (r != CAMP_OK)
        return r;
    if (!ARRAY_RESERVE(source->order, source->order_capacity, threads->entity_count) ||
        !ARRAY_RESERVE(source->processes, source->process_capacity, threads->entity_count))
        return CAMP_E_NOMEM;
    frame_clear(&source->frame);
    source->frame.start_ns = threads->start_ns;
    source->frame.end_ns = threads->end_ns;
    source->frame.wall_clock_ns = threads->wall_clock_ns;
    source->frame.losses.lost = threads->losses.lost;
    add_up(source, threads);
    *ret_frame = &source->frame;
    return fill_frame(source);
}

static void close_states(struct source *base)
{
    struct states_source *source = (struct states_source *)base;

    source_close(source->threads);
    free(source->processes);
    free(source->order);
    frame_release(&source->frame);
    free(source);
}

int tasks_states_open(const volatile sig_atomic_t *stop, struct source **ret,
                      struct camp_error *error)
{
    struct states_source *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL)
        return CAMP_E_NOMEM;
    source->common.source = (struct source){ describe, next, close_states };
    frame_init(&source->frame, &tasks_schema);
    r = threads_source_open(CAMP_STATES_NO_SYSCALLS, stop, &source->threads, error);
    if (r != CAMP_OK) {
        close_states(&source->common.source);
        return r;
    }
    source_set_idle(source->threads, IDLE_BY_PROCESS);
    source->common.has_final_clocks = true;
    source->common.cpus = threads_source_cpus(source->threads);
    *ret = &source->common.source;
    return CAMP_OK;
}
