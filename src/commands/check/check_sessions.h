/*
 * camp check for database sessions: the error of what the database reports about its sessions, for
 * each state (reported_error.h).
 */
#pragma once

#include "program/from_options.h"
#include "reported_error.h"
#include "views/document.h"

struct check;

/* What is shown of one interval, or of all, in addition to the errors. */
struct sessions_interval {
    const char *time; /* its end, RFC 3339 */
    double length_s;
    uint64_t intervals; /* number of intervals added up; 0: a single interval */
    struct losses losses;
};

/* Does the source have both what the database reports and what was measured? */
bool check_sessions_can(const struct source *source);

/* Fills the document. `frame`: that of the interval, or the last one. */
void check_sessions_fill(struct document *document, const struct reported_error *error,
                         const struct frame *frame, const struct sessions_interval *interval,
                         const struct from_facts *facts);

/* Shows each interval of check->recorded, and the sum of several at the end. Returns an exit
 * status. */
int check_sessions_run(struct check *check);
