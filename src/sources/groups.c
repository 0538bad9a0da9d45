/*
 * Adds up the threads of another source to processes, users, commands or cgroups. The exited
 * threads of a group form a separate row without an id, whose name ends in "(ended)". So the row of
 * the living threads has no time of exited threads.
 *
 * Waits of parked threads (ledger/active.h) become a state of their own, "parked", which is idle
 * time. In the sum of a process, nobody could tell them from waits for a lock.
 */
#include "groups.h"

#include "counters/error.h"
#include "ledger/active.h"
#include "ledger/words.h"
#include "sources/containers/thread_cgroups.h"
#include "sources/user_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct groups_source {
    struct source source; /* must be the first member */
    struct source *threads;
    enum group_key key;
    struct user_names users;
    struct cgroup_paths cgroups;
    struct schema schema; /* that of the threads, and parked_ns as the last state */
    struct column *columns;
    size_t lock;        /* index of the state of waits in a lock; state_count: it has none */
    struct frame split; /* the threads, with parked_ns */
    struct frame frame;
};

const struct column parked_column = {
    .name = "parked_ns",
    .title = "parked",
    .help = "Waits of threads that were asleep in futex(2) for at least 99 % of the interval",
    .kind = COLUMN_STATE,
    .provenance = CAMP_MEASURED,
    .class = CLASS_IDLE,
    .short_title = "slp",
};

/* Sets source->schema. Without a state of waits in a lock, it is that of the threads. Returns false
 * if there is no memory. */
static bool add_parked_column(struct groups_source *source, const struct schema *threads)
{
    const size_t states = threads->state_count;

    source->schema = *threads;
    source->lock = active_lock_column(threads);
    if (source->lock == states)
        return true;
    source->columns = calloc(threads->column_count + 1, sizeof *source->columns);
    if (source->columns == NULL)
        return false;
    memcpy(source->columns, threads->columns, states * sizeof *source->columns);
    source->columns[states] = parked_column;
    memcpy(source->columns + states + 1, threads->columns + states,
           (threads->column_count - states) * sizeof *source->columns);
    source->schema.columns = source->columns;
    source->schema.state_count++;
    source->schema.column_count++;
    return true;
}

/* Copies the values of a thread, and makes its wait in a lock parked time if it is parked. Returns
 * whether all its time is parked. */
static bool split_values(const struct groups_source *source, const struct frame *threads,
                         size_t row, uint64_t *ret)
{
    const size_t states = threads->schema->state_count, columns = threads->schema->column_count;
    const uint64_t *values = frame_values(threads, row);
    struct active active;

    memcpy(ret, values, states * sizeof *ret);
    memcpy(ret + states + 1, values + states, (columns - states) * sizeof *ret);
    active_of_frame(threads, row, &active);
    if (!active.is_parked)
        return false;
    ret[states] = values[source->lock];
    ret[source->lock] = 0;
    return threads->only_states[row] != 0;
}

/* Fills source->split from the threads. Returns CAMP_OK or CAMP_E_NOMEM. */
static int split_parked(struct groups_source *source, const struct frame *threads)
{
    struct frame *split = &source->split;

    frame_start_at(split, threads);
    for (size_t i = 0; i < threads->entity_count; i++) {
        struct entity *entity = frame_add(split);

        if (entity == NULL)
            return CAMP_E_NOMEM;
        *entity = threads->entities[i];
        split->elapsed_ns[i] = threads->elapsed_ns[i];
        split->only_states[i] = split_values(source, threads, i, frame_values(split, i))
                                    ? (uint32_t)threads->schema->state_count + 1
                                    : threads->only_states[i];
    }
    return CAMP_OK;
}

static const struct schema *describe(const struct source *base)
{
    const struct groups_source *source = (const struct groups_source *)base;

    return source->columns != NULL ? &source->schema : source->threads->describe(source->threads);
}

static void set_name(struct entity *entity, const char *name)
{
    copy_text(entity->name, sizeof entity->name, name, strlen(name));
}

static void name_row(struct groups_source *source, struct entity *row)
{
    char name[sizeof row->name];

    if ((row->flags & ENTITY_OUTSIDE) != 0) {
        set_name(row, "outside");
        row->id = 0;
        return;
    }
    if (source->key == GROUP_USER)
        set_name(row, user_names_get(&source->users, (uint32_t)row->id));
    else if (source->key == GROUP_CGROUP)
        set_name(row, cgroup_paths_name(&source->cgroups, (uint64_t)row->id));
    if ((row->flags & ENTITY_ENDED) != 0) {
        snprintf(name, sizeof name, "%.54s" ENTITY_ENDED_SUFFIX, row->name);
        set_name(row, name);
        row->id = 0;
    }
    if (source->key != GROUP_PROCESS) /* a new thread does not make its user or command new */
        row->flags &= ~(uint32_t)ENTITY_NEW;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct groups_source *source = (struct groups_source *)base;
    const struct frame *threads;
    int r = source->threads->next(source->threads, deadline_ns, &threads, error);

    if (r == CAMP_OK && source->key == GROUP_CGROUP)
        r = cgroup_paths_resolve(&source->cgroups, threads);
    if (r == CAMP_OK && source->columns != NULL) {
        r = split_parked(source, threads);
        threads = &source->split;
    }
    if (r == CAMP_OK)
        r = group_frame(&source->frame, threads, &(struct grouping){ .key = source->key });
    for (size_t i = 0; r == CAMP_OK && i < source->frame.entity_count; i++)
        name_row(source, &source->frame.entities[i]);
    *ret_frame = &source->frame;
    return r;
}

static const struct frame *beside(const struct source *base)
{
    return source_beside(((const struct groups_source *)base)->threads);
}

static int causes(struct source *base, const struct causes **ret, struct camp_error *error)
{
    return source_causes(((struct groups_source *)base)->threads, ret, error);
}

static void close_groups(struct source *base)
{
    struct groups_source *source = (struct groups_source *)base;

    source_close(source->threads);
    user_names_release(&source->users);
    cgroup_paths_release(&source->cgroups);
    frame_release(&source->split);
    frame_release(&source->frame);
    free(source->columns);
    free(source);
}

int groups_source_open(struct source *threads, enum group_key key, struct source **ret,
                       struct camp_error *error)
{
    struct groups_source *source = calloc(1, sizeof *source);

    if (source == NULL) {
        source_close(threads);
        return CAMP_E_NOMEM;
    }
    source->source = (struct source){ .describe = describe,
                                      .next = next,
                                      .close = close_groups,
                                      .beside = beside,
                                      .causes = causes };
    source->threads = threads;
    source->key = key;
    source_set_idle(threads, IDLE_BY_PROCESS);
    if (!add_parked_column(source, threads->describe(threads))) {
        close_groups(&source->source);
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for groups of threads");
    }
    frame_init(&source->split, &source->schema);
    frame_init(&source->frame, &source->schema);
    if (key == GROUP_CGROUP && !thread_cgroups_open(&source->cgroups)) {
        close_groups(&source->source);
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "no cgroups here: no cgroup file system is mounted");
    }
    *ret = &source->source;
    return CAMP_OK;
}
