#include "standings.h"

#include "grow.h"

#include <camp/camp.h>

#include <math.h>
#include <string.h>

#define HALF_LIFE_NS 60e9
/* Who is outside must be so much better than who is inside: by half, and by 1 ms of each second. */
#define CLEARLY 1.5
#define CLEARLY_NS (1e-3 * HALF_LIFE_NS)
/* Forgetting is worth its while beyond so many groups, when so many of them have gone. */
#define MANY 1024
#define GONE_LOOKS 2

/* -------------------------------------------------------------------------------- Opening -- */

int standings_init(struct standings *ret, size_t width, size_t places)
{
    *ret = (struct standings){ .width = width, .places = places };
    ret->total = calloc(width, sizeof *ret->total);
    ret->other = calloc(width, sizeof *ret->other);
    ret->retired = calloc(width, sizeof *ret->retired);
    return ret->total != NULL && ret->other != NULL && ret->retired != NULL ? CAMP_OK
                                                                            : CAMP_E_NOMEM;
}

void standings_release(struct standings *standings)
{
    for (size_t i = 0; i < standings->count; i++) {
        free(standings->groups[i].shown);
        free(standings->groups[i].name);
    }
    free(standings->groups);
    free(standings->news);
    free(standings->slots);
    free(standings->total);
    free(standings->other);
    free(standings->retired);
    *standings = (struct standings){ 0 };
}

/* --------------------------------------------------------------------------------- Finding -- */

static uint64_t hash_of(const struct standing_key *key)
{
    uint64_t hash = key->number * UINT64_C(0x9e3779b97f4a7c15);

    for (const char *byte = key->text; *byte != '\0'; byte++)
        hash = (hash ^ (unsigned char)*byte) * UINT64_C(0x100000001b3);
    hash ^= hash >> 32;
    return hash * UINT64_C(0x9e3779b97f4a7c15) >> 16;
}

/* Where it stands, or the free slot where it would. */
static uint32_t *slot_of(const struct standings *standings, const struct standing_key *key)
{
    size_t at = (size_t)hash_of(key) & (standings->slot_count - 1);

    while (standings->slots[at] != 0) {
        const struct standing *group = &standings->groups[standings->slots[at] - 1];

        if (group->key.number == key->number && strcmp(group->key.text, key->text) == 0)
            break;
        at = (at + 1) & (standings->slot_count - 1);
    }
    return &standings->slots[at];
}

static void fill_slots(struct standings *standings)
{
    memset(standings->slots, 0, standings->slot_count * sizeof *standings->slots);
    for (size_t i = 0; i < standings->count; i++)
        *slot_of(standings, &standings->groups[i].key) = (uint32_t)i + 1;
}

static int reserve(struct standings *standings)
{
    const size_t capacity = standings->capacity > 0 ? 2 * standings->capacity : 64;

    if (standings->count < standings->capacity)
        return CAMP_OK;
    if (!grow(&standings->groups, capacity, sizeof *standings->groups) ||
        !grow(&standings->news, capacity * standings->width, sizeof *standings->news) ||
        !grow(&standings->slots, 2 * capacity, sizeof *standings->slots))
        return CAMP_E_NOMEM;
    standings->capacity = capacity;
    standings->slot_count = 2 * capacity;
    fill_slots(standings);
    return CAMP_OK;
}

static uint64_t *news_of(const struct standings *standings, size_t group)
{
    return &standings->news[group * standings->width];
}

int standings_find(struct standings *standings, const struct standing_key *key, uint32_t *ret)
{
    uint32_t *slot;
    int r = reserve(standings);

    if (r != CAMP_OK)
        return r;
    slot = slot_of(standings, key);
    if (*slot == 0) {
        memset(news_of(standings, standings->count), 0, standings->width * sizeof *standings->news);
        standings->groups[standings->count] = (struct standing){ .key = *key };
        *slot = (uint32_t)++standings->count;
    }
    *ret = *slot - 1;
    standings->groups[*ret].look = standings->looks;
    return CAMP_OK;
}

