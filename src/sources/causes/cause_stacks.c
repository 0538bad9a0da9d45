#include "cause_stacks.h"

#include "counters/error.h"
#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(struct stack_list *list, size_t addresses)
{
    return ARRAY_RESERVE(list->items, list->capacity, list->count + 1) &&
           ARRAY_RESERVE(list->addresses, list->address_capacity, list->address_count + addresses);
}

static void copy(struct stack_list *list, const uint64_t *addresses, size_t count)
{
    if (count > 0)
        memcpy(list->addresses + list->address_count, addresses, count * sizeof *addresses);
    list->address_count += count;
}

static void add(void *context, const struct camp_sleep_stack *stack)
{
    struct stack_list *list = context;

    if (stack->group >= CAUSE_GROUPS || stack->state >= CAMP_STATE_COUNT)
        return;
    if (list->failed || !reserve(list, stack->kernel_count + stack->user_count)) {
        list->failed = true;
        return;
    }
    list->items[list->count++] = (struct slept_stack){ .group = stack->group,
                                                       .state = stack->state,
                                                       .flags = stack->flags,
                                                       .pid = stack->pid,
                                                       .sleep_ns = stack->sleep_ns,
                                                       .count = stack->count,
                                                       .first = list->address_count,
                                                       .kernel_count = stack->kernel_count,
                                                       .user_count = stack->user_count };
    copy(list, stack->kernel, stack->kernel_count);
    copy(list, stack->user, stack->user_count);
}

int cause_stacks_read(struct stack_list *ret, struct camp_states *session, struct camp_error *error)
{
    int r;

    ret->count = ret->address_count = 0;
    ret->failed = false;
    r = camp_states_visit_stacks(session, add, ret, error);
    if (r == CAMP_OK && ret->failed)
        r = camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the stacks of sleeps");
    return r;
}

/* Reduces the stacks of one group and state, which are `sum`, to `state_ns`: each in proportion,
 * and the largest one gets what is left. */
static void reduce(struct stack_list *list, uint32_t group, uint32_t state, uint64_t sum,
                   uint64_t state_ns)
{
    struct slept_stack *largest = NULL;
    uint64_t left = state_ns, most = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct slept_stack *stack = &list->items[i];

        if (stack->group != group || stack->state != state)
            continue;
        if (largest == NULL || stack->sleep_ns > most) {
            largest = stack;
            most = stack->sleep_ns;
        }
        stack->sleep_ns =
            (uint64_t)((long double)stack->sleep_ns / (long double)sum * (long double)state_ns);
        left -= stack->sleep_ns < left ? stack->sleep_ns : left;
    }
    if (largest != NULL)
        largest->sleep_ns += left;
}

bool cause_stacks_fit(struct stack_list *list, const struct causes *causes)
{
    uint64_t sums[CAUSE_GROUPS][CAMP_STATE_COUNT] = { 0 },
             counts[CAUSE_GROUPS][CAMP_STATE_COUNT] = { 0 };

    for (size_t i = 0; i < list->count; i++) {
        sums[list->items[i].group][list->items[i].state] += list->items[i].sleep_ns;
        counts[list->items[i].group][list->items[i].state] += list->items[i].count;
    }
    for (uint32_t i = 0; i < CAUSE_GROUPS * CAMP_STATE_COUNT; i++) {
        const uint32_t group = i / CAMP_STATE_COUNT, state = i % CAMP_STATE_COUNT;
        const uint64_t state_ns = causes_is_sleep(state) ? causes->state_ns[group][state] : 0;
        const uint64_t ended = causes->lengths[group][state].count;

        if (sums[group][state] > state_ns) {
            reduce(list, group, state, sums[group][state], state_ns);
        } else if (sums[group][state] < state_ns) {
            if (!reserve(list, 0))
                return false;
            list->items[list->count++] = (struct slept_stack){
                .group = group,
                .state = state,
                .flags = STACK_MISSING,
                .sleep_ns = state_ns - sums[group][state],
                .count = ended > counts[group][state] ? ended - counts[group][state] : 0
            };
        }
    }
    return true;
}

void cause_stacks_release(struct stack_list *list)
{
    free(list->items);
    free(list->addresses);
    *list = (struct stack_list){ 0 };
}
