/*
 * Reads the past from a Prometheus server, one part of the time range after the other. Counters are
 * read with range selectors, which return all samples with their times. The API's query_range is
 * used only for levels: it returns values at given times, and at most 11,000 per series.
 */
#include "fleet_inside.h"

#include <inttypes.h>
#include <stdio.h>

#define PIECE_SAMPLES 200000 /* samples in one answer: about 6 MB */
#define PIECE_PERIODS_LEAST 10
#define POINTS_MOST 10000 /* values per series in one answer; Prometheus refuses 11,001 */
#define SLICE_NS ((uint64_t)50 * NS_PER_MS)
#define ANSWER_NS ((uint64_t)60 * NS_PER_S)

void fleet_past_start(struct fleet *fleet, size_t series)
{
    const int64_t most = fleet->kind == FLEET_LEVELS ? POINTS_MOST : PIECE_SAMPLES;
    int64_t periods = (int64_t)(PIECE_SAMPLES / (series > 0 ? series : 1));

    periods = periods > PIECE_PERIODS_LEAST ? periods : PIECE_PERIODS_LEAST;
    fleet->step_ns = fleet->interval_ns > 0 ? fleet->interval_ns : fleet->period_ns;
    fleet->piece_ns = (fleet->kind == FLEET_LEVELS ? fleet->step_ns : fleet->period_ns) *
                      (periods < most ? periods : most);
    fleet->at_ns = fleet->begin_ns;
    fleet->hosts.begin_ns = fleet->groups.begin_ns = fleet->begin_ns;
    fleet->asked_ns =
        fleet->kind == FLEET_LEVELS ? fleet->begin_ns : fleet->begin_ns - 2 * fleet->reach_ns;
}

/* Asks for the next part of the time range, which ends at `until_ns`. Levels are evaluated at the
 * end of each interval, because the values of a query have no times of their own. */
static int ask(struct fleet *fleet, int64_t until_ns, struct prometheus_answer *ret,
               struct camp_error *error)
{
    if (fleet->kind == FLEET_LEVELS)
        return fleet_ask_steps(fleet, fleet->question, fleet->asked_ns + fleet->step_ns, until_ns,
                               fleet->step_ns, now_ns(CLOCK_MONOTONIC) + ANSWER_NS, ret, error);
    return fleet_ask_text(
        fleet, fleet_text_of("%s[%" PRId64 "ms]", fleet->question, fleet->piece_ns / NS_PER_MS),
        until_ns, ANSWER_NS, ret, error);
}

/* Sets the period of each host to the usual time between its samples, but at least to
 * fleet->period_ns. The period tells whether there is a gap between two samples (gap_of()). */
static void update_periods(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->hosts.count; i++) {
        const int64_t usual_ns = fleet_usual_period(fleet->hosts.members[i]);

        fleet->hosts.members[i]->period_ns =
            usual_ns > fleet->period_ns ? usual_ns : fleet->period_ns;
    }
}

static int ask_piece(struct fleet *fleet, struct camp_error *error)
{
    const int64_t piece_end_ns = fleet->asked_ns + fleet->piece_ns;
    const int64_t until_ns =
        fleet->kind == FLEET_LEVELS && piece_end_ns > fleet->end_ns ? fleet->end_ns : piece_end_ns;
    struct prometheus_answer answer;
    int r = ask(fleet, until_ns, &answer, error);

    if (r != CAMP_OK)
        return r;
    r = fleet_add_series(fleet, &answer);
    prometheus_answer_release(&answer);
    fleet->asked_ns = until_ns;
    update_periods(fleet);
    return r == CAMP_OK ? r : fleet_fail_samples(r, error);
}

/* With --speed, waits for the length of the interval divided by the speed. */
static void keep_pace(struct fleet *fleet)
{
    if (!(fleet->speed > 0))
        return;
    if (fleet->due_ns == 0)
        fleet->due_ns = now_ns(CLOCK_MONOTONIC);
    fleet->due_ns += (uint64_t)((double)fleet->step_ns / fleet->speed);
    while (source_wait(fleet->due_ns, SLICE_NS, fleet->stop))
        ;
}

/* Returns the end of the next interval. Intervals are step_ns long, but for counters the last
 * interval may be shorter. */
static int64_t next_end(const struct fleet *fleet)
{
    const int64_t whole_ns = fleet->at_ns + fleet->step_ns;

    return whole_ns > fleet->end_ns && fleet->kind != FLEET_LEVELS ? fleet->end_ns : whole_ns;
}

int fleet_past_next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                    struct camp_error *error)
{
    struct fleet *fleet = (struct fleet *)base;
    struct frame *frame = &fleet->frame;
    const int64_t until_ns = next_end(fleet);
    const int64_t ahead_ns = fleet->kind == FLEET_LEVELS ? 0 : 2 * fleet->reach_ns;
    int r = CAMP_OK;

    (void)deadline_ns;
    if (fleet->at_ns >= fleet->end_ns || until_ns > fleet->end_ns)
        return SOURCE_END;
    while (r == CAMP_OK && fleet->asked_ns < until_ns + ahead_ns &&
           fleet->asked_ns < fleet->end_ns + ahead_ns)
        r = ask_piece(fleet, error);
    if (r == REMOTE_PENDING)
        return SOURCE_END;
    keep_pace(fleet);
    labels_start_interval();
    fleet_use_labels(fleet);
    frame_clear(frame);
    frame->start_ns = (uint64_t)(fleet->at_ns - fleet->begin_ns);
    frame->end_ns = (uint64_t)(until_ns - fleet->begin_ns);
    frame->wall_clock_ns = until_ns;
    fleet->at_ns = until_ns;
    if (r == CAMP_OK)
        r = fleet_fill(fleet, until_ns);
    frame_count_lost_labels(frame);
    frame->losses.lost = fleet_missing(fleet, fleet->note, sizeof fleet->note);
    frame->note = fleet->note;
    fleet_forget(fleet, until_ns);
    *ret_frame = frame;
    return r;
}
