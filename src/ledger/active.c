#include "active.h"

#include "array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The column of waits in futex(2). */
#define LOCK_COLUMN "lock_ns"

/* A class that never varies is compared with this share of all active time, and this number of
 * active entities, so that noise in a small class does not decide. */
#define FLOOR_SHARE 0.05
#define FLOOR_ACTIVE 0.01

/* A rise of waits or of missing time counts this many times as much as one of CPU time. */
#define WAIT_WEIGHT 4

static void add_state(struct active *active, const struct column *column, double share,
                      double elapsed_s)
{
    const bool parks = share >= ACTIVE_PARKED_SHARE && strcmp(column->name, LOCK_COLUMN) == 0;

    active->is_parked = active->is_parked || parks;
    if (parks || column->class == CLASS_IDLE)
        return;
    active->seconds[column->class] += share * elapsed_s;
    active->sum_s += share * elapsed_s;
}

size_t active_lock_column(const struct schema *schema)
{
    size_t at = 0;

    while (at < schema->state_count && strcmp(schema->columns[at].name, LOCK_COLUMN) != 0)
        at++;
    return at;
}

void active_of_frame(const struct frame *frame, size_t entity, struct active *ret)
{
    const struct column *columns = frame->schema->columns;
    const struct filled_columns states = frame_filled_states(frame, entity);
    const double elapsed = (double)frame->elapsed_ns[entity];
    const double missing = (double)frame_unaccounted_ns(frame, entity);

    *ret = (struct active){ .missing_s = missing > 0 ? missing / 1e9 : 0 };
    for (size_t i = states.first; i < states.end && elapsed > 0; i++)
        add_state(ret, &columns[i], (double)states.values[i - states.first] / elapsed,
                  elapsed / 1e9);
}

void active_of_timeline(const struct timeline *timeline, size_t row, struct active *ret)
{
    const struct schema *schema = timeline->schema;
    const float *shares = timeline->shares + row * schema->state_count;
    const double elapsed_s = timeline->elapsed_s[row];

    *ret = (struct active){ .missing_s = timeline->missing[row] * elapsed_s };
    for (size_t i = 0; i < schema->state_count; i++)
        add_state(ret, &schema->columns[i], shares[i], elapsed_s);
}

void active_add(struct active *sum, const struct active *more)
{
    for (int i = 0; i < CLASS_COUNT; i++)
        sum->seconds[i] += more->seconds[i];
    sum->sum_s += more->sum_s;
    sum->missing_s += more->missing_s;
}

void unusual_release(struct unusual *unusual)
{
    free(unusual->frames);
    *unusual = (struct unusual){ 0 };
}

int unusual_add(struct unusual *unusual, const struct frame *frame)
{
    const double length_s = (double)(frame->end_ns - frame->start_ns) / 1e9;
    struct active sum = { 0 }, active;
    struct unusual_frame *added;

    if (!ARRAY_RESERVE(unusual->frames, unusual->capacity, unusual->count + 1))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < frame->entity_count; i++) {
        active_of_frame(frame, i, &active);
        active_add(&sum, &active);
    }
    sum.seconds[CLASS_IDLE] = sum.missing_s;
    added = &unusual->frames[unusual->count++];
    for (int i = 0; i < CLASS_COUNT; i++)
        added->active[i] = length_s > 0 ? (float)(sum.seconds[i] / length_s) : 0;
    return CAMP_OK;
}

static int compare(const void *left, const void *right)
{
    const float a = *(const float *)left, b = *(const float *)right;

    return (a > b) - (a < b);
}

/* Returns the median of numbers[count], which are sorted afterwards. */
static double median(float *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare);
    return ((double)numbers[(count - 1) / 2] + (double)numbers[count / 2]) / 2;
}

/* Returns how much a class usually changes from one frame to the next. A long trouble has only few
 * steps, so it does not count as noise. Sorts numbers[count]. */
static double noise_of(const struct unusual *unusual, int class, float *numbers)
{
    for (size_t i = 1; i < unusual->count; i++)
        numbers[i - 1] =
            fabsf(unusual->frames[i].active[class] - unusual->frames[i - 1].active[class]);
    return unusual->count > 1 ? median(numbers, unusual->count - 1) : 0;
}

int unusual_find(const struct unusual *unusual, size_t *ret)
{
    const size_t count = unusual->count;
    double noise[CLASS_COUNT], low[CLASS_COUNT], floor = FLOOR_ACTIVE, most = 0;
    float *numbers = calloc(count + 1, sizeof *numbers);

    *ret = 0;
    if (numbers == NULL)
        return CAMP_E_NOMEM;
    for (int class = 0; class < CLASS_COUNT && count > 0; class ++) {
        for (size_t i = 0; i < count; i++)
            numbers[i] = unusual->frames[i].active[class];
        floor += FLOOR_SHARE * median(numbers, count);
        low[class] = numbers[0];
        noise[class] = noise_of(unusual, class, numbers);
    }
    free(numbers);
    for (size_t i = 0; i < count; i++) {
        double rise = 0;

        for (int class = 0; class < CLASS_COUNT; class ++)
            rise += (class == CLASS_CPU ? 1 : WAIT_WEIGHT) *
                    ((double)unusual->frames[i].active[class] - low[class]) /
                    (noise[class] + floor);
        if (rise > most) {
            most = rise;
            *ret = i;
        }
    }
    return CAMP_OK;
}
