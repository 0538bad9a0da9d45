#include "timeline.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

#define FEWEST_KNOWN 1024 /* a registry with fewer entities is never full */

void timeline_init(struct timeline *timeline, const struct schema *schema, size_t bytes_maximum)
{
    *timeline = (struct timeline){ .schema = schema, .bytes_maximum = bytes_maximum, .merging = 1 };
}

void timeline_release(struct timeline *timeline)
{
    registry_release(&timeline->registry);
    free(timeline->frames);
    free(timeline->entities);
    free(timeline->elapsed_s);
    free(timeline->missing);
    free(timeline->over);
    free(timeline->shares);
    free(timeline->places);
    *timeline = (struct timeline){ 0 };
}

static size_t row_bytes(const struct timeline *timeline)
{
    return sizeof(uint32_t) + (3 + timeline->schema->state_count) * sizeof(float);
}

static bool reserve_rows(struct timeline *timeline, size_t count)
{
    return ARRAYS_RESERVE(timeline->row_capacity, timeline->row_count + count,
                          ARRAY(timeline->entities), ARRAY(timeline->elapsed_s),
                          ARRAY(timeline->missing), ARRAY(timeline->over),
                          ARRAY_ROWS(timeline->shares, timeline->schema->state_count));
}

static bool reserve_places(struct timeline *timeline)
{
    return ARRAY_RESERVE_ZEROED(timeline->places, timeline->place_count, timeline->registry.count);
}

/* Returns the row of an entity in [first, end), or `end` if there is none. timeline->places may
 * refer to a row of another frame, so the row is checked. */
static size_t find_row(const struct timeline *timeline, uint32_t entity, size_t first, size_t end)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): reserved by ARRAY_RESERVE() */
    const size_t row = timeline->places[entity];

    return row >= first && row < end && timeline->entities[row] == entity ? row : end;
}

static void add_share(float *sum, float more, double share)
{
    *sum = (float)(*sum + share * (more - *sum));
}

static void add_row(struct timeline *timeline, size_t to, size_t from)
{
    const size_t states = timeline->schema->state_count;
    const double ours = timeline->elapsed_s[to], theirs = timeline->elapsed_s[from];
    const double share = ours + theirs > 0 ? theirs / (ours + theirs) : 0;

    for (size_t i = 0; i < states; i++)
        add_share(&timeline->shares[to * states + i], timeline->shares[from * states + i], share);
    add_share(&timeline->missing[to], timeline->missing[from], share);
    add_share(&timeline->over[to], timeline->over[from], share);
    timeline->elapsed_s[to] = (float)(ours + theirs);
}

static void move_row(struct timeline *timeline, size_t to, size_t from)
{
    const size_t states = timeline->schema->state_count;

    timeline->places[timeline->entities[from]] = (uint32_t)to;
    if (to == from)
        return;
    timeline->entities[to] = timeline->entities[from];
    timeline->elapsed_s[to] = timeline->elapsed_s[from];
    timeline->missing[to] = timeline->missing[from];
    timeline->over[to] = timeline->over[from];
    memcpy(timeline->shares + to * states, timeline->shares + from * states,
           states * sizeof *timeline->shares);
}

static void fill_row(struct timeline *timeline, uint32_t number, const struct frame *frame,
                     size_t entity)
{
    const size_t states = timeline->schema->state_count, row = timeline->row_count;
    const uint64_t *values = frame_values(frame, entity);
    const double elapsed = (double)frame->elapsed_ns[entity];
    const double unaccounted =
        elapsed > 0 ? (double)frame_unaccounted_ns(frame, entity) / elapsed : 0;
    float *shares = timeline->shares + row * states;

    timeline->entities[row] = number;
    timeline->elapsed_s[row] = (float)(elapsed / 1e9);
    timeline->missing[row] = unaccounted > 0 ? (float)unaccounted : 0;
    timeline->over[row] = unaccounted < 0 ? (float)-unaccounted : 0;
    for (size_t i = 0; i < states; i++)
        shares[i] = elapsed > 0 ? (float)((double)values[i] / elapsed) : 0;
}

