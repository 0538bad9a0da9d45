/*
 * camp check for database sessions: the error of what the database reports about its sessions, for
 * each state (reported_error.h).
 */
#pragma once

#include "program/from_options.h"
#include "reported_error.h"
#include "views/view.h"

#define CHECK_SESSIONS_FIELDS 8

/* The record of an interval, or of all. */
struct check_sessions_record {
    struct record record;
    struct table tables[3];
    struct cell summary[7], losses[3], cells[REPORTED_COUNT * CHECK_SESSIONS_FIELDS];
    char time[48], headline[FROM_NAME_SIZE + 160], provenance[512];
    const char *notes[4];
};

/* The same for all intervals. */
struct check_sessions {
    struct source *source; /* not owned */
    const struct from_facts *facts;
    uint64_t interval_ns, count; /* count 0: until the end, or a signal */
    const struct view *view;
    const struct view_options *view_options;
};

/* Does the schema have what the database reports beside what was measured? */
bool check_sessions_can(const struct source *source);

/* `frame`: the interval, or the last of all. `intervals`: how many are summed up; 0: one alone. */
void check_sessions_fill(struct check_sessions_record *ret, const struct reported_error *error,
                         const struct frame *frame, const struct from_facts *facts,
                         const char *time, double interval_s, uint64_t intervals);

/* Shows each interval, and the sum of several at the end. Returns an exit status. `from`: its
 * progress line is cleared. */
int check_sessions_run(const struct check_sessions *check, struct from_options *from);
