/*
 * What camp export tells of this machine: its families of metrics (metrics/metric.h), filled anew
 * by a look when somebody asks. Between two looks nothing is read: in the kernel the programs of
 * microstates count on, and who ends waits there.
 *
 * Counters begin at 0 when it is opened, but for those that the kernel counts since boot; none ever
 * falls. What a tier cannot see is not known, and so absent.
 */
#ifndef CAMP_METRICS_EXPORTED_H
#define CAMP_METRICS_EXPORTED_H

#include "ledger/group.h"
#include "ledger/workload.h"
#include "metric.h"

struct exported;

struct exported_options {
    enum group_key group; /* GROUP_USER, GROUP_NAME, GROUP_CGROUP; GROUP_NUMBER: by the rules */
    const struct workloads *rules;
    size_t groups;    /* so many are shown at most */
    const char *tier; /* "bpf", "taskstats", "schedstat"; NULL: the best that can be had */
};

/* What the server of the page has done, which is on the page too. */
struct exported_scrapes {
    uint64_t answered, failed, refused;
    uint64_t sent_bytes;
};

/* Opens what it reads; the first look tells what came since. CAMP_E_INVALID: there is no such tier;
 * otherwise why the tier that was asked for is not to be had. */
int exported_open(const struct exported_options *options, struct exported **ret,
                  struct camp_error *error);
void exported_close(struct exported *exported);

/* "bpf": what was taken. `*ret_note`: why not a better one, "" if there is none. */
const char *exported_tier(const struct exported *exported, const char **ret_note);

/* Other rules from the next look on (GROUP_NUMBER). They stay the caller's. */
void exported_set_rules(struct exported *exported, const struct workloads *rules);

/* Looks. *ret[*ret_count] stays the exporter's, until the next look. */
int exported_look(struct exported *exported, const struct exported_scrapes *scrapes,
                  const struct metric_family **ret, size_t *ret_count, struct camp_error *error);

/* All metrics that there are, whether they are known here or not: for the documentation. */
const struct metric *exported_metrics(size_t *ret_count);

#endif
