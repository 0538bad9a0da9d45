#include "cause_times.h"

#include "compare_rows.h"
#include "program/command.h"
#include "sources/causes/cause_names.h"

static const struct column time_column = { "wait_ns",    "wait",        "",
                                           COLUMN_STATE, CAMP_MEASURED, CLASS_OTHER_WAIT };
static const struct schema time_schema = { "causes", &time_column, 1, 1 };

void cause_times_start(struct cause_times *times, struct compared_causes *causes)
{
    times->causes = causes;
    frame_init(&times->frame, &time_schema);
    timeline_init(&times->timeline, &time_schema, SIZE_MAX);
}

void cause_times_release(struct cause_times *times)
{
    frame_release(&times->frame);
    timeline_release(&times->timeline);
}

bool cause_times_are_whole(const struct cause_times *times)
{
    return times->with > 0 && times->without == 0 && !times->is_damaged &&
           !times->is_of_other_groups;
}

/* Returns the entity of each group that is a name or a process, otherwise SIZE_MAX: a filter may
 * have left it out, and kernel threads are not one entity. */
static void find_waiters(size_t ret[CAUSE_GROUPS], const struct causes *causes,
                         const struct compared_entities *entities)
{
    for (uint32_t i = 0; i < CAUSE_GROUPS; i++) {
        const struct camp_states_group *group = cause_group_find(causes, i);

        ret[i] =
            group != NULL && (group->kind == CAMP_GROUP_NAME || group->kind == CAMP_GROUP_PROCESS)
                ? compared_entities_find(entities, group->name, "")
                : SIZE_MAX;
    }
}

static void find_states(size_t ret[CAMP_STATE_COUNT], const struct comparison *states)
{
    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        ret[i] = comparison_find_state(states, camp_state_name(i));
}

static int add_row(struct frame *frame, int64_t id, uint64_t time_ns)
{
    struct entity *entity = frame_add(frame);

    if (entity == NULL)
        return CAMP_E_NOMEM;
    entity->id = id;
    frame->elapsed_ns[frame->entity_count - 1] = frame->end_ns - frame->start_ns;
    frame_values(frame, frame->entity_count - 1)[0] = time_ns;
    return CAMP_OK;
}

static int add_causes(struct cause_times *times, const struct causes *causes,
                      const struct compared_entities *entities, const struct comparison *states)
{
    size_t waiters[CAUSE_GROUPS], numbers[CAMP_STATE_COUNT], found;
    int r = CAMP_OK;

    find_waiters(waiters, causes, entities);
    find_states(numbers, states);
    for (size_t i = 0; i < causes->rows.count && r == CAMP_OK; i++) {
        const struct cause *row = &causes->rows.items[i];

        if (waiters[row->group] == SIZE_MAX || numbers[row->state] == states->state_count)
            continue;
        r = compared_causes_enter(times->causes, causes, row, waiters[row->group],
                                  numbers[row->state], &found);
        if (r == CAMP_OK && found != SIZE_MAX)
            r = add_row(&times->frame, COMPARE_ID + (int64_t)found, row->wait_ns);
    }
    return r;
}

int cause_times_add(struct cause_times *times, struct source *source, const struct frame *frame,
                    const struct compared_entities *entities, const struct comparison *states)
{
    const struct causes *causes = NULL;
    struct camp_error error = { 0 };
    int r = times->is_damaged ? CAMP_OK : source_causes(source, &causes, &error);

    if (r != CAMP_OK && r != CAMP_E_NOMEM) {
        complain_of(r, &error);
        times->is_damaged = true;
        r = CAMP_OK;
    }
    times->with += causes != NULL;
    times->without += causes == NULL;
    frame_start_at(&times->frame, frame);
    if (r == CAMP_OK)
        r = add_row(&times->frame, COMPARE_CLOCK, 0);
    if (r == CAMP_OK && causes != NULL && !times->is_of_other_groups)
        r = add_causes(times, causes, entities, states);
    return r == CAMP_OK ? timeline_add(&times->timeline, &times->frame) : r;
}
