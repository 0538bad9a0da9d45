#include "exported_inside.h"

#include "counters/clock.h"
#include "counters/error.h"

#include <stdlib.h>
#include <string.h>

const volatile sig_atomic_t exported_goes_on = 0;

static struct series *series_of(struct exported *exported, enum exported_family family, size_t at)
{
    return &exported->families[family].series[at];
}

void exported_set(struct exported *exported, enum exported_family family, size_t at, uint64_t value)
{
    struct series *series = series_of(exported, family, at);
    const bool falls =
        exported_table[family].type == METRIC_COUNTER && series->known && value < series->value;

    if (!falls)
        series->value = value;
    series->known = true;
}

/* Returns the number of series of a family, or 0 if each snapshot determines the series. */
static size_t fixed_series(enum exported_family family)
{
    const struct metric *metric = &exported_table[family];

    if (family == GROUP_STATE || family == GROUP_MEASURED || family == GROUP_SAMPLED ||
        family == WAIT || family == WAIT_LONGEST || family == WAIT_CAUSE ||
        family == SESSION_TIME || family == SESSION_STATE)
        return 0;
    if (metric->values == NULL)
        return 1;
    return metric->value_count / (metric->labels[1] != NULL ? 2 : 1);
}

static void label(struct series *series, const struct metric *metric, size_t at)
{
    const size_t labels = metric->labels[1] != NULL ? 2 : 1;

    if (metric->values != NULL)
        memcpy(series->labels, metric->values + labels * at, labels * sizeof *metric->values);
}

int exported_make_series(struct exported *exported)
{
    const size_t rows = exported->groups + 1;
    struct series *next;

    for (size_t i = 0; i < EXPORTED_FAMILY_COUNT; i++)
        exported->series_count += fixed_series((enum exported_family)i);
    exported->series = calloc(exported->series_count, sizeof *exported->series);
    exported->group_series = calloc(rows * THREAD_SUM_COUNT, sizeof *exported->group_series);
    if (exported->series == NULL || exported->group_series == NULL)
        return CAMP_E_NOMEM;
    next = exported->series;
    for (size_t i = 0; i < EXPORTED_FAMILY_COUNT; i++) {
        const size_t count = fixed_series((enum exported_family)i);

        exported->families[i] = (struct metric_family){ &exported_table[i], next, count };
        for (size_t k = 0; k < count; k++)
            label(next++, &exported_table[i], k);
    }
    exported->families[GROUP_STATE].series = exported->group_series;
    exported->families[GROUP_MEASURED].series = exported->group_series + rows * SUM_MEASURED;
    exported->families[GROUP_SAMPLED].series = exported->group_series + rows * SUM_SAMPLED;
    return CAMP_OK;
}

int exported_open(const struct exported_options *options, struct exported **ret,
                  struct camp_error *error)
{
    struct exported *exported = calloc(1, sizeof *exported);
    int r;

    if (exported == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory");
    exported->groups = options->groups;
    exported->start_wall_ns = now_ns(CLOCK_REALTIME);
    r = exported_make_series(exported);
    if (r == CAMP_OK)
        r = exported_tasks_open(exported, options, error);
    if (r == CAMP_OK)
        r = exported_waits_open(exported, options, error);
    if (r == CAMP_OK)
        r = exported_cpus_open(exported, error);
    if (r == CAMP_OK)
        *ret = exported;
    else
        exported_close(exported);
    return r;
}

void exported_close(struct exported *exported)
{
    if (exported == NULL)
        return;
    exported_sessions_close(exported);
    cpus_states_close(exported->cpus);
    source_close(exported->cpus_source);
    source_close(exported->tasks);
    exported_waits_close(exported);
    thread_sums_release(&exported->sums);
    camp_states_close(exported->session);
    device_sums_release(&exported->disks);
    device_sums_release(&exported->networks);
    free(exported->disk_list);
    free(exported->network_list);
    free(exported->series);
    free(exported->group_series);
    free(exported);
}

const char *exported_tier(const struct exported *exported, const char **ret_note)
{
    *ret_note = exported->note;
    return exported->tier;
}

void exported_set_rules(struct exported *exported, const struct workloads *rules)
{
    exported->sums.members.rules = rules;
    exported->rules_changed = true;
}

static int read_machine(struct exported *exported, struct camp_error *error)
{
    int r = exported_tasks_read(exported, error);

    if (r == CAMP_OK)
        r = exported_cpus_read(exported, error);
    if (r == CAMP_OK) {
        exported_groups_fill(exported);
        exported_waits_fill(exported);
        exported_host_read(exported);
    }
    return r;
}

int exported_read(struct exported *exported, const struct scrapes *scrapes,
                  const struct metric_family **ret, size_t *ret_count, struct camp_error *error)
{
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC), cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    int r = CAMP_OK;

    if (exported->sessions != NULL)
        exported_sessions_read(exported);
    else
        r = read_machine(exported, error);
    exported->read_ns = now_ns(CLOCK_MONOTONIC) - began_ns;
    exported->read_cpu_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    if (r != CAMP_OK)
        return r;
    exported_self_read(exported, scrapes);
    *ret = exported->families;
    *ret_count = EXPORTED_FAMILY_COUNT;
    return CAMP_OK;
}
