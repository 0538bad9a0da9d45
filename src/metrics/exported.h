/*
 * The metrics of this machine that camp export serves. Each request takes a snapshot, which fills
 * the families of metrics (metric.h). Between two requests nothing is read: in the kernel the BPF
 * programs continue to count, and exited threads are queued.
 *
 * Counters of the kernel count since boot. All other counters start at 0 when the exporter is
 * opened. No counter ever falls. A metric that the tier (exported_options) cannot provide is
 * absent.
 */
#pragma once

#include "ledger/group.h"
#include "ledger/workload.h"
#include "metric.h"
#include "sources/containers/containers.h"

struct exported;

struct exported_options {
    /* GROUP_USER, GROUP_NAME or GROUP_CGROUP; GROUP_NUMBER groups by `rules`, GROUP_LABEL by
     * `label` */
    enum group_key group;
    enum container_label label;
    const struct workloads *rules;
    size_t groups; /* maximum number of groups with series of their own */
    size_t
        new_groups;   /* maximum number of groups in each hour that get series in place of others */
    const char *tier; /* "bpf", "taskstats" or "schedstat"; NULL chooses the best available tier */
    bool why;         /* the lengths and causes of waits, too: needs tier "bpf" */
    bool hides_names; /* with `why`: no process is named, all are "other" */
};

/* Opens the sources. The interval of the first snapshot starts with this call. Returns
 * CAMP_E_INVALID if options->tier is unknown, or another error code if the tier is unavailable; the
 * error message says why. */
int exported_open(const struct exported_options *options, struct exported **ret,
                  struct camp_error *error);
void exported_close(struct exported *exported);

/* Returns the name of the tier in use. `*ret_note` says why a better tier is unavailable, or is
 * "". */
const char *exported_tier(const struct exported *exported, const char **ret_note);

/* Returns what the last snapshot could not name, or "". */
const char *exported_group_note(const struct exported *exported);

/* Replaces the rules of GROUP_NUMBER from the next snapshot on. The caller keeps the ownership of
 * `rules`. */
void exported_set_rules(struct exported *exported, const struct workloads *rules);

/* Takes a snapshot, and sets *ret to *ret_count families. They belong to the exporter, and are
 * valid until the next snapshot. */
int exported_read(struct exported *exported, const struct scrapes *scrapes,
                  const struct metric_family **ret, size_t *ret_count, struct camp_error *error);

/* Returns all metrics, including metrics that this machine does not have. */
const struct metric *exported_metrics(size_t *ret_count);
