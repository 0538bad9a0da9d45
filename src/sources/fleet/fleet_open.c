/* The questions before the first snapshot: which hosts there are, how often they are scraped, and
 * which states and labels they have. */
#include "fleet_inside.h"

#include "counters/error.h"
#include "ledger/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBED_NS ((int64_t)300 * NS_PER_S)
#define RECENT_NS ((int64_t)20 * NS_PER_S)
/* RECENT_NS is used as the range only if hosts have at least this many samples in it */
#define RECENT_LEAST 4
#define OPENING_NS ((uint64_t)30 * NS_PER_S)
/* VictoriaMetrics makes new samples visible each second */
#define VISIBLE_NS ((int64_t)2 * NS_PER_S)
#define PERIOD_SAMPLES 20 /* a late scrape changes the mean period by 1/20 of its lateness */
#define VALUES_MOST 256
#define SAMPLES_BYTES ((size_t)16 << 20)
#define ONE_HOST_BYTES ((size_t)2 << 20)

/* Like fleet_ask_text(), but returns CAMP_E_GONE instead of REMOTE_PENDING. */
static int ask_and_wait(struct fleet *fleet, char *text, int64_t at_ns,
                        struct prometheus_answer *ret, struct camp_error *error)
{
    const int r = fleet_ask_text(fleet, text, at_ns, OPENING_NS, ret, error);

    return r == REMOTE_PENDING
               ? camp_fail(error, CAMP_E_GONE, 0, "prometheus: interrupted while it was asked")
               : r;
}

/* Writes to ret[3] the evaluation times to try, and returns their number. A live source has one: 0,
 * which means now. History has three: the end, the middle, and near the start of its range. */
static size_t moments(const struct fleet *fleet, int64_t *ret)
{
    if (fleet->begin_ns == 0) {
        ret[0] = 0;
        return 1;
    }
    ret[0] = fleet->end_ns;
    ret[1] = fleet->begin_ns + (fleet->end_ns - fleet->begin_ns) / 2;
    ret[2] =
        fleet->begin_ns + PROBED_NS < fleet->end_ns ? fleet->begin_ns + PROBED_NS : fleet->end_ns;
    return 3;
}

/* Returns the pattern "before|job" in quotes, or "job" if `before` is NULL. Frees `before`. */
static char *joined_pattern(char *before, const char *job)
{
    char *quoted = fleet_quoted_pattern(job, ""), *ret = NULL;

    if (before == NULL)
        return quoted;
    /* leaves out the closing quote of `before` and the opening quote of `quoted` */
    if (quoted != NULL)
        ret = fleet_text_of("%.*s|%s", (int)strlen(before) - 1, before, quoted + 1);
    free(quoted);
    free(before);
    return ret;
}

static void read_probe(struct fleet *fleet, const struct prometheus_answer *answer)
{
    struct prometheus_series series;
    struct prometheus_sample sample;
    int64_t recent_ns = 0;

    for (size_t i = 0; i < answer->series_count; i++) {
        const char *mark;

        prometheus_answer_series(answer, i, &series);
        if (series.sample_count == 0)
            continue;
        sample = series.samples[0];
        mark = prometheus_series_label(&series, FLEET_PART);
        if (strcmp(mark, "job") == 0)
            fleet->jobs = joined_pattern(fleet->jobs, prometheus_series_label(&series, "job"));
        else if (strcmp(mark, "now") == 0)
            fleet_update_clock(fleet, sample.time_ns);
        else if (strcmp(mark, "recent") == 0 && sample.value >= RECENT_LEAST)
            recent_ns = llround((double)RECENT_NS / sample.value);
        else if (strcmp(mark, "count") == 0 && sample.value >= 1)
            fleet->reach_ns = llround((double)PROBED_NS / sample.value);
    }
    if (recent_ns > 0)
        fleet->reach_ns = recent_ns;
}

static int probe(struct fleet *fleet, struct camp_error *error)
{
    int64_t at_ns[3];
    const size_t count = moments(fleet, at_ns);
    int r = CAMP_OK;

    for (size_t i = 0; i < count && r == CAMP_OK && fleet->reach_ns == 0; i++) {
        struct prometheus_answer answer;

        r = ask_and_wait(fleet, fleet_probe_question(fleet), at_ns[i], &answer, error);
        if (r != CAMP_OK)
            break;
        read_probe(fleet, &answer);
        prometheus_answer_release(&answer);
    }
    fleet->period_ns = fleet->reach_ns > 0 ? fleet->reach_ns : FIRST_PERIOD_NS;
    if (fleet->reach_ns == 0)
        fleet->reach_ns = fleet->begin_ns > 0 ? PROBED_NS / 2 : FIRST_PERIOD_NS;
    return r;
}

