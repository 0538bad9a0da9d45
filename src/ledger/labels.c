#include "labels.h"

#include "array.h"
#include "index.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The values of a tuple in one text, each followed by a NUL. */
struct packed {
    size_t count, length;
    char text[LABELS_MOST * LABELS_VALUE_SIZE];
};

static struct {
    const struct labels **tuples; /* [count] */
    size_t count, capacity;
    size_t bytes;
    struct index index;
} known;

static size_t whole_length(const char *text)
{
    size_t length = strnlen(text, LABELS_VALUE_SIZE);

    if (length < LABELS_VALUE_SIZE)
        return length;
    length--;
    for (size_t back = 0; back < 3 && ((unsigned char)text[length] & 0xc0) == 0x80; back++)
        length--;
    return length;
}

static bool pack(struct packed *packed, const char *const *values, size_t count)
{
    bool any = false;

    packed->count = count < LABELS_MOST ? count : LABELS_MOST;
    packed->length = 0;
    for (size_t i = 0; i < packed->count; i++) {
        const char *value = values[i] != NULL ? values[i] : "";
        const size_t length = whole_length(value);

        memcpy(packed->text + packed->length, value, length);
        packed->text[packed->length + length] = '\0';
        packed->length += length + 1;
        any = any || length > 0;
    }
    return any;
}

/* Returns the length of a tuple's values, which make() stored one after the other. */
static size_t text_length(const struct labels *labels)
{
    const char *last = labels->values[labels->count - 1];

    return (size_t)(last - labels->values[0]) + strlen(last) + 1;
}

static bool is_same(const void *context, uint32_t position, const void *key)
{
    const struct labels *labels = known.tuples[position];
    const struct packed *packed = key;

    (void)context;
    return labels->count == packed->count && text_length(labels) == packed->length &&
           memcmp(labels->values[0], packed->text, packed->length) == 0;
}

static const struct labels *make(const struct packed *packed)
{
    const size_t head = sizeof(struct labels) + packed->count * sizeof(char *);
    struct labels *labels;
    char *text;

    if (known.bytes + head + packed->length > LABELS_BYTES)
        return NULL;
    labels = malloc(head + packed->length);
    if (labels == NULL)
        return NULL;
    text = (char *)labels + head;
    memcpy(text, packed->text, packed->length);
    labels->count = packed->count;
    for (size_t i = 0; i < packed->count; i++) {
        labels->values[i] = text;
        text += strlen(text) + 1;
    }
    known.bytes += head + packed->length;
    return labels;
}

const struct labels *labels_intern(const char *const *values, size_t count)
{
    const struct labels *labels;
    const struct index_slot *slot;
    struct packed packed;
    uint32_t hash;

    if (!pack(&packed, values, count))
        return NULL;
    hash = index_hash_bytes(packed.text, packed.length);
    slot = index_find(&known.index, hash, is_same, NULL, &packed);
    if (slot != NULL)
        return known.tuples[slot->position];
    if (!ARRAY_RESERVE(known.tuples, known.capacity, known.count + 1) ||
        !index_reserve(&known.index, known.count + 1))
        return NULL;
    labels = make(&packed);
    if (labels != NULL) {
        index_add(&known.index, hash, (uint32_t)known.count);
        known.tuples[known.count++] = labels;
    }
    return labels;
}

const char *labels_value(const struct labels *labels, size_t at)
{
    return labels != NULL && at < labels->count ? labels->values[at] : "";
}
