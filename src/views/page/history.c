#include "history.h"

#include <camp/camp.h>

#include <stdlib.h>
#include <string.h>

#define KEYS_WITHIN_LIMIT 4u

struct piece {
    struct piece *next;
    uint64_t number; /* number of the piece among all pieces, from 1 */
    uint64_t frame;  /* number of the newest frame up to this piece */
    uint64_t time_ns;
    size_t size;
    unsigned holders; /* number of readers at this piece, plus 1 while the piece is in the list */
    bool is_key, is_dropped;
    uint8_t data[];
};

static void let_go(struct piece *piece)
{
    if (piece != NULL && --piece->holders == 0)
        free(piece);
}

static void drop_first(struct history *history)
{
    struct piece *piece = history->first;

    history->first = piece->next;
    if (history->first == NULL)
        history->last = NULL;
    history->bytes -= piece->size;
    piece->is_dropped = true;
    let_go(piece);
}

void history_release(struct history *history)
{
    while (history->first != NULL)
        drop_first(history);
}

static struct piece *second_key(const struct history *history)
{
    struct piece *piece = history->first;

    do {
        piece = piece->next;
    } while (piece != NULL && !piece->is_key);
    return piece;
}

/* Returns true if the pieces before `key` may be dropped. This is so if limits->bytes is exceeded,
 * or if the remaining pieces are enough for limits->frames and limits->time_ns. */
static bool may_drop_until(const struct history *history, const struct piece *key)
{
    const struct history_limits *limits = &history->limits;
    const struct piece *last = history->last;

    if (limits->bytes != 0 && history->bytes > limits->bytes)
        return true;
    if (limits->frames == 0 && limits->time_ns == 0)
        return false;
    return (limits->frames == 0 || last->frame - key->frame + 1 >= limits->frames) &&
           (limits->time_ns == 0 || last->time_ns - key->time_ns >= limits->time_ns);
}

static void trim(struct history *history)
{
    const struct piece *key = second_key(history);

    while (key != NULL && may_drop_until(history, key)) {
        while (history->first != key)
            drop_first(history);
        key = second_key(history);
    }
}

int history_append(struct history *history, const uint8_t *data, size_t size, bool is_key,
                   uint64_t time_ns)
{
    struct piece *piece = malloc(sizeof *piece + size);
    const struct piece *last = history->last;

    if (piece == NULL)
        return CAMP_E_NOMEM;
    *piece = (struct piece){
        .number = ++history->count,
        .frame = (last != NULL ? last->frame : 0) + (time_ns != 0),
        .time_ns = time_ns != 0   ? time_ns
                   : last != NULL ? last->time_ns
                                  : 0,
        .size = size,
        .holders = 1,
        .is_key = is_key,
    };
    memcpy(piece->data, data, size);
    if (last != NULL)
        history->last->next = piece;
    else
        history->first = piece;
    history->last = piece;
    history->bytes += size;
    history->since_key = is_key ? size : history->since_key + size;
    if (is_key || (history->limits.bytes != 0 && history->bytes > history->limits.bytes))
        trim(history);
    return CAMP_OK;
}

bool history_wants_key(const struct history *history)
{
    return history->limits.bytes != 0 &&
           history->since_key > history->limits.bytes / KEYS_WITHIN_LIMIT;
}

uint64_t history_oldest_frame(const struct history *history)
{
    return history->first != NULL ? history->first->frame : 0;
}

void history_reader_start(const struct history *history, struct history_reader *reader)
{
    history_reader_release(reader);
    reader->at = history->first;
    if (reader->at != NULL)
        reader->at->holders++;
}

void history_reader_release(struct history_reader *reader)
{
    let_go(reader->at);
    *reader = (struct history_reader){ 0 };
}

/* Returns the piece after `at`. NULL means that there is no next piece yet or, if *ret_gap is set,
 * that the next piece was dropped. */
static struct piece *next_of(const struct history *history, const struct piece *at, bool *ret_gap)
{
    if (!at->is_dropped)
        return at->next;
    if (history->first == NULL || history->first->number == at->number + 1)
        return history->first;
    *ret_gap = true;
    return NULL;
}

size_t history_read(const struct history *history, struct history_reader *reader, void *ret,
                    size_t capacity, bool *ret_gap)
{
    struct piece *next;
    size_t count;

    *ret_gap = false;
    if (reader->at == NULL)
        history_reader_start(history, reader);
    if (reader->at == NULL)
        return 0;
    if (reader->offset == reader->at->size) {
        next = next_of(history, reader->at, ret_gap);
        if (next == NULL)
            return 0;
        next->holders++;
        let_go(reader->at);
        *reader = (struct history_reader){ next, 0 };
    }
    count = reader->at->size - reader->offset;
    if (count > capacity)
        count = capacity;
    memcpy(ret, reader->at->data + reader->offset, count);
    reader->offset += count;
    return count;
}
