/* Adds the series of an answer to the samples. One label of a series identifies its column. The
 * other labels identify the member of the fleet: a host, a group or a row of a query. */
#include "fleet_inside.h"

#include "counters/error.h"

#include <stdio.h>
#include <string.h>

#define CLOCK_STEP_NS ((int64_t)5 * NS_PER_S)

/* Joins the values of the labels that identify a row of a query, such as "db1:9187 sda". */
static void name_of_query(const struct fleet *fleet, const struct prometheus_series *series,
                          char *ret, size_t size)
{
    char joined[2 * CAMP_NAME_SIZE] = "";

    for (size_t i = 0; i < fleet->name_count; i++) {
        const char *value = prometheus_series_label(series, fleet->names[i]);

        if (value[0] != '\0')
            fleet_append(joined, sizeof joined, "%s%s", joined[0] != '\0' ? " " : "", value);
    }
    if (joined[0] == '\0')
        snprintf(joined, sizeof joined, "%s", prometheus_series_label(series, "__name__"));
    fleet_name(joined, ret, size);
}

/* Sets the name and the labels of a member. Returns the number of bytes of its labels. */
static size_t describe(const struct fleet *fleet, const struct prometheus_series *series,
                       const char *name_label, struct fleet_member *member)
{
    const char *values[LABELS_MOST] = { NULL };
    struct entity *entity = &member->entity;
    size_t bytes = 0;

    if (fleet_is_query(fleet))
        name_of_query(fleet, series, entity->name, sizeof entity->name);
    else
        fleet_name(prometheus_series_label(series, name_label), entity->name, sizeof entity->name);
    if (entity->name[0] == '\0')
        snprintf(entity->name, sizeof entity->name, "(none)");
    for (size_t i = 0; i < fleet->columns.schema.label_count; i++) {
        values[i] = prometheus_series_label(series, fleet->columns.labels[i]);
        bytes += strnlen(values[i], LABELS_VALUE_SIZE) + sizeof values[i];
    }
    entity->labels = labels_intern(values, fleet->columns.schema.label_count);
    return bytes;
}

static struct fleet_member *member_of(const struct fleet *fleet, struct fleet_samples *samples,
                                      const struct prometheus_series *series,
                                      const char *const *without, const char *name_label)
{
    char key[FLEET_KEY_SIZE];
    struct fleet_member *member;

    fleet_key(series, without, key);
    member = fleet_samples_find(samples, key);
    if (member != NULL && member->entity.name[0] == '\0' &&
        fleet_samples_charge(samples, member, describe(fleet, series, name_label, member)) !=
            CAMP_OK) {
        samples->fault = CAMP_E_SPACE;
        return NULL;
    }
    return member;
}

static struct fleet_member *host_of(struct fleet *fleet, const struct prometheus_series *series)
{
    const char *const without[] = { fleet->column, "mode",
                                    fleet->kind == FLEET_GROUPS ? GROUP_LABEL : NULL, NULL };
    const char *const of_query[] = { fleet->column, NULL };

    return member_of(fleet, &fleet->hosts, series, fleet_is_query(fleet) ? of_query : without,
                     HOST_LABEL);
}

static struct fleet_member *group_of(struct fleet *fleet, const struct prometheus_series *series)
{
    const char *const without[] = { fleet->column, NULL };

    return member_of(fleet, &fleet->groups, series, without, GROUP_LABEL);
}

/* Returns the index of the column that a series of a query belongs to. The series "elapsed" has the
 * elapsed time of its row. In a query with a range this time is a counter (FLEET_CLOCK). In other
 * queries it is a multiple of the interval's length, like the number of CPUs of a host
 * (FLEET_CPUS). */
static size_t column_of_query(const struct fleet *fleet, const struct prometheus_series *series)
{
    const char *value =
        fleet->column[0] != '\0' ? prometheus_series_label(series, fleet->column) : "value";

    if (strcmp(value, "elapsed") == 0)
        return fleet->hosts.columns + (fleet->kind == FLEET_COUNTERS ? FLEET_CLOCK : FLEET_CPUS);
    return fleet_columns_find(&fleet->columns, value);
}

/* Returns the index of the column that has the values of a series, or SIZE_MAX if the series is
 * unknown. *ret_adds is true if the column is the sum of several series. */
static size_t column_of(const struct fleet *fleet, const struct prometheus_series *series,
                        bool *ret_adds)
{
    const char *name = prometheus_series_label(series, "__name__");
    const char *mode = prometheus_series_label(series, "mode");

    *ret_adds = false;
    if (fleet_is_query(fleet))
        return column_of_query(fleet, series);
    if (strcmp(name, fleet->metric) == 0)
        return fleet_columns_find(&fleet->columns, prometheus_series_label(series, fleet->column));
    if (strcmp(name, METRIC_CPUS) == 0)
        return fleet->hosts.columns + FLEET_CPUS;
    if (strcmp(name, METRIC_CLOCK) == 0)
        return fleet->hosts.columns + FLEET_CLOCK;
    if (fleet->has_busy)
        return strcmp(name, METRIC_BUSY) == 0 ? fleet->sampled : SIZE_MAX;
    *ret_adds = true;
    return strcmp(name, METRIC_SAMPLED) == 0 && strcmp(mode, "idle") != 0 &&
                   strcmp(mode, "iowait") != 0
               ? fleet->sampled
               : SIZE_MAX;
}

