#include "lengths_frame.h"

#include "cause_names.h"
#include "ledger/array.h"
#include "ledger/words.h"
#include "microstates/table.h"

#include <stdio.h>
#include <string.h>

enum part { LONGEST, P99, P50, PART_COUNT };

#define COLUMN(name, part, help)                                                                   \
    {                                                                                              \
        name "." part "_ns", name "." part, help, COLUMN_STATE, CAMP_MEASURED                      \
    }
#define COLUMNS(name)                                                                              \
    COLUMN(name, "max", "The longest wait that has ended"),                                        \
        COLUMN(name, "p99", "99 % of the waits lasted no longer, to a factor of 2"),               \
        COLUMN(name, "p50", "Half of the waits lasted no longer, to a factor of 2"),

/* Time on a CPU has no waits. */
#define COLUMNS_OF_CPU(name)
#define COLUMNS_OF_IO(name) COLUMNS(name)
#define COLUMNS_OF_CONTENTION(name) COLUMNS(name)
#define COLUMNS_OF_IDLE(name) COLUMNS(name)
#define COLUMNS_OF_READY(name) COLUMNS(name)
#define COLUMNS_OF_THROTTLED(name) COLUMNS(name)
#define COLUMNS_OF(state, name, title, short_title, class, ...) COLUMNS_OF_##class(name)

static const struct column columns[] = { MICROSTATES(COLUMNS_OF) };

const struct schema lengths_schema = { .name = "lengths",
                                       .columns = columns,
                                       .column_count = ARRAY_COUNT(columns),
                                       .state_count = ARRAY_COUNT(columns) };

/* The kernel's name of a process is its row's, so that "of NAME" finds it. */
static int add_row(struct frame *ret, const struct causes *causes,
                   const struct camp_states_group *group)
{
    const struct wait_lengths *lengths = causes->lengths[group->number];
    struct entity *entity = frame_add(ret);
    char name[CAUSE_NAME_SIZE];
    uint64_t *values;

    if (entity == NULL)
        return CAMP_E_NOMEM;
    values = frame_values(ret, ret->entity_count - 1);
    entity->id = entity->pid = group->pid;
    if (group->kind == CAMP_GROUP_PROCESS && group->name[0] != '\0')
        snprintf(name, sizeof name, "%s", group->name);
    else
        cause_group_name(name, group);
    copy_text(entity->name, sizeof entity->name, name, strlen(name));
    for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
        if (!causes_is_wait(state))
            continue;
        values[LONGEST] = lengths[state].longest_ns;
        values[P99] = lengths[state].p99_ns;
        values[P50] = lengths[state].p50_ns;
        values += PART_COUNT;
    }
    return CAMP_OK;
}

static bool has_lengths(const struct wait_lengths *lengths)
{
    for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
        if (lengths[state].count > 0)
            return true;
    }
    return false;
}

int lengths_frame_fill(struct frame *ret, const struct causes *causes)
{
    int r = CAMP_OK;

    frame_clear(ret);
    ret->start_ns = causes->start_ns;
    ret->end_ns = causes->end_ns;
    ret->wall_clock_ns = causes->wall_clock_ns;
    for (size_t i = 0; i < causes->group_count && r == CAMP_OK; i++) {
        const struct camp_states_group *group = &causes->groups[i];

        if (group->number < CAUSE_GROUPS && has_lengths(causes->lengths[group->number]))
            r = add_row(ret, causes, group);
    }
    return r;
}
