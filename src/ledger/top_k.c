#include "top_k.h"

#include "array.h"

#include <camp/camp.h>

#include <math.h>
#include <string.h>

#define HALF_LIFE_NS 60e9
/* A hidden group replaces the last shown group if the hidden group's score is above CLEARLY x
 * (score of the last shown group) + CLEARLY_NS. A group that is active 1 ms in each second has a
 * score of about CLEARLY_NS. */
#define CLEARLY 1.5
#define CLEARLY_NS (1e-3 * HALF_LIFE_NS)
/* Hidden groups that were not in the last GONE_AFTER snapshots are dropped, but only if there are
 * at least MANY groups and at least half of all groups can be dropped. */
#define MANY 1024
#define GONE_AFTER 2

int top_k_init(struct top_k *ret, size_t width, size_t max_shown, size_t new_an_hour)
{
    *ret = (struct top_k){
        .width = width,
        .max_shown = max_shown,
        .renewal_ns = new_an_hour > 0 ? TOP_K_HOUR_NS / new_an_hour : UINT64_MAX,
        .allowance_ns = TOP_K_HOUR_NS,
    };
    ret->total = calloc(width, sizeof *ret->total);
    ret->other = calloc(width, sizeof *ret->other);
    ret->retired = calloc(width, sizeof *ret->retired);
    return ret->total != NULL && ret->other != NULL && ret->retired != NULL ? CAMP_OK
                                                                            : CAMP_E_NOMEM;
}

void top_k_release(struct top_k *top)
{
    for (size_t i = 0; i < top->count; i++) {
        free(top->groups[i].shown);
        free(top->groups[i].name);
    }
    free(top->groups);
    free(top->pending);
    index_release(&top->index);
    free(top->total);
    free(top->other);
    free(top->retired);
    *top = (struct top_k){ 0 };
}

static uint32_t hash_of(const struct top_k_key *key)
{
    return key->text[0] != '\0' ? index_hash_bytes(key->text, strlen(key->text))
                                : index_hash_number(key->number);
}

static bool has_key(const void *context, uint32_t position, const void *wanted)
{
    const struct top_k *top = context;
    const struct top_k_key *key = &top->groups[position].key, *other = wanted;

    return key->number == other->number && strcmp(key->text, other->text) == 0;
}

static uint64_t *pending_of(const struct top_k *top, size_t group)
{
    return &top->pending[group * top->width];
}

int top_k_find(struct top_k *top, const struct top_k_key *key, uint32_t *ret)
{
    const uint32_t hash = hash_of(key);
    const struct index_slot *slot = index_find(&top->index, hash, has_key, top, key);

    if (slot == NULL) {
        if (!ARRAYS_RESERVE(top->capacity, top->count + 1, ARRAY(top->groups),
                            ARRAY_ROWS(top->pending, top->width)) ||
            !index_reserve(&top->index, top->count + 1))
            return CAMP_E_NOMEM;
        memset(pending_of(top, top->count), 0, top->width * sizeof *top->pending);
        top->groups[top->count] = (struct top_k_group){ .key = *key };
        index_add(&top->index, hash, (uint32_t)top->count++);
    }
    *ret = slot != NULL ? slot->position : (uint32_t)top->count - 1;
    top->groups[*ret].last_seen = top->snapshots;
    return CAMP_OK;
}

static bool is_gone(const struct top_k *top, const struct top_k_group *group)
{
    return group->shown == NULL && group->last_seen + GONE_AFTER < top->snapshots;
}

/* Drops hidden groups that recent snapshots did not have. Otherwise the list would grow without
 * limit, because new commands keep coming. Returns whether groups were dropped. */
static bool forget_gone(struct top_k *top)
{
    size_t gone = 0, kept = 0;
    /* If values of a failed snapshot are pending, groups must keep their numbers. */
    bool has_pending = false;

    for (size_t i = 0; i < top->count; i++) {
        gone += is_gone(top, &top->groups[i]);
        has_pending |= top->groups[i].has_pending;
    }
    if (top->count < MANY || gone < top->count / 2 || has_pending)
        return false;
    for (size_t i = 0; i < top->count; i++) {
        if (!is_gone(top, &top->groups[i]))
            top->groups[kept++] = top->groups[i];
    }
    top->count = kept;
    index_clear(&top->index);
    for (size_t i = 0; i < kept; i++)
        index_add(&top->index, hash_of(&top->groups[i].key), (uint32_t)i);
    return true;
}

