#include "compare_rows.h"

#include "ledger/array.h"
#include "ledger/selection.h"
#include "ledger/words.h"
#include "program/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNACCOUNTED "unaccounted"
#define NO_COLUMN SIZE_MAX
#define NO_ENTITY SIZE_MAX

/* The rows of the timeline of one recording, by entity. */
struct side_rows {
    const struct timeline *timeline;
    size_t *starts; /* [entity count + 1] where the rows of each entity start in `rows` */
    size_t *rows;   /* [starts[entity count]] rows of the timeline, in order */
    size_t *frames; /* the same for the frame of each row */
    double *wall_s; /* [frame_count] */
    double wall_sum_s;
};

/* The values of one entity and state in one recording, interval by interval. */
struct series {
    double *parts, *elapsed, *scratch;
};

static void release(struct side_rows *side)
{
    free(side->starts);
    free(side->rows);
    free(side->frames);
    free(side->wall_s);
}

/* Returns the index of the entity of a row, or NO_ENTITY for the clock. */
static size_t entity_of(const struct timeline *timeline, size_t row)
{
    const int64_t id = timeline->registry.entities[timeline->entities[row]].entity.id;

    return id == COMPARE_CLOCK ? NO_ENTITY : (size_t)(id - COMPARE_ID);
}

/* Visits the rows of the timeline twice: to count those of each entity, and to place them. */
static void place_rows(struct side_rows *ret, size_t entity_count)
{
    const struct timeline *timeline = ret->timeline;
    size_t sum = 0;

    for (size_t row = 0; row < timeline->row_count; row++) {
        if (entity_of(timeline, row) != NO_ENTITY)
            ret->starts[entity_of(timeline, row)]++;
    }
    for (size_t i = 0; i <= entity_count; i++) {
        const size_t count = i < entity_count ? ret->starts[i] : 0;

        ret->starts[i] = sum;
        sum += count;
    }
    for (size_t frame = 0; frame < timeline->frame_count; frame++) {
        const struct timeline_frame *here = &timeline->frames[frame];

        for (size_t row = here->first; row < here->first + here->count; row++) {
            const size_t entity = entity_of(timeline, row);

            if (entity == NO_ENTITY) {
                ret->wall_s[frame] = (double)timeline->elapsed_s[row];
                ret->wall_sum_s += ret->wall_s[frame];
                continue;
            }
            ret->rows[ret->starts[entity]] = row;
            ret->frames[ret->starts[entity]++] = frame;
        }
    }
    memmove(ret->starts + 1, ret->starts, entity_count * sizeof *ret->starts);
    ret->starts[0] = 0;
}

static int order_rows(struct side_rows *ret, const struct timeline *timeline, size_t entity_count)
{
    *ret = (struct side_rows){
        .timeline = timeline,
        .starts = calloc(entity_count + 1, sizeof *ret->starts),
        .rows = calloc(timeline->row_count + 1, sizeof *ret->rows),
        .frames = calloc(timeline->row_count + 1, sizeof *ret->frames),
        .wall_s = calloc(timeline->frame_count + 1, sizeof *ret->wall_s),
    };
    if (ret->starts == NULL || ret->rows == NULL || ret->frames == NULL || ret->wall_s == NULL)
        return CAMP_E_NOMEM;
    place_rows(ret, entity_count);
    return CAMP_OK;
}

/* Returns the time of a row of the timeline in a state, in seconds. */
static double time_in(const struct timeline *timeline, size_t row, size_t column)
{
    const double share =
        column == NO_COLUMN
            ? (double)timeline->missing[row] - (double)timeline->over[row]
            : (double)timeline->shares[row * timeline->schema->state_count + column];

    return share * (double)timeline->elapsed_s[row];
}

static double rate_of(const struct side_rows *side, size_t entity, size_t column)
{
    double sum = 0;

    for (size_t i = side->starts[entity]; i < side->starts[entity + 1]; i++)
        sum += time_in(side->timeline, side->rows[i], column);
    return side->wall_sum_s > 0 ? sum / side->wall_sum_s : 0;
}

