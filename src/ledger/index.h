/*
 * An index: where in an array the element with some key is. A hash table with open addressing that
 * holds positions alone: the array and its keys belong to the caller, whose function compares keys.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_slot {
    uint32_t hash;     /* 0: free */
    uint32_t position; /* of the element in the array */
};

/* All zero is an empty index. */
struct index {
    struct index_slot *slots; /* [slot_count], a power of two; owned: index_release() */
    size_t slot_count, count;
};

/* Has the element at `position` of the array in `context` this key? */
typedef bool index_equal(const void *context, uint32_t position, const void *key);

/* Hashes of numbers that the kernel assigns, and of texts that come from elsewhere. Hashes of texts
 * differ from process to process, so that nobody can write input whose keys all collide. */
uint32_t index_hash_number(uint64_t number);
uint32_t index_hash_bytes(const void *bytes, size_t length);

/* SipHash-2-4, by J.-P. Aumasson and D. J. Bernstein (2012), which index_hash_bytes() uses. */
uint64_t index_siphash(const uint64_t key[2], const void *bytes, size_t length);

void index_release(struct index *index);

/* Reserves space for `count` elements in total. False: no memory, and the index stays as it is. */
bool index_reserve(struct index *index, size_t count);

/* Removes all elements, and keeps the space. */
void index_clear(struct index *index);

/* The slot of the element with this key, in which the caller may change the position; NULL: there
 * is none. */
struct index_slot *index_find(const struct index *index, uint32_t hash, index_equal *equal,
                              const void *context, const void *key);

/* Adds an element, for which space is reserved. */
void index_add(struct index *index, uint32_t hash, uint32_t position);

/* Removes an element. `slot` is one that index_find() returned. */
void index_remove(struct index *index, struct index_slot *slot);
