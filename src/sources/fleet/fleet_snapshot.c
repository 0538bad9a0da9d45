/*
 * Takes snapshots of a live fleet. The parts of a snapshot are several questions that are asked at
 * the same time, because a server evaluates one question on one CPU.
 *
 * A snapshot reads all samples since the previous one. A server may already have some series of a
 * scrape, and not yet the others, because the parts are evaluated one after the other, and because
 * VictoriaMetrics makes new samples visible in pieces. So samples of a member are used only until
 * the time that all its series have reached. The next snapshot reads the other samples again.
 */
#include "fleet_inside.h"

#include "counters/error.h"

#include <stdlib.h>

#define SAMPLES_MOST 200000 /* samples in one answer: some 8 MB of JSON */
#define PERIODS_LEAST 4
#define DELAY_FADES 64
#define DELAY_MOST_NS ((int64_t)6 * NS_PER_S)
/* Selectors are evaluated in the future, so that their range ends after the newest samples. Without
 * a time, VictoriaMetrics evaluates at the last whole second. */
#define AHEAD_NS (int64_t) NS_PER_S

int fleet_open_parts(struct fleet *fleet, const char *place, struct camp_error *error)
{
    int r = CAMP_OK;

    fleet->part_count = fleet_parts(fleet);
    for (size_t i = 0; i < fleet->part_count && r == CAMP_OK; i++)
        r = prometheus_client_open(place, fleet->stop, fleet->client, &fleet->parts[i].client,
                                   error);
    return r;
}

static void drop_questions(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->part_count; i++) {
        struct fleet_part *part = &fleet->parts[i];

        if (part->question != NULL && part->client != NULL)
            prometheus_client_drop(part->client);
        prometheus_answer_release(&part->answer);
        free(part->question);
        part->question = NULL;
        part->is_answered = false;
    }
}

void fleet_close_parts(struct fleet *fleet)
{
    drop_questions(fleet);
    for (size_t i = 0; i < fleet->part_count; i++)
        prometheus_client_close(fleet->parts[i].client);
    prometheus_client_close(fleet->client);
}

bool fleet_is_asked(const struct fleet *fleet)
{
    return fleet->parts[0].question != NULL;
}

static int64_t larger(int64_t left, int64_t right)
{
    return left > right ? left : right;
}

static int64_t period_of(const struct fleet *fleet, const struct fleet_member *host)
{
    return host->period_ns > 0 ? host->period_ns : fleet->period_ns;
}

/* Returns how much older than a period the newest samples are at a time of the server's clock. Nine
 * in ten hosts decide, so that single hosts that are scraped late do not. If `only_new` is true,
 * the newest samples are those of the previous snapshot, of the hosts that have newer ones. */
static int64_t lateness(const struct fleet *fleet, int64_t at_ns, bool only_new)
{
    int64_t *late = calloc(fleet->hosts.count + 1, sizeof *late), ret_ns = 0;
    size_t count = 0;

    for (size_t i = 0; late != NULL && i < fleet->hosts.count; i++) {
        const struct fleet_member *host = fleet->hosts.members[i];
        const bool is_new = host->seen_ns > 0 && fleet_newest(host) > host->seen_ns;

        if (only_new ? is_new : !host->is_down && host->count > 0)
            late[count++] =
                at_ns - (only_new ? host->seen_ns : fleet_newest(host)) - period_of(fleet, host);
    }
    if (count > 0)
        ret_ns = fleet_quantile(late, count, 90);
    free(late);
    return ret_ns;
}

/* Returns the length of the time whose samples a snapshot reads: since the previous snapshot, and
 * longer, because samples become visible some time after their scrape; and also since the newest
 * samples, if none came for a while. It is limited, so that an answer after a long failure does not
 * become too large. */
static int64_t range_of(const struct fleet *fleet, uint64_t now)
{
    const int64_t series = (int64_t)(fleet->hosts.count + fleet->groups.count + 1) *
                           (int64_t)(fleet->columns.schema.column_count + FLEET_EXTRA_COUNT);
    const int64_t most_ns = fleet->period_ns * larger(SAMPLES_MOST / series, PERIODS_LEAST);
    const int64_t since_ns = fleet->data_ns > 0 ? (int64_t)(now - fleet->data_ns) : 0;
    const int64_t wanted_ns = larger(larger(since_ns, fleet->period_ns) + fleet->delay_ns,
                                     lateness(fleet, (int64_t)now + fleet->offset_ns, false)) +
                              2 * MARGIN_NS;

    return wanted_ns < most_ns ? wanted_ns : most_ns;
}

/* Updates the estimate of the time until new samples can be queried. Samples that were not yet
 * there at the previous snapshot show how long that may take. VictoriaMetrics makes samples visible
 * each second, and agents send them in batches, so the time grows and falls: the estimate follows
 * it up at once, and down slowly. */
static void update_delay(struct fleet *fleet, int64_t asked_ns)
{
    const int64_t late_ns = lateness(fleet, fleet->asked_before_ns, true);

    for (size_t i = 0; i < fleet->hosts.count; i++)
        fleet->hosts.members[i]->seen_ns = fleet_newest(fleet->hosts.members[i]);
    fleet->asked_before_ns = asked_ns;
    fleet->delay_ns -= fleet->delay_ns / DELAY_FADES;
    if (late_ns > fleet->delay_ns)
        fleet->delay_ns = late_ns < DELAY_MOST_NS ? late_ns : DELAY_MOST_NS;
}

