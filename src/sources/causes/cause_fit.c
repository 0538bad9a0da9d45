#include "cause_fit.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

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

/* Two rows may have the same cause: the library gives a device two numbers if two CPUs saw its
 * first interrupt at the same time. Such rows come in the same order in both readings. */
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
    if (count == 0 || sum <= state_ns)
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

static bool add_cause(struct cause_list *rows, const struct cause *cause)
{
    for (size_t i = rows->count; i > 0; i--) {
        struct cause *row = &rows->items[i - 1];

        if (row->group != cause->group || row->state != cause->state)
            break;
        if (row->kind == cause->kind && row->id == cause->id) {
            row->wait_ns += cause->wait_ns;
            return true;
        }
    }
    return cause_add(rows, cause);
}

/* Adds the rows of what a state has more than the causes of a session. A sleep that has ended is
 * without a cause if its thread got another name, and with it another group, afterwards. */
static bool add_rest(struct causes *causes, uint32_t group, uint32_t state, uint64_t rest_ns)
{
    const bool may_last = state != CAMP_STATE_RUN_QUEUE && state != CAMP_STATE_THROTTLED;
    const uint64_t open_ns = may_last ? causes->open_ns[group][state] : 0;
    const uint64_t lasts_ns = rest_ns < open_ns ? rest_ns : open_ns;
    const uint32_t kind =
        state == CAMP_STATE_THROTTLED ? (uint32_t)CAUSE_QUOTA : (uint32_t)CAMP_CAUSE_UNKNOWN;

    return add_cause(&causes->rows,
                     &(struct cause){ group, state, CAUSE_NOT_ENDED, 0, lasts_ns }) &&
           add_cause(&causes->rows, &(struct cause){ group, state, kind, 0, rest_ns - lasts_ns });
}

/* Adds the causes of one state of one group, which then add up to it. */
static bool add_state(struct causes *causes, const struct cause_list *from, size_t first,
                      size_t count, uint32_t group, uint32_t state)
{
    const size_t at = causes->rows.count;
    size_t added;
    uint64_t rest_ns;

    for (size_t i = 0; i < count; i++) {
        if (!cause_add(&causes->rows, &from->items[first + i]))
            return false;
    }
    added = causes->rows.count - at;
    rest_ns = cause_fit(added > 0 ? &causes->rows.items[at] : NULL, added,
                        causes->state_ns[group][state], &causes->reduced_ns[group]);
    return add_rest(causes, group, state, rest_ns);
}

bool cause_make_rows(struct causes *causes, const struct cause_list *from)
{
    size_t at = 0;

    causes->rows.count = 0;
    memset(causes->reduced_ns, 0, sizeof causes->reduced_ns);
    for (uint32_t group = 0; group < CAUSE_GROUPS; group++) {
        for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
            size_t count = 0;

            while (at + count < from->count && from->items[at + count].group == group &&
                   from->items[at + count].state == state)
                count++;
            if (causes_is_wait(state) && !add_state(causes, from, at, count, group, state))
                return false;
            at += count;
        }
    }
    cause_sort(&causes->rows);
    return true;
}
