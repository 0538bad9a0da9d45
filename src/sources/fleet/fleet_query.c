/*
 * --query: the result of any PromQL query as rows and columns.
 *
 *  - The value of one label names the column. This label is given by --column. By default it is
 *    the first of the labels state, mode and vertex that the series have. Without such a label
 *    there is a single column.
 *  - All other labels identify the row. The row's name has the labels that differ between series,
 *    instance first.
 *  - The series of a query with a range, "m[1m]", are counters of time. Their growth is accounted
 *    as the time of the row (fleet_samples.h).
 *  - The values of a query without a range are levels at the end of each interval: a share of the
 *    row's time, a percentage, or time per second.
 *  - A column "elapsed" is the elapsed time of the row. Without this column, the row's elapsed
 *    time is the length of the interval, or the sum of its states if that is longer.
 */
#include "fleet_inside.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "sources/field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MOST 256

static const struct {
    enum unit unit;
    double factor;
} factors[] = {
    { UNIT_SHARE, 1 }, { UNIT_PERCENT, 0.01 }, { UNIT_MS, 1e-3 },
    { UNIT_US, 1e-6 }, { UNIT_NS, 1e-9 },      { UNIT_S, 1 },
};

static double factor_of(enum unit unit)
{
    size_t at = 0;

    while (factors[at].unit != unit)
        at++;
    return factors[at].factor;
}

/* Returns the length of a query without its final range: "m{...}[5m] " becomes "m{...}". Returns 0
 * if the query does not end in a range, or ends in a subquery, "[5m:1m]". */
static size_t length_without_range(const char *query)
{
    size_t length = strlen(query);

    while (length > 0 && strchr(" \t\n", query[length - 1]) != NULL)
        length--;
    if (length == 0 || query[length - 1] != ']')
        return 0;
    while (length > 0 && query[length - 1] != '[')
        length--;
    return length > 0 && memchr(query + length, ':', strlen(query + length)) == NULL ? length - 1
                                                                                     : 0;
}

int fleet_query_read(struct fleet *fleet, const struct from *from, struct camp_error *error)
{
    const size_t length = length_without_range(from->query);

    if (from->host != NULL)
        return camp_fail(
            error, CAMP_E_INVALID, 0,
            "--host cannot be used with PromQL in --query: write instance=\"...\" there");
    fleet->kind = length > 0 ? FLEET_COUNTERS : FLEET_LEVELS;
    fleet->question =
        length > 0 && from->begin_ns > 0 ? strndup(from->query, length) : strdup(from->query);
    return fleet->question != NULL ? CAMP_OK
                                   : camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a query");
}

static char *column_label(const struct from *from, const struct prometheus_answer *answer)
{
    static const char *const usual[] = { "state", "mode", "vertex" };

    if (from->column != NULL)
        return strdup(from->column);
    for (size_t i = 0; i < ARRAY_COUNT(usual); i++) {
        for (size_t j = 0; j < answer->series_count; j++) {
            if (prometheus_answer_label(answer, j, usual[i])[0] != '\0')
                return strdup(usual[i]);
        }
    }
    return strdup("");
}

/* Returns whether the series of an answer have different values of a label. */
static bool differs(const struct prometheus_answer *answer, const char *name)
{
    const char *first = NULL;

    for (size_t i = 0; i < answer->series_count; i++) {
        const char *value = prometheus_answer_label(answer, i, name);

        if (first != NULL && strcmp(first, value) != 0)
            return true;
        first = value;
    }
    return false;
}

static int name_rows(struct fleet *fleet, const struct prometheus_answer *answer,
                     const char *const *labels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!differs(answer, labels[i]))
            continue;
        fleet->names[fleet->name_count] = strdup(labels[i]);
        if (fleet->names[fleet->name_count++] == NULL)
            return CAMP_E_NOMEM;
    }
    return CAMP_OK;
}

/* Guesses the unit from words that are usual in the names of metrics, such as
 * "...:ratio_rate5m". */
static enum unit unit_by_name(const struct fleet *fleet, const char *name)
{
    if (fleet->kind == FLEET_LEVELS)
        return strstr(name, "ratio") != NULL     ? UNIT_SHARE
               : strstr(name, "percent") != NULL ? UNIT_PERCENT
                                                 : UNIT_NONE;
    return strstr(name, "nanosecond") != NULL || strstr(name, "_ns") != NULL      ? UNIT_NS
           : strstr(name, "microsecond") != NULL || strstr(name, "_usec") != NULL ? UNIT_US
           : strstr(name, "millisecond") != NULL || strstr(name, "_ms") != NULL   ? UNIT_MS
                                                                                  : UNIT_S;
}

/* Guesses the unit of levels. In the right unit the values of the first row add up to nearly 1,
 * which is the whole time. All rows have the same unit, so one row is enough. */
static enum unit nearest_unit(const struct fleet *fleet, const struct prometheus_answer *answer)
{
    double sum = 0, distance, least = INFINITY;
    enum unit best = UNIT_SHARE;
    char key[FLEET_KEY_SIZE], first[FLEET_KEY_SIZE] = "";
    const char *const without[] = { fleet->column, NULL };

