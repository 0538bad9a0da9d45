/*
 * The metrics that camp export serves about this machine: families (metrics/metric.h), filled by a
 * snapshot at each request. Between requests nothing is read: in the kernel the programs of
 * microstates keep counting, and exited threads are queued.
 *
 * Counters start at 0 when it is opened, except for those that the kernel counts since boot; none
 * ever falls. What a tier cannot see is unknown, and so absent.
 */
#pragma once

#include "ledger/group.h"
#include "ledger/workload.h"
#include "metric.h"

struct exported;

struct exported_options {
    enum group_key group; /* GROUP_USER, GROUP_NAME, GROUP_CGROUP; GROUP_NUMBER: by the rules */
    const struct workloads *rules;
    size_t groups;    /* shown at most */
    const char *tier; /* "bpf", "taskstats", "schedstat"; NULL: the best one available */
};

/* Opens the exporter's sources; the first snapshot has what happened since. CAMP_E_INVALID: no such
 * tier; otherwise the error says why the requested tier is unavailable. */
int exported_open(const struct exported_options *options, struct exported **ret,
                  struct camp_error *error);
void exported_close(struct exported *exported);

/* The tier in use. `*ret_note`: why not a better one, or "". */
const char *exported_tier(const struct exported *exported, const char **ret_note);

/* Replaces the rules, from the next snapshot on (GROUP_NUMBER). Not owned. */
void exported_set_rules(struct exported *exported, const struct workloads *rules);

/* Takes a snapshot. *ret[*ret_count] is owned by the exporter, and valid until the next one. */
int exported_read(struct exported *exported, const struct scrapes *scrapes,
                  const struct metric_family **ret, size_t *ret_count, struct camp_error *error);

/* All metrics, also those that are unknown on this machine: for the documentation. */
const struct metric *exported_metrics(size_t *ret_count);