static int add_entities(struct timeline *timeline, const struct frame *frame)
{
    const size_t first = timeline->row_count;

    registry_start_frame(&timeline->registry);
    for (size_t i = 0; i < frame->entity_count; i++) {
        enum registry_match match;
        uint32_t number;
        size_t row;

        if (registry_enter(&timeline->registry, &frame->entities[i], &number, &match) != CAMP_OK ||
            !reserve_places(timeline))
            return CAMP_E_NOMEM;
        fill_row(timeline, number, frame, i);
        row = find_row(timeline, number, first, timeline->row_count);
        if (row < timeline->row_count)
            add_row(timeline, row, timeline->row_count);
        else
            timeline->places[number] = (uint32_t)timeline->row_count++;
    }
    return CAMP_OK;
}

/* Merges frame `from` into frame `to`, whose rows end at *end. An entity that is only in `from`
 * gets a row at *end. The row at *end is free: all rows from *end to the entity's row in `from` are
 * already merged. */
static void merge_frame(struct timeline *timeline, size_t to, size_t from, size_t *end)
{
    struct timeline_frame *ours = &timeline->frames[to], *theirs = &timeline->frames[from];

    for (size_t i = 0; i < theirs->count; i++) {
        const size_t row =
            find_row(timeline, timeline->entities[theirs->first + i], ours->first, *end);

        if (row < *end)
            add_row(timeline, row, theirs->first + i);
        else
            move_row(timeline, (*end)++, theirs->first + i);
    }
    ours->count = *end - ours->first;
    ours->end_ns = theirs->end_ns;
    ours->merged += theirs->merged;
    losses_add(&ours->losses, &theirs->losses);
}

/* Moves frame `from` to index `to`, and the rows of the frame to *end, where the rows of the
 * previous frames end. */
static void move_frame(struct timeline *timeline, size_t to, size_t from, size_t *end)
{
    struct timeline_frame frame = timeline->frames[from];
    const size_t first = *end;

    for (size_t i = 0; i < frame.count; i++)
        move_row(timeline, (*end)++, frame.first + i);
    frame.first = first;
    timeline->frames[to] = frame;
}

/* Merges neighbouring frames from frame `begin` on. A merged frame contains at most `most` frames
 * of the source. */
static void merge_from(struct timeline *timeline, size_t begin, uint64_t most)
{
    size_t end = timeline->frames[begin].first, to = begin;

    move_frame(timeline, to, begin, &end);
    for (size_t from = begin + 1; from < timeline->frame_count; from++) {
        if (timeline->frames[to].merged + timeline->frames[from].merged <= most)
            merge_frame(timeline, to, from, &end);
        else
            move_frame(timeline, ++to, from, &end);
    }
    timeline->frame_count = to + 1;
    timeline->row_count = end;
}

void timeline_merge(struct timeline *timeline, uint64_t count)
{
    if (timeline->frame_count == 0)
        return;
    timeline->merging = count > 0 ? count * timeline->merging : UINT64_MAX;
    merge_from(timeline, 0, timeline->merging);
}

/* Marks the entities that are in only one frame and not in the newest frame. Returns an array of
 * registry.count marks, which the caller frees, or NULL if there is no memory. */
static bool *find_gone(const struct timeline *timeline)
{
    const struct registry *registry = &timeline->registry;
    bool *gone = calloc(registry->count + 1, sizeof *gone);
    bool *seen = calloc(registry->count + 1, sizeof *seen);

    for (size_t row = 0; gone != NULL && seen != NULL && row < timeline->row_count; row++) {
        const uint32_t number = timeline->entities[row];

        gone[number] = !seen[number] && !registry_is_present(registry, number);
        seen[number] = true;
    }
    if (seen == NULL) {
        free(gone);
        return NULL;
    }
    free(seen);
    return gone;
}

static void fold_rows(struct timeline *timeline, const uint32_t *numbers)
{
    size_t end = 0;

    for (size_t i = 0; i < timeline->frame_count; i++) {
        struct timeline_frame *frame = &timeline->frames[i];
        const size_t first = end;

        for (size_t from = frame->first; from < frame->first + frame->count; from++) {
            const uint32_t number = numbers[timeline->entities[from]];
            const size_t row = find_row(timeline, number, first, end);

            timeline->entities[from] = number;
            if (row < end)
                add_row(timeline, row, from);
            else
                move_row(timeline, end++, from);
        }
        frame->first = first;
        frame->count = end - first;
    }
    timeline->row_count = end;
}

