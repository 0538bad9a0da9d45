/*
 * The values of a query's rows as cells: raw, or derived from two readings. What could not be read
 * is an unknown cell; its reason goes to stderr once.
 */
#pragma once

#include "query.h"

#include "views/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct values {
    const struct query *query;
    const struct camp_kernel *kernel;
    bool *reported_counters; /* of all_counters(): the reason for an unknown one was reported */
    bool *reported_subjects; /* [subjects.count] likewise */
    size_t had;              /* values that were known, so far */
    int status;              /* of the first value that was missing */
};

/* Call it after the query is complete. `kernel` says which capabilities are held. False: no memory.
 */
bool values_init(struct values *ret, const struct query *query, const struct camp_kernel *kernel);
void values_release(struct values *values);

/* Warns on stderr if the requested interval is so short that one unit of a counter is a large part
 * of it. Called after a reading, which has the number of CPUs. */
void values_tell_steps(const struct values *values, uint64_t interval_ns);

/* The value of a row by its subject's newest readings. */
struct cell value_cell(struct values *values, struct row *row);
