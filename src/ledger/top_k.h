/*
 * Selects the K most active of many groups. Each selected (shown) group has counters of its own.
 * All other (hidden) groups are added up. No counter ever falls.
 *
 *     total = sum of the shown groups + other + retired
 *
 * The values of a hidden group are added to `other`. When a group enters the top K, its own
 * counters start at 0. When a group leaves the top K, its counters are added to `retired`. While
 * a group is shown, its counters never fall. No time is counted twice.
 *
 * Groups are ranked by a score: their active time, of which half is forgotten each minute. A group
 * replaces the last group of the top K only if its score is clearly higher. Otherwise two groups
 * with close scores would alternate.
 *
 * Names of groups may be chosen by any user, and a database keeps the series of each name that was
 * ever shown. So the number of names is limited over time: once there are K shown groups, H groups
 * can replace others at once, and then H in each hour, evenly spread. So in a time of t hours at
 * most K + H + H x t groups are shown, however they are named. A group that may not replace another
 * yet is deferred: its values are added to `other`.
 */
#pragma once

#include "index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_K_TEXT_SIZE 128
#define TOP_K_HOUR_NS UINT64_C(3600000000000)

/* A group is identified by a number (user, cgroup) or by a text (command, container). */
struct top_k_key {
    uint64_t number;
    char text[TOP_K_TEXT_SIZE];
};

struct top_k_group {
    struct top_k_key key;
    double score;       /* active time in ns, of which half is forgotten each minute */
    uint64_t last_seen; /* number of the last snapshot that had the group */
    bool has_pending;
    bool was_deferred;
    /* [width] counters since the group entered the top K; NULL if it is hidden; freed by
     * top_k_release(). */
    uint64_t *shown;
    char *name; /* name in the output; NULL until it is set; freed by top_k_release() */
};

struct top_k {
    size_t width;
    size_t max_shown;           /* the K of the top K */
    struct top_k_group *groups; /* [count]; freed by top_k_release() */
    /* [count x width] values of this snapshot, which top_k_finish() adds to the counters */
    uint64_t *pending;
    size_t count, capacity;
    struct index index;
    size_t shown_count;
    uint64_t *total, *other, *retired; /* [width] each */
    uint64_t snapshots;
    uint64_t demoted;
    uint64_t renewal_ns;   /* an hour / H; UINT64_MAX if no group may replace another */
    uint64_t allowance_ns; /* each replacement of a shown group uses renewal_ns of it */
    uint64_t deferred;     /* groups that were deferred, each counted once */
};

/* `new_an_hour` is H. Returns CAMP_OK or CAMP_E_NOMEM. The caller must call top_k_release() in both
 * cases. */
int top_k_init(struct top_k *ret, size_t width, size_t max_shown, size_t new_an_hour);
void top_k_release(struct top_k *top);

/* Starts a snapshot, `elapsed_ns` after the previous one, and lowers all scores. Returns true if it
 * has dropped hidden groups that recent snapshots did not have. In that case all group numbers are
 * invalid. */
bool top_k_start(struct top_k *top, uint64_t elapsed_ns);

/* Finds or adds a group, and sets *ret to its number, which is valid until top_k_start() returns
 * true. Returns CAMP_OK or CAMP_E_NOMEM. */
int top_k_find(struct top_k *top, const struct top_k_key *key, uint32_t *ret);

/* Adds values[width] to a group, and `score_ns` to its score. */
void top_k_add(struct top_k *top, uint32_t group, const uint64_t *values, uint64_t score_ns);

/* Adds `value` to one counter of a group, and `score_ns` to its score. */
static inline void top_k_add_one(struct top_k *top, uint32_t group, size_t counter, uint64_t value,
                                 uint64_t score_ns)
{
    top->groups[group].has_pending = true;
    top->groups[group].score += (double)score_ns;
    top->pending[group * top->width + counter] += value;
}

/* Finishes the snapshot: selects the top K, then adds the pending values to the counters. Returns
 * CAMP_OK or CAMP_E_NOMEM. After CAMP_E_NOMEM it may be called again. */
int top_k_finish(struct top_k *top);