bool top_k_start(struct top_k *top, uint64_t elapsed_ns)
{
    const double fading = exp2(-(double)elapsed_ns / HALF_LIFE_NS);

    for (size_t i = 0; i < top->count; i++)
        top->groups[i].score *= fading;
    top->allowance_ns = elapsed_ns < TOP_K_HOUR_NS - top->allowance_ns
                            ? top->allowance_ns + elapsed_ns
                            : TOP_K_HOUR_NS;
    top->snapshots++;
    return forget_gone(top);
}

static void add(uint64_t *sums, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sums[i] += values[i];
}

void top_k_add(struct top_k *top, uint32_t group, const uint64_t *values, uint64_t score_ns)
{
    top->groups[group].has_pending = true;
    top->groups[group].score += (double)score_ns;
    add(pending_of(top, group), values, top->width);
}

/* If the scores are equal, groups are ranked by key. */
static bool ranks_before(const struct top_k_group *a, const struct top_k_group *b)
{
    const int order = strcmp(a->key.text, b->key.text);

    if (a->score != b->score)
        return a->score > b->score;
    return order != 0 ? order < 0 : a->key.number < b->key.number;
}

/* Returns the hidden group of this snapshot that ranks first, or NULL if there is none. */
static struct top_k_group *best_hidden(const struct top_k *top)
{
    struct top_k_group *best = NULL;

    for (size_t i = 0; i < top->count; i++) {
        struct top_k_group *group = &top->groups[i];

        if (group->shown == NULL && group->last_seen == top->snapshots &&
            (best == NULL || ranks_before(group, best)))
            best = group;
    }
    return best;
}

static struct top_k_group *last_shown(const struct top_k *top)
{
    struct top_k_group *last = NULL;

    for (size_t i = 0; i < top->count; i++) {
        struct top_k_group *group = &top->groups[i];

        if (group->shown != NULL && (last == NULL || ranks_before(last, group)))
            last = group;
    }
    return last;
}

static void retire(struct top_k *top, struct top_k_group *group)
{
    add(top->retired, group->shown, top->width);
    free(group->shown);
    free(group->name);
    group->shown = NULL;
    group->name = NULL;
    top->shown_count--;
    top->demoted++;
}

static void account(struct top_k *top)
{
    const size_t width = top->width;

    for (size_t i = 0; i < top->count; i++) {
        uint64_t *pending = pending_of(top, i), *shown = top->groups[i].shown;

        if (!top->groups[i].has_pending)
            continue;
        add(shown != NULL ? shown : top->other, pending, width);
        add(top->total, pending, width);
        memset(pending, 0, width * sizeof *pending);
        top->groups[i].has_pending = false;
    }
}

static bool may_replace(const struct top_k_group *hidden, const struct top_k_group *last)
{
    return hidden->score > CLEARLY * last->score + CLEARLY_NS;
}

/* Counts the groups of this snapshot that would replace `last`, if the allowance were larger. */
static void count_deferred(struct top_k *top, const struct top_k_group *last)
{
    for (size_t i = 0; i < top->count; i++) {
        struct top_k_group *group = &top->groups[i];

        if (group->shown == NULL && group->last_seen == top->snapshots && !group->was_deferred &&
            may_replace(group, last)) {
            group->was_deferred = true;
            top->deferred++;
        }
    }
}

int top_k_finish(struct top_k *top)
{
    for (size_t changes = 0; changes < top->max_shown; changes++) {
        struct top_k_group *candidate = best_hidden(top), *last;

        if (candidate == NULL)
            break;
        if (top->shown_count == top->max_shown) {
            last = last_shown(top);
            if (!may_replace(candidate, last))
                break;
            if (top->allowance_ns < top->renewal_ns) {
                count_deferred(top, last);
                break;
            }
            top->allowance_ns -= top->renewal_ns;
            retire(top, last);
        }
        candidate->shown = calloc(top->width, sizeof *candidate->shown);
        if (candidate->shown == NULL)
            return CAMP_E_NOMEM;
        top->shown_count++;
    }
    account(top);
    return CAMP_OK;
}