/* --------------------------------------------------------------------------------- Looking -- */

static bool is_gone(const struct standings *standings, const struct standing *group)
{
    return group->shown == NULL && group->look + GONE_LOOKS < standings->looks;
}

/* Where commands come and go the list would grow for ever. */
static bool forget_gone(struct standings *standings)
{
    size_t gone = 0, kept = 0;
    bool has_news = false; /* of a look that failed: they stay where they are */

    for (size_t i = 0; i < standings->count; i++) {
        gone += is_gone(standings, &standings->groups[i]);
        has_news |= standings->groups[i].has_news;
    }
    if (standings->count < MANY || gone < standings->count / 2 || has_news)
        return false;
    for (size_t i = 0; i < standings->count; i++) {
        if (!is_gone(standings, &standings->groups[i]))
            standings->groups[kept++] = standings->groups[i];
    }
    standings->count = kept;
    fill_slots(standings);
    return true;
}

bool standings_begin(struct standings *standings, uint64_t elapsed_ns)
{
    const double fading = exp2(-(double)elapsed_ns / HALF_LIFE_NS);

    for (size_t i = 0; i < standings->count; i++)
        standings->groups[i].score *= fading;
    standings->looks++;
    return forget_gone(standings);
}

static void add(uint64_t *sums, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sums[i] += values[i];
}

void standings_add(struct standings *standings, uint32_t group, const uint64_t *values,
                   uint64_t matters_ns)
{
    standings->groups[group].has_news = true;
    standings->groups[group].score += (double)matters_ns;
    add(news_of(standings, group), values, standings->width);
}

/* -------------------------------------------------------------------------------- Settling -- */

/* Of two with the same score the one that sorts first by its key. */
static bool is_better(const struct standing *a, const struct standing *b)
{
    const int order = strcmp(a->key.text, b->key.text);

    if (a->score != b->score)
        return a->score > b->score;
    return order != 0 ? order < 0 : a->key.number < b->key.number;
}

/* NULL: there is none. */
static struct standing *best_outside(const struct standings *standings)
{
    struct standing *best = NULL;

    for (size_t i = 0; i < standings->count; i++) {
        struct standing *group = &standings->groups[i];

        if (group->shown == NULL && group->look == standings->looks &&
            (best == NULL || is_better(group, best)))
            best = group;
    }
    return best;
}

static struct standing *last_inside(const struct standings *standings)
{
    struct standing *last = NULL;

    for (size_t i = 0; i < standings->count; i++) {
        struct standing *group = &standings->groups[i];

        if (group->shown != NULL && (last == NULL || is_better(last, group)))
            last = group;
    }
    return last;
}

static void retire(struct standings *standings, struct standing *group)
{
    add(standings->retired, group->shown, standings->width);
    free(group->shown);
    free(group->name);
    group->shown = NULL;
    group->name = NULL;
    standings->shown_count--;
    standings->demoted++;
}

static void book(struct standings *standings)
{
    const size_t width = standings->width;

    for (size_t i = 0; i < standings->count; i++) {
        uint64_t *news = news_of(standings, i), *shown = standings->groups[i].shown;

        if (!standings->groups[i].has_news)
            continue;
        add(shown != NULL ? shown : standings->other, news, width);
        add(standings->total, news, width);
        memset(news, 0, width * sizeof *news);
        standings->groups[i].has_news = false;
    }
}

int standings_settle(struct standings *standings)
{
    for (size_t changes = 0; changes < standings->places; changes++) {
        struct standing *outside = best_outside(standings), *inside;

        if (outside == NULL)
            break;
        if (standings->shown_count == standings->places) {
            inside = last_inside(standings);
            if (outside->score <= CLEARLY * inside->score + CLEARLY_NS)
                break;
            retire(standings, inside);
        }
        outside->shown = calloc(standings->width, sizeof *outside->shown);
        if (outside->shown == NULL)
            return CAMP_E_NOMEM;
        standings->shown_count++;
    }
    book(standings);
    return CAMP_OK;
}
