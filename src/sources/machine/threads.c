/*
 * Threads by microstates: the wall time of each thread, divided into states that are measured at
 * each change of state.
 *
 * A snapshot of many threads takes a while, so the reading of each thread has its own time. The
 * elapsed time of a thread starts at its reading in the previous snapshot, or when the thread
 * starts. It ends at its reading in this snapshot, or when the thread exits. So the states of a
 * thread add up to its elapsed time to the nanosecond.
 */
#include "cpus_states.h"
#include "measured_column.h"
#include "microstates/table.h"
#include "pid_namespace.h"
#include "sources/source.h"
#include "thread_registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DRAIN_INTERVAL_NS 100000000u

#define STATE_OF(state, name, title, short_title, class, figure, help)                             \
    [CAMP_STATE_##state] = STATE(name, title, short_title, CLASS_##class, help),
static const struct column columns[] = {
    MICROSTATES(STATE_OF) COUNTER("system_calls", "scl", "system calls"),
    COUNTER("signals", "sig", "signals delivered"),
    COUNTER("voluntary_switches", "vcx", "times it left its CPU to sleep"),
    COUNTER("involuntary_switches", "icx", "times its CPU was taken away"),
    COUNTER("minor_faults", "minf", "page faults without input"),
    COUNTER("major_faults", "majf", "page faults with input"),
    COUNTER("read_bytes", "read", "from storage"),
    COUNTER("written_bytes", "written", "to storage"),
    COUNTER("read_chars", "rchar", "by read(2) and the like"),
    COUNTER("written_chars", "wchar", "by write(2) and the like"),
    COUNTER("cpu_ns", "cpu", "CPU time by the scheduler's own count"),
    COUNTER("run_delay_ns", "delay", "run-queue time by the scheduler's own count"),
    { "sampled_ns", "sampled", "utime + stime: whole ticks charged to whatever ran", COLUMN_COUNTER,
      CAMP_SAMPLED },
};

_Static_assert(sizeof columns / sizeof columns[0] == THREADS_COLUMN_COUNT,
               "a column was forgotten");
_Static_assert(THREADS_COLUMN_COUNT < 64, "a set of columns is one number");

const struct schema threads_schema = {
    .name = "threads",
    .columns = columns,
    .column_count = THREADS_COLUMN_COUNT,
    .state_count = CAMP_STATE_COUNT,
};

uint64_t threads_unmeasured(const struct camp_states *session)
{
    struct camp_states_known known = { 0 };

    camp_states_known(session, &known, sizeof known, NULL);
    return thread_unknown_columns(&known);
}

static bool is_absent(uint64_t unmeasured, size_t column)
{
    return column < THREADS_COLUMN_COUNT && (unmeasured >> column & 1) != 0;
}

void threads_columns_fill(struct threads_columns *ret, uint64_t unmeasured)
{
    struct schema *schema = &ret->schema;

    *schema = threads_schema;
    schema->columns = ret->columns;
    schema->column_count = schema->state_count = 0;
    ret->unmeasured = unmeasured;
    for (size_t i = 0; i < THREADS_COLUMN_COUNT; i++) {
        if (is_absent(unmeasured, i))
            continue;
        ret->columns[schema->column_count++] = columns[i];
        schema->state_count += i < CAMP_STATE_COUNT;
    }
}

void threads_values_add(uint64_t *values, uint64_t unmeasured, const uint64_t *did, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_absent(unmeasured, i))
            *values++ += did[i];
    }
}

static bool is_at(const struct schema *schema, size_t index, size_t column)
{
    return index < schema->column_count &&
           strcmp(schema->columns[index].name, columns[column].name) == 0;
}

bool threads_have_columns(const struct schema *schema)
{
    size_t found = 0;

    for (size_t i = 0; i < THREADS_COLUMN_COUNT; i++) {
        if (i == CAMP_STATE_COUNT && (found == 0 || found != schema->state_count))
            return false;
        found += is_at(schema, found, i);
    }
    return found == schema->column_count;
}