static int fold_gone(struct timeline *timeline)
{
    struct registry old = timeline->registry;
    uint32_t *numbers = calloc(old.count + 1, sizeof *numbers);
    bool *gone = find_gone(timeline);
    int r = numbers != NULL && gone != NULL
                ? registry_fold(&old, gone, ENTITY_ENDED_SUFFIX, &timeline->registry, numbers)
                : CAMP_E_NOMEM;

    if (r == CAMP_OK) {
        registry_release(&old);
        free(timeline->places);
        timeline->places = NULL;
        timeline->place_count = 0;
        r = reserve_places(timeline) ? CAMP_OK : CAMP_E_NOMEM;
    }
    if (r == CAMP_OK)
        fold_rows(timeline, numbers);
    free(numbers);
    free(gone);
    return r;
}

/* Returns whether bytes_maximum / parts bytes are too few for `more` further rows, or for the
 * registry. */
static bool is_full(const struct timeline *timeline, size_t more, size_t parts)
{
    const size_t bytes = timeline->bytes_maximum / parts, known = timeline->registry.count;

    return timeline->row_count + more > bytes / row_bytes(timeline) ||
           (known > FEWEST_KNOWN / parts && known > bytes / sizeof(struct registry_entry));
}

/* Makes space for `more` rows. Merges exited entities by name. If less than half of the memory is
 * free afterwards, halves the resolution of time. */
static int make_space(struct timeline *timeline, size_t more)
{
    int r = CAMP_OK;

    while (r == CAMP_OK && timeline->frame_count > 1 && is_full(timeline, more, 1)) {
        r = fold_gone(timeline);
        if (r != CAMP_OK || !is_full(timeline, more, 2))
            break;
        timeline->merging *= 2;
        merge_from(timeline, 0, timeline->merging);
    }
    return r;
}

int timeline_add(struct timeline *timeline, const struct frame *frame)
{
    int r = make_space(timeline, frame->entity_count);

    if (r != CAMP_OK)
        return r;
    if (!reserve_rows(timeline, frame->entity_count + 1) ||
        !ARRAY_RESERVE(timeline->frames, timeline->frame_capacity, timeline->frame_count + 1))
        return CAMP_E_NOMEM;
    timeline->frames[timeline->frame_count] = (struct timeline_frame){
        .begin_ns = frame->wall_clock_ns - (int64_t)(frame->end_ns - frame->start_ns),
        .end_ns = frame->wall_clock_ns,
        .first = timeline->row_count,
        .merged = 1,
        .losses = frame->losses,
    };
    r = add_entities(timeline, frame);
    if (r != CAMP_OK)
        return r;
    timeline->frames[timeline->frame_count].count =
        timeline->row_count - timeline->frames[timeline->frame_count].first;
    timeline->frame_count++;
    if (timeline->frame_count > 1 && timeline->merging > 1)
        merge_from(timeline, timeline->frame_count - 2, timeline->merging);
    return CAMP_OK;
}

size_t timeline_find(const struct timeline *timeline, int64_t wall_clock_ns)
{
    for (size_t i = 0; i + 1 < timeline->frame_count; i++) {
        const int64_t end = timeline->frames[i].end_ns, next = timeline->frames[i + 1].begin_ns;

        if (wall_clock_ns < end ||
            (wall_clock_ns < next && wall_clock_ns - end < next - wall_clock_ns))
            return i;
    }
    return timeline->frame_count - 1;
}

bool timeline_weigh(const struct timeline *timeline, size_t row, const struct vertices *vertices,
                    struct weights *ret)
{
    const size_t states = timeline->schema->state_count;
    const float *shares = timeline->shares + row * states;

    if (!(timeline->elapsed_s[row] > 0))
        return false;
    *ret = (struct weights){ .missing = timeline->missing[row], .over = timeline->over[row] };
    for (size_t i = 0; i < states; i++) {
        if (vertices->of_state[i] == 0)
            ret->left_out += shares[i];
        else
            ret->shares[vertices->of_state[i] - 1] += shares[i];
    }
    return true;
}

void weights_add(struct weights *weights, double *elapsed_s, const struct weights *more,
                 double more_elapsed_s)
{
    const double share = more_elapsed_s > 0 ? more_elapsed_s / (*elapsed_s + more_elapsed_s) : 0;

    for (size_t i = 0; i < VERTICES_MAXIMUM; i++)
        weights->shares[i] += share * (more->shares[i] - weights->shares[i]);
    weights->left_out += share * (more->left_out - weights->left_out);
    weights->missing += share * (more->missing - weights->missing);
    weights->over += share * (more->over - weights->over);
    *elapsed_s += more_elapsed_s;
}
