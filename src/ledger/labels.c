#include "labels.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST_SLOTS 64 /* a power of two, as all their numbers are */

/* The values in one piece, each with its NUL. */
struct packed {
    size_t count, length;
    char text[LABELS_MOST * LABELS_VALUE_SIZE];
};

/* A hash table with open addressing; the bytes count the tuples alone. */
static struct {
    const struct labels **slots; /* [slot_count]; NULL: free */
    size_t slot_count, count, bytes;
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

/* False: there is nothing in it. */
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

static size_t hash_of(const char *text, size_t length)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return (size_t)(hash ^ hash >> 32);
}

/* A tuple's text is one piece that begins with its first value. */
static size_t text_length(const struct labels *labels)
{
    const char *last = labels->values[labels->count - 1];

    return (size_t)(last - labels->values[0]) + strlen(last) + 1;
}

static bool is_same(const struct labels *labels, const struct packed *packed)
{
    return labels->count == packed->count && text_length(labels) == packed->length &&
           memcmp(labels->values[0], packed->text, packed->length) == 0;
}

/* The slot of a tuple, or the free one where it belongs. */
static const struct labels **slot_of(const struct packed *packed)
{
    const size_t mask = known.slot_count - 1;
    size_t at = hash_of(packed->text, packed->length) & mask;

    while (known.slots[at] != NULL && !is_same(known.slots[at], packed))
        at = (at + 1) & mask;
    return &known.slots[at];
}

/* Room for one more in at most half of the slots. */
static bool reserve(void)
{
    const size_t count = known.slot_count == 0 ? FEWEST_SLOTS : 2 * known.slot_count;
    const struct labels **slots;

    if (2 * (known.count + 1) <= known.slot_count)
        return true;
    slots = calloc(count, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < known.slot_count; i++) {
        const struct labels *labels = known.slots[i];
        size_t at;

        if (labels == NULL)
            continue;
        at = hash_of(labels->values[0], text_length(labels)) & (count - 1);
        while (slots[at] != NULL)
            at = (at + 1) & (count - 1);
        slots[at] = labels;
    }
    free(known.slots);
    known.slots = slots;
    known.slot_count = count;
    return true;
}

/* NULL: no room. */
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
    known.count++;
    return labels;
}

const struct labels *labels_intern(const char *const *values, size_t count)
{
    const struct labels **slot;
    struct packed packed;

    if (!pack(&packed, values, count) || !reserve())
        return NULL;
    slot = slot_of(&packed);
    if (*slot == NULL)
        *slot = make(&packed);
    return *slot;
}

const char *labels_value(const struct labels *labels, size_t at)
{
    return labels != NULL && at < labels->count ? labels->values[at] : "";
}
