/*
 * Workloads: groups of processes, defined by regular expressions (like the workload class of pw.se
 * in the SE toolkit).
 *
 * A rule is a line with the name of a workload and conditions. Each condition is given at most
 * once, and all must match:
 *
 *     NAME  name=REGEX  user=REGEX  line=REGEX
 *
 * `name` is compared with the name of a process (comm), `user` with the name of its user, and
 * `line` with its whole command line. The expressions are POSIX extended, and may match any part of
 * the text. `line` must be the last condition, because its expression extends to the end of the
 * rule and may contain blanks. A line that starts with # is a comment. The first matching rule is
 * used. Several rules may have the same workload.
 */
#pragma once

#include "rule_text.h"

enum workload_key { WORKLOAD_NAME, WORKLOAD_USER, WORKLOAD_LINE, WORKLOAD_KEY_COUNT };

struct workload_rule {
    char name[CAMP_NAME_SIZE];
    size_t workload; /* index of the first rule with this name */
    struct rule_conditions conditions;
};

struct workloads {
    struct workload_rule *rules; /* [count]; freed by workloads_release() */
    size_t count, capacity;
};

/* Parses rules. `text` may contain any bytes. Returns CAMP_OK, CAMP_E_NOMEM, or CAMP_E_FORMAT with
 * the reason in *fault. After a failure *ret has no rules. */
int workloads_parse(struct workloads *ret, const char *text, size_t length,
                    struct rule_fault *fault);
void workloads_release(struct workloads *workloads);

/* Returns the workload of a process: the index of the first rule with the name of the workload.
 * Returns `count` if no rule matches. */
size_t workloads_match(const struct workloads *workloads, const char *name, const char *user,
                       const char *line);

/* Returns whether workloads_match() needs `line`. If not, `line` may be "". */
bool workloads_need_lines(const struct workloads *workloads);

/* Returns the name of a workload, or "(unmatched)" if the index is not that of a rule. */
const char *workloads_name(const struct workloads *workloads, size_t workload);
