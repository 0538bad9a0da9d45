/*
 * A hash table with open addressing, which finds the position of an element in an array by its key.
 * The index holds only positions. The array and its keys belong to the caller, who also gives the
 * function that compares keys.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_slot {
    uint32_t hash; /* 0 if the slot is free */
    uint32_t position;
};

/* An empty index is all zero. */
struct index {
    struct index_slot *slots; /* [slot_count], a power of two; freed by index_release() */
    size_t slot_count, count;
};

/* Returns whether the element at `position` has this key. `context` gives access to the array. */
typedef bool index_equal(const void *context, uint32_t position, const void *key);

/* Hash functions for numbers that the kernel assigns, and for texts from other programs. Each
 * process hashes texts with another key, so nobody can write input whose texts all have the same
 * hash. */
uint32_t index_hash_number(uint64_t number);
uint32_t index_hash_bytes(const void *bytes, size_t length);

/* SipHash-2-4 by J.-P. Aumasson and D. J. Bernstein (2012), which index_hash_bytes() uses. */
uint64_t index_siphash(const uint64_t key[2], const void *bytes, size_t length);

void index_release(struct index *index);

/* Reserves space for `count` elements in total. Returns false if there is no memory; the index then
 * does not change. */
bool index_reserve(struct index *index, size_t count);

void index_clear(struct index *index);

/* Returns the slot of the element with this key, or NULL if there is none. The caller may change
 * the position in the slot. */
struct index_slot *index_find(const struct index *index, uint32_t hash, index_equal *equal,
                              const void *context, const void *key);

/* Adds an element. index_reserve() must have reserved space for it. */
void index_add(struct index *index, uint32_t hash, uint32_t position);

/* Removes the element of a slot that index_find() returned. */
void index_remove(struct index *index, struct index_slot *slot);