static int ask_parts(struct fleet *fleet, uint64_t until_ns, struct camp_error *error)
{
    int r = CAMP_OK;

    /* The first round only sends. In the second round all answers arrive while one is awaited. */
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < fleet->part_count; i++) {
            struct fleet_part *part = &fleet->parts[i];

            if (part->is_answered)
                continue;
            r = prometheus_client_ask(part->client, "query", part->question, part->times,
                                      round == 0 ? 0 : until_ns, &part->answer, error);
            part->is_answered = r == CAMP_OK;
            if (r != CAMP_OK && (r != REMOTE_PENDING || round > 0))
                return r;
        }
    }
    return CAMP_OK;
}

/* Finds the places of all series of an answer, and for each member the time that all its series
 * have reached. */
static int find_places(struct fleet *fleet, const struct prometheus_answer *answer,
                       struct fleet_place *ret)
{
    struct prometheus_series series;
    int r = CAMP_OK;

    for (size_t i = 0; i < answer->series_count && r == CAMP_OK; i++) {
        prometheus_answer_series(answer, i, &series);
        r = fleet_find_place(fleet, &series, &ret[i]);
        if (r == CAMP_OK && series.sample_count > 0) {
            const int64_t newest_ns = series.samples[series.sample_count - 1].time_ns;

            if (newest_ns < ret[i].member->complete_ns)
                ret[i].member->complete_ns = newest_ns;
        }
    }
    return r;
}

static void expect_all(const struct fleet_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++)
        samples->members[i]->complete_ns = INT64_MAX;
}

static int add_part(struct fleet *fleet, const struct prometheus_answer *answer,
                    struct fleet_place *places)
{
    int r = CAMP_OK;

    for (size_t i = 0; i < answer->series_count && r == CAMP_OK; i++) {
        struct prometheus_series series;

        if (places[i].member == NULL) /* none: find_places() found each */
            continue;
        prometheus_answer_series(answer, i, &series);
        r = fleet_add_samples(fleet, &series, &places[i], places[i].member->complete_ns);
    }
    return r;
}

static int add_parts(struct fleet *fleet)
{
    struct fleet_place *places[FLEET_PARTS_MOST] = { NULL };
    const size_t count = fleet->part_count;
    int r = CAMP_OK;

    fleet->hosts.answer = ++fleet->groups.answer;
    expect_all(&fleet->hosts);
    expect_all(&fleet->groups);
    for (size_t i = 1; i < count && r == CAMP_OK; i++) {
        const struct prometheus_answer *answer = &fleet->parts[i].answer;

        places[i] = calloc(answer->series_count + 1, sizeof **places);
        r = places[i] != NULL ? find_places(fleet, answer, places[i]) : CAMP_E_NOMEM;
    }
    for (size_t i = 1; i < count && r == CAMP_OK; i++)
        r = add_part(fleet, &fleet->parts[i].answer, places[i]);
    for (size_t i = 1; i < count; i++)
        free(places[i]);
    /* A host with an older exporter was added or removed, or one answer has a new host and the
     * other does not yet have it. */
    if (fleet->sampled != SIZE_MAX)
        fleet->has_busy = fleet_has_busy(&fleet->parts[1].answer, &fleet->parts[2].answer);
    return r;
}

static int add_answers(struct fleet *fleet)
{
    int r;

    fleet_forget(fleet, fleet->eval_ns);
    if (fleet_is_query(fleet)) {
        r = fleet_add_series(fleet, &fleet->parts[0].answer);
        update_delay(fleet, (int64_t)fleet->snapshot_ns + fleet->offset_ns);
        return r;
    }
    for (size_t i = 0; i < fleet->hosts.count; i++)
        fleet->hosts.members[i]->is_down = false;
    r = fleet_add_marks(fleet, &fleet->parts[0].answer);
    if (r == CAMP_OK)
        r = add_parts(fleet);
    update_delay(fleet, (int64_t)fleet->snapshot_ns + fleet->offset_ns);
    return r;
}

static int make_questions(struct fleet *fleet, struct camp_error *error)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC);
    const int64_t range_ns = range_of(fleet, now);

    fleet->snapshot_ns = now;
    for (size_t i = 0; i < fleet->part_count; i++) {
        struct fleet_part *part = &fleet->parts[i];
        const bool is_query = fleet_is_query(fleet);

        part->question = fleet_question(fleet, i, range_ns + AHEAD_NS);
        part->times[0] = '\0';
        if (is_query || i > 0) /* the marks ask for the server's clock, which may differ */
            fleet_add_time(part->times, "time",
                           (int64_t)now + fleet->offset_ns + (is_query ? 0 : AHEAD_NS));
        if (part->question == NULL)
            return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a question");
    }
    return CAMP_OK;
}

int fleet_snapshot(struct fleet *fleet, uint64_t until_ns, struct camp_error *error)
{
    int r = fleet_is_asked(fleet) ? CAMP_OK : make_questions(fleet, error);

    if (r == CAMP_OK)
        r = ask_parts(fleet, until_ns, error);
    if (r == REMOTE_PENDING)
        return r;
    if (r == CAMP_OK) {
        fleet->data_ns = fleet->snapshot_ns;
        r = add_answers(fleet);
        if (r != CAMP_OK)
            fleet_fail_samples(r, error);
    }
    drop_questions(fleet);
    return r;
}
