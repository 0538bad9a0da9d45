#include "stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counters/units.h"
#include "ledger/array.h"
#include "stream_block.h"

/* Larger shares fit into 16 bits only after the unit is doubled. */
#define SHARE_MAXIMUM 1.3
#define ELAPSED_BITS 11 /* elapsed times are rounded to this many binary digits */
/* More doublings would make the shares of all rows coarse because of one outlier. Shares that are
 * still too large are clipped. */
#define DOUBLINGS_MAXIMUM 4u
#define CROWD 65536 /* entities expire only if there are at least this many */

enum { ROW_NEW = 1, ROW_ENDED = 2 };

int stream_init(struct stream *ret, const struct schema *schema)
{
    if (schema->state_count > STREAM_STATES_MAXIMUM)
        return CAMP_E_INVALID;
    *ret = (struct stream){ .schema = schema };
    return CAMP_OK;
}

void stream_release(struct stream *stream)
{
    registry_release(&stream->registry);
    free(stream->known);
    free(stream->shares);
    free(stream->now.numbers);
    free(stream->now.rows);
    free(stream->now.elapsed_ns);
    free(stream->now.values);
    free(stream->now.shares);
    free(stream->changed.numbers);
    free(stream->chosen.numbers);
    free(stream->gone.numbers);
    free(stream->present.numbers);
    free(stream->leaving.numbers);
    *stream = (struct stream){ .schema = stream->schema };
}

void stream_request_key(struct stream *stream)
{
    stream->since_key = 0;
}

void stream_expire(struct stream *stream, uint64_t since)
{
    struct registry *registry = &stream->registry;

    if (registry->count - registry->spare_count < (stream->crowd > CROWD ? stream->crowd : CROWD))
        return;
    for (size_t i = 0; i < stream->present.count; i++) {
        if (stream->known[stream->present.numbers[i]].is_present)
            registry_see(registry, stream->present.numbers[i]);
    }
    registry_expire(registry, since);
    stream->crowd = 2 * (registry->count - registry->spare_count);
}

static bool append(struct stream_numbers *list, size_t number)
{
    if (!ARRAY_RESERVE(list->numbers, list->capacity, list->count + 1))
        return false;
    list->numbers[list->count++] = (uint32_t)number;
    return true;
}

static bool reserve_now(struct stream *stream, size_t count)
{
    const size_t states = stream->schema->state_count;
    struct stream_now *now = &stream->now;

    return ARRAYS_RESERVE(now->capacity, count, ARRAY(now->numbers), ARRAY(now->rows),
                          ARRAY(now->elapsed_ns), ARRAY_ROWS(now->values, states),
                          ARRAY_ROWS(now->shares, states));
}

static bool reserve_known(struct stream *stream)
{
    const size_t states = stream->schema->state_count;

    return ARRAYS_RESERVE(stream->capacity, stream->registry.count, ARRAY_ZEROED(stream->known),
                          ARRAY_ROWS(stream->shares, states));
}

/* Returns the index of the entity's row in the current frame. The row is added if there is none
 * yet. */
static size_t row_of(struct stream *stream, uint32_t number)
{
    const size_t states = stream->schema->state_count;
    struct stream_now *now = &stream->now;
    struct stream_known *known = &stream->known[number];

    if (known->now < now->count && now->numbers[known->now] == number)
        return known->now;
    known->now = (uint32_t)now->count;
    now->numbers[now->count] = number;
    now->rows[now->count] = (struct stream_row){ .is_idle = true };
    now->elapsed_ns[now->count] = 0;
    for (size_t i = 0; i < states; i++)
        now->values[now->count * states + i] = 0;
    return now->count++;
}

static bool has_row(const struct stream *stream, uint32_t number)
{
    const uint32_t row = stream->known[number].now;

    return row < stream->now.count && stream->now.numbers[row] == number;
}

/* Returns whether the entity stayed in one state for the whole interval, within 1 %. Later frames
 * may omit such an entity, and then this row stands for those intervals, too. So its elapsed time
 * is set to the whole interval. */
