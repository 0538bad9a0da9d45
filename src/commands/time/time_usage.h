/*
 * The output of camp time where microstates are not permitted: the command's wall time, and the CPU
 * time of the command and of its descendants that ended. wait4(2) adds that up for every user.
 *
 * The rest of the time is unknown, because the kernel keeps a thread's run-queue time only until
 * the thread ends. But for at least wall time - CPU time, no thread of the command was on a CPU.
 */
#pragma once

#include "time_record.h"

#include <sys/resource.h>

#define TIME_USAGE_CELLS (TIME_SUMMARY_FIELDS + 2 * 3 + 7)

struct time_usage {
    struct rusage before;   /* RUSAGE_CHILDREN when the command started */
    struct rusage children; /* all children that have ended since then */
    bool some_run;          /* some descendants had not ended; `children` lacks them */
};

struct time_usage_record {
    struct record record;
    struct table tables[3];
    struct cell cells[TIME_USAGE_CELLS];
    char headline[128], note[TIME_NOTE_SIZE];
    const char *note_list[3];
};

/* To be called before the command starts. */
void time_usage_start(struct time_usage *ret);

/* To be called after wait4(2) has returned the command. */
void time_usage_read(struct time_usage *ret);

/* The record points to texts of `facts`, which the caller owns. Schema camp.time-usage/1. */
void time_usage_fill(struct time_usage_record *ret, const struct time_usage *usage,
                     const struct time_facts *facts);
