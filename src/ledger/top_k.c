#include "top_k.h"

#include "grow.h"

#include <camp/camp.h>

#include <math.h>
#include <string.h>

#define HALF_LIFE_NS 60e9
/* A group enters when its score is higher than the last one's by half, and by 1 ms per second. */
#define CLEARLY 1.5
#define CLEARLY_NS (1e-3 * HALF_LIFE_NS)
/* Groups are dropped from this many on, when half of them were not seen for so many snapshots. */
#define MANY 1024
#define GONE_AFTER 2

int top_k_init(struct top_k *ret, size_t width, size_t max_shown)
{
    *ret = (struct top_k){ .width = width, .max_shown = max_shown };
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
    free(top->slots);
    free(top->total);
    free(top->other);
    free(top->retired);
    *top = (struct top_k){ 0 };
}

static uint64_t hash_of(const struct top_k_key *key)
{
    uint64_t hash = key->number * UINT64_C(0x9e3779b97f4a7c15);

    for (const char *byte = key->text; *byte != '\0'; byte++)
        hash = (hash ^ (unsigned char)*byte) * UINT64_C(0x100000001b3);
    hash ^= hash >> 32;
    return hash * UINT64_C(0x9e3779b97f4a7c15) >> 16;
}

/* The slot of a group, or the free slot where it belongs. */
static uint32_t *slot_of(const struct top_k *top, const struct top_k_key *key)
{
    size_t at = (size_t)hash_of(key) & (top->slot_count - 1);

    while (top->slots[at] != 0) {
        const struct top_k_group *group = &top->groups[top->slots[at] - 1];

        if (group->key.number == key->number && strcmp(group->key.text, key->text) == 0)
            break;
        at = (at + 1) & (top->slot_count - 1);
    }
    return &top->slots[at];
}

static void fill_slots(struct top_k *top)
{
    memset(top->slots, 0, top->slot_count * sizeof *top->slots);
    for (size_t i = 0; i < top->count; i++)
        *slot_of(top, &top->groups[i].key) = (uint32_t)i + 1;
}

static int reserve(struct top_k *top)
{
    const size_t capacity = top->capacity > 0 ? 2 * top->capacity : 64;

    if (top->count < top->capacity)
        return CAMP_OK;
    if (!grow(&top->groups, capacity, sizeof *top->groups) ||
        !grow(&top->pending, capacity * top->width, sizeof *top->pending) ||
        !grow(&top->slots, 2 * capacity, sizeof *top->slots))
        return CAMP_E_NOMEM;
    top->capacity = capacity;
    top->slot_count = 2 * capacity;
    fill_slots(top);
    return CAMP_OK;
}

static uint64_t *pending_of(const struct top_k *top, size_t group)
{
    return &top->pending[group * top->width];
}

int top_k_find(struct top_k *top, const struct top_k_key *key, uint32_t *ret)
{
    uint32_t *slot;
    int r = reserve(top);

    if (r != CAMP_OK)
        return r;
    slot = slot_of(top, key);
    if (*slot == 0) {
        memset(pending_of(top, top->count), 0, top->width * sizeof *top->pending);
        top->groups[top->count] = (struct top_k_group){ .key = *key };
        *slot = (uint32_t)++top->count;
    }
    *ret = *slot - 1;
    top->groups[*ret].last_seen = top->snapshots;
    return CAMP_OK;
}

static bool is_gone(const struct top_k *top, const struct top_k_group *group)
{
    return group->shown == NULL && group->last_seen + GONE_AFTER < top->snapshots;
}

/* Bounds the list where commands come and go. */
static bool forget_gone(struct top_k *top)
{
    size_t gone = 0, kept = 0;
    bool has_pending = false; /* of a failed snapshot: positions must stay */

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
    fill_slots(top);
    return true;
}

bool top_k_start(struct top_k *top, uint64_t elapsed_ns)
{
    const double fading = exp2(-(double)elapsed_ns / HALF_LIFE_NS);

    for (size_t i = 0; i < top->count; i++)
        top->groups[i].score *= fading;
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

/* Equal scores rank by key. */
static bool ranks_before(const struct top_k_group *a, const struct top_k_group *b)
{
    const int order = strcmp(a->key.text, b->key.text);

    if (a->score != b->score)
        return a->score > b->score;
    return order != 0 ? order < 0 : a->key.number < b->key.number;
}

/* The hidden group of this snapshot that ranks first; NULL: none. */
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

int top_k_finish(struct top_k *top)
{
    for (size_t changes = 0; changes < top->max_shown; changes++) {
        struct top_k_group *candidate = best_hidden(top), *last;

        if (candidate == NULL)
            break;
        if (top->shown_count == top->max_shown) {
            last = last_shown(top);
            if (candidate->score <= CLEARLY * last->score + CLEARLY_NS)
                break;
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
