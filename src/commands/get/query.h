/*
 * What the operands of `camp get` ask for: rows, each a counter of a subject.
 *
 *   KIND                       every counter of every one:     network
 *   KIND.COUNTER               of what there is but one, or of all together: memory.free_bytes
 *   KIND.SUBJECT.COUNTER       network.eth0.100.sent_bytes, process.1234@5678.cpu_ns
 *   KIND.SUBJECT               all counters of one:            disk.sda
 *
 * The counter is what stands after the last dot, so that a subject's name may hold dots. SUBJECT
 * and COUNTER may be globs; "all" is a COUNTER too. Processes are also found by name:EXECUTABLE.
 */
#pragma once

#include "subjects.h"

#include <stdbool.h>
#include <stddef.h>

struct row {
    const struct camp_counter *counter;
    size_t subject;    /* index into the query's subjects */
    char character[2]; /* the text of a one-letter value */
};

struct query {
    bool rate;           /* rates were requested: counters without one are left out, or refused */
    bool interval_given; /* "all" includes counters that need an interval */
    struct subjects subjects;
    struct row *rows;
    size_t row_count;
    size_t row_capacity;
};

void query_release(struct query *query);

/* Adds the rows of one operand. Returns STATUS_OK or, after a complaint, STATUS_USAGE for an
 * impossible name, STATUS_FAILURE for a subject that does not exist (any more), or
 * STATUS_PRIVILEGE. */
int query_add(struct query *query, const char *operand);

/* Does this row, or any row, take two readings? */
bool query_row_needs_interval(const struct query *query, const struct row *row);
bool query_needs_interval(const struct query *query);
