/*
 * The output of camp time for a user who may not read microstates. It has the wall time of the
 * command, and the CPU time of the command and of its descendants that ended. wait4(2) gives this
 * CPU time to every user.
 *
 * The states of the remaining time are unknown, because the kernel keeps the run-queue time of a
 * thread only until the thread ends. But the time in which no thread of the command was on a CPU is
 * at least the wall time minus the CPU time.
 */
#pragma once

#include "time_record.h"

#include <sys/resource.h>

#define TIME_USAGE_CELLS (TIME_SUMMARY_FIELDS + 2 * 3 + 7)

struct time_usage {
    struct rusage before;
    struct rusage children; /* the growth of RUSAGE_CHILDREN since the start of the command */
    bool some_run; /* some descendants had not ended, so `children` does not include them */
};

struct time_usage_record {
    struct record record;
    struct table tables[3];
    struct cell cells[TIME_USAGE_CELLS];
    char headline[128], note[TIME_NOTE_SIZE];
    const char *note_list[3];
};

/* Called before the command starts. */
void time_usage_start(struct time_usage *ret);

/* Called after the command was reaped. */
void time_usage_read(struct time_usage *ret);

/* Makes the record, of schema camp.time-usage/1. The record points to texts of `facts`, which
 * must outlive the record. */
void time_usage_fill(struct time_usage_record *ret, const struct time_usage *usage,
                     const struct time_facts *facts);
