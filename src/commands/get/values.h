/*
 * Makes a cell from the value of a row of a query. A value is raw, or derived from two readings. A
 * value that could not be read becomes an unknown cell, and the reason is printed once on stderr.
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
    const struct camp_linux *facts;
    /* [all_counters()->count] Whether the reason for an unknown value of a counter was printed. */
    bool *reported_counters;
    /* [subjects.count] Whether the reason for an unknown subject was printed. */
    bool *reported_subjects;
    size_t had; /* the number of known values so far */
    int status; /* the exit status for the first missing value */
};

/* Call this function when the query is complete. `facts` has the capabilities of this process.
 * Returns false if there is no memory. */
bool values_init(struct values *ret, const struct query *query, const struct camp_kernel *kernel,
                 const struct camp_linux *facts);
void values_release(struct values *values);

/* Warns on stderr if the interval is so short that one step of a counter is a large part of the
 * interval. Call this function after the first reading, because the step of a total depends on the
 * number of CPUs. */
void values_tell_steps(const struct values *values, uint64_t interval_ns);

/* Returns the value of a row from the newest readings of its subject. */
struct cell value_cell(struct values *values, struct row *row);
