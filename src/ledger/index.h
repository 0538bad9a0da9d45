/*
 * A hash table (open addressing) from keys to positions in an array of the caller. The table does
 * not store keys: a function of the caller compares them.
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

/* Returns whether the array's element at `position` has this key. `context` is the argument of
 * index_find(). */
typedef bool index_equal(const void *context, uint32_t position, const void *key);

/* Hash functions: index_hash_number() for numbers that the kernel assigns, index_hash_bytes() for
 * texts from other programs. Each process has its own random key for texts, so nobody can prepare
 * texts that all have the same hash. */
uint32_t index_hash_number(uint64_t number);
uint32_t index_hash_bytes(const void *bytes, size_t length);

/* SipHash-2-4 (Aumasson and Bernstein, 2012). */
uint64_t index_siphash(const uint64_t key[2], const void *bytes, size_t length);

void index_release(struct index *index);

/* Makes space for `count` elements in total. If there is no memory, returns false and changes
 * nothing. */
bool index_reserve(struct index *index, size_t count);

void index_clear(struct index *index);

/* Returns the slot of the element with this key, or NULL if there is none. The caller may change
 * slot->position. */
struct index_slot *index_find(const struct index *index, uint32_t hash, index_equal *equal,
                              const void *context, const void *key);

/* Adds an element. index_reserve() must have reserved space for it. */
void index_add(struct index *index, uint32_t hash, uint32_t position);

/* Removes the element of a slot that index_find() returned. */
void index_remove(struct index *index, struct index_slot *slot);
