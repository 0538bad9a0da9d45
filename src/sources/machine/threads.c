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
#include "idle_threads.h"
#include "ledger/words.h"
#include "pid_namespace.h"
#include "sources/source.h"
#include "sources/thread_observer.h"
#include "thread_registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DRAIN_INTERVAL_NS 100000000u
#define PROCESSES_SPARE 1024 /* so many processes that no longer live are always kept */

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
    enum idle_rows wanted, idle; /* of the next interval, and of this one */
    struct idle_processes processes;
    /* If keeps_recent is true, the threads that were active, or whose idle row a reader may not
     * repeat. knows_recent is true if the interval before has kept them all. */
    bool keeps_recent, knows_recent, out_of_memory;
    struct recent_threads recent;
    const struct thread_observer *observer; /* or NULL */
};

static const struct schema *describe(const struct source *source)
{
    return &((const struct threads_source *)source)->columns.schema;
}

static struct entity entity_of(const struct camp_thread_states *thread)
{
    struct entity ret = { .id = thread->tid,
                          .pid = thread->pid,
                          .parent = thread->parent,
                          .uid = thread->uid,
                          .cgroup = thread->cgroup,
                          .count = thread->count };

    ret.flags = ((thread->flags & THREAD_NEW) != 0 ? ENTITY_NEW : 0) |
                ((thread->flags & CAMP_THREAD_ENDED) != 0 ? ENTITY_ENDED : 0) |
                ((thread->flags & CAMP_THREAD_KERNEL) != 0 ? ENTITY_KERNEL : 0);
    memcpy(ret.name, thread->name, sizeof thread->name);
    return ret;
}

/* Returns the values of the new row, or NULL if there is no memory. */
static uint64_t *add_row(struct threads_source *source, const struct entity *from,
                         uint64_t elapsed_ns)
{
    struct entity *entity = frame_add(&source->frame);
    const size_t row = source->frame.entity_count - 1;

    if (entity == NULL)
        return NULL;
    *entity = *from;
    source->frame.elapsed_ns[row] = elapsed_ns;
    return frame_values(&source->frame, row);
}

static int add_idle_row(struct threads_source *source, const struct entity *entity, uint32_t state,
                        uint64_t elapsed_ns)
{
    uint64_t *row = add_row(source, entity, elapsed_ns);

    if (row == NULL)
        return CAMP_E_NOMEM;
    row[source->places[state]] = elapsed_ns;
    source->frame.only_states[source->frame.entity_count - 1] = (uint32_t)source->places[state] + 1;
    return CAMP_OK;
}

static int keep_recent(struct threads_source *source, const struct entity *entity, uint32_t state,
                       uint64_t time_ns)
{
    struct recent_thread recent = { .entity = *entity, .state = state, .time_ns = time_ns };

    recent.entity.flags &= ~(uint32_t)ENTITY_NEW;
    return source->keeps_recent ? recent_threads_add(&source->recent, &recent) : CAMP_OK;
}

static int add_thread(void *context, const struct camp_thread_states *since, uint32_t group)
{
    struct threads_source *source = context;
    const struct entity entity = entity_of(since);
    uint64_t *row = add_row(source, &entity, since->time_ns - since->begin_ns);
    uint64_t values[THREADS_COLUMN_COUNT];

    (void)group;
    if (row == NULL || thread_observer_did(source->observer, since) != CAMP_OK)
        return CAMP_E_NOMEM;
    thread_fill_values(values, since);
    threads_values_add(row, source->columns.unmeasured, values, THREADS_COLUMN_COUNT);
    recent_threads_forget(&source->recent, since->tid);
    return (entity.flags & ENTITY_ENDED) != 0
               ? CAMP_OK
               : keep_recent(source, &entity, since->state, since->time_ns);
}

/* Returns whether a reader may repeat an idle row in later intervals: its time is that of the
 * interval, within 1 %. */
static bool is_whole(const struct frame *frame, uint64_t elapsed_ns)
{
    return frame_times(elapsed_ns, frame->end_ns - frame->start_ns) == 1;
}

static int add_each_idle(void *context, const struct camp_states_wait *wait, uint32_t group)
{
    struct threads_source *source = context;
    const struct entity entity = entity_of(wait->thread);
    int r =
        thread_observer_waited(source->observer, wait->thread, wait->state, 1, wait->elapsed_ns);

    (void)group;
    if (r == CAMP_OK)
        r = add_idle_row(source, &entity, wait->state, wait->elapsed_ns);
    return r == CAMP_OK && !is_whole(&source->frame, wait->elapsed_ns)
               ? keep_recent(source, &entity, wait->state, wait->thread->time_ns + wait->elapsed_ns)
               : r;
}

/* Reports the waits of idle threads of a process. */
static int observe_idle(const struct threads_source *source, uint32_t group, uint32_t state,
                        uint64_t threads, uint64_t wait_ns)
{
    const struct entity *row = &source->processes.rows[group];
    struct camp_thread_states process = { .pid = row->pid, .tid = (int32_t)row->id };

    if (source->observer == NULL)
        return CAMP_OK;
    process.flags = (row->flags & ENTITY_KERNEL) != 0 ? CAMP_THREAD_KERNEL : 0;
    copy_text(process.name, sizeof process.name, row->name, strlen(row->name));
    return thread_observer_waited(source->observer, &process, state, threads, wait_ns);
}

static int add_idle_process(void *context, uint32_t group, uint32_t state, uint64_t threads,
                            uint64_t wait_ns)
{
    struct threads_source *source = context;

    source->processes.rows[group].count = (uint32_t)threads;
    return observe_idle(source, group, state, threads, wait_ns) == CAMP_OK
               ? add_idle_row(source, &source->processes.rows[group], state, wait_ns)
               : CAMP_E_NOMEM;
}