size_t threads_column(const struct schema *schema, size_t column)
{
    size_t found = 0;

    for (size_t i = 0; i < column && i < THREADS_COLUMN_COUNT; i++)
        found += is_at(schema, found, i);
    return found + (column > THREADS_COLUMN_COUNT ? column - THREADS_COLUMN_COUNT : 0);
}

bool threads_have(const struct schema *schema, size_t column)
{
    return is_at(schema, threads_column(schema, column), column);
}

struct threads_source {
    /* must be the first member, because functions cast it to struct threads_source */
    struct source source;
    const volatile sig_atomic_t *stop;
    struct camp_states *session;
    struct thread_registry registry;
    struct cpus_states *cpus;
    struct camp_states_losses losses;
    struct threads_columns columns;
    size_t places[CAMP_STATE_COUNT]; /* the indexes of the states in a row */
    struct frame frame;
};

static const struct schema *describe(const struct source *source)
{
    return &((const struct threads_source *)source)->columns.schema;
}

/* Returns the values of the new row, or NULL if there is no memory. */
static uint64_t *add_row(struct threads_source *source, const struct camp_thread_states *since,
                         uint64_t elapsed_ns)
{
    struct entity *entity = frame_add(&source->frame);
    const size_t row = source->frame.entity_count - 1;

    if (entity == NULL)
        return NULL;
    entity->id = since->tid;
    entity->pid = since->pid;
    entity->parent = since->parent;
    entity->uid = since->uid;
    entity->cgroup = since->cgroup;
    entity->count = since->count;
    entity->flags = ((since->flags & THREAD_NEW) != 0 ? ENTITY_NEW : 0) |
                    ((since->flags & CAMP_THREAD_ENDED) != 0 ? ENTITY_ENDED : 0) |
                    ((since->flags & CAMP_THREAD_KERNEL) != 0 ? ENTITY_KERNEL : 0);
    memcpy(entity->name, since->name, sizeof since->name);
    source->frame.elapsed_ns[row] = elapsed_ns;
    return frame_values(&source->frame, row);
}

static int add_thread(void *context, const struct camp_thread_states *since, uint32_t group)
{
    struct threads_source *source = context;
    uint64_t *row = add_row(source, since, since->time_ns - since->begin_ns);
    uint64_t values[THREADS_COLUMN_COUNT];

    (void)group;
    if (row == NULL)
        return CAMP_E_NOMEM;
    thread_fill_values(values, since);
    threads_values_add(row, source->columns.unmeasured, values, THREADS_COLUMN_COUNT);
    return CAMP_OK;
}

static int add_idle(void *context, const struct camp_states_wait *wait, uint32_t group)
{
    struct threads_source *source = context;
    uint64_t *row = add_row(source, wait->thread, wait->elapsed_ns);

    (void)group;
    if (row == NULL)
        return CAMP_E_NOMEM;
    row[source->places[wait->state]] = wait->elapsed_ns;
    source->frame.only_states[source->frame.entity_count - 1] =
        (uint32_t)source->places[wait->state] + 1;
    return CAMP_OK;
}

/* In a PID namespace, adds one row for the CPU time of all threads outside of it. Their waits are
 * unknown, so the elapsed time of the row is its CPU time. */
static int add_outside(struct threads_source *source)
{
    const struct frame *cpus = cpus_states_frame(source->cpus);
    const uint64_t *total = cpus->entity_count > 0 ? frame_values(cpus, 0) : NULL;
    uint64_t outside_ns, system_ns, did[THREADS_COLUMN_COUNT] = { 0 };
    struct entity *entity;

    if (total == NULL || total[CPUS_STATES_OUTSIDE] == 0)
        return CAMP_OK;
    if (pid_namespace_differs_from_proc())
        source->frame.note =
            "/proc is of another PID namespace, so command lines may be wrong: run "
            "mount -t proc proc /proc in this one";
    entity = frame_add(&source->frame);
    if (entity == NULL)
        return CAMP_E_NOMEM;
    entity->uid = UINT32_MAX;
    entity->flags = ENTITY_OUTSIDE;
    snprintf(entity->name, sizeof entity->name, "outside");
    outside_ns = total[CPUS_STATES_OUTSIDE];
    system_ns = total[CPUS_STATES_OUTSIDE_SYSTEM];
    if (system_ns > outside_ns)
        system_ns = outside_ns;
    did[CAMP_STATE_USER] = outside_ns - system_ns;
    did[CAMP_STATE_SYSTEM] = system_ns;
    did[THREADS_CPU] = outside_ns;
    threads_values_add(frame_values(&source->frame, source->frame.entity_count - 1),
                       source->columns.unmeasured, did, THREADS_COLUMN_COUNT);
    source->frame.elapsed_ns[source->frame.entity_count - 1] = outside_ns;
    return CAMP_OK;
}

