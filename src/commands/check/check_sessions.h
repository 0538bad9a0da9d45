/*
 * camp check of database sessions: "sampled says / measured says", how wrong the database is about
 * what its sessions do, state by state (ledger/told.h).
 */
#ifndef CAMP_COMMANDS_CHECK_CHECK_SESSIONS_H
#define CAMP_COMMANDS_CHECK_CHECK_SESSIONS_H

#include "ledger/told.h"
#include "program/from_options.h"
#include "views/view.h"

#define CHECK_SESSIONS_FIELDS 8

/* The record of an interval, or of all. */
struct check_sessions_record {
    struct record record;
    struct table tables[3];
    struct cell summary[7], losses[3], cells[TOLD_COUNT * CHECK_SESSIONS_FIELDS];
    char time[48], headline[FROM_NAME_SIZE + 160], provenance[512];
    const char *notes[4];
};

/* What is the same in all intervals. */
struct check_sessions {
    struct source *source; /* not owned */
    const struct from_facts *facts;
    uint64_t interval_ns, count; /* count 0: until the end, or a signal */
    const struct view *view;
    const struct view_options *view_options;
};

/* Can it be checked so? Its schema has what the database says beside what was measured. */
bool check_sessions_can(const struct source *source);

/* `frame`: the interval; of all together the last one. `intervals`: 0 of one, otherwise how many
 * are in it. */
void check_sessions_fill(struct check_sessions_record *ret, const struct told *told,
                         const struct frame *frame, const struct from_facts *facts,
                         const char *time, double interval_s, uint64_t intervals);

/* Shows each interval, and behind more than one all together. An exit status. `from`: whose
 * progress is taken away. */
int check_sessions_run(const struct check_sessions *check, struct from_options *from);

#endif
