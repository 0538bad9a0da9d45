#include "cause_fit.h"

#include "ledger/array.h"

#include <stdlib.h>

bool cause_add(struct cause_list *list, const struct cause *cause)
{
    if (cause->wait_ns == 0)
        return true;
    if (!ARRAY_RESERVE(list->items, list->capacity, list->count + 1))
        return false;
    list->items[list->count++] = *cause;
    return true;
}

static bool is_same(const struct camp_wait_cause *a, const struct camp_wait_cause *b)
{
    return a->group == b->group && a->state == b->state && a->kind == b->kind && a->id == b->id;
}

/* Two rows may have the same cause: the library gives a device two numbers if two CPUs met it at
 * the same time. Such rows come in the same order in both readings. */
static uint64_t reading_before(const struct camp_wait_cause *before, size_t count, size_t *at,
                               const struct camp_wait_cause *cause)
{
    for (size_t i = *at; i < count && before[i].group <= cause->group; i++) {
        if (!is_same(&before[i], cause))
            continue;
        *at = i + 1;
        return before[i].wait_ns;
    }
    return 0;
}

bool cause_differences(struct cause_list *ret, const struct camp_wait_cause *before,
                       size_t before_count, const struct camp_wait_cause *after, size_t after_count)
{
    size_t at = 0;

    ret->count = 0;
    for (size_t i = 0; i < after_count; i++) {
        const uint64_t then = reading_before(before, before_count, &at, &after[i]);
        const struct cause cause = { after[i].group, after[i].state, after[i].kind, after[i].id,
                                     after[i].wait_ns > then ? after[i].wait_ns - then : 0 };

        if (!cause_add(ret, &cause))
            return false;
    }
    return true;
}

uint64_t cause_fit(struct cause *items, size_t count, uint64_t state_ns, uint64_t *reduced_ns)
{
    uint64_t sum = 0, fitted = 0;
    size_t largest = 0;

    for (size_t i = 0; i < count; i++) {
        sum += items[i].wait_ns;
        largest = items[i].wait_ns > items[largest].wait_ns ? i : largest;
    }
    if (sum <= state_ns)
        return state_ns - sum;
    *reduced_ns += sum - state_ns;
    for (size_t i = 0; i < count; i++) {
        items[i].wait_ns =
            (uint64_t)((long double)items[i].wait_ns / (long double)sum * (long double)state_ns);
        fitted += items[i].wait_ns;
    }
    items[largest].wait_ns += state_ns - fitted;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct cause *left = a, *right = b;

    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    if (left->state != right->state)
        return left->state < right->state ? -1 : 1;
    if (left->wait_ns != right->wait_ns)
        return left->wait_ns > right->wait_ns ? -1 : 1;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

void cause_sort(struct cause_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare);
}