int fleet_find_place(struct fleet *fleet, const struct prometheus_series *series,
                     struct fleet_place *ret)
{
    *ret = (struct fleet_place){ .samples = &fleet->hosts, .member = host_of(fleet, series) };
    ret->column = column_of(fleet, series, &ret->adds);
    if (ret->member != NULL && fleet->kind == FLEET_GROUPS && ret->column < fleet->hosts.columns) {
        ret->samples = &fleet->groups;
        ret->member = group_of(fleet, series);
    }
    return ret->member != NULL ? CAMP_OK : ret->samples->fault;
}

int fleet_add_samples(struct fleet *fleet, const struct prometheus_series *series,
                      const struct fleet_place *place, int64_t until_ns)
{
    int r = CAMP_OK;

    for (size_t i = 0; i < series->sample_count && place->column != SIZE_MAX && r == CAMP_OK; i++) {
        const struct prometheus_sample *sample = &series->samples[i];
        const double value = fleet_is_query(fleet) ? sample->value * fleet->factor : sample->value;

        if (sample->time_ns > fleet->asked_ns && sample->time_ns <= until_ns)
            r = fleet_samples_add(place->samples, place->member, sample->time_ns, place->column,
                                  value, place->adds);
    }
    return r;
}

static size_t count_of(const struct prometheus_answer *answer, const char *metric)
{
    size_t count = 0;

    for (size_t i = 0; i < answer->series_count; i++)
        count += strcmp(prometheus_answer_label(answer, i, "__name__"), metric) == 0;
    return count;
}

bool fleet_has_busy(const struct prometheus_answer *answer, const struct prometheus_answer *busy)
{
    const size_t hosts = count_of(answer, METRIC_CPUS);

    return hosts > 0 && count_of(busy, METRIC_BUSY) >= hosts;
}

int fleet_add_series(struct fleet *fleet, const struct prometheus_answer *answer)
{
    struct prometheus_series series;
    struct fleet_place place;
    int r = CAMP_OK;

    for (size_t i = 0; i < answer->series_count && r == CAMP_OK; i++) {
        prometheus_answer_series(answer, i, &series);
        r = fleet_find_place(fleet, &series, &place);
        if (r == CAMP_OK)
            r = fleet_add_samples(fleet, &series, &place, INT64_MAX);
    }
    return r;
}

static void use_labels(const struct fleet_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++)
        (void)labels_count(samples->members[i]->entity.labels);
}

void fleet_use_labels(const struct fleet *fleet)
{
    use_labels(&fleet->hosts);
    use_labels(&fleet->groups);
}

int fleet_fail_samples(int code, struct camp_error *error)
{
    if (code == CAMP_E_SPACE)
        return camp_fail(error, code, 0,
                         "prometheus: its rows and samples need more memory than camp gives them; "
                         "select fewer: --query '{job=\"...\"}'");
    if (code == CAMP_E_FORMAT)
        return camp_fail(error, code, 0, "prometheus: the times of its samples are in disorder");
    return camp_fail(error, code, 0, "no memory for the samples of a fleet");
}

/* Updates offset_ns, an estimate of how far the server's clock is ahead of CLOCK_MONOTONIC. time_ns
 * is the server's clock when it evaluated a question. The answer arrives later, which makes the
 * difference too small, so the largest difference is used. A difference that is smaller by more
 * than CLOCK_STEP_NS means that the server's clock was set back.
 *
 * VictoriaMetrics rounds its clock down to whole seconds. If this computer's clock lies within that
 * second, both clocks are taken as the same. */
void fleet_update_clock(struct fleet *fleet, int64_t time_ns)
{
    const int64_t now = (int64_t)now_ns(CLOCK_MONOTONIC);
    const int64_t own_ns = (int64_t)now_ns(CLOCK_REALTIME) - now;
    int64_t offset_ns = time_ns - now;

    if (time_ns % NS_PER_S == 0 && own_ns > offset_ns && own_ns - offset_ns < NS_PER_S)
        offset_ns = own_ns;
    if (offset_ns > fleet->offset_ns || offset_ns < fleet->offset_ns - CLOCK_STEP_NS)
        fleet->offset_ns = offset_ns;
}

int fleet_add_marks(struct fleet *fleet, const struct prometheus_answer *answer)
{
    struct prometheus_series series;
    struct fleet_member *host;

    for (size_t i = 0; i < answer->series_count; i++) {
        const char *mark = prometheus_answer_label(answer, i, FLEET_PART);

        prometheus_answer_series(answer, i, &series);
        if (series.sample_count == 0)
            continue;
        if (strcmp(mark, "now") == 0) {
            fleet_update_clock(fleet, series.samples[0].time_ns);
        } else if (strcmp(mark, "down") == 0) {
            host = host_of(fleet, &series);
            if (host == NULL)
                return fleet->hosts.fault;
            host->is_down = true;
        }
    }
    return CAMP_OK;
}
