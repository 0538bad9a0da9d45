#include "tasks_frame.h"

#include <string.h>

const struct tasks_tier_facts tasks_tiers[TASKS_TIER_COUNT] = {
    [TASKS_AUTOMATIC] = { .name = "auto" },
    [TASKS_TASKSTATS] = { "taskstats",
                          "what a running task did since the last tick, and the last part of an "
                          "exit",
                          .is_measured = true, .is_sampled = true, .counts_unseen = true },
    [TASKS_SCHEDSTAT] = { "schedstat", "sampled times, and processes that end between snapshots",
                          .is_measured = true, .counts_unseen = true },
    [TASKS_BPF] = { "bpf",
                    "what a running task did since the last tick; each context switch costs a "
                    "little; measured is the scheduler's clock (cpu_ns), not the time between "
                    "switches",
                    .is_measured = true, .is_sampled = true, .counts_unseen = true },
    [TASKS_CYCLES] = { "cycles",
                       "processes that start and end between two snapshots, and the cycles of "
                       "processes that this user may not open",
                       .is_measured = true, .is_sampled = true, .lacks_cpu_columns = true },
    [TASKS_TICKS] = { "ticks",
                      "measured times, because the rate of the cycles is unknown, and processes "
                      "that start and end between two snapshots",
                      .is_sampled = true, .lacks_cpu_columns = true },
    [TASKS_NOTHING] = { "none",
                        "all CPU times: Wine counts no cycles, and makes up the times of ticks "
                        "from those of its host",
                        .lacks_cpu_columns = true },
};

enum tasks_tier tasks_tier_of(const char *name)
{
    for (enum tasks_tier tier = TASKS_AUTOMATIC; tier < TASKS_TIER_COUNT; tier++) {
        if (strcmp(tasks_tiers[tier].name, name) == 0)
            return tier;
    }
    return TASKS_AUTOMATIC;
}

static const struct column columns[] = {
    { "measured_ns", "measured", "on a CPU, by the scheduler's timestamps or cycles at each switch",
      COLUMN_COUNTER, CAMP_MEASURED },
    { "sampled_ns", "sampled", "whole ticks, each charged to whatever ran", COLUMN_COUNTER,
      CAMP_SAMPLED },
    { "absolute_ns", "absolute", "sum of |sampled - measured| of those in the row", COLUMN_COUNTER,
      CAMP_DERIVED },
    { "active", "active", "those of the row that ran", COLUMN_COUNTER, CAMP_MEASURED },
    { COLUMN_MAXIMUM_ERROR, "maximum", "largest |sampled - measured| / measured of one",
      COLUMN_GAUGE, CAMP_DERIVED },
    { "stray_ns", "stray", "sampled of those that were not measured to run", COLUMN_COUNTER,
      CAMP_SAMPLED },
};

_Static_assert(sizeof columns / sizeof columns[0] == TASKS_COLUMN_COUNT, "a column was forgotten");

const struct schema tasks_schema = {
    .name = "tasks",
    .columns = columns,
    .column_count = TASKS_COLUMN_COUNT,
    .state_count = 0,
    .maximum = TASKS_MAXIMUM,
};

const struct schema tasks_measured_schema = {
    .name = "tasks",
    .columns = columns,
    .column_count = TASKS_MEASURED + 1,
    .state_count = 0,
};

int tasks_add_row(struct frame *frame, int64_t id, uint32_t flags, uint32_t count, const char *name,
                  const struct accuracy *sum)
{
    struct entity *entity = frame_add(frame);
    uint64_t *values;

    if (entity == NULL)
        return CAMP_E_NOMEM;
    entity->id = id;
    entity->flags = flags;
    entity->count = count;
    memcpy(entity->name, name, sizeof entity->name);
    values = frame_values(frame, frame->entity_count - 1);
    values[TASKS_MEASURED] = (uint64_t)sum->measured;
    values[TASKS_SAMPLED] = (uint64_t)(sum->sampled + sum->stray);
    values[TASKS_ABSOLUTE] = (uint64_t)sum->absolute;
    values[TASKS_ACTIVE] = sum->active;
    values[TASKS_MAXIMUM] = (uint64_t)(1e6 * sum->maximum);
    values[TASKS_STRAY] = (uint64_t)sum->stray;
    frame->elapsed_ns[frame->entity_count - 1] = frame->end_ns - frame->start_ns;
    return CAMP_OK;
}

bool tasks_is_kept(const struct tasks_common *source, int32_t pid)
{
    for (size_t i = 0; i < source->kept_count; i++) {
        if (source->kept[i] == pid)
            return true;
    }
    return false;
}

void tasks_source_keep(struct source *base, const int32_t *pids, size_t count)
{
    struct tasks_common *source = (struct tasks_common *)base;

    source->kept = pids;
    source->kept_count = count;
}

size_t tasks_source_living(const struct source *base)
{
    return ((const struct tasks_common *)base)->living;
}

size_t tasks_source_unmeasured(const struct source *base)
{
    return ((const struct tasks_common *)base)->unmeasured;
}

bool tasks_source_has_final_clocks(const struct source *base)
{
    return ((const struct tasks_common *)base)->has_final_clocks;
}

const struct frame *tasks_source_cpus(const struct source *base)
{
    return ((const struct tasks_common *)base)->cpus;
}
