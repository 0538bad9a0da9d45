#include "cause_chain.h"

#include "cause_names.h"

#define OUTWEIGHS                                                                                  \
    4 /* how many times larger sleeps for a timer and own locks are than other causes */
#define HUNG_SHARE 0.99

static bool is_nap(const struct cause *row)
{
    return row->state == CAMP_STATE_TIMER && row->kind == CAMP_CAUSE_TIMER;
}

static bool is_by_itself(const struct cause *row)
{
    return row->kind == CAMP_CAUSE_GROUP && row->id == row->group;
}

static void set_larger(struct cause *cause, const struct cause *row)
{
    if (row->wait_ns > cause->wait_ns)
        *cause = *row;
}

/* A group that wakes itself, such as threads of one process, says nothing about others, and a sleep
 * that nothing has ended has no cause yet. */
static struct chain_step step_of(const struct causes *causes, uint32_t group, bool is_first)
{
    struct chain_step step = { .group = group,
                               .total_ns = causes_total_ns(causes, group),
                               .on_cpu_ns = causes_on_cpu_ns(causes, group) };
    struct cause behind = { 0 }, nap = { 0 }, own_lock = { 0 };
    uint64_t queue_ns = 0, most_ns;

    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        if (row->group != group || row->kind == CAUSE_NOT_ENDED)
            continue;
        if (row->state == CAMP_STATE_RUN_QUEUE) {
            queue_ns += row->wait_ns;
            if (!is_by_itself(row))
                set_larger(&behind, row);
        } else if (is_by_itself(row)) {
            if (row->state == CAMP_STATE_LOCK)
                own_lock = *row;
        } else if (is_first && is_nap(row)) {
            nap = *row;
        } else {
            set_larger(&step.cause, row);
        }
    }
    most_ns = step.cause.wait_ns;
    if (behind.wait_ns > 0 && queue_ns > most_ns) {
        step.cause = behind;
        step.queue_ns = most_ns = queue_ns;
    }
    if (own_lock.wait_ns / OUTWEIGHS > most_ns) {
        step.cause = own_lock;
        most_ns = own_lock.wait_ns;
    }
    if (nap.wait_ns / OUTWEIGHS > most_ns || (most_ns == 0 && nap.wait_ns > 0))
        step.cause = nap;
    return step;
}

/* A group of unrelated threads is an end: what most of them waited for says nothing about the one
 * that woke the group before. */
static bool is_collective(const struct causes *causes, uint32_t number)
{
    const struct camp_states_group *group = cause_group_find(causes, number);

    return group == NULL || group->kind == CAMP_GROUP_OTHER || group->kind == CAMP_GROUP_KERNEL ||
           group->kind == CAMP_GROUP_OUTSIDE;
}

static bool has(const struct chain *chain, uint32_t group)
{
    for (size_t i = 0; i < chain->count; i++) {
        if (chain->steps[i].group == group)
            return true;
    }
    return false;
}

void cause_chain(struct chain *ret, const struct causes *causes, uint32_t group)
{
    *ret = (struct chain){ .end = CHAIN_LONG };
    while (ret->count < CHAIN_MAX) {
        const bool again = has(ret, group);
        const struct chain_step step = step_of(causes, group, ret->count == 0);
        const struct cause *cause = &step.cause;

        ret->steps[ret->count++] = step;
        if (again)
            ret->end = CHAIN_CIRCLE;
        else if (cause->wait_ns == 0)
            ret->end = step.on_cpu_ns > 0 ? CHAIN_RUNS : CHAIN_UNKNOWN;
        else if (ret->count > 1 &&
                 step.on_cpu_ns > (step.queue_ns > 0 ? step.queue_ns : cause->wait_ns))
            ret->end = CHAIN_RUNS;
        else if (is_by_itself(cause))
            ret->end = CHAIN_ITSELF;
        else if (cause->kind != CAMP_CAUSE_GROUP || cause->state == CAMP_STATE_RUN_QUEUE ||
                 is_collective(causes, cause->id))
            ret->end = CHAIN_CAUSE;
        if (ret->end != CHAIN_LONG)
            return;
        group = cause->id;
    }
}

bool cause_open_may_have_ended(const struct causes *causes, uint32_t group, uint32_t state)
{
    for (size_t i = 0; causes->intervals > 1 && i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        if ((group >= CAUSE_GROUPS || row->group == group) && row->state == state &&
            row->kind != CAUSE_NOT_ENDED)
            return true;
    }
    return false;
}

const struct cause *cause_open_wait(const struct causes *causes, uint32_t group)
{
    const uint64_t on_cpu_ns = causes_on_cpu_ns(causes, group);
    const struct cause *open = NULL;
    uint64_t open_ns = 0, other_ns = on_cpu_ns;

    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        if (row->group != group)
            continue;
        if (row->kind != CAUSE_NOT_ENDED) {
            other_ns = row->wait_ns > other_ns ? row->wait_ns : other_ns;
            continue;
        }
        open_ns += row->wait_ns;
        open = open == NULL || row->wait_ns > open->wait_ns ? row : open;
    }
    if (open == NULL)
        return NULL;
    if (causes->threads[group] <= 1)
        return open->wait_ns > other_ns ? open : NULL;
    return (double)open_ns >= HUNG_SHARE * (double)causes_total_ns(causes, group) ? open : NULL;
}
