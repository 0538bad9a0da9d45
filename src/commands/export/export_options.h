/* The options of camp export. */
#pragma once

#include "commands/top/top_workloads.h"
#include "ledger/group.h"
#include "program/options.h"
#include "sources/containers/containers.h"
#include "sources/from.h"

#include <stdbool.h>
#include <stdint.h>

struct export_options {
    struct from from;         /* with --from; otherwise its text is NULL */
    struct first_texts texts; /* of --from: the first is from.text */
    const char *host, *socket, *workload_file;
    uint64_t port, groups, new_groups, interval_ns;
    int group;  /* -1 if not given, which is so with --from only */
    int format; /* index of "prometheus" and "openmetrics"; -1 if not given */
    int tier;   /* 0 means the best available tier */
    bool allow_remote, once, why;
    bool hides_names; /* /proc hides the names of processes, and --why may not show them */
    struct top_workloads workloads;
};

/* Parses and checks the options. Returns OPTIONS_GO_ON, or an exit status. The caller releases
 * ret->workloads in both cases. */
int export_options_read(struct export_options *ret, int argc, char **argv);

/* The name of the tier, or NULL for the best available. */
const char *export_options_tier(const struct export_options *options);

/* The name of --group, or NULL if it was not given. */
const char *export_options_group(const struct export_options *options);

/* What a group of threads is. */
enum group_key export_options_group_key(const struct export_options *options);
enum container_label export_options_label(const struct export_options *options);
