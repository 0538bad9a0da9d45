/* How long the waits of a group last: how many there are of each length, their sum, and the
 * longest. */
#pragma once

#include "../culprits_layout.h"
#include "account_map.bpf.h"
#include "logarithm.bpf.h"

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, GROUPS_MAX);
    __type(key, uint32_t);
    __type(value, struct distributions);
} distributions_of_groups SEC(".maps");

static __always_inline void distribute(uint32_t group, uint64_t state, uint64_t ns, int32_t tid,
                                       uint64_t now)
{
    struct distributions *distributions = bpf_map_lookup_elem(&distributions_of_groups, &group);
    uint64_t bucket = logarithm(ns), longest;
    struct distribution *distribution;

    if (distributions == NULL || state >= CAMP_STATE_COUNT)
        return;
    distribution = &distributions->of[state];
    barrier_var(bucket);
    if (bucket >= CAMP_WAIT_BUCKETS)
        bucket = CAMP_WAIT_BUCKETS - 1;
    __sync_fetch_and_add(&distribution->counts[bucket], 1);
    __sync_fetch_and_add(&distribution->total_ns, ns);
    longest = (ns < LONGEST_NS_MOST ? ns : LONGEST_NS_MOST) << LONGEST_TID_BITS |
              ((uint32_t)tid & ((1u << LONGEST_TID_BITS) - 1));
    for (int i = 0; i < 4; i++) {
        const uint64_t before = distribution->longest;

        if (before >= longest)
            return;
        if (__sync_val_compare_and_swap(&distribution->longest, before, longest) == before) {
            distribution->longest_end_ns = now;
            return;
        }
    }
}
