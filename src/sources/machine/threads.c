/*
 * Threads by microstates: where the wall time of each went, measured at every change of state.
 *
 * A thread's share of the interval is the time from its reading in the last snapshot (or its start)
 * to its reading in this one (or its end). Each reading has its own time, so the states add up to
 * the share to the nanosecond, even if a snapshot of many threads takes a while.
 */
#include "cpus_states.h"
#include "measured_column.h"
#include "microstates/table.h"
#include "sources/source.h"
#include "thread_list.h"
#include "thread_states.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DRAIN_INTERVAL_NS 100000000u
#define ENDED_AT_ONCE 1024

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

const struct schema threads_schema = {
    .name = "threads",
    .columns = columns,
    .column_count = THREADS_COLUMN_COUNT,
    .state_count = CAMP_STATE_COUNT,
};

struct threads_source {
    struct source source; /* first: a threads_source is a source */
    const volatile sig_atomic_t *stop;
    struct camp_states *session;
    struct thread_list now, before;
    struct thread_list ended; /* in this interval; not indexed */
    struct cpus_states *cpus;
    struct camp_states_losses losses;
    struct frame frame;
};

static const struct schema *describe(const struct source *source)
{
    (void)source;
    return &threads_schema;
}

/* -------------------------------------------------------------------------------- Reading -- */

static int add_ended(struct threads_source *source, struct camp_error *error)
{
    struct thread_list *ended = &source->ended;
    size_t count;

    do {
        int r;

        if (!thread_list_reserve(ended, ended->count + ENDED_AT_ONCE))
            return CAMP_E_NOMEM;
        r = camp_states_exits(source->session, ended->threads + ended->count,
                              sizeof *ended->threads, ENDED_AT_ONCE, &count, error);
        if (r != CAMP_OK)
            return r;
        ended->count += count;
    } while (count == ENDED_AT_ONCE);
    return CAMP_OK;
}

static int add_living(struct threads_source *source, struct camp_error *error)
{
    struct thread_list *now = &source->now;
    size_t count = now->capacity > 0 ? now->capacity : 1024;
    int r;

    do {
        if (!thread_list_reserve(now, count))
            return CAMP_E_NOMEM;
        r = camp_states_threads(source->session, now->threads, sizeof *now->threads, now->capacity,
                                &count, error);
    } while (r == CAMP_E_SPACE);
    if (r != CAMP_OK)
        return r;
    now->count = count;
    return thread_list_index(now) ? CAMP_OK : CAMP_E_NOMEM;
}

/* -------------------------------------------------------------------------------- Accounting -- */

static void fill_counters(uint64_t *values, const struct camp_thread_states *thread)
{
    values[THREADS_SYSTEM_CALLS] = thread->system_calls;
    values[THREADS_SIGNALS] = thread->signals;
    values[THREADS_VOLUNTARY_SWITCHES] = thread->voluntary_switches;
    values[THREADS_INVOLUNTARY_SWITCHES] = thread->involuntary_switches;
    values[THREADS_MINOR_FAULTS] = thread->minor_faults;
    values[THREADS_MAJOR_FAULTS] = thread->major_faults;
    values[THREADS_READ_BYTES] = thread->read_bytes;
    values[THREADS_WRITTEN_BYTES] = thread->written_bytes;
    values[THREADS_READ_CHARS] = thread->read_chars;
    values[THREADS_WRITTEN_CHARS] = thread->written_chars;
    values[THREADS_CPU] = thread->cpu_ns;
    values[THREADS_RUN_DELAY] = thread->run_delay_ns;
    values[THREADS_SAMPLED] = thread->sampled_ns;
}

