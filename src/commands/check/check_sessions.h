/*
 * camp check for database sessions: the error of what the database reports about its sessions, for
 * each state (reported_error.h).
 */
#pragma once

#include "program/from_options.h"
#include "reported_error.h"
#include "views/document.h"

struct check;

/* What is shown of an interval, or of all, beside the errors. */
struct sessions_interval {
    const char *time; /* its end, RFC 3339 */
    double length_s;
    uint64_t intervals; /* how many are added up; 0: it is one alone */
    struct losses losses;
};

/* Does the schema have what the database reports beside what was measured? */
bool check_sessions_can(const struct source *source);

/* `frame`: the interval, or the last of all. */
void check_sessions_fill(struct document *document, const struct reported_error *error,
                         const struct frame *frame, const struct sessions_interval *interval,
                         const struct from_facts *facts);

/* Shows each interval of check->recorded, and the sum of several at the end. Returns an exit
 * status. */
int check_sessions_run(struct check *check);