static bool is_idle(const struct frame *frame, size_t entity)
{
    return frame->only_states[entity] != 0 &&
           (frame->entities[entity].flags & (ENTITY_NEW | ENTITY_ENDED)) == 0 &&
           frame_times(frame->elapsed_ns[entity], frame->end_ns - frame->start_ns) == 1;
}

/* Adds an entity to its row in the current frame. If two entities of the frame have the same
 * number, because the number was reused, the row is their sum. */
static void add_row(struct stream *stream, const struct frame *frame, size_t entity,
                    uint32_t number)
{
    const size_t states = stream->schema->state_count;
    const uint64_t *values = frame_values(frame, entity);
    const uint32_t flags = frame->entities[entity].flags;
    struct stream_now *now = &stream->now;
    const size_t row = row_of(stream, number);

    if (is_idle(frame, entity)) {
        const double whole_ns = (double)(frame->end_ns - frame->start_ns);

        now->elapsed_ns[row] += whole_ns;
        now->values[row * states + frame->only_states[entity] - 1] += whole_ns;
        return;
    }
    now->rows[row].is_idle = false;
    now->rows[row].flags |= (uint16_t)(((flags & ENTITY_NEW) != 0 ? ROW_NEW : 0) |
                                       ((flags & ENTITY_ENDED) != 0 ? ROW_ENDED : 0));
    now->elapsed_ns[row] += (double)frame->elapsed_ns[entity];
    for (size_t i = 0; i < states; i++)
        now->values[row * states + i] += (double)values[i];
}

/* Lists the entities of the rows with ENTITY_GONE. This is done before all other rows, because a
 * new entity may have the same id. */
static bool list_leaving(struct stream *stream, const struct frame *frame)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        const uint32_t number = (frame->entities[i].flags & ENTITY_GONE) != 0
                                    ? registry_find(&stream->registry, &frame->entities[i])
                                    : REGISTRY_NONE;

        if (number != REGISTRY_NONE && !append(&stream->leaving, number))
            return false;
    }
    return true;
}

static bool gather(struct stream *stream, const struct frame *frame)
{
    enum registry_match match;
    uint32_t number;

    if (!reserve_now(stream, frame->entity_count) || !list_leaving(stream, frame))
        return false;
    stream->now.count = 0;
    stream->changed.count = 0;
    registry_start_frame(&stream->registry);
    for (size_t i = 0; i < frame->entity_count; i++) {
        if ((frame->entities[i].flags & ENTITY_GONE) != 0)
            continue;
        if (registry_enter(&stream->registry, &frame->entities[i], &number, &match) != CAMP_OK ||
            !reserve_known(stream) ||
            (match != REGISTRY_KNOWN && !append(&stream->changed, number)))
            return false;
        add_row(stream, frame, i, number);
    }
    return true;
}

/* Rounds an elapsed time, given in intervals, to ELAPSED_BITS binary digits. The precision is
 * relative, because a group may have thousands of intervals, and a new process only a small part of
 * an interval. Whole numbers up to 2048 stay exact. */
static float rounded_elapsed(double elapsed)
{
    int exponent;
    double fraction = frexp(elapsed, &exponent);

    return (float)ldexp(nearbyint(ldexp(fraction, ELAPSED_BITS)), exponent - ELAPSED_BITS);
}

static float unaccounted_of(const struct stream *stream, size_t row)
{
    const size_t states = stream->schema->state_count;
    const double *values = stream->now.values + row * states;
    const double elapsed_ns = stream->now.elapsed_ns[row];
    double sum_ns = 0;

    for (size_t i = 0; i < states; i++)
        sum_ns += values[i];
    if (!(elapsed_ns > 0))
        return sum_ns > 0 ? -1 : 0;
    return (float)(nearbyint((elapsed_ns - sum_ns) / elapsed_ns * SHARE_UNITS) / SHARE_UNITS);
}

