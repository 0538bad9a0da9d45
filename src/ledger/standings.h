/*
 * Standings: which of many groups are shown each with counters of its own, so that all add up at
 * any time, and none falls. Pure arithmetic.
 *
 *     total = the sum of those shown + other + retired
 *
 * What a group does counts for itself while it is shown, that of the look that brought it in
 * included, and for *other* while it is not. One that loses its place takes what it had into
 * *retired*, and begins at 0 when it comes back. So the
 * series of a group is monotonic as long as it lasts, and nothing is told twice.
 *
 * A place is given by the score: the time that matters, which fades by half in a minute. Who is
 * outside takes the place of the last one inside only with a score clearly above his, so that two
 * that are nearly the same do not change places at each look.
 */
#ifndef CAMP_LEDGER_STANDINGS_H
#define CAMP_LEDGER_STANDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STANDING_TEXT_SIZE 64

/* What groups are told by: a number (user, cgroup), or a text (command). */
struct standing_key {
    uint64_t number;
    char text[STANDING_TEXT_SIZE];
};

struct standing {
    struct standing_key key;
    double score;  /* ns that mattered, fading */
    uint64_t look; /* in which it was met last */
    bool has_news;
    uint64_t *shown; /* [width] since it has its place; NULL: it has none */
    char *name;      /* what it is shown as; NULL: not yet named. Both owned */
};

struct standings {
    size_t width;            /* counters of a group */
    size_t places;           /* so many are shown at most */
    struct standing *groups; /* [count]; owned: standings_release() */
    uint64_t *news;          /* [count x width] not booked yet; owned */
    size_t count, capacity;
    uint32_t *slots; /* [slot_count] 1 + index; 0: free */
    size_t slot_count;
    size_t shown_count;
    uint64_t *total, *other, *retired; /* [width] each */
    uint64_t looks;                    /* that were begun */
    uint64_t demoted;                  /* groups that lost their place, ever */
};

/* CAMP_OK or CAMP_E_NOMEM; standings_release() in any case. */
int standings_init(struct standings *ret, size_t width, size_t places);
void standings_release(struct standings *standings);

/* A look begins, `elapsed_ns` after the one before: scores fade. Groups that nobody was in for a
 * long time, and that have no place, may be forgotten: numbers from before are then void, and the
 * result is true. */
bool standings_begin(struct standings *standings, uint64_t elapsed_ns);

/* The number of a group, valid until the next look begins. CAMP_OK or CAMP_E_NOMEM. */
int standings_find(struct standings *standings, const struct standing_key *key, uint32_t *ret);

/* What a member of the group did: values[width], of which `matters_ns` is its score. */
void standings_add(struct standings *standings, uint32_t group, const uint64_t *values,
                   uint64_t matters_ns);

/* The same of one counter. */
static inline void standings_add_one(struct standings *standings, uint32_t group, size_t counter,
                                     uint64_t value, uint64_t matters_ns)
{
    standings->groups[group].has_news = true;
    standings->groups[group].score += (double)matters_ns;
    standings->news[group * standings->width + counter] += value;
}

/* The look is over: places are given and taken, then what was added is booked. CAMP_OK or
 * CAMP_E_NOMEM, after which it may be called again. */
int standings_settle(struct standings *standings);

#endif
