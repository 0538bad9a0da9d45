#include "thread_sums.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "sources/machine/thread_states.h"
#include "sources/source.h"

#include <stdlib.h>
#include <string.h>

#define MISSING_SNAPSHOTS 3 /* totals of exited threads come with the snapshot after the next */

int thread_sums_init(struct thread_sums *ret, const struct members *members, size_t places)
{
    *ret = (struct thread_sums){ .members = *members, .snapshot_ns = now_ns(CLOCK_MONOTONIC) };
    return top_k_init(&ret->top, THREAD_SUM_COUNT, places);
}

void thread_sums_release(struct thread_sums *sums)
{
    top_k_release(&sums->top);
    members_release(&sums->members);
    free(sums->missing);
    free(sums->late);
    *sums = (struct thread_sums){ 0 };
}

/* CPU time and involuntary waits, by which groups are ranked. Sleep in locks, sockets and timers is
 * excluded: idle threads stay there for ever. */
static bool is_ranked(int state)
{
    const enum column_class class = threads_schema.columns[state].class;

    return class == CLASS_CPU || class == CLASS_READY || class == CLASS_IO;
}

/* *note is 1 + the number of its group; 0, or while notes are void: unknown. */
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

static void count(uint64_t *counts, const struct camp_thread_states *since)
{
    counts[COUNT_RUN_DELAY] += since->run_delay_ns;
    counts[COUNT_SYSTEM_CALLS] += since->system_calls;
    counts[COUNT_SIGNALS] += since->signals;
    counts[COUNT_VOLUNTARY] += since->voluntary_switches;
    counts[COUNT_INVOLUNTARY] += since->involuntary_switches;
    counts[COUNT_MINOR_FAULTS] += since->minor_faults;
    counts[COUNT_MAJOR_FAULTS] += since->major_faults;
    counts[COUNT_READ_BYTES] += since->read_bytes;
    counts[COUNT_WRITTEN_BYTES] += since->written_bytes;
}

/* Accounts for a thread since `before`; NULL: since it is watched. A thread that is older than
 * that, and was not seen before, has counted since its own start: that part is excluded. */
static void account(struct thread_sums *sums, const struct camp_thread_states *before,
                    const struct camp_thread_states *now, uint32_t *note)
{
    const bool met_late = before == NULL && (now->flags & CAMP_THREAD_OLDER) != 0;
    struct camp_thread_states since = *now;
    uint64_t values[THREAD_SUM_COUNT] = { 0 }, score = 0;

    if (!find_group(sums, before, now, note))
        return;
    if (before != NULL)
        thread_states_subtract(&since, before);
    memcpy(values, since.state_ns, sizeof since.state_ns);
    if (!met_late) {
        values[SUM_MEASURED] = since.cpu_ns;
        values[SUM_SAMPLED] = since.sampled_ns;
        count(sums->counts, &since);
    }
    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        score += is_ranked(i) ? values[i] : 0;
    top_k_add(&sums->top, *note - 1, values, score);
}

static void keep_late(struct thread_sums *sums, const struct camp_thread_states *thread)
{
    if (!ARRAY_RESERVE(sums->late, sums->late_capacity, sums->late_count + 1)) {
        sums->result = CAMP_E_NOMEM;
        return;
    }
    sums->late[sums->late_count++] = *thread;
}

/* It existed at the last snapshot, which did not show it under this identity. */
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

static void keep_missing(void *context, const struct camp_thread_states *before)
{
    struct thread_sums *sums = context;

    if (!ARRAY_RESERVE(sums->missing, sums->missing_capacity, sums->missing_count + 1)) {
        sums->result = CAMP_E_NOMEM;
        return;
    }
    sums->missing[sums->missing_count++] = (struct missing_thread){ *before, sums->top.snapshots };
    members_leave(&sums->members, before);
}

struct camp_states_visitor thread_sums_visitor(struct thread_sums *sums)
{
    return (struct camp_states_visitor){ sums, add_seen, add_waited, add_exited, keep_missing };
}

static int compare_missing(const void *a, const void *b)
{
    const struct camp_thread_states *left = &((const struct missing_thread *)a)->thread;
    const struct camp_thread_states *right = &((const struct missing_thread *)b)->thread;

    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    return left->pid < right->pid ? -1 : left->pid > right->pid;
}

/* Its last numbers came, alone or in a total. */
static bool is_found(const struct missing_thread *missing)
{
    return (missing->thread.flags & CAMP_THREAD_ENDED) != 0;
}

/* Each is found once. */
static const struct camp_thread_states *find_missing(struct thread_sums *sums,
                                                     const struct camp_thread_states *thread)
{
    const struct missing_thread wanted = { .thread = *thread };
    struct missing_thread *found =
        ARRAY_FIND(&wanted, sums->missing, sums->missing_count, compare_missing);

    if (found == NULL || is_found(found))
        return NULL;
    found->thread.flags |= CAMP_THREAD_ENDED;
    return &found->thread;
}

static void drop_found(struct thread_sums *sums)
{
    size_t kept = 0;

    for (size_t i = 0; i < sums->missing_count; i++) {
        const struct missing_thread *missing = &sums->missing[i];

        if (missing->snapshot + MISSING_SNAPSHOTS > sums->top.snapshots && !is_found(missing))
            sums->missing[kept++] = *missing;
    }
    sums->missing_count = kept;
}

/* Single threads first, as they are identified exactly. */
static void account_late(struct thread_sums *sums)
{
    if (sums->missing_count > 0)
        qsort(sums->missing, sums->missing_count, sizeof *sums->missing, compare_missing);
    for (size_t i = 0; i < sums->late_count; i++) {
        uint32_t note = 0;

        if ((sums->late[i].flags & CAMP_THREAD_TOTAL) == 0)
            account(sums, find_missing(sums, &sums->late[i]), &sums->late[i], &note);
    }
    for (size_t i = 0; i < sums->late_count; i++) {
        uint32_t note = 0;

        if ((sums->late[i].flags & CAMP_THREAD_TOTAL) == 0)
            continue;
        thread_states_subtract_members(&sums->late[i], sums->missing, sums->missing_count,
                                       sizeof *sums->missing);
        account(sums, NULL, &sums->late[i], &note);
    }
    sums->late_count = 0;
    drop_found(sums);
}

void thread_sums_start(struct thread_sums *sums, uint64_t now, bool forget)
{
    sums->forgets |= top_k_start(&sums->top, now - sums->snapshot_ns) || forget;
    if (sums->forgets)
        members_clear(&sums->members);
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
    r = camp_states_visit(session, &visitor, error);
    if (r == CAMP_OK)
        r = thread_sums_finish(sums);
    sums->snapshot_ns = now_ns(CLOCK_MONOTONIC);
    return r;
}
