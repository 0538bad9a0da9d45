/* Arrays that grow, to half more than is wanted, so that appending an element takes constant time
 * on average; and search in sorted arrays. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* One array of several that have a common capacity. */
struct array_part {
    void *items;    /* the address of the pointer to the first element */
    size_t size;    /* of an element, in bytes */
    bool is_zeroed; /* new elements are zeroed */
};

/* Reserves space for `wanted` elements in the arrays of parts[count], and keeps their elements.
 * False: no memory; the arrays keep their elements, and *capacity stays. */
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

/* Adds a zeroed element at `position` of the array of `part`; those behind it move up. False: no
 * memory. */
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

/* Returns a number below 0, 0 or above 0, as for bsearch(3). */
typedef int array_compare(const void *key, const void *element);

/* The position of the first of the sorted items[count] that is not before `key`: where a missing
 * element would be inserted. */
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

/* bsearch(3) with the size of an element; `items` may be NULL when `count` is 0. */
#define ARRAY_FIND(key, items, count, compare)                                                     \
    ((count) > 0 ? bsearch(key, items, count, sizeof *(items), compare) : NULL)
#define ARRAY_POSITION(key, items, count, compare)                                                 \
    array_position(key, items, count, sizeof *(items), compare)
#define ARRAY_INSERT(items, count, capacity, position)                                             \
    array_insert(&(const struct array_part)ARRAY(items), &(count), &(capacity), position)

/* Reserve space in the array `items` alone; ZEROED: new elements are zeroed. */
#define ARRAY_RESERVE(items, capacity, wanted) ARRAYS_RESERVE(capacity, wanted, ARRAY(items))
#define ARRAY_RESERVE_ZEROED(items, capacity, wanted)                                              \
    ARRAYS_RESERVE(capacity, wanted, ARRAY_ZEROED(items))

/* Space in several arrays: ARRAYS_RESERVE(capacity, wanted, ARRAY(a), ARRAY_ROWS(b, width)),
 * where each element of b is `width` values in a row. */
#define ARRAYS_RESERVE(capacity, wanted, ...)                                                      \
    arrays_reserve((const struct array_part[]){ __VA_ARGS__ },                                     \
                   ARRAY_COUNT(((const struct array_part[]){ __VA_ARGS__ })), &(capacity), wanted)
#define ARRAY(items) ARRAY_ROWS(items, 1)
#define ARRAY_ZEROED(items)                                                                        \
    {                                                                                              \
        &(items), sizeof *(items), true                                                            \
    }
#define ARRAY_ROWS(items, width)                                                                   \
    {                                                                                              \
        &(items), (width) * sizeof *(items), false                                                 \
    }
