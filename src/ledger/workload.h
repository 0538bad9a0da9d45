/*
 * Workloads: which processes belong together, by regular expressions (the workload class of the
 * SE toolkit's pw.se). Pure text: no file is read here, no process asked.
 *
 * A line is a rule: the name of a workload, then what must match, each once at most and all of it:
 *
 *     NAME  name=REGEX  user=REGEX  line=REGEX
 *
 * `name` is the process's name (comm), `line` its whole command line, `user` the name of its user;
 * expressions are POSIX extended, and match anywhere in the text unless anchored. That of `line`
 * goes on to the end of the line, blanks included, so it stands last. What follows a # at the
 * beginning of a line is a comment. The first rule that matches wins; several rules may be of one
 * workload.
 */
#ifndef CAMP_LEDGER_WORKLOAD_H
#define CAMP_LEDGER_WORKLOAD_H

#include "rule_text.h"

enum workload_key { WORKLOAD_NAME, WORKLOAD_USER, WORKLOAD_LINE, WORKLOAD_KEY_COUNT };

struct workload_rule {
    char name[CAMP_NAME_SIZE];
    size_t workload; /* index of the first rule of this name */
    bool given[WORKLOAD_KEY_COUNT];
    regex_t expressions[WORKLOAD_KEY_COUNT]; /* those that are given */
};

struct workloads {
    struct workload_rule *rules; /* [count]; owned: workloads_release() */
    size_t count, capacity;
};

/* Reads rules from any bytes. CAMP_OK; CAMP_E_FORMAT with *fault; CAMP_E_NOMEM. On a failure *ret
 * has no rules. */
int workloads_parse(struct workloads *ret, const char *text, size_t length,
                    struct rule_fault *fault);
void workloads_release(struct workloads *workloads);

/* The workload of a process: the index of the first rule of its name; `count`: it is in none. */
size_t workloads_match(const struct workloads *workloads, const char *name, const char *user,
                       const char *line);

/* Does any rule look at command lines? If none does, `line` may be "". */
bool workloads_ask_lines(const struct workloads *workloads);

/* "(unmatched)" of those in none. */
const char *workloads_name(const struct workloads *workloads, size_t workload);

#endif
