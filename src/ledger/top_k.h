/*
 * The top K of many groups: each has counters of its own, the others are added up, and no counter
 * ever falls. Pure arithmetic.
 *
 *     total = sum of the shown groups + other + retired
 *
 * The values of a shown group count for that group, from the snapshot in which it entered the top
 * K; the values of hidden groups count for *other*. The counters of a group that leaves move to
 * *retired*, and it starts at 0 when it returns. So the series of a group is monotonic while it
 * lasts, and nothing is counted twice.
 *
 * Groups are ranked by score: their active time, with a half-life of a minute. A group replaces the
 * last of the top K only when its score is clearly higher, so that two groups with close scores do
 * not alternate.
 */
#pragma once

#include "index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_K_TEXT_SIZE 64

/* A group is identified by a number (user, cgroup) or a text (command). */
struct top_k_key {
    uint64_t number;
    char text[TOP_K_TEXT_SIZE];
};

struct top_k_group {
    struct top_k_key key;
    double score;       /* ns of active time, with the half-life */
    uint64_t last_seen; /* number of the last snapshot that had the group */
    bool has_pending;
    uint64_t *shown; /* [width] since it entered the top K; NULL: not in it */
    char *name;      /* as shown; NULL: not yet named. Both owned */
};

struct top_k {
    size_t width;               /* counters of a group */
    size_t max_shown;           /* K */
    struct top_k_group *groups; /* [count]; owned: top_k_release() */
    uint64_t *pending;          /* [count x width] of this snapshot, not yet accounted; owned */
    size_t count, capacity;
    struct index index; /* of the groups by their keys */
    size_t shown_count;
    uint64_t *total, *other, *retired; /* [width] each */
    uint64_t snapshots;                /* started so far */
    uint64_t demoted;                  /* groups that left the top K, ever */
};

/* CAMP_OK or CAMP_E_NOMEM; top_k_release() in any case. */
int top_k_init(struct top_k *ret, size_t width, size_t max_shown);
void top_k_release(struct top_k *top);

/* Starts a snapshot, `elapsed_ns` after the last one: scores fade. Hidden groups not seen for long
 * may be dropped; then earlier group numbers are void, and the result is true. */
bool top_k_start(struct top_k *top, uint64_t elapsed_ns);

/* Finds or adds a group. Its number *ret is valid until the next snapshot starts. CAMP_OK or
 * CAMP_E_NOMEM. */
int top_k_find(struct top_k *top, const struct top_k_key *key, uint32_t *ret);

/* Adds values[width] of a member to its group, and `score_ns` to the group's score. */
void top_k_add(struct top_k *top, uint32_t group, const uint64_t *values, uint64_t score_ns);

/* As top_k_add(), for one counter. */
static inline void top_k_add_one(struct top_k *top, uint32_t group, size_t counter, uint64_t value,
                                 uint64_t score_ns)
{
    top->groups[group].has_pending = true;
    top->groups[group].score += (double)score_ns;
    top->pending[group * top->width + counter] += value;
}

/* Finishes the snapshot: selects the top K, then accounts for what was added. CAMP_OK or
 * CAMP_E_NOMEM, after which it may be called again. */
int top_k_finish(struct top_k *top);
