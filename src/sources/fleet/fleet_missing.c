/* Finds missing hosts (fleet.h). If there is nothing to show, asks Prometheus for the reason. */
#include "fleet_inside.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "ledger/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MOST 5
#define NAMES_MOST 100
#define ANSWER_NS ((uint64_t)10 * NS_PER_S)
#define STEPS_MOST 5000
#define STEP_LEAST_NS ((int64_t)60 * NS_PER_S)

static bool is_missing(const struct fleet *fleet, const struct fleet_member *host)
{
    const int64_t period_ns = host->period_ns > 0 ? host->period_ns : fleet->period_ns;

    /* History is read ahead, so the newest sample may be later than the interval, and does not show
     * whether the host is missing. */
    if (fleet->begin_ns > 0)
        return fleet->kind == FLEET_HOSTS && host->is_silent &&
               host->accounted_ns > fleet->begin_ns;
    return host->is_down || (!fleet_is_query(fleet) &&
                             fleet->eval_ns - fleet_newest(host) >
                                 2 * period_ns + MARGIN_NS + fleet->delay_ns + fleet->age_ns);
}

/* Appends the name of a missing host, and the time of its newest sample. The appended text is the
 * same in later frames, so the user sees the note only once. */
static void note_since(const struct fleet *fleet, const struct fleet_member *host, char *ret,
                       size_t size)
{
    const time_t newest = (time_t)(fleet_newest(host) / NS_PER_S);
    struct tm local;
    char at[16];

    fleet_append(ret, size, "%s (%s", host->entity.name, host->is_down ? "down" : "no samples");
    if (fleet->begin_ns == 0 && newest > 0 &&
        strftime(at, sizeof at, "%H:%M:%S", localtime_r(&newest, &local)) > 0)
        fleet_append(ret, size, " since %s", at);
    fleet_append(ret, size, ")");
}

size_t fleet_missing(const struct fleet *fleet, char *ret, size_t size)
{
    size_t count = 0;
    char names[FRAME_NOTE_SIZE / 2] = "";

    ret[0] = '\0';
    for (size_t i = 0; i < fleet->hosts.count; i++) {
        const struct fleet_member *host = fleet->hosts.members[i];

        if (!is_missing(fleet, host))
            continue;
        if (count++ < NAMED_MOST) {
            fleet_append(names, sizeof names, "%s", count > 1 ? ", " : "");
            note_since(fleet, host, names, sizeof names);
        }
    }
    if (count > 0)
        fleet_append(ret, size, "%zu %s missing: %s", count, noun_of(count, "host is", "hosts are"),
                     names);
    if (count > NAMED_MOST)
        fleet_append(ret, size, " and %zu more", count - NAMED_MOST);
    return count;
}

static bool ask(struct fleet *fleet, const char *metric, int64_t at_ns,
                struct prometheus_answer *ret)
{
    return fleet_ask_text(fleet, fleet_text_of("%s{%s}", metric, fleet->matchers), at_ns, ANSWER_NS,
                          ret, NULL) == CAMP_OK;
}

static void find_targets(struct fleet *fleet, bool *ret_any, bool *ret_down)
{
    struct prometheus_answer answer;
    struct prometheus_series series;

    *ret_any = *ret_down = false;
    if (!ask(fleet, "up", 0, &answer))
        return;
    for (size_t i = 0; i < answer.series_count; i++) {
        *ret_any = true;
        prometheus_answer_series(&answer, i, &series);
        *ret_down |= series.sample_count > 0 && series.samples[0].value == 0;
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

    if (!ask(fleet, "camp_exporter_info", at_ns, &answer))
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

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

int fleet_refuse_several(const struct fleet *fleet, const struct prometheus_answer *answer,
                         struct camp_error *error)
{
    const char *names[NAMES_MOST];
    char list[1024] = "", name[256];
    size_t count = 0;

    for (size_t i = 0; i < answer->series_count; i++)
        fleet_add_name(names, &count, ARRAY_COUNT(names),
                       prometheus_answer_label(answer, i, HOST_LABEL));
    if (count < 2)
        return CAMP_OK;
    qsort(names, count, sizeof *names, compare_names); /* VictoriaMetrics has no order */
    for (size_t i = 0; i < count && i < 3; i++) {
        fleet_name(names[i], name, sizeof name);
        fleet_append(list, sizeof list, "%s%s", i > 0 ? ", " : "", name);
    }
    return camp_fail(error, CAMP_E_INVALID, 0, "--host %s matches several hosts: give one of %s%s",
                     fleet->host, list, count > 3 ? ", ..." : "");
}

int64_t fleet_find_moment(struct fleet *fleet)
{
    const int64_t length_ns = fleet->end_ns - fleet->begin_ns, part_ns = length_ns / STEPS_MOST;
    const int64_t step_ns = part_ns > STEP_LEAST_NS ? part_ns : STEP_LEAST_NS;
    struct prometheus_answer answer;
    struct prometheus_series series = { 0 };
    int64_t ret_ns = 0;
    char *text = fleet_is_query(fleet)
                     ? fleet_text_of("count(%s)", fleet->question)
                     : fleet_text_of("count(" METRIC_CPUS "{%s})", fleet->matchers);

    if (text != NULL &&
        fleet_ask_steps(fleet, text, fleet->begin_ns, fleet->end_ns, step_ns,
                        now_ns(CLOCK_MONOTONIC) + ANSWER_NS, &answer, NULL) == CAMP_OK) {
        if (answer.series_count > 0)
            prometheus_answer_series(&answer, 0, &series);
        if (series.sample_count > 0)
            ret_ns = series.samples[series.sample_count / 2].time_ns;
        prometheus_answer_release(&answer);
    }
    free(text);
    return ret_ns;
}
