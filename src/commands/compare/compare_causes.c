#include "compare_causes.h"

#include "counters/error.h"

#include <math.h>
#include <stdlib.h>

/* `differences` is the comparison of the causes. Fills ret[causes] with the part of each cause's
 * state that has no cause: the time in which the processes with the name had no group of their own.
 */
static int find_undivided(double *ret, const struct comparison *states,
                          const struct comparison *differences, const struct compare_side *side)
{
    const struct compared_causes *causes = side->causes.causes;
    const size_t size = states->entities->count * states->state_count;
    double *rates = calloc(size + 1, sizeof *rates);
    double *of_causes = calloc(causes->count + 1, sizeof *of_causes);
    int r = rates != NULL && of_causes != NULL ? CAMP_OK : CAMP_E_NOMEM;

    if (r == CAMP_OK) {
        comparison_rates(states, side->number, &side->timeline, states->entities->count, rates);
        comparison_rates(differences, side->number, &side->causes.timeline, causes->count,
                         of_causes);
    }
    for (size_t i = 0; i < causes->count && r == CAMP_OK; i++)
        rates[causes->items[i].entity * states->state_count + causes->items[i].state] -=
            of_causes[i];
    for (size_t i = 0; i < causes->count && r == CAMP_OK; i++)
        ret[i] =
            fabs(rates[causes->items[i].entity * states->state_count + causes->items[i].state]);
    free(rates);
    free(of_causes);
    return r;
}

/* Sets *ret to the largest own time of the entity of each cause (comparison_find_most()). */
static int find_most(double **ret, const struct comparison *states,
                     const struct compared_causes *causes, const struct compare_side *side)
{
    double *of_entities = NULL, *of_causes = calloc(causes->count + 1, sizeof *of_causes);
    int r = of_causes != NULL ? CAMP_OK : CAMP_E_NOMEM;

    if (r == CAMP_OK)
        r = comparison_find_most(&side->timeline, states->entities->count, &of_entities);
    for (size_t i = 0; i < causes->count && r == CAMP_OK; i++)
        of_causes[i] = of_entities[causes->items[i].entity];
    free(of_entities);
    *ret = of_causes; /* comparison_release() frees it */
    return r;
}

/* Counts for each row of the states how many of its causes differ. */
static int mark_states(struct comparison *states, const struct comparison *differences,
                       const struct compared_causes *causes)
{
    size_t *found = calloc(states->entities->count * states->state_count + 1, sizeof *found);

    if (found == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < differences->count; i++) {
        const struct compared_cause *cause = &causes->items[differences->rows[i].entity];

        if (differences->rows[i].verdict >= DIFFERENCE_MORE)
            found[cause->entity * states->state_count + cause->state]++;
    }
    for (size_t i = 0; i < states->count; i++)
        states->rows[i].causes_found =
            found[states->rows[i].entity * states->state_count + states->rows[i].state];
    free(found);
    return CAMP_OK;
}

bool compare_has_causes(const struct compare_side sides[2])
{
    return cause_times_are_whole(&sides[0].causes) && cause_times_are_whole(&sides[1].causes);
}

int compare_causes(struct comparison *ret, struct comparison *states,
                   const struct compare_side sides[2], double least, uint64_t seed)
{
    const struct compared_causes *causes = sides[0].causes.causes;
    const struct timeline *const timelines[2] = { &sides[0].causes.timeline,
                                                  &sides[1].causes.timeline };
    int r = CAMP_OK;

    if (!compare_has_causes(sides))
        return CAMP_OK;
    ret->states = calloc(1, sizeof *ret->states);
    if (ret->states == NULL)
        return CAMP_E_NOMEM;
    ret->states[ret->state_count++] = (struct compared_state){ .class = CLASS_OTHER_WAIT };
    for (int i = 0; i < 2 && r == CAMP_OK; i++) {
        ret->undivided[i] = calloc(causes->count + 1, sizeof *ret->undivided[i]);
        r = ret->undivided[i] != NULL ? find_undivided(ret->undivided[i], states, ret, &sides[i])
                                      : CAMP_E_NOMEM;
        if (r == CAMP_OK)
            r = find_most(&ret->most[i], states, causes, &sides[i]);
    }
    ret->families = 2;
    if (r == CAMP_OK)
        r = comparison_fill(ret, timelines, causes->count, least, seed);
    return r == CAMP_OK ? mark_states(states, ret, causes) : r;
}
