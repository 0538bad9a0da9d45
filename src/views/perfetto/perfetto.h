/*
 * Writes the last switches and wakes as a trace for Perfetto (https://ui.perfetto.dev), which draws
 * what ran on each CPU, what each thread did, and which thread woke it.
 *
 * A trace is a sequence of packets (protos/perfetto/trace/trace_packet.proto of Perfetto). Times
 * are of CLOCK_BOOTTIME. A packet with three clocks of one moment relates them to CLOCK_MONOTONIC,
 * which the intervals of frames and recordings have, and to the time of day.
 */
#pragma once

#include "microstates/switches.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The kernel, as uname(2) names it. */
struct perfetto_kernel {
    const char *system, *release, *machine;
};

/* The value of an interval, which starts at start_ns by CLOCK_BOOTTIME. */
struct perfetto_sample {
    uint64_t start_ns, value;
};

struct perfetto_counter {
    const char *name;
    bool is_time; /* values are ns; otherwise they are a count */
    size_t count;
    const struct perfetto_sample *samples; /* [count] in the order of time */
};

struct perfetto_fact {
    const char *name, *text;
};

struct perfetto_trace {
    const struct switches_copy *switches; /* with the clocks */
    struct perfetto_kernel kernel;
    /* The interval that the trace is about, by CLOCK_BOOTTIME, and what the mark reports. */
    uint64_t start_ns, end_ns;
    const char *title;
    const struct perfetto_fact *facts; /* [fact_count] */
    size_t fact_count;
    const struct perfetto_counter *counters; /* [counter_count] */
    size_t counter_count;
    /* Returns the name of a thread that has none in `switches`, or NULL. Names of processes are
     * those of their first threads. */
    const char *(*name_of)(void *context, int32_t tid);
    void *context;
};

/* Returns 0, ENOMEM, or the errno of the first failed write. */
int perfetto_write(FILE *stream, const struct perfetto_trace *trace);

/* Returns the state of a thread that left its CPU, as the kernel's own trace has it: one of the
 * bits of TASK_REPORT (include/linux/sched.h), 0x80 for a kernel thread that waits for work, 0x100
 * for a thread that was preempted, or 0. */
uint32_t perfetto_state(const struct switch_event *event);
