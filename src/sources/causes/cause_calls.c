#include "cause_calls.h"

#include "ledger/array.h"
#include "ledger/index.h"
#include "microstates/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compare(const void *a, const void *b)
{
    const struct camp_call_sleeps *left = a, *right = b;

    return left->sleep_ns < right->sleep_ns ? 1 : left->sleep_ns > right->sleep_ns ? -1 : 0;
}

static bool is_same(const void *context, uint32_t position, const void *key)
{
    const struct camp_call_sleeps *a = &((const struct camp_call_sleeps *)context)[position];
    const struct camp_call_sleeps *b = key;

    return a->pid == b->pid && a->call == b->call && a->state == b->state &&
           a->argument == b->argument;
}

static uint32_t hash_of(const struct camp_call_sleeps *sleeps)
{
    const uint64_t key[] = { sleeps->argument,
                             (uint64_t)(uint32_t)sleeps->pid << 32 | (uint32_t)sleeps->call,
                             sleeps->state };

    return index_hash_bytes(key, sizeof key);
}

static void subtract(struct camp_call_sleeps *sleeps, const struct camp_call_sleeps *then)
{
    sleeps->sleep_ns -= then->sleep_ns < sleeps->sleep_ns ? then->sleep_ns : sleeps->sleep_ns;
    sleeps->count -= then->count < sleeps->count ? then->count : sleeps->count;
}

bool cause_calls_since(struct call_list *ret, const struct camp_call_sleeps *before,
                       size_t before_count, const struct camp_call_sleeps *now, size_t now_count)
{
    struct index index = { 0 };

    ret->count = 0;
    if (!ARRAY_RESERVE(ret->items, ret->capacity, now_count) ||
        !index_reserve(&index, before_count))
        return false;
    for (size_t i = 0; i < before_count; i++)
        index_add(&index, hash_of(&before[i]), (uint32_t)i);
    for (size_t i = 0; i < now_count; i++) {
        struct camp_call_sleeps sleeps = now[i];
        const struct index_slot *slot =
            index_find(&index, hash_of(&sleeps), is_same, before, &sleeps);

        if (slot != NULL)
            subtract(&sleeps, &before[slot->position]);
        if (sleeps.sleep_ns != 0)
            ret->items[ret->count++] = sleeps;
    }
    index_release(&index);
    if (ret->count > 1)
        qsort(ret->items, ret->count, sizeof *ret->items, compare);
    return true;
}

/* Fills ret[CAMP_STATE_COUNT] with the time of the sleeps of a process that have ended. Returns
 * false if the process has no group of its own. */
static bool find_ended(uint64_t ret[CAMP_STATE_COUNT], const struct causes *causes, int32_t pid)
{
    uint64_t groups = 0;

    memset(ret, 0, CAMP_STATE_COUNT * sizeof *ret);
    for (size_t i = 0; i < causes->group_count; i++) {
        const struct camp_states_group *group = &causes->groups[i];

        if (group->kind != CAMP_GROUP_PROCESS || group->pid != pid)
            continue;
        groups |= UINT64_C(1) << group->number;
        for (int state = 0; state < CAMP_STATE_COUNT; state++)
            ret[state] += causes->state_ns[group->number][state];
    }
    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        if (row->kind == CAUSE_NOT_ENDED && (groups >> row->group & 1) != 0)
            ret[row->state] -= row->wait_ns;
    }
    return groups != 0;
}

/* Reduces the calls of a process in a state, which are `sum_ns`, to `most_ns`. */
static void reduce(struct call_list *calls, int32_t pid, uint32_t state, uint64_t sum_ns,
                   uint64_t most_ns)
{
    struct camp_call_sleeps *largest = NULL;
    uint64_t left_ns = most_ns;

    for (size_t i = 0; i < calls->count; i++) {
        struct camp_call_sleeps *call = &calls->items[i];

        if (call->pid != pid || call->state != state)
            continue;
        largest = largest != NULL ? largest : call; /* the list starts with the longest */
        call->sleep_ns =
            (uint64_t)((long double)call->sleep_ns / (long double)sum_ns * (long double)most_ns);
        left_ns -= call->sleep_ns < left_ns ? call->sleep_ns : left_ns;
    }
    if (largest != NULL)
        largest->sleep_ns += left_ns;
}

static void fit_process(struct call_list *calls, const struct causes *causes, int32_t pid)
{
    uint64_t ended_ns[CAMP_STATE_COUNT], sums_ns[CAMP_STATE_COUNT] = { 0 };

    if (!find_ended(ended_ns, causes, pid))
        return;
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->items[i].pid == pid && calls->items[i].state < CAMP_STATE_COUNT)
            sums_ns[calls->items[i].state] += calls->items[i].sleep_ns;
    }
    for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
        if (sums_ns[state] > ended_ns[state])
            reduce(calls, pid, state, sums_ns[state], ended_ns[state]);
    }
}

static void remove_empty(struct call_list *calls)
{
    size_t left = 0;

    for (size_t i = 0; i < calls->count; i++) {
        if (calls->items[i].sleep_ns != 0)
            calls->items[left++] = calls->items[i];
    }
    calls->count = left;
}

void cause_calls_fit(struct call_list *calls, const struct causes *causes)
{
    for (size_t i = 0; i < causes->group_count; i++) {
        const struct camp_states_group *group = &causes->groups[i];
        bool is_first = group->kind == CAMP_GROUP_PROCESS;

        for (size_t j = 0; j < i && is_first; j++)
            is_first = causes->groups[j].kind != group->kind || causes->groups[j].pid != group->pid;
        if (is_first)
            fit_process(calls, causes, group->pid);
    }
    remove_empty(calls);
    if (calls->count > 1)
        qsort(calls->items, calls->count, sizeof *calls->items, compare);
}

/* Returns whether the sleeps are for one child, which has ended. */
static bool is_for_ended_child(const struct camp_call_sleeps *sleeps, const char *folder)
{
    const int32_t child = (int32_t)sleeps->argument;
    char path[256];

    if (camp_call_argument(sleeps->call) != CALL_CHILD || child < 1)
        return false;
    snprintf(path, sizeof path, "%s/%" PRId32, folder, child);
    return access(path, F_OK) != 0;
}

void cause_calls_merge_children(struct call_list *calls, const char *folder)
{
    size_t left = 0;

    for (size_t i = 0; i < calls->count; i++) {
        struct camp_call_sleeps sleeps = calls->items[i];
        size_t at = left;

        if (is_for_ended_child(&sleeps, folder)) {
            sleeps.argument = CHILD_ENDED;
            for (at = 0; at < left && !is_same(calls->items, (uint32_t)at, &sleeps);)
                at++;
        }
        if (at < left) {
            calls->items[at].sleep_ns += sleeps.sleep_ns;
            calls->items[at].count += sleeps.count;
        } else {
            calls->items[left++] = sleeps;
        }
    }
    calls->count = left;
    if (left > 1)
        qsort(calls->items, left, sizeof *calls->items, compare);
}
