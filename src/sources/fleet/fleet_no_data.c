/* Why there is nothing to show: what else Prometheus knows of the selected hosts. */
#include "fleet_inside.h"

#include "counters/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_NS ((uint64_t)10 * NS_PER_S)
#define STEPS_MOST 5000
#define STEP_LEAST_NS ((int64_t)60 * NS_PER_S)

static char *with_matchers(const struct fleet *fleet, const char *before, const char *after)
{
    char *ret;

    return asprintf(&ret, "%s{%s}%s", before, fleet->matchers, after) < 0 ? NULL : ret;
}

static bool ask(struct fleet *fleet, char *text, int64_t at_ns, struct prometheus_answer *ret)
{
    struct camp_error error;
    const bool is_answered =
        text != NULL &&
        fleet_ask(fleet, text, at_ns, now_ns(CLOCK_MONOTONIC) + ANSWER_NS, ret, &error) == CAMP_OK;

    free(text);
    return is_answered;
}

/* Whether any target matches, and whether one of them is down. */
static void find_targets(struct fleet *fleet, bool *ret_any, bool *ret_down)
{
    struct prometheus_answer answer;
    struct prometheus_series series;
    struct prometheus_sample sample;

    *ret_any = *ret_down = false;
    if (!ask(fleet, with_matchers(fleet, "up", ""), 0, &answer))
        return;
    for (size_t i = 0; i < answer.series_count; i++) {
        *ret_any = true;
        *ret_down |= prometheus_answer_series(&answer, i, &series) &&
                     prometheus_series_sample(&series, 0, &sample) && sample.value == 0;
    }
    prometheus_answer_release(&answer);
}

int fleet_fail_without_hosts(struct fleet *fleet, const struct from *from, struct camp_error *error)
{
    char asked[CAMP_ERROR_SIZE / 2];
    bool any, down;

    if (from->host != NULL)
        snprintf(asked, sizeof asked, "--host %s", from->host);
    else
        snprintf(asked, sizeof asked, "--query %s", from->query);
    find_targets(fleet, &any, &down);
    if (down)
        return camp_fail(error, CAMP_E_GONE, 0,
                         "%s: Prometheus cannot reach this host; is camp export running there?",
                         asked);
    if (any)
        return camp_fail(error, CAMP_E_GONE, 0,
                         "%s: Prometheus scrapes another exporter there, not camp export; see "
                         "docs/fleet.md",
                         asked);
    if (from->host != NULL)
        return camp_fail(error, CAMP_E_GONE, 0,
                         "%s: Prometheus scrapes no such host; without --host all hosts are shown",
                         asked);
    return camp_fail(error, CAMP_E_GONE, 0,
                     "%s: no host matches now; without --query all hosts are shown", asked);
}

void fleet_note_without_groups(struct fleet *fleet, int64_t at_ns, struct from_facts *facts)
{
    struct prometheus_answer answer;
    char tier[24] = "";

    if (!ask(fleet, with_matchers(fleet, "camp_exporter_info", ""), at_ns, &answer))
        return;
    if (answer.series_count > 0)
        fleet_name(prometheus_answer_label(&answer, 0, "tier"), tier, sizeof tier);
    if (answer.series_count > 0 && strcmp(tier, "bpf") != 0)
        snprintf(facts->note, sizeof facts->note,
                 "its camp export is of tier %s; states of groups take tier bpf (root, or "
                 "capabilities). CPU time of groups: --query "
                 "'camp_group_cpu_measured_seconds_total{instance=\"...\"}[1m]'",
                 tier);
    else if (answer.series_count > 0)
        snprintf(facts->note, sizeof facts->note,
                 "its camp export has no groups: is it camp export --groups 0?");
    prometheus_answer_release(&answer);
}

int fleet_refuse_several(const struct fleet *fleet, const struct prometheus_answer *answer,
                         struct camp_error *error)
{
    const char *names[4];
    char list[1024] = "", name[256];
    size_t count = 0, length = 0;

    for (size_t i = 0; i < answer->series_count; i++)
        fleet_add_name(names, &count, sizeof names / sizeof names[0],
                       prometheus_answer_label(answer, i, HOST_LABEL));
    if (count < 2)
        return CAMP_OK;
    for (size_t i = 0; i < count && i < 3; i++) {
        fleet_name(names[i], name, sizeof name);
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "", name);
    }
    return camp_fail(error, CAMP_E_INVALID, 0, "--host %s matches several hosts: give one of %s%s",
                     fleet->host, list, count > 3 ? ", ..." : "");
}

int64_t fleet_find_moment(struct fleet *fleet)
{
    const int64_t length_ns = fleet->end_ns - fleet->begin_ns, part_ns = length_ns / STEPS_MOST;
    const int64_t step_ns = part_ns > STEP_LEAST_NS ? part_ns : STEP_LEAST_NS;
    struct prometheus_answer answer;
    struct prometheus_series series;
    struct prometheus_sample sample = { 0 };
    struct camp_error error;
    char *text = NULL;

    if (!fleet_is_query(fleet))
        text = with_matchers(fleet, "count(" METRIC_CPUS, ")");
    else if (asprintf(&text, "count(%s)", fleet->question) < 0)
        text = NULL;
    if (text != NULL &&
        fleet_ask_steps(fleet, text, fleet->begin_ns, fleet->end_ns, step_ns,
                        now_ns(CLOCK_MONOTONIC) + ANSWER_NS, &answer, &error) == CAMP_OK) {
        if (answer.series_count > 0 && prometheus_answer_series(&answer, 0, &series) &&
            !prometheus_series_sample(&series, series.sample_count / 2, &sample))
            sample.time_ns = 0;
        prometheus_answer_release(&answer);
    }
    free(text);
    return sample.time_ns;
}