static double greatest_share(const struct stream *stream)
{
    const size_t states = stream->schema->state_count;
    double greatest = 0;

    for (size_t row = 0; row < stream->now.count; row++) {
        for (size_t i = 0; stream->now.elapsed_ns[row] > 0 && i < states; i++) {
            const double share = stream->now.values[row * states + i] / stream->now.elapsed_ns[row];

            greatest = share > greatest ? share : greatest;
        }
    }
    return greatest;
}

static unsigned doublings_for(double share)
{
    unsigned doublings = 0;

    while (share > SHARE_MAXIMUM && doublings < DOUBLINGS_MAXIMUM) {
        share /= 2;
        doublings++;
    }
    return doublings;
}

static void round_rows(struct stream *stream, double interval_ns)
{
    const size_t states = stream->schema->state_count;
    const double units = SHARE_UNITS / (double)(1u << stream->doublings);
    struct stream_now *now = &stream->now;

    for (size_t row = 0; row < now->count; row++) {
        const double elapsed_ns = now->elapsed_ns[row];

        now->rows[row].elapsed = rounded_elapsed(elapsed_ns / interval_ns);
        now->rows[row].unaccounted = unaccounted_of(stream, row);
        for (size_t i = 0; i < states; i++) {
            const double share =
                elapsed_ns > 0 ? now->values[row * states + i] / elapsed_ns * units : 0;

            now->shares[row * states + i] =
                share < UINT16_MAX ? (uint16_t)lround(share) : UINT16_MAX;
        }
    }
}

/* Returns true if the row equals the row last sent for the entity. After a row with ROW_ENDED,
 * readers forget the entity, so its next row counts as changed. */
static bool is_unchanged(const struct stream *stream, size_t row)
{
    const size_t states = stream->schema->state_count;
    const uint32_t number = stream->now.numbers[row];
    const struct stream_known *known = &stream->known[number];
    const struct stream_row *now = &stream->now.rows[row];

    return known->is_present && (known->row.flags & ROW_ENDED) == 0 &&
           known->row.flags == now->flags && !(known->row.elapsed < now->elapsed) &&
           !(known->row.elapsed > now->elapsed) && !(known->row.unaccounted < now->unaccounted) &&
           !(known->row.unaccounted > now->unaccounted) &&
           memcmp(stream->shares + number * states, stream->now.shares + row * states,
                  states * sizeof *stream->shares) == 0;
}

/* An entity leaves if it has no row in this frame. Readers already forget an entity after a row
 * with ROW_ENDED. */
static bool leave(struct stream *stream, uint32_t number, bool is_key)
{
    struct stream_known *known = &stream->known[number];

    if (!known->is_present || has_row(stream, number))
        return true;
    known->is_present = false;
    return is_key || (known->row.flags & ROW_ENDED) != 0 || append(&stream->gone, number);
}

/* Sets stream->gone to the entities that readers must forget. A frame can omit only entities that
 * were idle. */
static bool find_gone(struct stream *stream, const struct frame *frame, bool is_key)
{
    const struct stream_numbers *list = frame->omitted > 0 ? &stream->leaving : &stream->present;

    stream->gone.count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!leave(stream, list->numbers[i], is_key))
            return false;
    }
    return true;
}

/* Adds the last row of each entity that the frame omits. The entity is idle, so it has the whole
 * interval in one state. */
static bool restore_omitted(struct stream *stream, double interval_ns)
{
    const size_t states = stream->schema->state_count;

    if (!reserve_now(stream, stream->now.count + stream->present.count))
        return false;
    for (size_t i = 0; i < stream->present.count; i++) {
        const uint32_t number = stream->present.numbers[i];
        const uint16_t *shares = stream->shares + number * states;
        size_t row;

        if (!stream->known[number].is_present || has_row(stream, number))
            continue;
        row = row_of(stream, number);
        stream->now.elapsed_ns[row] = interval_ns;
        for (size_t state = 0; state < states; state++)
            stream->now.values[row * states + state] = shares[state] > 0 ? interval_ns : 0;
    }
    return true;
}

