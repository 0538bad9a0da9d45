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
#include "sources/source.h"

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

struct exported_sessions_options {
    struct source *source;     /* of sessions, just opened, without from.detail */
    bool has_several;          /* it is that of several servers (sources/servers/servers.h) */
    const char *server;        /* the kind of the server, such as "postgres"; a string constant */
    const char *tier;          /* a string constant */
    const char *note;          /* how the source was opened, for the user; may be "" */
    size_t label;              /* index of the label in the schema whose values are the groups */
    size_t groups, new_groups; /* as in struct exported_options */
};

/* Starts to export the sessions of a database instead of this machine. A thread reads the source in
 * intervals of 1 s, so that no sample is missed between two snapshots. A snapshot ends the interval
 * in progress; if this takes longer than 0.5 s, because the server is slow, the snapshot has the
 * interval before. Takes ownership of options->source, even after a failure. Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int exported_sessions_open(const struct exported_sessions_options *options, struct exported **ret,
                           struct camp_error *error);

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
