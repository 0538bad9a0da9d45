#include "cause_chain.h"

#include "cause_names.h"

/* A group that wakes itself, such as threads of one process, says nothing about others, and a sleep
 * that nothing has ended has no cause yet. */
static bool leads_on(const struct cause *row, uint32_t group)
{
    return row->group == group && row->kind != CAUSE_NOT_ENDED &&
           !(row->kind == CAMP_CAUSE_GROUP && row->id == group);
}

static struct chain_step step_of(const struct causes *causes, uint32_t group)
{
    struct chain_step step = { .group = group,
                               .total_ns = causes_total_ns(causes, group),
                               .on_cpu_ns = causes_on_cpu_ns(causes, group) };

    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        if (leads_on(row, group) && row->wait_ns > step.cause.wait_ns)
            step.cause = *row;
    }
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
        const struct chain_step step = step_of(causes, group);
        const struct cause *cause = &step.cause;

        ret->steps[ret->count++] = step;
        if (again)
            ret->end = CHAIN_CIRCLE;
        else if (cause->wait_ns == 0)
            ret->end = step.on_cpu_ns > 0 ? CHAIN_RUNS : CHAIN_UNKNOWN;
        else if (ret->count > 1 && step.on_cpu_ns > cause->wait_ns)
            ret->end = CHAIN_RUNS;
        else if (cause->kind != CAMP_CAUSE_GROUP || cause->state == CAMP_STATE_RUN_QUEUE ||
                 is_collective(causes, cause->id))
            ret->end = CHAIN_CAUSE;
        if (ret->end != CHAIN_LONG)
            return;
        group = cause->id;
    }
}
