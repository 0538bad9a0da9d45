/*
 * The rows are the processes of tasks_source_open(). source_beside() returns the CPUs.
 *
 * A process has no states: its threads together may run for longer than the interval, so "on a CPU"
 * and "not on a CPU" would not add up to the interval. Views that show states use the CPUs.
 */
#include "check.h"

#include "sources/machine/tasks_frame.h"

#include <stdlib.h>

struct check_source {
    struct source source; /* must be the first member */
    struct source *tasks, *cpus;
    bool is_sampled;
    struct frame measured;    /* tier schedstat only: the processes, without sampled time */
    const struct frame *seen; /* the frame that source_beside() returns */
    struct frame none;        /* a frame without rows: the CPUs before the first interval */
};

static const struct schema *schema_of(const struct check_source *source)
{
    return source->is_sampled ? &tasks_schema : &tasks_measured_schema;
}

static const struct schema *describe(const struct source *base)
{
    return schema_of((const struct check_source *)base);
}

static const struct frame *beside(const struct source *base)
{
    return ((const struct check_source *)base)->seen;
}

static int copy_measured(struct frame *ret, const struct frame *tasks)
{
    frame_clear(ret);
    ret->start_ns = tasks->start_ns;
    ret->end_ns = tasks->end_ns;
    ret->wall_clock_ns = tasks->wall_clock_ns;
    ret->losses = tasks->losses;
    for (size_t i = 0; i < tasks->entity_count; i++) {
        struct entity *entity = frame_add(ret);

        if (entity == NULL)
            return CAMP_E_NOMEM;
        *entity = tasks->entities[i];
        ret->elapsed_ns[i] = tasks->elapsed_ns[i];
        frame_values(ret, i)[TASKS_MEASURED] = frame_values(tasks, i)[TASKS_MEASURED];
    }
    return CAMP_OK;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct check_source *source = (struct check_source *)base;
    const struct frame *tasks, *cpus = NULL;
    int r = source->tasks->next(source->tasks, deadline_ns, &tasks, error);

    if (r == CAMP_OK && source->cpus != NULL)
        r = source->cpus->next(source->cpus, 0, &cpus, error);
    if (r == CAMP_OK && !source->is_sampled)
        r = copy_measured(&source->measured, tasks);
    if (r != CAMP_OK)
        return r;
    source->seen = cpus != NULL ? cpus : tasks_source_cpus(source->tasks);
    *ret_frame = source->is_sampled ? tasks : &source->measured;
    return CAMP_OK;
}

static void close_check(struct source *base)
{
    struct check_source *source = (struct check_source *)base;

    source_close(source->tasks);
    source_close(source->cpus);
    frame_release(&source->measured);
    free(source);
}

static int open_cpus(struct check_source *source, const volatile sig_atomic_t *stop,
                     struct camp_error *error)
{
    int r;

    source->seen = tasks_source_cpus(source->tasks);
    if (source->seen != NULL)
        return CAMP_OK;
    r = cpus_source_open(NULL, stop, &source->cpus, error);
    if (r != CAMP_OK)
        return r;
    frame_init(&source->none, source->cpus->describe(source->cpus));
    source->seen = &source->none;
    return CAMP_OK;
}

int check_source_open(enum tasks_tier tier, const volatile sig_atomic_t *stop, struct source **ret,
                      enum tasks_tier *ret_tier, struct camp_error *error)
{
    struct check_source *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL)
        return CAMP_E_NOMEM;
    source->source = (struct source){ describe, next, close_check, beside };
    frame_init(&source->measured, &tasks_measured_schema);
    r = tasks_source_open(tier, stop, &source->tasks, ret_tier, error);
    if (r == CAMP_OK)
        r = open_cpus(source, stop, error);
    if (r != CAMP_OK) {
        close_check(&source->source);
        return r;
    }
    source->is_sampled = *ret_tier != TASKS_SCHEDSTAT;
    *ret = &source->source;
    return CAMP_OK;
}
