/* Growing arrays, and search in sorted arrays. An array grows to one and a half times the wanted
 * size, so appending an element takes constant time on average. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct array_part {
    void *items; /* address of the pointer to the first element */
    size_t size;
    bool is_zeroed;
};

/* Makes each array of parts[count] large enough for `wanted` elements. Existing elements are kept.
 * If there is no memory, returns false and leaves *capacity unchanged. */
static inline bool arrays_reserve(const struct array_part *parts, size_t count, size_t *capacity,
                                  size_t wanted)
{
    const size_t more = wanted / 2 + 16;
    const size_t grown = wanted <= SIZE_MAX - more ? wanted + more : wanted;

    if (wanted <= *capacity)
        return true;
    for (size_t i = 0; i < count; i++) {
        const size_t size = parts[i].size > 0 ? parts[i].size : 1;
        void *before, *items;

        if (grown > SIZE_MAX / size)
            return false;
        memcpy(&before, parts[i].items, sizeof before);
        items = realloc(before, grown * size);
        if (items == NULL)
            return false;
        memcpy(parts[i].items, &items, sizeof items);
        if (parts[i].is_zeroed)
            memset((char *)items + *capacity * parts[i].size, 0,
                   (grown - *capacity) * parts[i].size);
        /* cppcheck-suppress memleak ; memcpy() has stored the pointer in the caller's variable */
    }
    *capacity = grown;
    return true;
}

/* Inserts a zeroed element at `position` of the array `part`. The elements from `position` on move
 * up by one. Returns false if there is no memory. */
static inline bool array_insert(const struct array_part *part, size_t *count, size_t *capacity,
                                size_t position)
{
    char *items;

    if (!arrays_reserve(part, 1, capacity, *count + 1))
        return false;
    memcpy(&items, part->items, sizeof items);
    items += position * part->size;
    memmove(items + part->size, items, (*count - position) * part->size);
    memset(items, 0, part->size);
    ++*count;
    return true;
}

/* A comparison function as for bsearch(3). */
typedef int array_compare(const void *key, const void *element);

/* Returns the index at which `key` is in the sorted array items[count], or at which it would have
 * to be inserted. */
static inline size_t array_position(const void *key, const void *items, size_t count, size_t size,
                                    array_compare *compare)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare(key, (const char *)items + middle * size) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Like bsearch(3), but `items` may be NULL if `count` is 0. */
#define ARRAY_FIND(key, items, count, compare)                                                     \
    ((count) > 0 ? bsearch(key, items, count, sizeof *(items), compare) : NULL)
#define ARRAY_POSITION(key, items, count, compare)                                                 \
    array_position(key, items, count, sizeof *(items), compare)
#define ARRAY_INSERT(items, count, capacity, position)                                             \
    array_insert(&(const struct array_part)ARRAY(items), &(count), &(capacity), position)

#define ARRAY_RESERVE(items, capacity, wanted) ARRAYS_RESERVE(capacity, wanted, ARRAY(items))
#define ARRAY_RESERVE_ZEROED(items, capacity, wanted)                                              \
    ARRAYS_RESERVE(capacity, wanted, ARRAY_ZEROED(items))

/* Example: ARRAYS_RESERVE(capacity, wanted, ARRAY(a), ARRAY_ROWS(b, width)) makes space for
 * `wanted` values in `a`, and for `wanted` rows of `width` values in `b`. */
#define ARRAYS_RESERVE(capacity, wanted, ...)                                                      \
    arrays_reserve((const struct array_part[]){ __VA_ARGS__ },                                     \
                   ARRAY_COUNT(((const struct array_part[]){ __VA_ARGS__ })), &(capacity), wanted)
#define ARRAY(items) ARRAY_ROWS(items, 1)
#define ARRAY_ZEROED(items) ARRAY_ROWS_ZEROED(items, 1)
#define ARRAY_ROWS(items, width)                                                                   \
    {                                                                                              \
        &(items), (width) * sizeof *(items), false                                                 \
    }
#define ARRAY_ROWS_ZEROED(items, width)                                                            \
    {                                                                                              \
        &(items), (width) * sizeof *(items), true                                                  \
    }