    for (size_t i = 0; i < answer->series_count; i++) {
        struct prometheus_series series;

        prometheus_answer_series(answer, i, &series);
        if (series.sample_count == 0 || !(series.samples[0].value > 0))
            continue;
        fleet_key(&series, without, key);
        if (first[0] == '\0')
            memcpy(first, key, sizeof first);
        if (strcmp(first, key) == 0)
            sum += series.samples[0].value;
    }
    for (size_t i = 0; i < 3 && sum > 0; i++) {
        distance = fabs(log(sum * factors[i].factor));
        if (distance < least - 1e-9) {
            least = distance;
            best = factors[i].unit;
        }
    }
    return best;
}

static int find_unit(struct fleet *fleet, const struct from *from,
                     const struct prometheus_answer *answer, const char *name,
                     struct from_facts *facts, struct camp_error *error)
{
    enum unit unit = UNIT_NONE;

    if (from->unit != NULL) {
        unit = unit_of_name(from->unit, strlen(from->unit));
        if (unit == UNIT_NONE || (fleet->kind == FLEET_COUNTERS && !unit_is_time(unit)))
            return camp_fail(error, CAMP_E_INVALID, 0,
                             "--unit %s: the units are s, ms, us and ns, and without "
                             "a range also share and percent",
                             from->unit);
    } else {
        unit = unit_by_name(fleet, name);
        if (unit == UNIT_NONE) {
            unit = nearest_unit(fleet, answer);
            snprintf(facts->note, sizeof facts->note,
                     "Values are taken as %s%s; --unit says otherwise", unit_name(unit),
                     unit_is_time(unit) ? " in each second" : "");
        }
    }
    fleet->factor = factor_of(unit);
    return CAMP_OK;
}

/* Refuses a metric "..._total" without a range. Such a metric is a counter: its value is a sum
 * since the counter's start, not a part of the interval. */
static int refuse_counter(const struct fleet *fleet, const char *name, struct camp_error *error)
{
    const size_t length = strlen(name);

    if (fleet->kind == FLEET_LEVELS && length > 6 && strcmp(name + length - 6, "_total") == 0)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "--query: %s counts since its start; add a range, such as ...[1m], to "
                         "show its growth",
                         name);
    return CAMP_OK;
}

static int refuse_column(const struct from *from, const struct prometheus_answer *answer,
                         const char *const *labels, size_t count, struct camp_error *error)
{
    char list[1024] = "";

    for (size_t i = 0; from->column != NULL && i < answer->series_count; i++) {
        if (prometheus_answer_label(answer, i, from->column)[0] != '\0')
            return CAMP_OK;
    }
    if (from->column == NULL)
        return CAMP_OK;
    for (size_t i = 0; i < count; i++)
        fleet_append(list, sizeof list, "%s%s", i > 0 ? ", " : "", labels[i]);
    return camp_fail(error, CAMP_E_INVALID, 0, "--column %s: %s%s", from->column,
                     count > 0 ? "the labels of its series are " : "its series have no labels",
                     list);
}

int fleet_query_columns(struct fleet *fleet, const struct from *from,
                        const struct prometheus_answer *answer, struct from_facts *facts,
                        struct camp_error *error)
{
    const char *values[VALUES_MOST], *labels[LABELS_MOST] = { HOST_LABEL };
    const char *metric = "";
    size_t count = 0, label_count = 0;
    int r = CAMP_OK;

    free(fleet->column);
    fleet->column = column_label(from, answer);
    if (fleet->column == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a query");
    label_count = differs(answer, HOST_LABEL) ? 1 : 0;
    for (size_t i = 0; i < answer->series_count; i++) {
        struct prometheus_series series;

        prometheus_answer_series(answer, i, &series);
        if (metric[0] == '\0')
            metric = prometheus_series_label(&series, "__name__");
        if (strcmp(prometheus_series_label(&series, fleet->column), "elapsed") == 0)
            fleet->has_elapsed = true;
        else
            fleet_add_name(values, &count, VALUES_MOST,
                           fleet->column[0] != '\0'
                               ? prometheus_series_label(&series, fleet->column)
                               : "value");
        for (size_t j = 0; j < series.label_count; j++) {
            if (strcmp(series.labels[j].name, fleet->column) != 0 &&
                strcmp(series.labels[j].name, "__name__") != 0)
                fleet_add_name(labels, &label_count, LABELS_MOST, series.labels[j].name);
        }
    }
    if (count == 0)
        return camp_fail(error, CAMP_E_GONE, 0,
                         "--query: there are no series now, so the columns are unknown");
    r = refuse_column(from, answer, labels, label_count, error);
    if (r == CAMP_OK)
        r = refuse_counter(fleet, metric, error);
    if (r == CAMP_OK)
        r = find_unit(fleet, from, answer, metric, facts, error);
    if (r != CAMP_OK)
        return r;
    r = fleet_columns_init(&fleet->columns, "values", metric[0] != '\0' ? metric : from->query,
                           CAMP_DERIVED, values, count);
    if (r == CAMP_E_INVALID)
        return camp_fail(error, r, 0, "--query: the label %s has more than 90 values",
                         fleet->column);
    if (r == CAMP_OK && (!fleet_columns_label(&fleet->columns, labels, label_count) ||
                         name_rows(fleet, answer, labels, label_count) != CAMP_OK))
        r = CAMP_E_NOMEM;
    return r == CAMP_OK ? r : camp_fail(error, r, 0, "no memory for a query");
}