static void fill_series(const struct side_rows *side, size_t entity, size_t column,
                        struct series *ret)
{
    const size_t count = side->timeline->frame_count;

    memset(ret->parts, 0, count * sizeof *ret->parts);
    memset(ret->elapsed, 0, count * sizeof *ret->elapsed);
    for (size_t i = side->starts[entity]; i < side->starts[entity + 1]; i++) {
        ret->parts[side->frames[i]] += time_in(side->timeline, side->rows[i], column);
        ret->elapsed[side->frames[i]] += (double)side->timeline->elapsed_s[side->rows[i]];
    }
}

/* Time without a cause may belong to this cause. In the first recording it can make the difference
 * smaller, in the second one larger. */
static void widen(struct difference *difference, const struct comparison *comparison, size_t entity)
{
    const double *const *undivided = (const double *const *)comparison->undivided;

    if (undivided[0] == NULL)
        return;
    difference->own.low -= undivided[0][entity];
    difference->wide.low -= undivided[0][entity];
    difference->own.high += undivided[1][entity];
    difference->wide.high += undivided[1][entity];
}

/* Bounds an interval by what is possible: all of the entity's own time in the state in one
 * recording, and nothing in the other. Time in no state may be negative. The value stays within. */
static void limit(struct bounds *bounds, double value, double most_before, double most_after,
                  bool may_be_negative)
{
    const double both = most_before + most_after;

    if (!isfinite(bounds->low) || !isfinite(bounds->high))
        return;
    bounds->low = fmin(value, fmax(bounds->low, may_be_negative ? -both : -most_before));
    bounds->high = fmax(value, fmin(bounds->high, may_be_negative ? both : most_after));
}

static void limit_both(struct difference *difference, double most_before, double most_after,
                       bool may_be_negative)
{
    limit(&difference->own, difference->value, most_before, most_after, may_be_negative);
    limit(&difference->wide, difference->value, most_before, most_after, may_be_negative);
}

static void measure(const struct comparison *comparison, const struct side_rows sides[2],
                    struct series *series, uint64_t seed, struct compared_row *row)
{
    const size_t rows = comparison->count * (comparison->families > 0 ? comparison->families : 1);
    const bool may_be_negative = comparison->states[row->state].columns[0] == NO_COLUMN;

    for (int i = 0; i < 2; i++) {
        const size_t count = sides[i].timeline->frame_count;

        fill_series(&sides[i], row->entity, comparison->states[row->state].columns[i], series);
        ratio_of_series(&(struct ratio_series){ series->parts, sides[i].wall_s, count }, seed,
                        series->scratch, &row->rate.ratios[i]);
        ratio_of_series(&(struct ratio_series){ series->parts, series->elapsed, count }, seed,
                        series->scratch, &row->share.ratios[i]);
    }
    difference_of(&row->rate.ratios[0], &row->rate.ratios[1], rows, &row->rate.difference);
    difference_of(&row->share.ratios[0], &row->share.ratios[1], rows, &row->share.difference);
    widen(&row->rate.difference, comparison, row->entity);
    limit_both(&row->rate.difference, comparison->most[0][row->entity],
               comparison->most[1][row->entity], may_be_negative);
    limit_both(&row->share.difference, 1, 1, may_be_negative);
}

