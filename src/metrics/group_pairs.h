/* Pairs of groups as one number: a thread has a group of two kinds, and the registry of threads
 * stores one number of it. */
#pragma once

#include "ledger/index.h"

struct group_pair {
    uint32_t first, second;
};

/* An all-zero struct is empty. */
struct group_pairs {
    struct group_pair *pairs; /* [count]; freed by group_pairs_release() */
    size_t count, capacity;
    struct index index;
};

/* Finds or adds a pair, and sets *ret to its number, which is valid until group_pairs_clear().
 * Returns CAMP_OK or CAMP_E_NOMEM. */
int group_pairs_find(struct group_pairs *pairs, struct group_pair pair, uint32_t *ret);

void group_pairs_clear(struct group_pairs *pairs);
void group_pairs_release(struct group_pairs *pairs);
