#include "fleet_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* a gap between samples is longer than 5/2 scrape periods, so that one failed scrape is no gap */
#define GAP_PERIODS_HALVES 5
/* a row that lacks less than 1/50 of its interval is not counted as partial */
#define WHOLE_PARTS 50
#define FORGET_NS ((int64_t)300 * NS_PER_S)

void fleet_find_period(struct fleet *fleet)
{
    int64_t *periods = calloc(fleet->hosts.count + 1, sizeof *periods);
    size_t count = 0;

    for (size_t i = 0; periods != NULL && i < fleet->hosts.count; i++) {
        if (fleet->hosts.members[i]->period_ns > 0)
            periods[count++] = fleet->hosts.members[i]->period_ns;
    }
    if (count > 0)
        fleet->period_ns = fleet_median(periods, count);
    free(periods);
}

static int64_t period_of(const struct fleet *fleet, const struct fleet_member *member)
{
    return member->period_ns > 0 ? member->period_ns : fleet->period_ns;
}

/* Sets the elapsed time to the sum of the states for a group of threads, because a group has no
 * clock. Does the same for a row of a query without a column "elapsed", if its states add up to
 * more than the interval: the row then stands for several threads or CPUs. */
static void set_elapsed(const struct fleet *fleet, struct fleet_amounts *amounts)
{
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < fleet->columns.schema.state_count; i++)
        sum_ns += amounts->values[i];
    if (fleet->kind == FLEET_GROUPS || (!fleet->has_elapsed && sum_ns > amounts->elapsed_ns))
        amounts->elapsed_ns = sum_ns;
}

/* Returns whether the samples of a member cover only a part of the interval that ends at to_ns. The
 * samples of a new member start at first_ns, within the interval; for other members first_ns is 0.
 * The samples end too early if the host is down or the server does not answer. */
static bool lacks_part(const struct fleet *fleet, const struct fleet_member *member,
                       int64_t first_ns, int64_t to_ns)
{
    const int64_t length_ns = (int64_t)(fleet->frame.end_ns - fleet->frame.start_ns);
    const int64_t little_ns = length_ns / WHOLE_PARTS;

    return to_ns - fleet_newest(member) > little_ns || first_ns - (to_ns - length_ns) > little_ns;
}

static int add_row(struct fleet *fleet, const struct fleet_member *member,
                   const struct fleet_amounts *amounts)
{
    const size_t at = fleet->frame.entity_count;
    struct entity *entity = frame_add(&fleet->frame);

    if (entity == NULL)
        return CAMP_E_NOMEM;
    *entity = member->entity;
    fleet->frame.elapsed_ns[at] = amounts->elapsed_ns;
    memcpy(frame_values(&fleet->frame, at), amounts->values,
           fleet->columns.schema.column_count * sizeof *amounts->values);
    return CAMP_OK;
}

/* Returns how far apart two samples may be without a gap between them: 2.5 times the period of the
 * samples or 2.5 times the length of the interval, whichever is longer. */
static int64_t gap_of(const struct fleet *fleet, int64_t period_ns)
{
    const int64_t snapshot_ns = (int64_t)(fleet->frame.end_ns - fleet->frame.start_ns);
    const int64_t longer_ns = period_ns > snapshot_ns ? period_ns : snapshot_ns;

    return longer_ns * GAP_PERIODS_HALVES / 2 + MARGIN_NS;
}

/* Returns the end of a member's interval. If the member is scraped on time, there is already a
 * sample after this end. If there is no such sample, the member's next intervals end earlier, by
 * less than one period. */
static int64_t end_of(const struct fleet *fleet, struct fleet_member *member, int64_t period_ns)
{
    const int64_t to_ns = fleet->eval_ns - fleet_lag(fleet, period_ns) - member->late_ns;
    const int64_t most_ns = (int64_t)(fleet->frame.end_ns - fleet->frame.start_ns) / 2;
    int64_t late_ns = to_ns - fleet_newest(member);

    late_ns = late_ns < most_ns ? late_ns : most_ns; /* otherwise the next interval may be empty */
    if (late_ns > 0 && member->late_ns + late_ns < period_ns)
        member->late_ns += late_ns;
    return to_ns;
}

static int fill_amounts(struct fleet *fleet, int64_t until_ns)
{
    const bool are_groups = fleet->kind == FLEET_GROUPS, is_past = fleet->begin_ns > 0;
    struct fleet_samples *samples = are_groups ? &fleet->groups : &fleet->hosts;
    struct fleet_amounts amounts = { .values = fleet->values };
    int r = CAMP_OK;

    for (size_t i = 0; i < samples->count && r == CAMP_OK; i++) {
        struct fleet_member *member = samples->members[i];
        const int64_t period_ns = are_groups ? fleet->period_ns : period_of(fleet, member);
        const int64_t to_ns = is_past ? until_ns : end_of(fleet, member, period_ns);
        const int64_t first_ns =
            member->accounted_ns == 0 && member->count > 0 ? member->times_ns[0] : 0;
        const bool has = fleet_amounts(samples, member, to_ns, gap_of(fleet, period_ns), &amounts);

        member->is_silent = amounts.elapsed_ns == 0;
        if (!has)
            continue;
        fleet->frame.losses.partial +=
            amounts.is_partial || lacks_part(fleet, member, first_ns, to_ns);
        if (are_groups || fleet_is_query(fleet))
            set_elapsed(fleet, &amounts);
        if (amounts.elapsed_ns > 0)
            r = add_row(fleet, member, &amounts);
    }
    return r;
}

/* Adds the rows of a query without a range. All values are of one moment: `until_ns` if history is
 * read, otherwise the newest moment for which the server answered. */
static int fill_levels(struct fleet *fleet, int64_t until_ns)
{
    const double length_ns = (double)(fleet->frame.end_ns - fleet->frame.start_ns);
    struct fleet_samples *samples = &fleet->hosts;
    struct fleet_amounts amounts = { .values = fleet->values };
    int64_t at_ns = 0;
    int r = CAMP_OK;

    for (size_t i = 0; i < samples->count; i++) {
        const int64_t newest_ns = fleet_newest(samples->members[i]);

        at_ns = newest_ns > at_ns ? newest_ns : at_ns;
    }
    at_ns = fleet->begin_ns > 0 ? until_ns : at_ns;
    for (size_t i = 0; i < samples->count && r == CAMP_OK; i++) {
        const double *sample = fleet_sample_at(samples, samples->members[i], at_ns);

        if (sample == NULL || at_ns <= fleet->levels_ns)
            continue;
        for (size_t j = 0; j < samples->columns; j++)
            amounts.values[j] = fleet_ns(sample[j] * length_ns);
        amounts.elapsed_ns = isnan(sample[samples->columns + FLEET_CPUS])
                                 ? (uint64_t)length_ns
                                 : fleet_ns(sample[samples->columns + FLEET_CPUS] * length_ns);
        set_elapsed(fleet, &amounts);
        r = add_row(fleet, samples->members[i], &amounts);
    }
    fleet->levels_ns = at_ns;
    return r;
}

void fleet_forget(struct fleet *fleet, int64_t now_ns)
{
    fleet_samples_forget(&fleet->groups, now_ns - FORGET_NS);
    fleet_samples_forget(&fleet->hosts, now_ns - FORGET_NS);
}

int fleet_fill(struct fleet *fleet, int64_t until_ns)
{
    return fleet->kind == FLEET_LEVELS ? fill_levels(fleet, until_ns)
                                       : fill_amounts(fleet, until_ns);
}