static int add_thread(struct threads_source *source, const struct camp_thread_states *now)
{
    const struct camp_thread_states *then = thread_list_find(&source->before, now);
    /* The thread is older than the session, and got its account only now: its earlier time is
     * unknown. */
    const bool first_seen_late = then == NULL && (now->flags & CAMP_THREAD_OLDER) != 0;
    struct camp_thread_states since = *now;
    struct entity *entity = frame_add(&source->frame);
    uint64_t *values;

    if (entity == NULL)
        return CAMP_E_NOMEM;
    entity->id = now->tid;
    entity->pid = now->pid;
    entity->parent = now->parent;
    entity->uid = now->uid;
    entity->cgroup = now->cgroup;
    entity->count = now->count;
    entity->flags = (then == NULL && !first_seen_late ? ENTITY_NEW : 0) |
                    ((now->flags & CAMP_THREAD_ENDED) != 0 ? ENTITY_ENDED : 0) |
                    ((now->flags & CAMP_THREAD_KERNEL) != 0 ? ENTITY_KERNEL : 0);
    memcpy(entity->name, now->name, sizeof now->name);
    if (then != NULL)
        thread_states_subtract(&since, then);
    source->frame.elapsed_ns[source->frame.entity_count - 1] = since.time_ns - since.begin_ns;
    values = frame_values(&source->frame, source->frame.entity_count - 1);
    memcpy(values, since.state_ns, sizeof since.state_ns);
    if (!first_seen_late)
        fill_counters(values, &since);
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

static int look(struct threads_source *source, struct camp_error *error)
{
    struct thread_list swap = source->before;
    int r;

    source->before = source->now;
    source->now = swap;
    r = add_living(source, error);
    /* A thread that exited during the snapshot is in it, in the exit records, or in both: then its
     * exit counts. */
    if (r == CAMP_OK)
        r = add_ended(source, error);
    if (r == CAMP_OK)
        r = cpus_states_read(source->cpus, source->session, error);
    if (r == CAMP_OK)
        r = thread_list_carry_pending(&source->now, &source->before, source->ended.threads,
                                      source->ended.count)
                ? CAMP_OK
                : CAMP_E_NOMEM;
    return r;
}

static int fill_frame(struct threads_source *source, struct camp_error *error)
{
    int r = CAMP_OK;

    for (size_t i = 0; i < source->now.count && r == CAMP_OK; i++) {
        if ((source->now.threads[i].flags & (THREAD_PENDING | CAMP_THREAD_ENDED)) == 0)
            r = add_thread(source, &source->now.threads[i]);
    }
    for (size_t i = 0; i < source->ended.count && r == CAMP_OK; i++)
        r = add_thread(source, &source->ended.threads[i]);
    source->ended.count = 0;
    return r == CAMP_OK ? count_losses(source, error) : r;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct threads_source *source = (struct threads_source *)base;
    int r = CAMP_OK;

    while (r == CAMP_OK && source_wait(deadline_ns, DRAIN_INTERVAL_NS, source->stop))
        r = add_ended(source, error);
    frame_clear(&source->frame);
    source->frame.start_ns = source->frame.end_ns;
    source->frame.end_ns = source_clock_ns(CLOCK_MONOTONIC);
    source->frame.wall_clock_ns = (int64_t)source_clock_ns(CLOCK_REALTIME);
    if (r == CAMP_OK)
        r = look(source, error);
    if (r == CAMP_OK)
        r = fill_frame(source, error);
    *ret_frame = &source->frame;
    return r;
}

static void close_threads(struct source *base)
{
    struct threads_source *source = (struct threads_source *)base;

    cpus_states_close(source->cpus);
    camp_states_close(source->session);
    thread_list_release(&source->now);
    thread_list_release(&source->before);
    thread_list_release(&source->ended);
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
    frame_init(&source->frame, &threads_schema);
    r = cpus_states_open(&source->cpus, error);
    if (r == CAMP_OK)
        r = camp_states_open(&source->session, options, error);
    if (r == CAMP_OK) {
        source->frame.end_ns = source_clock_ns(CLOCK_MONOTONIC);
        r = look(source, error);
    }
    if (r == CAMP_OK)
        r = count_losses(source, error);
    if (r != CAMP_OK) {
        close_threads(&source->source);
        return r;
    }
    source->ended.count = 0;
    frame_clear(&source->frame);
    *ret = &source->source;
    return CAMP_OK;
}

void threads_source_losses(const struct source *base, struct camp_states_losses *ret)
{
    *ret = ((const struct threads_source *)base)->losses;
}

const struct frame *threads_source_cpus(const struct source *base)
{
    return cpus_states_frame(((const struct threads_source *)base)->cpus);
}

struct camp_states *threads_source_session(const struct source *base)
{
    return ((const struct threads_source *)base)->session;
}
