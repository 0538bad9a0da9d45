#include "fleet_inside.h"

#include "counters/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_NS ((uint64_t)50 * NS_PER_MS)
#define ANSWER_NS ((uint64_t)300 * NS_PER_MS)
#define ANSWER_PART 2
#define ANSWER_MOST_NS ((uint64_t)3 * NS_PER_S)
#define OPENING_NS ((uint64_t)30 * NS_PER_S)
#define AGE_FADES 64
#define AGE_MOST_NS ((int64_t)5 * NS_PER_S)

static const struct schema *describe(const struct source *source)
{
    return &((const struct fleet *)source)->columns.schema;
}

void fleet_add_time(char ret[FLEET_TIMES_SIZE], const char *name, int64_t at_ns)
{
    const size_t length = strlen(ret);

    snprintf(ret + length, FLEET_TIMES_SIZE - length, "&%s=%" PRId64 ".%03" PRId64, name,
             at_ns / NS_PER_S, at_ns % NS_PER_S / NS_PER_MS);
}

int fleet_ask(struct fleet *fleet, const char *text, int64_t at_ns, uint64_t until_ns,
              struct prometheus_answer *ret, struct camp_error *error)
{
    char times[FLEET_TIMES_SIZE] = "";

    if (at_ns > 0)
        fleet_add_time(times, "time", at_ns);
    return prometheus_client_ask(fleet->client, "query", text, times, until_ns, ret, error);
}

int fleet_ask_text(struct fleet *fleet, char *text, int64_t at_ns, uint64_t limit_ns,
                   struct prometheus_answer *ret, struct camp_error *error)
{
    const uint64_t until_ns = now_ns(CLOCK_MONOTONIC) + limit_ns;
    const int r = text != NULL ? fleet_ask(fleet, text, at_ns, until_ns, ret, error)
                               : camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a question");

    free(text);
    return r;
}

int fleet_ask_steps(struct fleet *fleet, const char *text, int64_t from_ns, int64_t to_ns,
                    int64_t step_ns, uint64_t until_ns, struct prometheus_answer *ret,
                    struct camp_error *error)
{
    char times[FLEET_TIMES_SIZE] = "";

    fleet_add_time(times, "start", from_ns);
    fleet_add_time(times, "end", to_ns);
    fleet_add_time(times, "step", step_ns);
    return prometheus_client_ask(fleet->client, "query_range", text, times, until_ns, ret, error);
}

/* Takes a snapshot. The notes of frames report a failure until a snapshot succeeds. */
static void take_snapshot(struct fleet *fleet, uint64_t until_ns)
{
    const int r = fleet_snapshot(fleet, until_ns, &fleet->failure);

    if (r != REMOTE_PENDING)
        fleet->is_failed = r != CAMP_OK;
}

/* Updates fleet->age_ns from the age of the newest answer. Intervals end earlier by age_ns, so that
 * samples of all hosts are known at the end of an interval, even if the server is slow. */
static void update_age(struct fleet *fleet, uint64_t now, int64_t most_ns)
{
    int64_t age_ns = (int64_t)(now - fleet->data_ns);

    if (fleet->is_failed)
        return;
    fleet->age_ns -= fleet->age_ns / AGE_FADES;
    /* age_ns grows by most_ns at most: a larger growth could make an interval empty */
    if (age_ns > fleet->age_ns + most_ns)
        age_ns = fleet->age_ns + most_ns;
    if (age_ns > fleet->age_ns)
        fleet->age_ns = age_ns < AGE_MOST_NS ? age_ns : AGE_MOST_NS;
}

static const char *note_of(struct fleet *fleet)
{
    size_t missing;

    if (fleet->is_failed)
        return fleet->failure.message;
    missing = fleet_missing(fleet, fleet->note, sizeof fleet->note);
    fleet->frame.losses.lost += missing;
    if (missing == 0 && fleet->hosts.count == 0 && !fleet_is_query(fleet))
        snprintf(fleet->note, sizeof fleet->note,
                 "no camp export%s is scraped by this Prometheus: see docs/fleet.md",
                 fleet->matchers[0] != '\0' ? " that matches" : "");
    return fleet->note;
}

/* Returns how long next() waits for an answer at the end of an interval. If the answer arrives
 * later, the rows of the interval end at the newest samples that were read before. */
static uint64_t patience_ns(const struct fleet *fleet)
{
    const uint64_t part_ns = (fleet->frame.end_ns - fleet->frame.start_ns) / ANSWER_PART;

    return part_ns < ANSWER_NS ? ANSWER_NS : part_ns < ANSWER_MOST_NS ? part_ns : ANSWER_MOST_NS;
}

