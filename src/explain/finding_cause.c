#include "finding_cause.h"

#include "judge.h"
#include "sources/causes/cause_chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NO_FOLDER "" /* the sum of causes has the names of devices */

bool cause_group_is_one(const struct causes *causes, uint32_t group)
{
    const struct camp_states_group *found = cause_group_find(causes, group);

    return found != NULL && (found->kind == CAMP_GROUP_NAME || found->kind == CAMP_GROUP_PROCESS);
}

bool cause_is_of_one(const struct evidence *evidence, uint32_t group)
{
    const struct camp_states_group *found = cause_group_find(evidence->causes, group);

    if (!cause_group_is_one(evidence->causes, group))
        return false;
    return !evidence->is_part || (found->kind == CAMP_GROUP_PROCESS &&
                                  evidence_process_find(evidence, found->pid).count > 0);
}

/* Writes what a group did itself: it ran, if that is longer than any of its waits (as the chain of
 * camp why ends there), and otherwise the first step of the chain that starts at it. */
static void describe_group(char ret[CAUSE_CHAIN_SIZE], const struct evidence *evidence,
                           uint32_t group)
{
    const struct causes *causes = evidence->causes;
    const double seconds = evidence_seconds(evidence);
    const struct chain_step *step;
    char by[CAUSE_NAME_SIZE], state[CAUSE_STATE_SIZE], time[WAITED_SIZE];
    struct chain chain;

    cause_chain(&chain, causes, group);
    step = &chain.steps[0];
    if (step->on_cpu_ns > (step->queue_ns > 0 ? step->queue_ns : step->cause.wait_ns)) {
        waited_text(time, step->on_cpu_ns, step->total_ns, seconds);
        snprintf(ret, CAUSE_CHAIN_SIZE, ", which itself ran for %s", time);
        return;
    }
    if (step->cause.wait_ns == 0)
        return;
    cause_phrase(by, causes, step->cause.kind, step->cause.id, NO_FOLDER);
    cause_state_title(state, step->cause.state);
    waited_text(time, step->cause.wait_ns, step->total_ns, seconds);
    if (step->cause.state == CAMP_STATE_RUN_QUEUE)
        snprintf(ret, CAUSE_CHAIN_SIZE, ", which itself waited %s, for a CPU behind %s", time, by);
    else if (step->cause.state == CAMP_STATE_TIMER && step->cause.kind == CAMP_CAUSE_TIMER)
        snprintf(ret, CAUSE_CHAIN_SIZE, ", which itself slept %s, until %s", time, by);
    else
        snprintf(ret, CAUSE_CHAIN_SIZE, ", which itself waited %s, in %s for %s", time, state, by);
}

/* camp why takes a number for a pid. */
static bool is_number(const char *name)
{
    return name[strspn(name, "0123456789")] == '\0';
}

void cause_operand(char ret[CAMP_STATES_NAME_SIZE], const struct camp_states_group *group)
{
    ret[0] = '\0';
    if (group->kind == CAMP_GROUP_PROCESS)
        snprintf(ret, CAMP_STATES_NAME_SIZE, "%" PRId32, group->pid);
    else if (group->kind == CAMP_GROUP_NAME && !is_number(group->name))
        snprintf(ret, CAMP_STATES_NAME_SIZE, "%s", group->name);
}

void finding_cause_fill(struct finding_cause *ret, const struct evidence *evidence,
                        const struct cause *row)
{
    const struct causes *causes = evidence->causes;
    const struct camp_states_group *waiter = cause_group_find(causes, row->group);
    const bool is_group = row->kind == CAMP_CAUSE_GROUP;

    *ret = (struct finding_cause){ .state = row->state,
                                   .kind = row->kind,
                                   .wait_ns = row->wait_ns,
                                   .total_ns = causes_total_ns(causes, row->group),
                                   .explained_s = evidence_seconds(evidence) };
    if (waiter == NULL)
        return;
    cause_group_name(ret->waiter, waiter);
    if (waiter->kind == CAMP_GROUP_PROCESS)
        ret->pid = waiter->pid;
    cause_operand(ret->operand, waiter);
    if (is_group && row->id == row->group)
        snprintf(ret->by, sizeof ret->by, "threads of its own");
    else
        cause_phrase(ret->by, causes, row->kind, row->id, NO_FOLDER);
    if (is_group && row->id != row->group && row->id < CAUSE_GROUPS)
        describe_group(ret->chain, evidence, row->id);
}

/* Returns the group of a process, or of its name, or NULL. */
static const struct camp_states_group *group_of_process(const struct causes *causes, int64_t pid,
                                                        const char *name)
{
    const struct camp_states_group *found = NULL;

    for (size_t i = 0; i < causes->group_count; i++) {
        const struct camp_states_group *group = &causes->groups[i];

        if (pid > 0 && group->kind == CAMP_GROUP_PROCESS && group->pid == pid)
            return group;
        if (group->kind == CAMP_GROUP_NAME &&
            strncmp(group->name, name, CAMP_STATES_NAME_SIZE - 1) == 0)
            found = group;
    }
    return found;
}

void finding_cause_of(struct finding_cause *ret, const struct evidence *evidence, int64_t pid,
                      const char *name, uint32_t states)
{
    const struct causes *causes = evidence->causes;
    const struct camp_states_group *group =
        causes != NULL ? group_of_process(causes, pid, name) : NULL;
    const struct cause *most = NULL;

    if (group == NULL || !cause_is_of_one(evidence, group->number))
        return;
    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        if (row->group == group->number && (states & 1u << row->state) != 0 &&
            row->kind != CAUSE_NOT_ENDED && row->kind != CAMP_CAUSE_UNKNOWN &&
            (most == NULL || row->wait_ns > most->wait_ns))
            most = row;
    }
    if (most != NULL)
        finding_cause_fill(ret, evidence, most);
}
