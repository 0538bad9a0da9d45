/*
 * camp record --when: a flight recorder. A ring in memory has the last switches and wakes of all
 * CPUs (microstates/switches.h). When a condition holds at the end of an interval, the ring is
 * written as a trace beside the recording, at most once in a while, and not more often than a
 * limit.
 */
#pragma once

#include "ledger/conditions/condition.h"
#include "program/from_options.h"
#include "record_files.h"

#define WHEN_SAMPLES 256 /* intervals whose values are in a trace */

struct record_when {
    const char *text; /* of --when, or NULL */
    /* 0 until record_when_check() sets the defaults */
    uint64_t pause_ns, ring_bytes, trace_most;

    struct switches *switches;
    struct condition condition;
    struct frame lengths; /* of lengths_schema, with record --why */
    bool counts_idle;     /* the condition needs the rows of idle entities */
    uint64_t held;        /* intervals in which the condition held */
    uint64_t traces;      /* written */
    uint64_t failed;      /* traces that could not be written */
    uint64_t last_ns;     /* the end of the interval of the last trace (CLOCK_MONOTONIC), or 0 */
    int64_t name_s;       /* the time in the name of the last trace, in s since 1970 */
    uint64_t intervals;
    /* The values of the comparisons in the last intervals: [intervals % WHEN_SAMPLES]. */
    uint64_t starts_ns[WHEN_SAMPLES];
    uint64_t values[CONDITION_MOST][WHEN_SAMPLES];
    /* CLOCK_BOOTTIME - CLOCK_MONOTONIC at their starts, and at the end of the last one. */
    int64_t suspended_ns[WHEN_SAMPLES], suspended_before_ns;
};

/* clang-format off */
#define WHEN_OPTIONS(when)                                                                         \
    { "when", 0, OPTION_TEXT, &(when)->text, "CONDITION",                                          \
      "Keep the last context switches and wakes of all CPUs in memory, and write them as a trace " \
      "for Perfetto beside the recording when this holds for an interval: 'run_queue > 20ms', "    \
      "'disk > 5% of postgres', 'cpu.sum > 1.5s and run_queue > 10%'. The columns are those of "   \
      "camp top --order; the largest row counts, with .sum all rows together. With --why also "    \
      "run_queue.max, .p99 and .p50: how long waits lasted. The file of "                          \
      "run.camp is run-20261122T020000Z.perfetto-trace. Needs microstates.",                       \
      0, 0, NULL },                                                                                \
    { "when-pause", 0, OPTION_DURATION, &(when)->pause_ns, "TIME",                                 \
      "With --when: write no further trace within this time (1m).", 1, 366.0 * 86400, NULL },      \
    { "when-count", 0, OPTION_COUNT, &(when)->trace_most, "N",                                     \
      "With --when: write no more traces than this (10).", 1, 1e6, NULL },                         \
    { "ring", 0, OPTION_SIZE, &(when)->ring_bytes, "SIZE",                                         \
      "With --when: the memory for switches and wakes of all CPUs, 64 bytes each (16MB). A "       \
      "trace is about as large.", 256000, 1e9, NULL }
/* clang-format on */

/* Checks the options, the syntax of the condition, and that the source is one of this machine.
 * Returns OPTIONS_GO_ON, or an exit status after an error message. */
int record_when_check(struct record_when *when, const char *from);

/* Reports what is wrong with a condition. Returns an exit status. */
int record_when_complain(const char *text, const struct condition_fault *fault);

/* Opens the ring. It must be opened before the source, after which the rights are given up. Does
 * nothing without --when. Returns OPTIONS_GO_ON, or an exit status after an error message. */
int record_when_open(struct record_when *when);

/* Parses the condition for the source that is open, which has causes or not. Returns OPTIONS_GO_ON,
 * or an exit status after an error message: also if the source is a database server that may be on
 * another machine. */
int record_when_parse(struct record_when *when, const struct schema *schema,
                      const struct from_facts *facts, bool has_causes);

/* Checks the condition on the frame and the causes of an interval, which may be NULL, and writes a
 * trace beside the open file of the recording if it holds. A
 * failure to write a trace is reported, and recording goes on. */
void record_when_interval(struct record_when *when, const struct frame *frame,
                          const struct causes *causes, const struct record_files *files);

/* Prints how often the condition held. Returns `status`, or STATUS_FAILURE if a trace could not be
 * written. */
int record_when_summary(const struct record_when *when, int status);

void record_when_close(struct record_when *when);