static int count_losses(struct threads_source *source, struct camp_error *error)
{
    struct camp_states_losses losses;
    int r = camp_states_losses(source->session, &losses, sizeof losses, error);

    if (r != CAMP_OK)
        return r;
    source->frame.losses.unseen = counted_since(source->losses.unseen, losses.unseen);
    source->frame.losses.lost = counted_since(source->losses.lost, losses.lost) +
                                counted_since(source->losses.exits_lost, losses.exits_lost);
    source->losses = losses;
    return CAMP_OK;
}

static int read_snapshot(struct threads_source *source, struct camp_error *error)
{
    int r = thread_registry_read(&source->registry, source->session, error);

    return r == CAMP_OK ? cpus_states_read(source->cpus, source->session, error) : r;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct threads_source *source = (struct threads_source *)base;
    int r = CAMP_OK;

    frame_clear(&source->frame);
    while (r == CAMP_OK && source_wait(deadline_ns, DRAIN_INTERVAL_NS, source->stop))
        r = thread_registry_read_exited(&source->registry, source->session, error);
    source->frame.start_ns = source->frame.end_ns;
    source->frame.end_ns = source_clock_ns(CLOCK_MONOTONIC);
    source->frame.wall_clock_ns = (int64_t)source_clock_ns(CLOCK_REALTIME);
    if (r == CAMP_OK)
        r = read_snapshot(source, error);
    if (r == CAMP_OK)
        r = add_outside(source);
    if (r == CAMP_OK)
        r = count_losses(source, error);
    *ret_frame = &source->frame;
    return r;
}

static void close_threads(struct source *base)
{
    struct threads_source *source = (struct threads_source *)base;

    cpus_states_close(source->cpus);
    camp_states_close(source->session);
    thread_registry_release(&source->registry);
    frame_release(&source->frame);
    free(source);
}

int threads_source_open(uint32_t options, const volatile sig_atomic_t *stop, struct source **ret,
                        struct camp_error *error)
{
    struct threads_source *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL)
        return CAMP_E_NOMEM;
    source->source = (struct source){ describe, next, close_threads, threads_source_cpus };
    source->stop = stop;
    thread_registry_init(
        &source->registry,
        &(struct thread_user){ .context = source, .did = add_thread, .waited = add_idle });
    r = cpus_states_open(&source->cpus, error);
    if (r == CAMP_OK)
        r = camp_states_open(&source->session, options, error);
    if (r == CAMP_OK) {
        threads_columns_fill(&source->columns, threads_unmeasured(source->session));
        for (size_t i = 0; i < CAMP_STATE_COUNT; i++)
            source->places[i] = threads_column(&source->columns.schema, i);
        frame_init(&source->frame, &source->columns.schema);
        source->frame.end_ns = source_clock_ns(CLOCK_MONOTONIC);
        r = read_snapshot(source, error);
    }
    if (r == CAMP_OK)
        r = count_losses(source, error);
    if (r != CAMP_OK) {
        close_threads(&source->source);
        return r;
    }
    frame_clear(&source->frame);
    *ret = &source->source;
    return CAMP_OK;
}

const struct frame *threads_source_cpus(const struct source *base)
{
    return cpus_states_frame(((const struct threads_source *)base)->cpus);
}

struct camp_states *threads_source_session(const struct source *base)
{
    return ((const struct threads_source *)base)->session;
}
