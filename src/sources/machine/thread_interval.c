#include "thread_interval.h"

#include "ledger/frame.h"
#include "sources/source.h"

#include <string.h>

static const struct {
    size_t offset;
    uint32_t known; /* enum camp_thread_states_field */
} counters[THREADS_COLUMN_COUNT] = {
#define COUNTER(name, member)                                                                      \
    [THREADS_##name] = { offsetof(struct camp_thread_states, member), CAMP_THREAD_STATES_##name }
    COUNTER(SYSTEM_CALLS, system_calls),
    COUNTER(SIGNALS, signals),
    COUNTER(VOLUNTARY_SWITCHES, voluntary_switches),
    COUNTER(INVOLUNTARY_SWITCHES, involuntary_switches),
    COUNTER(MINOR_FAULTS, minor_faults),
    COUNTER(MAJOR_FAULTS, major_faults),
    COUNTER(READ_BYTES, read_bytes),
    COUNTER(WRITTEN_BYTES, written_bytes),
    COUNTER(READ_CHARS, read_chars),
    COUNTER(WRITTEN_CHARS, written_chars),
    COUNTER(CPU, cpu_ns),
    COUNTER(RUN_DELAY, run_delay_ns),
    COUNTER(SAMPLED, sampled_ns),
#undef COUNTER
};

uint64_t thread_unknown_columns(const struct camp_states_known *known)
{
    uint64_t unknown = ~known->states & ((1u << CAMP_STATE_COUNT) - 1);

    for (size_t i = CAMP_STATE_COUNT; i < THREADS_COLUMN_COUNT; i++) {
        if ((known->thread & counters[i].known) == 0)
            unknown |= UINT64_C(1) << i;
    }
    return unknown;
}

void thread_fill_values(uint64_t *values, const struct camp_thread_states *since)
{
    memcpy(values, since->state_ns, sizeof since->state_ns);
    for (size_t i = CAMP_STATE_COUNT; i < THREADS_COLUMN_COUNT; i++)
        memcpy(&values[i], (const char *)since + counters[i].offset, sizeof values[i]);
}

static void subtract(struct camp_thread_states *now, const struct camp_thread_states *then)
{
    uint64_t before[THREADS_COLUMN_COUNT], after[THREADS_COLUMN_COUNT];

    thread_fill_values(before, then);
    thread_fill_values(after, now);
    states_since(now->state_ns, before, after, CAMP_STATE_COUNT);
    for (size_t i = CAMP_STATE_COUNT; i < THREADS_COLUMN_COUNT; i++) {
        after[i] = counted_since(before[i], after[i]);
        memcpy((char *)now + counters[i].offset, &after[i], sizeof after[i]);
    }
    now->begin_ns += then->time_ns - then->begin_ns;
}

static struct camp_thread_states without_states(const struct camp_thread_states *now)
{
    struct camp_thread_states ret = *now;

    memset(ret.state_ns, 0, sizeof ret.state_ns);
    ret.time_ns = ret.begin_ns;
    return ret;
}

struct camp_thread_states thread_since(const struct camp_thread_states *now,
                                       const struct camp_thread_states *then)
{
    struct camp_thread_states since = *now;

    if (then != NULL) {
        subtract(&since, then);
    } else if ((now->flags & CAMP_THREAD_OLDER) != 0) {
        const struct camp_thread_states attached = without_states(now);

        subtract(&since, &attached);
    } else {
        since.flags |= THREAD_NEW;
    }
    return since;
}

/* Bits 30 and 31 in the flags of a pending thread count the snapshots for which it has been
 * pending, up to 3. */
#define PENDING_ONE (1u << 30)
#define PENDING_ALL (3u << 30)

bool thread_pending_add(struct thread_list *pending, const struct camp_thread_states *then)
{
    if (!thread_list_add(pending, then))
        return false;
    pending->threads[pending->count - 1].flags &= ~PENDING_ALL;
    return true;
}

static bool is_resolved(const struct camp_thread_states *thread)
{
    return (thread->flags & CAMP_THREAD_ENDED) != 0;
}

const struct camp_thread_states *thread_pending_take(struct thread_list *pending,
                                                     const struct camp_thread_states *last)
{
    struct camp_thread_states *then = thread_list_find(pending, last);

    if (then == NULL || is_resolved(then))
        return NULL;
    then->flags |= CAMP_THREAD_ENDED;
    return then;
}

void thread_pending_subtract(struct thread_list *pending, struct camp_thread_states *total)
{
    uint32_t left = total->count;

    for (int same_parent = 1; same_parent >= 0; same_parent--) {
        for (size_t i = 0; i < pending->count && left > 0; i++) {
            struct camp_thread_states *then = &pending->threads[i];

            if (is_resolved(then) || strcmp(then->name, total->name) != 0 ||
                (same_parent != 0 && then->parent != total->parent))
                continue;
            subtract(total, then);
            then->flags |= CAMP_THREAD_ENDED;
            left--;
        }
    }
}

bool thread_pending_age(struct thread_list *pending)
{
    size_t kept = 0;

    for (size_t i = 0; i < pending->count; i++) {
        const struct camp_thread_states *then = &pending->threads[i];

        if (is_resolved(then) || (then->flags & PENDING_ALL) == PENDING_ALL)
            continue;
        pending->threads[kept] = *then;
        pending->threads[kept++].flags += PENDING_ONE;
    }
    pending->count = kept;
    return thread_list_index(pending);
}

void thread_interval_release(struct thread_interval *interval)
{
    thread_list_release(&interval->before);
    thread_list_release(&interval->now);
    thread_list_release(&interval->exited);
    thread_list_release(&interval->pending);
}

int thread_interval_snapshot(struct thread_interval *interval, struct camp_states *session,
                             struct camp_error *error)
{
    const struct thread_list last = interval->before;
    int r;

    interval->before = interval->now;
    interval->now = last;
    r = thread_list_read_living(&interval->now, session, error);
    return r == CAMP_OK ? thread_list_read_exited(&interval->exited, session, error) : r;
}

static bool is_total(const struct camp_thread_states *thread)
{
    return (thread->flags & CAMP_THREAD_TOTAL) != 0;
}

static void match_exited(struct thread_interval *interval, struct camp_thread_states *last)
{
    struct camp_thread_states *now = thread_list_find(&interval->now, last);
    struct camp_thread_states *before = thread_list_find(&interval->before, last);
    const struct camp_thread_states *then =
        before != NULL ? before : thread_pending_take(&interval->pending, last);

    if (now != NULL)
        now->flags |= CAMP_THREAD_ENDED;
    if (before != NULL)
        before->flags |= CAMP_THREAD_ENDED;
    *last = thread_since(last, then);
}

/* Finds pending threads that are in the new snapshot again. A snapshot may lack a thread whose tid
 * changes during the snapshot, because it calls exec(). */
static bool match_returned(struct thread_interval *interval)
{
    for (size_t i = 0; i < interval->pending.count; i++) {
        const struct camp_thread_states *then = &interval->pending.threads[i];

        if (thread_list_find(&interval->now, then) != NULL &&
            (then = thread_pending_take(&interval->pending, then)) != NULL &&
            !thread_list_add(&interval->before, then))
            return false;
    }
    return true;
}

static bool add_missing(struct thread_interval *interval)
{
    for (size_t i = 0; i < interval->before.count; i++) {
        const struct camp_thread_states *then = &interval->before.threads[i];

        if (!is_resolved(then) && thread_list_find(&interval->now, then) == NULL &&
            !thread_pending_add(&interval->pending, then))
            return false;
    }
    return true;
}

int thread_interval_match(struct thread_interval *interval)
{
    const struct thread_list *exited = &interval->exited;

    if (!thread_pending_age(&interval->pending))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < exited->count; i++) {
        if (!is_total(&exited->threads[i]))
            match_exited(interval, &exited->threads[i]);
    }
    if (!match_returned(interval) || !add_missing(interval))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < exited->count; i++) {
        if (is_total(&exited->threads[i])) {
            thread_pending_subtract(&interval->pending, &exited->threads[i]);
            exited->threads[i].flags |= THREAD_NEW;
        }
    }
    return CAMP_OK;
}

int thread_interval_visit(struct thread_interval *interval, thread_interval_visitor *visit,
                          void *context)
{
    struct thread_list *exited = &interval->exited;
    const struct thread_list *now = &interval->now;
    int r = CAMP_OK;

    for (size_t i = 0; i < now->count && r == CAMP_OK; i++) {
        struct camp_thread_states since;

        if (is_resolved(&now->threads[i]))
            continue;
        since =
            thread_since(&now->threads[i], thread_list_find(&interval->before, &now->threads[i]));
        r = visit(context, &since);
    }
    for (size_t i = 0; i < exited->count && r == CAMP_OK; i++)
        r = visit(context, &exited->threads[i]);
    exited->count = 0;
    return r;
}