int comparison_find_most(const struct timeline *timeline, size_t entity_count, double **ret)
{
    double *sums = calloc(entity_count + 1, sizeof *sums);
    double *most = calloc(entity_count + 1, sizeof *most);

    for (size_t i = 0; sums != NULL && most != NULL && i < timeline->frame_count; i++) {
        const struct timeline_frame *frame = &timeline->frames[i];
        double wall_s = 0;

        for (size_t row = frame->first; row < frame->first + frame->count; row++) {
            const size_t entity = entity_of(timeline, row);

            if (entity == NO_ENTITY)
                wall_s = (double)timeline->elapsed_s[row];
            else
                sums[entity] += (double)timeline->elapsed_s[row];
        }
        for (size_t row = frame->first; row < frame->first + frame->count; row++) {
            const size_t entity = entity_of(timeline, row);

            if (entity == NO_ENTITY)
                continue;
            if (wall_s > 0)
                most[entity] = fmax(most[entity], sums[entity] / wall_s);
            sums[entity] = 0;
        }
    }
    *ret = most;
    if (sums == NULL) {
        free(most);
        *ret = NULL;
    }
    free(sums);
    return *ret != NULL ? CAMP_OK : CAMP_E_NOMEM;
}

void comparison_rates(const struct comparison *comparison, int side,
                      const struct timeline *timeline, size_t entity_count, double *ret)
{
    double wall_s = 0;

    for (size_t row = 0; row < timeline->row_count; row++) {
        const size_t entity = entity_of(timeline, row);

        if (entity == NO_ENTITY) {
            wall_s += (double)timeline->elapsed_s[row];
            continue;
        }
        for (size_t i = 0; i < comparison->state_count; i++)
            ret[entity * comparison->state_count + i] +=
                time_in(timeline, row, comparison->states[i].columns[side]);
    }
    for (size_t i = 0; i < entity_count * comparison->state_count && wall_s > 0; i++)
        ret[i] /= wall_s;
}

static void add_state(struct comparison *comparison, const char *name, const size_t columns[2],
                      enum column_class class)
{
    struct compared_state *state = &comparison->states[comparison->state_count++];

    *state = (struct compared_state){ .columns = { columns[0], columns[1] }, .class = class };
    copy_text(state->name, sizeof state->name, name, strlen(name));
}

static size_t column_of(const struct schema *schema, const char *name)
{
    size_t i = 0;

    while (i < schema->state_count && strcmp(schema->columns[i].name, name) != 0)
        i++;
    return i;
}

int comparison_match_states(struct comparison *comparison, const struct compare_side sides[2])
{
    const struct schema *first = sides[0].page.schema, *second = sides[1].page.schema;
    char name[ORDER_NAME_SIZE];

    comparison->states = calloc(first->state_count + 1, sizeof *comparison->states);
    if (comparison->states == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < first->state_count; i++) {
        const size_t columns[2] = { i, column_of(second, first->columns[i].name) };

        column_stem(&first->columns[i], name);
        if (columns[1] < second->state_count)
            add_state(comparison, name, columns, first->columns[i].class);
    }
    if (comparison->state_count > 0)
        add_state(comparison, UNACCOUNTED, (const size_t[]){ NO_COLUMN, NO_COLUMN }, CLASS_NONE);
    return CAMP_OK;
}

size_t comparison_find_state(const struct comparison *comparison, const char *name)
{
    size_t i = 0;

    while (i < comparison->state_count && strcmp(comparison->states[i].name, name) != 0)
        i++;
    return i;
}

bool comparison_is_idle(const struct comparison *comparison, const struct compared_row *row)
{
    return comparison->states[row->state].class == CLASS_IDLE;
}

/* Adds the rows that can differ by `least`. */
static int add_rows(struct comparison *comparison, const struct side_rows sides[2],
                    size_t entity_count, double least)
{
    for (size_t entity = 0; entity < entity_count; entity++) {
        for (size_t state = 0; state < comparison->state_count; state++) {
            const size_t *columns = comparison->states[state].columns;
            const double sum = fabs(rate_of(&sides[0], entity, columns[0])) +
                               fabs(rate_of(&sides[1], entity, columns[1]));

            if (!(sum > 0 && sum >= least))
                continue;
            if (!ARRAY_RESERVE(comparison->rows, comparison->capacity, comparison->count + 1))
                return CAMP_E_NOMEM;
            comparison->rows[comparison->count++] =
                (struct compared_row){ .entity = entity, .state = state };
        }
    }
    return CAMP_OK;
}

