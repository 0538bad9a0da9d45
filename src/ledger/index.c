#include "index.h"

#include <stdlib.h>
#include <string.h>

#define FEWEST_SLOTS 64
/* Largest number of elements. With more, a hash of 32 bits could not reach all slots. */
#define INDEX_MOST (UINT32_MAX / 4)

/* Makes a hash that is not 0, because 0 marks a free slot. */
static uint32_t not_zero(uint64_t hash)
{
    const uint32_t folded = (uint32_t)(hash ^ hash >> 32);

    return folded != 0 ? folded : 1;
}

static uint64_t rotate(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

/* The factor is 2^64 / golden ratio. It spreads consecutive numbers. */
uint32_t index_hash_number(uint64_t number)
{
    return not_zero((number ^ number >> 32) * UINT64_C(0x9e3779b97f4a7c15));
}

static void rounds(uint64_t state[4], int count)
{
    while (count-- > 0) {
        state[0] += state[1];
        state[2] += state[3];
        state[1] = rotate(state[1], 13) ^ state[0];
        state[3] = rotate(state[3], 16) ^ state[2];
        state[0] = rotate(state[0], 32);
        state[2] += state[1];
        state[0] += state[3];
        state[1] = rotate(state[1], 17) ^ state[2];
        state[3] = rotate(state[3], 21) ^ state[0];
        state[2] = rotate(state[2], 32);
    }
}

/* Reads length <= 8 bytes as a little-endian number. */
static uint64_t word_of(const unsigned char *bytes, size_t length)
{
    uint64_t word = 0;

    for (size_t i = 0; i < length; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

uint64_t index_siphash(const uint64_t key[2], const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t state[4] = { key[0] ^ UINT64_C(0x736f6d6570736575),
                          key[1] ^ UINT64_C(0x646f72616e646f6d),
                          key[0] ^ UINT64_C(0x6c7967656e657261),
                          key[1] ^ UINT64_C(0x7465646279746573) };
    bool is_last;

    for (size_t left = length;; left -= 8, at += 8) {
        uint64_t word = word_of(at, left < 8 ? left : 8);

        is_last = left < 8;
        word |= is_last ? (uint64_t)length << 56 : 0;
        state[3] ^= word;
        rounds(state, 2);
        state[0] ^= word;
        if (is_last)
            break;
    }
    state[2] ^= 0xff;
    rounds(state, 4);
    return state[0] ^ state[1] ^ state[2] ^ state[3];
}

/* The key is two addresses, one of this program and one of the C library. The system chooses both
 * at random for each process. */
uint32_t index_hash_bytes(const void *bytes, size_t length)
{
    static const char here;
    const uint64_t key[2] = { (uintptr_t)&here, (uintptr_t)free };

    return not_zero(index_siphash(key, bytes, length));
}

void index_release(struct index *index)
{
    free(index->slots);
    *index = (struct index){ 0 };
}

void index_clear(struct index *index)
{
    if (index->slot_count > 0)
        memset(index->slots, 0, index->slot_count * sizeof *index->slots);
    index->count = 0;
}

/* At most half of the slots are used, so that a search soon ends at a free slot. */
bool index_reserve(struct index *index, size_t count)
{
    struct index larger = { .slot_count = FEWEST_SLOTS };

    if (2 * count <= index->slot_count)
        return true;
    if (count >= INDEX_MOST)
        return false;
    while (larger.slot_count < 2 * count)
        larger.slot_count *= 2;
    larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < index->slot_count; i++) {
        if (index->slots[i].hash != 0)
            index_add(&larger, index->slots[i].hash, index->slots[i].position);
    }
    free(index->slots);
    *index = larger;
    return true;
}

struct index_slot *index_find(const struct index *index, uint32_t hash, index_equal *equal,
                              const void *context, const void *key)
{
    const size_t mask = index->slot_count - 1;

    if (index->count == 0)
        return NULL;
    for (size_t at = hash & mask; index->slots[at].hash != 0; at = (at + 1) & mask) {
        struct index_slot *slot = &index->slots[at];

        if (slot->hash == hash && equal(context, slot->position, key))
            return slot;
    }
    return NULL;
}

void index_add(struct index *index, uint32_t hash, uint32_t position)
{
    const size_t mask = index->slot_count - 1;
    size_t at = hash & mask;

    while (index->slots[at].hash != 0)
        at = (at + 1) & mask;
    index->slots[at] = (struct index_slot){ hash, position };
    index->count++;
}

/* A search ends at a free slot, so later elements move into the slot that becomes free. An element
 * must not move before the slot at which the search for it starts. */
void index_remove(struct index *index, struct index_slot *slot)
{
    const size_t mask = index->slot_count - 1;
    size_t hole = (size_t)(slot - index->slots), at = hole;

    for (at = (at + 1) & mask; index->slots[at].hash != 0; at = (at + 1) & mask) {
        if (((at - index->slots[at].hash) & mask) < ((at - hole) & mask))
            continue;
        index->slots[hole] = index->slots[at];
        hole = at;
    }
    index->slots[hole] = (struct index_slot){ 0 };
    index->count--;
}
