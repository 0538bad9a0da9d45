/*
 * Exit records that wait for the final clock of their process.
 *
 * The kernel writes an exit record before it frees the memory of the process. The record has the
 * CPU time up to the newest tick or switch. The final clock (microstates/final_clocks.h) has all of
 * the CPU time, but arrives later. A snapshot does not wait for the final clock. At the end of an
 * interval, a process without a final clock is accounted by the CPU clock of its zombie or, if it
 * has been reaped, by its exit record. If the final clock is then larger, the difference is
 * accounted in the interval in which the final clock arrives.
 */
#pragma once

#include "microstates/final_clocks.h"
#include "tasks_table.h"

#include <camp/linux.h>

struct waiting_exit {
    struct camp_task_exit exit;
    uint64_t earliest_ns, latest_ns; /* bounds of the process' start, on CLOCK_MONOTONIC */
    uint64_t number;                 /* records are numbered in the order of their arrival */
    bool is_accounted;               /* the table has exit.measured_ns and exit.sampled_ns */
};

struct final_exits {
    struct waiting_exit *waiting; /* [waiting_count] */
    size_t waiting_count, waiting_capacity;
    struct final_clock *finals; /* [final_count] in the order of their arrival */
    size_t final_count, final_capacity;
    uint64_t records; /* number of records that were ever added */
};

void final_exits_release(struct final_exits *exits);

/* Adds the record of a process that the kernel sent between after_ns and before_ns, on
 * CLOCK_MONOTONIC. */
int final_exits_add(struct final_exits *exits, const struct camp_task_exit *exit, uint64_t after_ns,
                    uint64_t before_ns);

int final_exits_add_final(struct final_exits *exits, const struct final_clock *final);

/* Reads the final clocks that have arrived. Must be called before exit records are read, so that
 * each final clock finds its record: final_exits_match() drops final clocks without a record. */
int final_exits_read(struct final_exits *exits, struct final_clocks *clocks);

/* Accounts in the table each process whose final clock was read, and forgets its exit record. */
int final_exits_match(struct final_exits *exits, struct tasks_table *table);

/* Accounts in the table the processes whose final clock has not arrived, so that none is missing at
 * the end of an interval. now_ns is on CLOCK_MONOTONIC. */
int final_exits_finish(struct final_exits *exits, struct tasks_table *table, uint64_t now_ns);
