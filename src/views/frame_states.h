/*
 * The columns of states that text has space for, and their headings.
 *
 * In a file or pipe all columns of states are shown. On a terminal that is too narrow, the columns
 * with the least time are dropped first, and the columns of CPU time and of the run queue last.
 */
#pragma once

#include "frame_columns.h"

#define FRAME_GAP 2
#define FRAME_LABEL_WIDTH 10
#define FRAME_PID_WIDTH 7
#define FRAME_COUNT_WIDTH 4
#define FRAME_OTHER_HEADING "other%"

/* Selects the columns of states that fit beside `labels` labels, but at least one, and sets
 * columns->name_width to the smallest width of a name. If the columns of CPU time and of the run
 * queue do not fit, names are narrower, and the number of entities is hidden. Returns the space
 * that remains for names and labels. */
size_t frame_states_choose(struct frame_columns *columns, const struct frame_style *style,
                           size_t labels);

/* Selects the columns of states that fit into `space`, but at least one. SIZE_MAX selects all. */
void frame_states_choose_in(struct frame_columns *columns, size_t space);

/* frame_state_width() returns the width of the column shown[at]. */
size_t frame_state_width(const struct frame_columns *columns, size_t at);
size_t frame_unaccounted_width(const struct frame_columns *columns);

/* Returns the first state of a column. */
const struct column *state_column_first(const struct frame_columns *columns, size_t column);
