#include "group_pairs.h"

#include "ledger/array.h"

#include <camp/camp.h>

static bool is_pair(const void *context, uint32_t position, const void *key)
{
    const struct group_pair *pair = &((const struct group_pairs *)context)->pairs[position];
    const struct group_pair *wanted = key;

    return pair->first == wanted->first && pair->second == wanted->second;
}

int group_pairs_find(struct group_pairs *pairs, struct group_pair pair, uint32_t *ret)
{
    const uint32_t hash = index_hash_number((uint64_t)pair.first << 32 | pair.second);
    const struct index_slot *slot = index_find(&pairs->index, hash, is_pair, pairs, &pair);

    if (slot != NULL) {
        *ret = slot->position;
        return CAMP_OK;
    }
    if (!ARRAY_RESERVE(pairs->pairs, pairs->capacity, pairs->count + 1) ||
        !index_reserve(&pairs->index, pairs->count + 1))
        return CAMP_E_NOMEM;
    pairs->pairs[pairs->count] = pair;
    index_add(&pairs->index, hash, (uint32_t)pairs->count);
    *ret = (uint32_t)pairs->count++;
    return CAMP_OK;
}

void group_pairs_clear(struct group_pairs *pairs)
{
    index_clear(&pairs->index);
    pairs->count = 0;
}

void group_pairs_release(struct group_pairs *pairs)
{
    index_release(&pairs->index);
    free(pairs->pairs);
    *pairs = (struct group_pairs){ 0 };
}
