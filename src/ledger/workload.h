/*
 * Workloads: groups of processes by regular expressions (the workload class of the SE toolkit's
 * pw.se). Pure text: no file and no process is read here.
 *
 * A line is a rule: the name of a workload, then conditions, each once at most, all of which must
 * match:
 *
 *     NAME  name=REGEX  user=REGEX  line=REGEX
 *
 * `name` is the process's name (comm), `line` its whole command line, `user` the name of its user;
 * expressions are POSIX extended, and match anywhere in the text unless anchored. `line` extends to
 * the end of the line, blanks included, so it comes last. A # at the start of a line makes a
 * comment. The first matching rule wins; several rules may have the same workload.
 */
#pragma once

#include "rule_text.h"

enum workload_key { WORKLOAD_NAME, WORKLOAD_USER, WORKLOAD_LINE, WORKLOAD_KEY_COUNT };

struct workload_rule {
    char name[CAMP_NAME_SIZE];
    size_t workload;                   /* index of the first rule of this name */
    struct rule_conditions conditions; /* by enum workload_key */
};

struct workloads {
    struct workload_rule *rules; /* [count]; owned: workloads_release() */
    size_t count, capacity;
};

/* Parses rules from any bytes. CAMP_OK; CAMP_E_FORMAT with *fault; CAMP_E_NOMEM. On failure *ret
 * has no rules. */
int workloads_parse(struct workloads *ret, const char *text, size_t length,
                    struct rule_fault *fault);
void workloads_release(struct workloads *workloads);

/* The workload of a process: the index of the first rule of its name; `count`: unmatched. */
size_t workloads_match(const struct workloads *workloads, const char *name, const char *user,
                       const char *line);

/* Does any rule need command lines? If not, `line` may be "". */
bool workloads_need_lines(const struct workloads *workloads);

/* The name of a workload; "(unmatched)" for an index of no rule. */
const char *workloads_name(const struct workloads *workloads, size_t workload);
