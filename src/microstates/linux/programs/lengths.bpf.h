// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * Counts how long each sleep of a backend lasted (backend_lengths.h). The wait event, the activity
 * and the statement are those that were read when the backend went to sleep. Only tasks that wake
 * the backend, and its own switches, count its sleeps, in the order that the scheduler gives them.
 * Places of BACKEND_LENGTHS_OTHER are of all backends, so additions are atomic.
 */
#pragma once

#include "../../backend_lengths.h"
#include "logarithm.bpf.h"
#include "order.bpf.h"
#include "statements.bpf.h"

/* Without it the verifier removes this code. */
const volatile uint32_t keeps_lengths;

/* Sleeps for which not even a place of BACKEND_LENGTHS_OTHER was free. */
uint64_t uncounted_lengths;

struct backend_lengths_places lengths_places;

/* The session reduces both maps to one element if they are not used. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, BACKEND_LENGTHS_MAX);
    __type(key, struct backend_lengths_key);
    __type(value, uint32_t);
} lengths_index SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, BACKEND_LENGTHS_MAX);
    __type(key, uint32_t);
    __type(value, struct backend_lengths);
} lengths SEC(".maps");

#define LENGTHS_TRIES 8

/* Takes a place for a key. Returns NULL if none is free, or if another CPU has just taken one for
 * the same key. The session reads a place as soon as it sees `use`, so this is set last. */
static __always_inline struct backend_lengths *take_lengths(const struct backend_lengths_key *key)
{
    volatile struct backend_lengths_places *all = &lengths_places;
    const uint64_t kept = key->slot == BACKEND_LENGTHS_OTHER ? 0 : BACKEND_LENGTHS_KEPT;

    for (int i = 0; i < LENGTHS_TRIES; i++) {
        uint64_t taken = all->taken;
        struct backend_lengths *ret;
        uint32_t number;
        bool is_own;

        if (all->given - taken <= kept)
            return NULL;
        keep_order(); /* The session writes free[] before it adds to `given`. */
        number = all->free[taken % BACKEND_LENGTHS_MAX];
        if (__sync_val_compare_and_swap(&lengths_places.taken, taken, taken + 1) != taken)
            continue;
        ret = bpf_map_lookup_elem(&lengths, &number);
        if (ret == NULL)
            return NULL;
        ret->key = *key;
        is_own = bpf_map_update_elem(&lengths_index, key, &number, BPF_NOEXIST) == 0;
        keep_order();
        lengths_places.use[number % BACKEND_LENGTHS_MAX] =
            is_own ? BACKEND_LENGTHS_USED : BACKEND_LENGTHS_SPOILT;
        return is_own ? ret : NULL;
    }
    return NULL;
}

static __always_inline struct backend_lengths *find_lengths(const struct backend_lengths_key *key)
{
    uint32_t *number = bpf_map_lookup_elem(&lengths_index, key);

    return number != NULL ? bpf_map_lookup_elem(&lengths, number) : NULL;
}

static __always_inline struct backend_lengths *lengths_of(const struct backend_lengths_key *key)
{
    struct backend_lengths *ret = find_lengths(key);

    if (ret == NULL)
        ret = take_lengths(key);
    return ret != NULL ? ret : find_lengths(key);
}

static __always_inline void add_length(struct backend_lengths *to, uint64_t ns, uint64_t end_ns)
{
    struct backend_lengths_half *half = &to->halves[reading & 1];
    uint64_t bucket = logarithm(ns);

    barrier_var(bucket);
    bucket = bucket < BACKEND_LENGTHS_FIRST ? 0 : bucket - BACKEND_LENGTHS_FIRST;
    if (bucket >= BACKEND_LENGTHS)
        bucket = BACKEND_LENGTHS - 1;
    if (ns > half->longest_ns) {
        half->longest_ns = ns;
        half->longest_end_ns = end_ns;
    }
    __sync_fetch_and_add(&half->ns, ns);
    __sync_fetch_and_add(&half->counts[bucket], 1);
}

/* Counts a sleep that ends now. The function is global, so the verifier checks it only once. */
__noinline int count_length(const struct backend_slot *slot, uint64_t ns, uint64_t end_ns)
{
    struct backend_lengths_key key = { 0 };
    const struct backend_statements *own;
    struct backend_lengths *to;
    uint64_t wait;

    if (slot == NULL)
        return 0;
    wait = slot->wait;
    barrier_var(wait);
    if (wait >= BACKEND_WAITS_MAX)
        return 0;
    key.slot = slot->number;
    key.event = slot->account.waits[wait].event;
    key.activity = slot->account.waits[wait].activity;
    own = statements_of(slot);
    if (own != NULL)
        key.statement = own->statement;
    to = lengths_of(&key);
    if (to == NULL) {
        key.slot = BACKEND_LENGTHS_OTHER;
        key.statement = 0;
        to = lengths_of(&key);
    }
    if (to != NULL)
        add_length(to, ns, end_ns);
    else
        __sync_fetch_and_add(&uncounted_lengths, 1);
    return 0;
}
