#include "thread_sums.h"

#include "counters/clock.h"
#include "sources/source.h"

#include <stdlib.h>

int thread_sums_init(struct thread_sums *ret, const struct members *members, size_t places,
                     size_t new_an_hour)
{
    *ret = (struct thread_sums){ .members = *members, .snapshot_ns = now_ns(CLOCK_MONOTONIC) };
    return top_k_init(&ret->top, THREAD_SUM_COUNT, places, new_an_hour);
}

void thread_sums_release(struct thread_sums *sums)
{
    top_k_release(&sums->top);
    members_release(&sums->members);
    thread_list_release(&sums->pending);
    thread_list_release(&sums->late);
    *sums = (struct thread_sums){ 0 };
}

/* Groups are ranked by CPU time and involuntary waits. Sleep in locks, sockets and timers does not
 * count, because idle threads sleep there all the time. */
static bool is_ranked(int state)
{
    const enum column_class class = threads_schema.columns[state].class;

    return class == CLASS_CPU || class == CLASS_READY || class == CLASS_THROTTLED ||
           class == CLASS_IO || class == CLASS_OTHER_WAIT;
}

/* Sets *note to 1 + the number of the thread's group. Before the call, *note is 0 or from an
 * earlier snapshot. */
static bool find_group(struct thread_sums *sums, const struct camp_thread_states *before,
                       const struct camp_thread_states *now, uint32_t *note)
{
    uint32_t group = *note - 1;
    const bool known = *note != 0 && !sums->forgets;
    const int r = members_find(&sums->members, &sums->top, known ? before : NULL, now, &group);

    if (r == CAMP_OK)
        *note = group + 1;
    else
        sums->result = r;
    return r == CAMP_OK;
}

/* Accounts what a thread did since the reading `before`, or since its start if `before` is NULL. */
static void account(struct thread_sums *sums, const struct camp_thread_states *before,
                    const struct camp_thread_states *now, uint32_t *note)
{
    const struct camp_thread_states since = thread_since(now, before);
    uint64_t did[THREADS_COLUMN_COUNT], values[THREAD_SUM_COUNT], score = 0;

    if (!find_group(sums, before, now, note))
        return;
    thread_fill_values(did, &since);
    for (int i = 0; i < THREADS_COLUMN_COUNT; i++)
        sums->counts[i] += did[i];
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        values[i] = did[i];
        score += is_ranked(i) ? did[i] : 0;
    }
    values[SUM_MEASURED] = since.cpu_ns;
    values[SUM_SAMPLED] = since.sampled_ns;
    top_k_add(&sums->top, *note - 1, values, score);
}

static void keep_late(struct thread_sums *sums, const struct camp_thread_states *thread)
{
    if (!thread_list_add(&sums->late, thread))
        sums->result = CAMP_E_NOMEM;
}

/* Returns whether a thread had already started when the previous snapshot was read. If there is
 * still no earlier reading of it, that snapshot missed it, or has it with another tid. */
static bool may_be_missing(const struct thread_sums *sums, const struct camp_thread_states *thread)
{
    return thread->begin_ns < sums->snapshot_ns;
}

static void account_or_keep(struct thread_sums *sums, const struct camp_thread_states *before,
                            const struct camp_thread_states *now, uint32_t *note)
{
    if (before == NULL && may_be_missing(sums, now))
        keep_late(sums, now);
    else
        account(sums, before, now, note);
}

static void add_seen(void *context, const struct camp_thread_states *before,
                     const struct camp_thread_states *now, uint32_t *note)
{
    struct thread_sums *sums = context;

    sums->threads++;
    sums->processes += now->tid == now->pid;
    account_or_keep(sums, before, now, note);
}

static void add_waited(void *context, const struct camp_states_wait *wait)
{
    struct thread_sums *sums = context;
    struct top_k *top = &sums->top;

    sums->threads++;
    sums->processes += wait->is_first;
    if ((*wait->note == 0 || sums->forgets) && !find_group(sums, NULL, wait->thread, wait->note))
        return;
    top->groups[*wait->note - 1].last_seen = top->snapshots;
    top_k_add_one(top, *wait->note - 1, wait->state, wait->elapsed_ns,
                  is_ranked((int)wait->state) ? wait->elapsed_ns : 0);
}

static void add_exited(void *context, const struct camp_thread_states *before,
                       const struct camp_thread_states *last, uint32_t note)
{
    struct thread_sums *sums = context;

    if ((last->flags & CAMP_THREAD_TOTAL) != 0)
        keep_late(sums, last);
    else
        account_or_keep(sums, before, last, &note);
    members_leave(&sums->members, last);
}

static void keep_missing(void *context, const struct camp_thread_states *before, uint32_t note)
{
    struct thread_sums *sums = context;

    (void)note;
    if (!thread_pending_add(&sums->pending, before))
        sums->result = CAMP_E_NOMEM;
    members_leave(&sums->members, before);
}

struct camp_states_visitor thread_sums_visitor(struct thread_sums *sums)
{
    return (struct camp_states_visitor){ sums, add_seen, add_waited, add_exited, keep_missing };
}

/* Accounts late readings of single threads before totals of several exited threads. A single thread
 * matches exactly one pending reading. Which pending readings belong to a total can only be
 * guessed. */
static void account_late(struct thread_sums *sums)
{
    for (int totals = 0; totals <= 1; totals++) {
        for (size_t i = 0; i < sums->late.count; i++) {
            struct camp_thread_states *late = &sums->late.threads[i];
            const struct camp_thread_states *before = NULL;
            uint32_t note = 0;

            if (((late->flags & CAMP_THREAD_TOTAL) != 0) != (totals != 0))
                continue;
            if (totals != 0)
                thread_pending_subtract(&sums->pending, late);
            else
                before = thread_pending_take(&sums->pending, late);
            account(sums, before, late, &note);
        }
    }
    sums->late.count = 0;
    if (!thread_list_index(&sums->late) || !thread_pending_age(&sums->pending))
        sums->result = CAMP_E_NOMEM;
}

void thread_sums_start(struct thread_sums *sums, uint64_t now, bool forget)
{
    sums->forgets |= top_k_start(&sums->top, now - sums->snapshot_ns) || forget;
    if (sums->forgets)
        members_clear(&sums->members);
    members_start(&sums->members);
    sums->threads = 0;
    sums->processes = 0;
    sums->result = CAMP_OK;
}

int thread_sums_finish(struct thread_sums *sums)
{
    account_late(sums);
    if (sums->result == CAMP_OK)
        sums->result = top_k_finish(&sums->top);
    if (sums->result == CAMP_OK)
        sums->result = members_name(&sums->members, &sums->top);
    if (sums->result == CAMP_OK)
        sums->forgets = false;
    return sums->result;
}

int thread_sums_read(struct thread_sums *sums, struct camp_states *session, bool forget,
                     struct camp_error *error)
{
    const struct camp_states_visitor visitor = thread_sums_visitor(sums);
    int r;

    thread_sums_start(sums, now_ns(CLOCK_MONOTONIC), forget);
    r = camp_states_visit(session, &visitor, sizeof visitor, error);
    if (r == CAMP_OK)
        r = thread_sums_finish(sums);
    sums->snapshot_ns = now_ns(CLOCK_MONOTONIC);
    return r;
}
