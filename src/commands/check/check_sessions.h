/*
 * camp check for database sessions compares the time that the database reports for each session
 * state with the measured time (reported_error.h).
 */
#pragma once

#include "program/from_options.h"
#include "reported_error.h"
#include "views/document.h"

struct check;

/* Facts about one interval, or about all intervals together, that are shown with the errors. */
struct sessions_interval {
    const char *time; /* end of the interval, RFC 3339 */
    double length_s;
    uint64_t intervals; /* number of intervals added up; 0 for a single interval */
    struct losses losses;
};

/* Returns whether the source has both reported and measured times of sessions. */
bool check_sessions_can(const struct source *source);

/* Fills the document with an interval, or with the sum of all intervals. For the sum, `frame` is
 * the frame of the last interval. */
void check_sessions_fill(struct document *document, const struct reported_error *error,
                         const struct frame *frame, const struct sessions_interval *interval,
                         const struct from_facts *facts);

/* Shows each interval of check->recorded. If there were several intervals, then shows their sum at
 * the end. Returns an exit status. */
int check_sessions_run(struct check *check);