/* The order of rows. qsort(3) has no argument for a context. */
struct sort_key {
    bool is_unfound, is_idle;
    double size;
    size_t row;
};

static int compare_sort_keys(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;

    if (a->is_unfound != b->is_unfound)
        return a->is_unfound - b->is_unfound;
    if (a->is_idle != b->is_idle)
        return a->is_idle - b->is_idle;
    if (a->size > b->size || a->size < b->size)
        return a->size > b->size ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

int comparison_sort(struct comparison *comparison)
{
    struct sort_key *keys = calloc(comparison->count + 1, sizeof *keys);
    struct compared_row *sorted = calloc(comparison->count + 1, sizeof *sorted);
    const bool has_memory = keys != NULL && sorted != NULL;

    for (size_t i = 0; has_memory && i < comparison->count; i++) {
        const struct compared_row *row = &comparison->rows[i];

        keys[i] = (struct sort_key){ .is_unfound =
                                         row->verdict < DIFFERENCE_MORE && row->causes_found == 0,
                                     .is_idle = comparison_is_idle(comparison, row),
                                     .size = fabs(row->rate.difference.value),
                                     .row = i };
    }
    if (has_memory)
        qsort(keys, comparison->count, sizeof *keys, compare_sort_keys);
    for (size_t i = 0; has_memory && i < comparison->count; i++)
        sorted[i] = comparison->rows[keys[i].row];
    free(keys);
    if (!has_memory) {
        free(sorted);
        return CAMP_E_NOMEM;
    }
    free(comparison->rows);
    comparison->rows = sorted;
    comparison->capacity = comparison->count + 1;
    return CAMP_OK;
}

static int measure_rows(struct comparison *comparison, const struct side_rows sides[2],
                        double least, uint64_t seed)
{
    const size_t one = sides[0].timeline->frame_count, other = sides[1].timeline->frame_count;
    const size_t most = one > other ? one : other;
    double *space = calloc(2 * most + BOOTSTRAP_SCRATCH(most), sizeof *space);
    struct series series;

    if (space == NULL)
        return CAMP_E_NOMEM;
    series = (struct series){ space, space + most, space + 2 * most };
    for (size_t i = 0; i < comparison->count && !stop_requested; i++) {
        struct compared_row *row = &comparison->rows[i];

        measure(comparison, sides, &series, seed, row);
        row->verdict = difference_judge(&row->rate.difference, least);
        comparison->more += row->verdict == DIFFERENCE_MORE;
        comparison->less += row->verdict == DIFFERENCE_LESS;
    }
    free(space);
    return CAMP_OK;
}

int comparison_fill(struct comparison *comparison, const struct timeline *const timelines[2],
                    size_t entity_count, double least, uint64_t seed)
{
    struct side_rows rows[2] = { 0 };
    int r = CAMP_OK;

    for (int i = 0; i < 2 && r == CAMP_OK; i++) {
        r = order_rows(&rows[i], timelines[i], entity_count);
        if (r == CAMP_OK && comparison->most[i] == NULL)
            r = comparison_find_most(timelines[i], entity_count, &comparison->most[i]);
    }
    if (r == CAMP_OK)
        r = add_rows(comparison, rows, entity_count, least);
    if (r == CAMP_OK)
        r = measure_rows(comparison, rows, least, seed);
    if (r == CAMP_OK)
        r = comparison_sort(comparison);
    release(&rows[0]);
    release(&rows[1]);
    return r;
}

void comparison_release(struct comparison *comparison)
{
    free(comparison->states);
    free(comparison->rows);
    free(comparison->undivided[0]);
    free(comparison->undivided[1]);
    free(comparison->most[0]);
    free(comparison->most[1]);
    *comparison = (struct comparison){ 0 };
}
