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
    bool rate;           /* of counters alone: what has no rate is left out, or refused */
    bool interval_given; /* "all" holds what needs an interval too */
    struct subjects subjects;
    struct row *rows;
    size_t row_count;
    size_t row_capacity;
};

void query_release(struct query *query);

/* Adds the rows of one operand. STATUS_OK, or what was complained of: STATUS_USAGE for a name that
 * cannot be, STATUS_FAILURE for what is not there (any more), STATUS_PRIVILEGE. */
int query_add(struct query *query, const char *operand);

/* Whether this row takes two readings, or any of them does. */
bool query_row_needs_interval(const struct query *query, const struct row *row);
bool query_needs_interval(const struct query *query);
