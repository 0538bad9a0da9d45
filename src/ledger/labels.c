#include "labels.h"

#include "array.h"
#include "index.h"

#include <stdlib.h>
#include <string.h>

/* A number has the index of the tuple's slot in its lowest bits, and above them a count that makes
 * it unique: 40 bits last for ten years at 3,000 new tuples a second. */
#define SLOT_BITS 24
#define SLOTS_MOST ((size_t)1 << SLOT_BITS)

/* The values of a tuple in one text, each followed by a NUL. */
struct packed {
    size_t count, length;
    char text[LABELS_MOST * LABELS_VALUE_SIZE];
};

struct tuple {
    size_t count, bytes;
    const char *values[]; /* [count] */
};

struct slot {
    struct tuple *tuple; /* NULL if the slot is free */
    labels_id number;
    uint64_t used; /* the last interval in which the tuple was used; UINT64_MAX if it is kept */
    uint32_t hash;
};

struct labels_store {
    struct slot *slots; /* [count] */
    uint32_t *spare;    /* [spare_count] free slots */
    size_t count, capacity, spare_count;
    size_t bytes, most_bytes;
    uint64_t made, interval;
    struct index index;
};

static struct labels_store usual = { .most_bytes = LABELS_BYTES };
static _Thread_local struct labels_store *used; /* NULL: the usual store */

static struct labels_store *store_of_thread(void)
{
    return used != NULL ? used : &usual;
}

void labels_use_store(struct labels_store *store)
{
    used = store;
}

struct labels_store *labels_store_open(size_t bytes)
{
    struct labels_store *store = calloc(1, sizeof *store);

    if (store != NULL)
        store->most_bytes = bytes;
    return store;
}

void labels_store_close(struct labels_store *store)
{
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->count; i++)
        free(store->slots[i].tuple);
    free(store->slots);
    free(store->spare);
    index_release(&store->index);
    free(store);
}

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
static size_t text_length(const struct tuple *tuple)
{
    const char *last = tuple->values[tuple->count - 1];

    return (size_t)(last - tuple->values[0]) + strlen(last) + 1;
}

static bool is_same(const void *context, uint32_t position, const void *key)
{
    const struct labels_store *store = context;
    const struct tuple *tuple = store->slots[position].tuple;
    const struct packed *packed = key;

    return tuple->count == packed->count && text_length(tuple) == packed->length &&
           memcmp(tuple->values[0], packed->text, packed->length) == 0;
}

static struct tuple *make(struct labels_store *store, const struct packed *packed)
{
    const size_t head = sizeof(struct tuple) + packed->count * sizeof(char *);
    struct tuple *tuple;
    char *text;

    if (store->bytes + head + packed->length > store->most_bytes)
        return NULL;
    tuple = malloc(head + packed->length);
    if (tuple == NULL)
        return NULL;
    text = (char *)tuple + head;
    memcpy(text, packed->text, packed->length);
    tuple->count = packed->count;
    tuple->bytes = head + packed->length;
    for (size_t i = 0; i < packed->count; i++) {
        tuple->values[i] = text;
        text += strlen(text) + 1;
    }
    store->bytes += tuple->bytes;
    return tuple;
}

static bool reserve(struct labels_store *store)
{
    return store->spare_count > 0 || (store->count < SLOTS_MOST &&
                                      ARRAYS_RESERVE(store->capacity, store->count + 1,
                                                     ARRAY(store->slots), ARRAY(store->spare)) &&
                                      index_reserve(&store->index, store->count + 1));
}

static labels_id add(struct labels_store *store, const struct packed *packed, uint32_t hash)
{
    struct tuple *tuple = reserve(store) ? make(store, packed) : NULL;
    uint32_t at;

    if (tuple == NULL)
        return LABELS_LOST;
    at = store->spare_count > 0 ? store->spare[--store->spare_count] : (uint32_t)store->count++;
    store->slots[at] = (struct slot){
        .tuple = tuple,
        .number = ++store->made << SLOT_BITS | at,
        .used = store->interval,
        .hash = hash,
    };
    index_add(&store->index, hash, at);
    return store->slots[at].number;
}

static void use(const struct labels_store *store, struct slot *slot)
{
    if (slot->used != UINT64_MAX)
        slot->used = store->interval;
}

labels_id labels_intern(const char *const *values, size_t count)
{
    struct labels_store *store = store_of_thread();
    const struct index_slot *found;
    struct packed packed;
    uint32_t hash;

    if (!pack(&packed, values, count))
        return LABELS_NONE;
    hash = index_hash_bytes(packed.text, packed.length);
    found = index_find(&store->index, hash, is_same, store, &packed);
    if (found == NULL)
        return add(store, &packed, hash);
    use(store, &store->slots[found->position]);
    return store->slots[found->position].number;
}

labels_id labels_replace(labels_id labels, size_t count, size_t first, const char *const *texts,
                         size_t text_count)
{
    const char *values[LABELS_MOST] = { NULL };

    for (size_t i = 0; i < count && i < LABELS_MOST; i++) {
        const char *text = i >= first && i - first < text_count ? texts[i - first] : NULL;

        values[i] = text != NULL ? text : labels_value(labels, i);
    }
    return labels_intern(values, count);
}

/* Returns NULL if there are no labels, or if they were freed. */
static struct slot *slot_of(labels_id labels)
{
    struct labels_store *store = store_of_thread();
    const size_t at = labels & (SLOTS_MOST - 1);

    if (labels == LABELS_NONE || at >= store->count || store->slots[at].number != labels ||
        store->slots[at].tuple == NULL)
        return NULL;
    use(store, &store->slots[at]);
    return &store->slots[at];
}

const char *labels_value(labels_id labels, size_t at)
{
    const struct slot *slot = slot_of(labels);

    return slot != NULL && at < slot->tuple->count ? slot->tuple->values[at] : "";
}

size_t labels_count(labels_id labels)
{
    const struct slot *slot = slot_of(labels);

    return slot != NULL ? slot->tuple->count : 0;
}

labels_id labels_keep(labels_id labels)
{
    struct slot *slot = slot_of(labels);

    if (slot != NULL)
        slot->used = UINT64_MAX;
    return labels;
}

/* Frees the tuples that were last used before the interval `since`. The index only grows, so it has
 * space for the others. */
static void free_unused(struct labels_store *store, uint64_t since)
{
    index_clear(&store->index);
    for (size_t i = 0; i < store->count; i++) {
        struct slot *slot = &store->slots[i];

        if (slot->tuple == NULL)
            continue;
        if (slot->used >= since) {
            index_add(&store->index, slot->hash, (uint32_t)i);
            continue;
        }
        store->bytes -= slot->tuple->bytes;
        free(slot->tuple);
        slot->tuple = NULL;
        store->spare[store->spare_count++] = (uint32_t)i;
    }
}

void labels_start_interval(void)
{
    struct labels_store *store = store_of_thread();

    store->interval++;
    if (store->bytes > store->most_bytes / 4 && store->interval > 2)
        free_unused(store, store->interval - 2);
}