/* Waits until the deadline. Meanwhile reads the answer to a question that was sent earlier, so that
 * the next question can be sent. */
static void wait_until(struct fleet *fleet, uint64_t deadline_ns)
{
    while (source_wait(deadline_ns, SLICE_NS, fleet->stop)) {
        if (fleet_is_asked(fleet))
            take_snapshot(fleet, now_ns(CLOCK_MONOTONIC));
    }
}

static void start_interval(struct fleet *fleet, uint64_t now, int64_t least_ns)
{
    struct frame *frame = &fleet->frame;

    frame->start_ns = frame->end_ns;
    frame->end_ns = fleet_interval_end(
        frame->start_ns, now - (uint64_t)fleet_lag(fleet, fleet->period_ns), least_ns);
    frame->wall_clock_ns = fleet->eval_ns - (int64_t)(now - frame->end_ns);
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct fleet *fleet = (struct fleet *)base;
    const int64_t before_ns = fleet->eval_ns;
    struct frame *frame = &fleet->frame;
    uint64_t now;
    int r;

    wait_until(fleet, deadline_ns);
    take_snapshot(fleet, now_ns(CLOCK_MONOTONIC) + patience_ns(fleet));
    now = now_ns(CLOCK_MONOTONIC);
    fleet->eval_ns = (int64_t)now + fleet->offset_ns;
    update_age(fleet, now, (fleet->eval_ns - before_ns) / 2);
    for (size_t i = 0; i < fleet->hosts.count; i++)
        fleet_update_period(fleet->hosts.members[i], fleet->eval_ns - before_ns);
    fleet_find_period(fleet);
    labels_start_interval();
    fleet_use_labels(fleet);
    frame_clear(frame);
    start_interval(fleet, now, (fleet->eval_ns - before_ns) / 2);
    r = fleet_fill(fleet, frame->wall_clock_ns);
    frame_count_lost_labels(frame);
    frame->note = note_of(fleet);
    *ret_frame = frame;
    return r == CAMP_OK ? r : fleet_fail_samples(r, error);
}

static void close_fleet(struct source *base)
{
    struct fleet *fleet = (struct fleet *)base;

    fleet_close_parts(fleet);
    fleet_samples_release(&fleet->hosts);
    fleet_samples_release(&fleet->groups);
    fleet_columns_release(&fleet->columns);
    frame_release(&fleet->frame);
    free(fleet->matchers);
    free(fleet->host);
    free(fleet->column);
    for (size_t i = 0; i < fleet->name_count; i++)
        free(fleet->names[i]);
    free(fleet->jobs);
    free(fleet->question);
    free(fleet);
}

/* Takes the first snapshot. The first interval starts fleet_lag() before this snapshot. */
static int start_live(struct fleet *fleet, const struct from *from, struct camp_error *error)
{
    uint64_t now;
    int r;

    take_snapshot(fleet, now_ns(CLOCK_MONOTONIC) + OPENING_NS);
    if (fleet->is_failed) {
        *error = fleet->failure;
        return fleet->failure.code;
    }
    now = now_ns(CLOCK_MONOTONIC);
    fleet->eval_ns = (int64_t)now + fleet->offset_ns;
    update_age(fleet, now, AGE_MOST_NS);
    for (size_t i = 0; i < fleet->hosts.count; i++)
        fleet_update_period(fleet->hosts.members[i], 0);
    fleet_find_period(fleet);
    fleet->frame.end_ns = now - (uint64_t)fleet_lag(fleet, fleet->period_ns);
    fleet->frame.start_ns = fleet->frame.end_ns;
    r = fleet_fill(fleet, fleet->eval_ns - fleet_lag(fleet, fleet->period_ns));
    if (r == CAMP_OK && fleet->hosts.count == 0 && !fleet_is_query(fleet) &&
        (from->host != NULL || from->query != NULL))
        return fleet_fail_without_hosts(fleet, from, error);
    return r;
}

static void start_past(struct fleet *fleet, const struct from *from)
{
    char *raw = fleet_is_query(fleet) ? NULL : fleet_raw_selector(fleet);

    fleet->source.next = fleet_past_next;
    fleet->speed = from->speed;
    if (raw != NULL)
        fleet->question = raw;
}

