#include "thread_sums.h"

#include "counters/clock.h"
#include "sources/source.h"

#include <stdlib.h>

/* Groups are ranked by CPU time and involuntary waits. Sleep in locks, sockets and timers does not
 * count, because idle threads sleep there all the time. */
static bool is_ranked(int state)
{
    const enum column_class class = threads_schema.columns[state].class;

    return class == CLASS_CPU || class == CLASS_READY || class == CLASS_THROTTLED ||
           class == CLASS_IO || class == CLASS_OTHER_WAIT;
}

static int find_group(void *context, const struct camp_thread_states *before,
                      const struct camp_thread_states *thread, uint32_t *group)
{
    struct thread_sums *sums = context;
    struct group_pair pair;
    int r;

    if (sums->causes == NULL)
        return members_find(&sums->members, &sums->top, before, thread, group);
    pair = before != NULL ? sums->pairs.pairs[*group] : (struct group_pair){ 0 };
    r = members_find(&sums->members, &sums->top, before, thread, &pair.first);
    if (r == CAMP_OK)
        r = causes_find_group(sums->causes, thread, &pair.second);
    return r == CAMP_OK ? group_pairs_find(&sums->pairs, pair, group) : r;
}

static int account(void *context, const struct camp_thread_states *since, uint32_t group)
{
    struct thread_sums *sums = context;
    uint64_t did[THREADS_COLUMN_COUNT], values[THREAD_SUM_COUNT], score = 0;

    if (sums->causes != NULL) {
        causes_account(sums->causes, since, sums->pairs.pairs[group].second);
        group = sums->pairs.pairs[group].first;
    }
    thread_fill_values(did, since);
    for (int i = 0; i < THREADS_COLUMN_COUNT; i++)
        sums->counts[i] += did[i];
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        values[i] = did[i];
        score += is_ranked(i) ? did[i] : 0;
    }
    values[SUM_MEASURED] = since->cpu_ns;
    values[SUM_SAMPLED] = since->sampled_ns;
    top_k_add(&sums->top, group, values, score);
    return CAMP_OK;
}

static int account_idle(void *context, uint32_t group, uint32_t state, uint64_t threads,
                        uint64_t wait_ns)
{
    struct thread_sums *sums = context;
    struct top_k *top = &sums->top;

    if (sums->causes != NULL) {
        causes_account_idle(sums->causes, sums->pairs.pairs[group].second, state, threads, wait_ns);
        group = sums->pairs.pairs[group].first;
    }
    top->groups[group].last_seen = top->snapshots;
    top_k_add_one(top, group, state, wait_ns, is_ranked((int)state) ? wait_ns : 0);
    return CAMP_OK;
}

static void leave(void *context, const struct camp_thread_states *last)
{
    members_leave(&((struct thread_sums *)context)->members, last);
}

int thread_sums_init(struct thread_sums *ret, const struct members *members, size_t places,
                     size_t new_an_hour)
{
    const struct thread_user user = {
        .context = ret, .did = account, .idle = account_idle, .group = find_group, .left = leave
    };

    *ret = (struct thread_sums){ .members = *members };
    thread_registry_init(&ret->threads, &user);
    return top_k_init(&ret->top, THREAD_SUM_COUNT, places, new_an_hour);
}

void thread_sums_release(struct thread_sums *sums)
{
    top_k_release(&sums->top);
    members_release(&sums->members);
    thread_registry_release(&sums->threads);
    causes_close(sums->causes);
    group_pairs_release(&sums->pairs);
    *sums = (struct thread_sums){ 0 };
}

int thread_sums_divide_waits(struct thread_sums *sums, struct camp_states *session,
                             struct camp_error *error)
{
    return causes_beside(session, &sums->causes, error);
}

int thread_sums_read(struct thread_sums *sums, struct camp_states *session, bool forget,
                     struct camp_error *error)
{
    const uint64_t passed_ns = now_ns(CLOCK_MONOTONIC) - sums->threads.snapshot_ns;
    bool regroups = false;
    int r = CAMP_OK;

    if (sums->causes != NULL)
        r = causes_start(sums->causes, &regroups, error);
    sums->threads.regroups |= top_k_start(&sums->top, passed_ns) || forget || regroups;
    if (sums->threads.regroups) {
        members_clear(&sums->members);
        group_pairs_clear(&sums->pairs);
    }
    members_start(&sums->members);
    if (r == CAMP_OK)
        r = thread_registry_read(&sums->threads, session, error);
    if (r == CAMP_OK && sums->causes != NULL)
        r = causes_finish(sums->causes, &sums->waits, error);
    if (r == CAMP_OK)
        r = top_k_finish(&sums->top);
    return r == CAMP_OK ? members_name(&sums->members, &sums->top) : r;
}