static size_t collect_labels(const struct fleet *fleet, const struct prometheus_series *series,
                             const char **names, size_t count)
{
    static const char *const no_labels[] = {
        "__name__", "mode", "state", GROUP_LABEL, "job", NULL
    };

    for (size_t i = 0; i < series->label_count; i++) {
        const char *name = series->labels[i].name;
        bool is_one = fleet->kind == FLEET_GROUPS || strcmp(name, HOST_LABEL) != 0;

        for (size_t j = 0; no_labels[j] != NULL; j++)
            is_one &= strcmp(name, no_labels[j]) != 0;
        if (is_one)
            fleet_add_name(names, &count, LABELS_MOST, name);
    }
    return count;
}

static int choose_columns(struct fleet *fleet, const struct prometheus_answer *answer,
                          struct camp_error *error)
{
    static const char *const usual[] = { "user", "system", "irq", "softirq", "iowait", "idle" };
    const char *values[VALUES_MOST], *labels[LABELS_MOST] = { "job" };
    size_t count = 0, label_count = 1;
    int r;

    for (size_t i = 0; i < answer->series_count; i++) {
        struct prometheus_series series;
        bool is_row;

        prometheus_answer_series(answer, i, &series);
        is_row = strcmp(prometheus_series_label(&series, "__name__"), fleet->metric) == 0;
        if (is_row)
            fleet_add_name(values, &count, VALUES_MOST,
                           prometheus_series_label(&series, fleet->column));
        if (is_row)
            label_count = collect_labels(fleet, &series, labels, label_count);
    }
    r = fleet_columns_init(&fleet->columns, fleet->kind == FLEET_GROUPS ? "groups" : "hosts",
                           fleet->metric, CAMP_MEASURED, count > 0 ? values : usual,
                           count > 0 ? count : ARRAY_COUNT(usual));
    if (r == CAMP_E_INVALID)
        return camp_fail(error, r, 0, "prometheus: more than 90 states");
    if (r == CAMP_OK && fleet->sampled != SIZE_MAX) {
        fleet->sampled = fleet->columns.schema.column_count;
        if (!fleet_columns_add(&fleet->columns, COLUMN_COUNTER, CAMP_SAMPLED, "sampled_busy_ns",
                               "busy, sampled", METRIC_SAMPLED ", all modes but " IDLE_MODES))
            r = CAMP_E_NOMEM;
    }
    if (r == CAMP_OK && !fleet_columns_label(&fleet->columns, labels, label_count))
        r = CAMP_E_NOMEM;
    return r == CAMP_OK ? r : camp_fail(error, r, 0, "no memory for the columns of a fleet");
}

/* Returns the first question. For hosts and groups it is a selector of all counters with a range,
 * such as "...[2500ms]", because such an answer has the times of the scrapes. */
static char *first_question(const struct fleet *fleet)
{
    char *selector, *range;

    if (fleet_is_query(fleet))
        selector = strdup(fleet->question);
    else
        selector = fleet_raw_selector(fleet);
    if (selector == NULL ||
        (fleet_is_query(fleet) && !(fleet->kind == FLEET_COUNTERS && fleet->begin_ns > 0)))
        return selector;
    range = fleet_text_of("%s[%" PRId64 "ms]", selector,
                          (2 * fleet->reach_ns + 4 * MARGIN_NS + VISIBLE_NS) / NS_PER_MS);
    free(selector);
    return range;
}

static int keep_first_answer(struct fleet *fleet, const struct from *from,
                             const struct prometheus_answer *answer, struct from_facts *facts,
                             struct camp_error *error)
{
    int r = fleet_is_query(fleet) ? fleet_query_columns(fleet, from, answer, facts, error)
                                  : choose_columns(fleet, answer, error);

    fleet_samples_init(&fleet->hosts, fleet->columns.schema.column_count,
                       fleet->kind == FLEET_GROUPS ? ONE_HOST_BYTES : SAMPLES_BYTES);
    fleet_samples_init(&fleet->groups, fleet->columns.schema.column_count, SAMPLES_BYTES);
    if (r != CAMP_OK)
        return r;
    /* the past may have older exporters */
    fleet->has_busy = fleet->begin_ns == 0 && fleet_has_busy(answer, answer);
    if (fleet->begin_ns > 0)
        fleet_past_start(fleet, answer->series_count);
    else
        r = fleet_add_series(fleet, answer);
    return r == CAMP_OK ? r : fleet_fail_samples(r, error);
}

