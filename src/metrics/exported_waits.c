/* With --why: how long the waits of groups last, and what caused them. */
#include "exported_inside.h"

#include "counters/error.h"

#include <stdlib.h>

int exported_waits_open(struct exported *exported, const struct exported_options *options,
                        struct camp_error *error)
{
    int r = CAMP_OK;

    if (!options->why)
        return CAMP_OK;
    r = thread_sums_divide_waits(&exported->sums, exported->session, error);
    if (r == CAMP_OK)
        r = wait_sums_init(&exported->waits, options->hides_names);
    if (r != CAMP_OK)
        return r;
    for (size_t i = 0; i < ARRAY_COUNT(exported->wait_series); i++) {
        exported->wait_series[i] =
            calloc(WAIT_PLACES + CAUSE_PLACES + CAMP_STATE_COUNT, sizeof(struct series));
        if (exported->wait_series[i] == NULL)
            return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the causes of waits");
    }
    exported->families[WAIT].series = exported->wait_series[0];
    exported->families[WAIT_LONGEST].series = exported->wait_series[1];
    exported->families[WAIT_CAUSE].series = exported->wait_series[2];
    return CAMP_OK;
}

void exported_waits_close(struct exported *exported)
{
    for (size_t i = 0; i < ARRAY_COUNT(exported->wait_series); i++)
        free(exported->wait_series[i]);
    wait_sums_release(&exported->waits);
}

static void fill_lengths(struct exported *exported, const struct wait_place *place)
{
    struct metric_family *lengths = &exported->families[WAIT];
    struct metric_family *longest = &exported->families[WAIT_LONGEST];
    const struct series series = { .labels = { exported->waits.names[place->name].shown,
                                               camp_state_name((int)place->state) },
                                   .value = place->total_ns,
                                   .known = true,
                                   .counts = place->counts };

    lengths->series[lengths->count++] = series;
    longest->series[longest->count] = series;
    longest->series[longest->count].value = wait_place_longest_ns(place);
    longest->series[longest->count++].known = wait_place_longest_ns(place) > 0;
}

static void fill_cause(struct exported *exported, const struct cause_place *place)
{
    struct metric_family *causes = &exported->families[WAIT_CAUSE];

    causes->series[causes->count++] = (struct series){
        { exported->waits.names[place->name].shown, camp_state_name((int)place->state),
          place->kind == WAIT_CAUSE_OTHER ? "other" : cause_kind_key(place->kind), place->who },
        place->wait_ns,
        true,
        NULL
    };
}

void exported_waits_fill(struct exported *exported)
{
    const struct wait_sums *waits = &exported->waits;
    const struct camp_wait_lengths *lengths;
    size_t count;

    if (exported->sums.waits == NULL)
        return;
    lengths = causes_lengths(exported->sums.causes, &count);
    wait_sums_add(&exported->waits, exported->sums.waits, lengths, count);
    exported->families[WAIT].count = 0;
    exported->families[WAIT_LONGEST].count = 0;
    exported->families[WAIT_CAUSE].count = 0;
    for (size_t i = 0; i < waits->wait_count; i++)
        fill_lengths(exported, &waits->waits[i]);
    for (size_t i = 0; i < waits->cause_count; i++)
        fill_cause(exported, &waits->causes[i]);
    exported_set(exported, WAIT_REDUCED, 0, waits->reduced_ns);
}
