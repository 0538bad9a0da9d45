/* Columns of rows of sessions: how long their sleeps lasted. For session_frame.c. */
#pragma once

#include "session.h"

/* After these columns come those of the counts: SESSION_LENGTHS counters. */
enum session_lengths_column {
    LENGTHS_WAITS,
    LENGTHS_NS,
    LENGTHS_LONGEST, /* schema.longest, and the next two */
    LENGTHS_LONGEST_ID,
    LENGTHS_LONGEST_CLOCK,
    LENGTHS_FIRST_COUNT
};

#define LENGTHS_COLUMNS (LENGTHS_FIRST_COUNT + SESSION_LENGTHS)

extern const struct column session_lengths_columns[LENGTHS_COLUMNS];

/* Fills the columns values[LENGTHS_COLUMNS] of a row. */
void session_lengths_fill(struct session_frame *sessions, const struct session *session,
                          uint64_t *values);