static int omit_idle(void *context, uint32_t group, uint32_t state, uint64_t threads,
                     uint64_t wait_ns)
{
    struct threads_source *source = context;

    source->frame.omitted += threads;
    return observe_idle(source, group, state, threads, wait_ns);
}

/* Adds a row for each thread that was read in the last interval, and has been idle since. */
static int add_newly_idle(struct threads_source *source)
{
    const uint64_t end_ns = source->registry.idle_ns;
    struct recent_list *last = &source->recent.last;
    int r = CAMP_OK;

    for (size_t i = 0; i < last->count && r == CAMP_OK; i++) {
        const struct recent_thread *thread = &last->threads[i];
        const uint64_t elapsed_ns = end_ns > thread->time_ns ? end_ns - thread->time_ns : 0;

        if (thread->is_done)
            continue;
        source->frame.omitted--;
        r = add_idle_row(source, &thread->entity, thread->state, elapsed_ns);
        if (r == CAMP_OK && !is_whole(&source->frame, elapsed_ns))
            r = keep_recent(source, &thread->entity, thread->state, end_ns);
    }
    return r;
}

static int find_process(void *context, const struct camp_thread_states *before,
                        const struct camp_thread_states *thread, uint32_t *group)
{
    return idle_processes_find(&((struct threads_source *)context)->processes, before, thread,
                               group);
}

/* The previous frame may have omitted a thread that is now missing. The row with ENTITY_GONE ends
 * the repetition of its idle row. A thread that exits after it was listed has its row of this
 * interval: its final reading belongs to the next one. */
static void leave(void *context, const struct camp_thread_states *last)
{
    struct threads_source *source = context;
    struct entity gone = entity_of(last);

    if (!source->registry.is_listed)
        recent_threads_forget(&source->recent, last->tid);
    if (source->idle != IDLE_OMITTED || (gone.flags & ENTITY_ENDED) != 0)
        return;
    gone.flags |= ENTITY_GONE;
    source->out_of_memory |= add_row(source, &gone, 0) == NULL;
}

static void set_idle(struct source *base, enum idle_rows idle)
{
    struct threads_source *source = (struct threads_source *)base;

    source->wanted = idle;
    source->keeps_recent |= idle == IDLE_OMITTED;
}

/* Chooses the rows of idle threads in this interval. All processes get new numbers when most
 * numbers belong to exited processes. */
static void start_interval(struct threads_source *source)
{
    struct thread_registry *registry = &source->registry;
    struct thread_user *user = &registry->user;

    source->idle =
        source->wanted == IDLE_OMITTED && !source->knows_recent ? IDLE_EACH : source->wanted;
    source->out_of_memory = false;
    source->knows_recent = source->keeps_recent && source->idle != IDLE_BY_PROCESS;
    user->waited = source->idle == IDLE_EACH ? add_each_idle : NULL;
    user->idle = source->idle == IDLE_OMITTED ? omit_idle : add_idle_process;
    recent_threads_start_interval(&source->recent);
    if (source->processes.count > 2 * registry->processes + PROCESSES_SPARE) {
        idle_processes_clear(&source->processes);
        registry->regroups = true;
    }
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

    if (r == CAMP_OK && source->idle == IDLE_OMITTED)
        r = source->out_of_memory ? CAMP_E_NOMEM : add_newly_idle(source);
    return r == CAMP_OK ? cpus_states_read(source->cpus, source->session, error) : r;
}

static int read_exited(struct threads_source *source, struct camp_error *error)
{
    const int r = thread_observer_before_exits(source->observer, error);

    return r == CAMP_OK ? thread_registry_read_exited(&source->registry, source->session, error)
                        : r;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct threads_source *source = (struct threads_source *)base;
    int r = CAMP_OK;

    frame_clear(&source->frame);
    start_interval(source);
    while (r == CAMP_OK && source_wait(deadline_ns, DRAIN_INTERVAL_NS, source->stop))
        r = read_exited(source, error);
    if (r == CAMP_OK)
        r = thread_observer_before_snapshot(source->observer, error);
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
    idle_processes_release(&source->processes);
    recent_threads_release(&source->recent);
    frame_release(&source->frame);
    free(source);
}

int threads_source_open(uint32_t options, const volatile sig_atomic_t *stop, struct source **ret,
                        struct camp_error *error)
{
    return threads_source_open_observed(options, stop, NULL, ret, error);
}

int threads_source_open_observed(uint32_t options, const volatile sig_atomic_t *stop,
                                 const struct thread_observer *observer, struct source **ret,
                                 struct camp_error *error)
{
    struct threads_source *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL)
        return CAMP_E_NOMEM;
    source->source = (struct source){ .describe = describe,
                                      .next = next,
                                      .close = close_threads,
                                      .beside = threads_source_cpus,
                                      .set_idle = set_idle };
    source->stop = stop;
    /* The first reading needs no rows, so start_interval() sets the function for idle threads. */
    source->observer = observer;
    thread_registry_init(&source->registry, &(struct thread_user){ .context = source,
                                                                   .did = add_thread,
                                                                   .group = find_process,
                                                                   .left = leave });
    r = cpus_states_open(&source->cpus, error);
    if (r == CAMP_OK)
        r = camp_states_open(&source->session, options, error);
    if (r == CAMP_OK)
        r = thread_observer_opened(source->observer, source->session, error);
    if (r == CAMP_OK)
        r = thread_observer_before_snapshot(source->observer, error);
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
