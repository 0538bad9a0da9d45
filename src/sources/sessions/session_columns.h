/* The columns of a frame of sessions (session.h). */
#pragma once

#include "session.h"

/* Adds the columns of a plan to a frame whose rules are parsed. Returns false if there is no
 * memory; session_frame_release() frees what was added. */
bool session_columns_init(struct session_frame *sessions, const struct session_plan *plan);

/* Returns the index of the column of a state, without session_frame.detail. */
size_t session_columns_state(const struct session_frame *sessions, enum session_state state);

/* Writes what the database counts of a statement to the values of a row. */
void session_columns_count(const struct session_frame *sessions,
                           const struct statement_growth *growth, uint64_t *values);