static void fill_facts(struct fleet *fleet, struct from_facts *facts)
{
    static const char *const kinds[] = {
        [FLEET_HOSTS] = "hosts",
        [FLEET_GROUPS] = "groups",
        [FLEET_LEVELS] = "entities",
        [FLEET_COUNTERS] = "entities",
    };
    char shown[FROM_NAME_SIZE - 64];

    fleet_name(prometheus_client_shown(fleet->client), shown, sizeof shown);
    snprintf(facts->name, sizeof facts->name, "prometheus %s%s%.24s", shown,
             fleet->host != NULL ? " " : "", fleet->host != NULL ? fleet->host : "");
    snprintf(facts->kind, sizeof facts->kind, "%s", kinds[fleet->kind]);
    facts->tier = "prometheus";
    if (fleet->kind == FLEET_HOSTS && strpbrk(shown, "' ") == NULL)
        snprintf(facts->below, sizeof facts->below, "camp view --from prometheus:%s --host", shown);
    facts->live = fleet->begin_ns == 0;
    facts->begin_ns = fleet->begin_ns;
    facts->end_ns = fleet->end_ns;
    if (facts->live)
        return;
    facts->interval_ns = (uint64_t)fleet->step_ns;
    facts->frames = (uint64_t)((fleet->end_ns - fleet->begin_ns) / fleet->step_ns);
}

static int set_time_range(struct fleet *fleet, const struct from *from, struct camp_error *error)
{
    const int64_t now = (int64_t)now_ns(CLOCK_REALTIME);

    if (from->begin_ns == 0)
        return CAMP_OK;
    if (from->begin_ns >= now)
        return camp_fail(error, CAMP_E_INVALID, 0, "--begin is in the future");
    fleet->begin_ns = from->begin_ns / NS_PER_MS * NS_PER_MS;
    fleet->end_ns = from->end_ns != 0 && from->end_ns < now ? from->end_ns : now;
    fleet->end_ns = fleet->end_ns / NS_PER_MS * NS_PER_MS;
    fleet->interval_ns = (int64_t)from->interval_ns / NS_PER_MS * NS_PER_MS;
    if (fleet->begin_ns < fleet->end_ns)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "less than 1 ms lies between --begin and --end: give a later --end");
}

static int set_rows(struct fleet *fleet, const struct from *from, const char *place,
                    struct camp_error *error)
{
    struct from hosts = *from;
    int r = set_time_range(fleet, from, error);

    if (r != CAMP_OK)
        return r;
    fleet->kind = from->host != NULL ? FLEET_GROUPS : FLEET_HOSTS;
    fleet->metric = from->host != NULL ? METRIC_GROUPS : METRIC_MEASURED;
    fleet->sampled = from->host != NULL ? SIZE_MAX : 0;
    if (from->query != NULL && !fleet_is_matchers(from->query)) {
        hosts.query = NULL;
        r = fleet_query_read(fleet, from, error);
    } else if (from->column != NULL || from->unit != NULL) {
        return camp_fail(error, CAMP_E_INVALID, 0, "--%s goes with PromQL in --query",
                         from->column != NULL ? "column" : "unit");
    }
    if (r != CAMP_OK)
        return r;
    fleet->column = strdup(from->host != NULL ? "state" : "mode");
    fleet->matchers = fleet_matchers(&hosts);
    fleet->host = from->host != NULL ? strdup(from->host) : NULL;
    if (fleet->matchers == NULL || fleet->column == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a source");
    r = prometheus_client_open(place, from->stop, NULL, &fleet->client, error);
    return r == CAMP_OK && fleet->begin_ns == 0 ? fleet_open_parts(fleet, place, error) : r;
}

int fleet_source_open(const struct from *from, const char *place, struct source **ret,
                      struct from_facts *facts, struct camp_error *error)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);
    int r;

    if (fleet == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a source");
    fleet->source = (struct source){ .describe = describe, .next = next, .close = close_fleet };
    fleet->stop = from->stop;
    r = set_rows(fleet, from, place, error);
    if (r == CAMP_OK)
        r = fleet_open_samples(fleet, from, facts, error);
    frame_init(&fleet->frame, &fleet->columns.schema);
    if (r == CAMP_OK && fleet->begin_ns > 0)
        start_past(fleet, from);
    else if (r == CAMP_OK)
        r = start_live(fleet, from, error);
    if (r != CAMP_OK) {
        close_fleet(&fleet->source);
        return r;
    }
    fill_facts(fleet, facts);
    *ret = &fleet->source;
    return CAMP_OK;
}