/* Sets stream->chosen to the rows to send. */
static bool choose(struct stream *stream, bool is_key)
{
    stream->chosen.count = 0;
    for (size_t row = 0; row < stream->now.count; row++) {
        if ((is_key || !is_unchanged(stream, row)) && !append(&stream->chosen, row))
            return false;
    }
    return true;
}

/* Empties stream->present if the frame has a row for each entity that is there. */
static void start_present(struct stream *stream, bool is_whole)
{
    for (size_t i = 0; is_whole && i < stream->present.count; i++)
        stream->known[stream->present.numbers[i]].is_listed = false;
    if (is_whole)
        stream->present.count = 0;
}

static bool remember(struct stream *stream, bool is_whole)
{
    const size_t states = stream->schema->state_count;

    start_present(stream, is_whole);
    stream->leaving.count = 0;
    for (size_t row = 0; row < stream->now.count; row++) {
        const uint32_t number = stream->now.numbers[row];
        struct stream_known *known = &stream->known[number];

        if ((!known->is_listed && !append(&stream->present, number)) ||
            (!stream->now.rows[row].is_idle && !append(&stream->leaving, number)))
            return false;
        known->is_listed = known->is_present = true;
        known->row = stream->now.rows[row];
        memcpy(stream->shares + number * states, stream->now.shares + row * states,
               states * sizeof *stream->shares);
    }
    return true;
}

int stream_frame_note(struct stream *stream, const struct frame *frame, struct bytes *out)
{
    const char *note = frame->note != NULL ? frame->note : "";
    const time_t end = (time_t)(frame->wall_clock_ns / (int64_t)NS_PER_S);
    char text[sizeof stream->note + 16];
    struct tm local;

    if (strncmp(note, stream->note, sizeof stream->note - 1) == 0)
        return CAMP_OK;
    snprintf(stream->note, sizeof stream->note, "%s", note);
    if (note[0] == '\0')
        return CAMP_OK;
    strftime(text, sizeof text, "%H:%M:%S: ", localtime_r(&end, &local));
    strcat(text, stream->note);
    return stream_note(text, out);
}

void stream_set_cpus(struct stream *stream, struct shared_cpus cpus)
{
    stream->cpus = cpus;
}

static bool are_same(const struct shared_cpus *a, const struct shared_cpus *b)
{
    return a->count == b->count && a->has_others == b->has_others && a->full == b->full &&
           a->first_full == b->first_full;
}

static int put_cpus(struct stream *stream, bool is_key, struct bytes *out)
{
    if (are_same(&stream->cpus, &stream->cpus_sent) && !(is_key && stream->cpus.count > 0))
        return CAMP_OK;
    stream->cpus_sent = stream->cpus;
    return stream_cpus_block(&stream->cpus, out);
}

int stream_frame(struct stream *stream, const struct frame *frame, struct bytes *out,
                 bool *ret_is_key)
{
    const uint64_t length_ns = frame->end_ns - frame->start_ns;
    const double interval_ns = length_ns > 0 ? (double)length_ns : 1;
    unsigned doublings;
    bool is_key;

    if (!gather(stream, frame))
        return CAMP_E_NOMEM;
    doublings = doublings_for(greatest_share(stream));
    is_key = stream->since_key % STREAM_KEY_EVERY == 0 || doublings != stream->doublings;
    stream->doublings = doublings;
    if (!find_gone(stream, frame, is_key) ||
        (is_key && frame->omitted > 0 && !restore_omitted(stream, interval_ns)))
        return CAMP_E_NOMEM;
    round_rows(stream, interval_ns);
    if (!choose(stream, is_key) || !remember(stream, is_key || frame->omitted == 0) ||
        put_cpus(stream, is_key, out) != CAMP_OK ||
        stream_entities_numbered(stream, &stream->changed, out) != CAMP_OK ||
        stream_put_frame(stream, frame, is_key, out) != CAMP_OK)
        return CAMP_E_NOMEM;
    stream->since_key = is_key ? 1 : stream->since_key + 1;
    *ret_is_key = is_key;
    return CAMP_OK;
}
