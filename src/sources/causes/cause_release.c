#include "cause_release.h"

#include "cause_fit.h"

#define TAKEN_MOST 40 /* of 53 numbers */

static uint64_t set_of(uint32_t number)
{
    return number < CAUSE_GROUPS ? UINT64_C(1) << number : 0;
}

/* Returns the set of the groups that had a CPU, waited for something that ended, or caused it. */
static uint64_t busy_groups(const struct causes *causes)
{
    uint64_t busy = 0;

    for (uint32_t i = 0; i < CAUSE_GROUPS; i++)
        busy |= causes_on_cpu_ns(causes, i) > 0 ? set_of(i) : 0;
    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        if (row->kind != CAUSE_NOT_ENDED)
            busy |= set_of(row->group);
        if (row->kind == CAMP_CAUSE_GROUP)
            busy |= set_of(row->id);
    }
    return busy;
}

uint64_t cause_quiet_groups(const struct causes *causes)
{
    uint64_t taken = 0;
    size_t count = 0;

    for (size_t i = 0; i < causes->group_count; i++) {
        const struct camp_states_group *group = &causes->groups[i];

        if (group->kind < CAMP_GROUP_NAME)
            continue;
        taken |= set_of(group->number);
        count++;
    }
    return count > TAKEN_MOST ? taken & ~busy_groups(causes) : 0;
}

uint64_t cause_still_released(const struct causes *causes, uint64_t released)
{
    for (size_t i = 0; i < causes->group_count; i++)
        released &= ~set_of(causes->groups[i].number);
    return released;
}

/* Adds a row to an equal one of the list, or appends it. Rows of one state are one after another.
 */
static void merge(struct cause_list *list, const struct cause *row)
{
    for (size_t i = list->count;
         i > 0 && list->items[i - 1].group == row->group && list->items[i - 1].state == row->state;
         i--) {
        if (!cause_is_same(&list->items[i - 1], row))
            continue;
        list->items[i - 1].wait_ns += row->wait_ns;
        return;
    }
    list->items[list->count++] = *row;
}

void cause_move_released(struct cause_list *list, uint64_t released, uint32_t other)
{
    const size_t count = list->count;
    bool moved = false;

    for (size_t i = 0; i < count; i++) {
        struct cause *row = &list->items[i];

        if ((set_of(row->group) & released) != 0) {
            row->group = other;
            moved = true;
        }
        if (row->kind == CAMP_CAUSE_GROUP && (set_of(row->id) & released) != 0) {
            row->id = other;
            moved = true;
        }
    }
    if (!moved)
        return;
    cause_sort(list);
    list->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct cause row = list->items[i];

        merge(list, &row);
    }
}