/* For history, determines the period of scrapes, which is the default interval. On a busy machine
 * scrapes start late, so the mean of PERIOD_SAMPLES scrapes is used. The question asks only for
 * METRIC_CPUS, because one scrape reads all counters of a host. For a query with a range nothing is
 * asked, because its first answer has already determined the period. */
static int read_period(struct fleet *fleet, int64_t at_ns, struct camp_error *error)
{
    struct prometheus_answer answer = { 0 };
    char *text;
    int64_t distance_ns;
    int r;

    if (fleet->begin_ns == 0 || fleet->kind == FLEET_COUNTERS)
        return CAMP_OK;
    text = fleet_text_of(METRIC_CPUS "{%s}[%" PRId64 "ms]",
                         fleet->kind == FLEET_LEVELS ? "" : fleet->matchers,
                         (PERIOD_SAMPLES * fleet->reach_ns + 4 * MARGIN_NS) / NS_PER_MS);
    r = ask_and_wait(fleet, text, at_ns, &answer, error);
    distance_ns = r == CAMP_OK ? fleet_distance(&answer, NULL) : 0;
    if (distance_ns > 0)
        fleet->period_ns = distance_ns;
    else if (fleet->kind == FLEET_LEVELS)
        fleet->period_ns = FIRST_PERIOD_NS;
    prometheus_answer_release(&answer);
    return r;
}

/* Asks the first question at the times of moments() until an answer has series. If no answer has
 * series, searches the range of history for a time with samples. *ret_at_ns is the evaluation time
 * of *ret. */
static int ask_first(struct fleet *fleet, struct prometheus_answer *ret, int64_t *ret_at_ns,
                     struct camp_error *error)
{
    int64_t at_ns[4];
    size_t count = moments(fleet, at_ns);
    int r = CAMP_OK;

    for (size_t i = 0; i < count && r == CAMP_OK && ret->series_count == 0; i++) {
        prometheus_answer_release(ret);
        *ret_at_ns = at_ns[i];
        r = ask_and_wait(fleet, first_question(fleet), at_ns[i], ret, error);
        if (r == CAMP_OK && ret->series_count == 0 && i == 2 &&
            (at_ns[3] = fleet_find_moment(fleet)) > 0)
            count = 4;
    }
    if (r == CAMP_OK && ret->series_count == 0 && fleet->begin_ns > 0)
        return camp_fail(error, CAMP_E_GONE, 0, "%s has no samples%s%s in this time",
                         prometheus_client_shown(fleet->client), fleet->host != NULL ? " of " : "",
                         fleet->host != NULL ? fleet->host : "");
    return r;
}

static bool has_metric(const struct prometheus_answer *answer, const char *metric)
{
    for (size_t i = 0; i < answer->series_count; i++) {
        if (strcmp(prometheus_answer_label(answer, i, "__name__"), metric) == 0)
            return true;
    }
    return false;
}

int fleet_open_samples(struct fleet *fleet, const struct from *from, struct from_facts *facts,
                       struct camp_error *error)
{
    struct prometheus_answer answer = { 0 };
    int64_t at_ns = 0, distance_ns;
    int r = probe(fleet, error);

    if (r == CAMP_OK)
        r = ask_first(fleet, &answer, &at_ns, error);
    distance_ns = fleet_distance(&answer, fleet_is_query(fleet) ? NULL : METRIC_CPUS);
    if (distance_ns > 0)
        fleet->period_ns = distance_ns;
    if (r == CAMP_OK && fleet->kind == FLEET_COUNTERS && !answer.is_matrix)
        r = camp_fail(error, CAMP_E_INVALID, 0,
                      "--query: its last [range] is within it; write "
                      "m[1m] alone, or a query without a range");
    if (r == CAMP_OK && fleet->kind == FLEET_GROUPS)
        r = fleet_refuse_several(fleet, &answer, error);
    if (r == CAMP_OK && fleet->kind == FLEET_GROUPS && !has_metric(&answer, METRIC_GROUPS))
        fleet_note_without_groups(fleet, at_ns, facts);
    if (r == CAMP_OK)
        r = read_period(fleet, at_ns, error);
    if (r == CAMP_OK)
        r = keep_first_answer(fleet, from, &answer, facts, error);
    prometheus_answer_release(&answer);
    return r;
}
