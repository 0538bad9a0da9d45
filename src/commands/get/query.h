/*
 * The rows that the operands of `camp get` ask for. A row is one counter of one subject.
 *
 *       KIND                     all counters of all subjects of a kind: network
 *       KIND.COUNTER             a counter of the only subject, or of the total: memory.free_bytes
 *       KIND.SUBJECT.COUNTER     network.eth0.100.sent_bytes, process.1234@5678.cpu_ns
 *       KIND.SUBJECT             all counters of a subject: disk.sda
 *
 * COUNTER is the text after the last dot, so the name of a subject may have dots. SUBJECT and
 * COUNTER may be globs, and COUNTER may be "all". For processes, SUBJECT may be name:EXECUTABLE.
 */
#pragma once

#include "subjects.h"

#include <stdbool.h>
#include <stddef.h>

struct row {
    const struct camp_counter *counter;
    size_t subject;    /* index into query.subjects.items */
    char character[2]; /* the text of a value that is one letter */
};

struct query {
    /* Rates were requested. Patterns then skip counters that have no rate. If the user names a
     * counter that has no rate, the counter is refused. */
    bool rate;
    /* An interval was given, so "all" includes counters that need an interval. */
    bool interval_given;
    struct subjects subjects;
    struct row *rows;
    size_t row_count;
    size_t row_capacity;
};

void query_release(struct query *query);

/* Adds the rows of one operand. Returns STATUS_OK if this succeeds. Otherwise prints an error,
 * and returns STATUS_USAGE for an impossible name, STATUS_FAILURE for a subject that does not
 * exist, or STATUS_PRIVILEGE for a missing capability. */
int query_add(struct query *query, const char *operand);

/* Return whether a row, or any row of the query, needs two readings. */
bool query_row_needs_interval(const struct query *query, const struct row *row);
bool query_needs_interval(const struct query *query);
