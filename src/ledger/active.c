#include "active.h"

#include <string.h>

/* The column of waits in futex(2). */
#define LOCK_COLUMN "lock_ns"

static void add_state(struct active *active, const struct column *column, double share,
                      double elapsed_s)
{
    if (strcmp(column->name, LOCK_COLUMN) == 0 && share >= ACTIVE_PARKED_SHARE)
        active->is_parked = true;
    if (column->class == CLASS_IDLE)
        return;
    active->seconds[column->class] += share * elapsed_s;
    active->sum_s += share * elapsed_s;
}

static void forget_if_parked(struct active *active)
{
    if (!active->is_parked)
        return;
    memset(active->seconds, 0, sizeof active->seconds);
    active->sum_s = 0;
}

void active_of_frame(const struct frame *frame, size_t entity, struct active *ret)
{
    const struct schema *schema = frame->schema;
    const uint64_t *values = frame_values(frame, entity);
    const double elapsed = (double)frame->elapsed_ns[entity];
    const double missing = (double)frame_unaccounted_ns(frame, entity);

    *ret = (struct active){ .missing_s = missing > 0 ? missing / 1e9 : 0 };
    for (size_t i = 0; i < schema->state_count && elapsed > 0; i++)
        add_state(ret, &schema->columns[i], (double)values[i] / elapsed, elapsed / 1e9);
    forget_if_parked(ret);
}

void active_of_timeline(const struct timeline *timeline, size_t row, struct active *ret)
{
    const struct schema *schema = timeline->schema;
    const float *shares = timeline->shares + row * schema->state_count;
    const double elapsed_s = timeline->elapsed_s[row];

    *ret = (struct active){ .missing_s = timeline->missing[row] * elapsed_s };
    for (size_t i = 0; i < schema->state_count; i++)
        add_state(ret, &schema->columns[i], shares[i], elapsed_s);
    forget_if_parked(ret);
}

void active_add(struct active *sum, const struct active *more)
{
    for (int i = 0; i < CLASS_COUNT; i++)
        sum->seconds[i] += more->seconds[i];
    sum->sum_s += more->sum_s;
    sum->missing_s += more->missing_s;
}
