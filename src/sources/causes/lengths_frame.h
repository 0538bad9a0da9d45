/* How long waits lasted, as a frame: a row for each group whose waits have ended in the interval,
 * and three columns for each kind of wait, such as run_queue.max_ns, run_queue.p99_ns and
 * run_queue.p50_ns. */
#pragma once

#include "causes.h"

#include "ledger/frame.h"

/* The schema of such frames. It has no states that add up. */
extern const struct schema lengths_schema;

/* Fills a frame of lengths_schema. The row of a process has its pid as id. Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int lengths_frame_fill(struct frame *ret, const struct causes *causes);
