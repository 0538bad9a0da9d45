/* The columns of a table in text: how a cell is shown, and how wide each column is. */
#pragma once

#include "format.h"

#define TEXT_CELL_SIZE 1024
#define TEXT_COLUMNS_MOST 64
#define TEXT_GAP 2 /* columns of the terminal between two columns of a table */

/* A cell as it is shown: printable characters. */
struct text_cell {
    char bytes[TEXT_CELL_SIZE];
    size_t length;
    size_t columns; /* of the terminal */
};

/* Appends bytes that take `columns` columns. */
void text_cell_append_bytes(struct text_cell *ret, const char *bytes, size_t length,
                            size_t columns);

/* Appends a foreign text. What is too long is cut, with a mark. */
void text_cell_append(struct text_cell *ret, const char *text);

void text_cell_show(struct text_cell *ret, const struct cell *cell, const struct field *field);

/* If a cell of a row is wider than `width`, and cut there would look like another cell of its
 * column, such as the socket of another server in the same folder, replaces the start that both
 * have by a mark. */
void text_cell_tell_apart(struct text_cell *cell, const struct table *table, size_t column,
                          size_t width);

struct text_layout {
    size_t widths[TEXT_COLUMNS_MOST]; /* 0: the column is hidden */
    bool wrapped[TEXT_COLUMNS_MOST];  /* its cells may have several lines */
    bool left_out[TEXT_COLUMNS_MOST]; /* it is hidden because rows would be too wide */
};

/* Makes the columns of a table, of at most TEXT_COLUMNS_MOST, so narrow that a row fits into
 * options->width, if that is possible. */
void text_layout_fill(struct text_layout *ret, const struct view_options *options,
                      const struct record *record, size_t table);
