/*
 * The contract of a view: one function, which writes a record to a stream. A view knows no source.
 *
 * It returns 0, or the errno of a failed write. After EPIPE (`| head`) a command ends quietly, see
 * output_failed() in program/command.h.
 */
#pragma once

#include "record.h"

#include <stdio.h>

struct view_options {
    FILE *stream;
    bool colour;                /* see view_wants_colour() */
    size_t width;               /* columns at which text is cut; 0: not cut */
    const char *table;          /* the table that CSV writes; NULL: the main table of the record */
    const char *const *columns; /* names of the columns of the main table to show; NULL: all */
};

struct view {
    const char *name; /* "text", as in --format */
    const char *help;
    /* `number`: how many records of this schema were written before. */
    int (*record)(const struct view_options *options, const struct record *record, uint64_t number);
};

extern const struct view text_view;
extern const struct view json_view;
extern const struct view csv_view;
/* Prints the lines of cpuchk for a camp.check/1 record, the columns of mpstat for a camp.wait/1
 * record. */
extern const struct view classic_view;

/* Options with the colors and the width of a stream, which only the text view uses. */
struct view_options view_options_of(FILE *stream);

/* Returns NULL if there is no view of that name. */
const struct view *view_by_name(const char *name);

/* The values of --color, in this order. Automatic: colors if the output is a terminal, TERM is not
 * "dumb" and NO_COLOR is not set. */
enum view_colour { VIEW_COLOUR_AUTOMATIC, VIEW_COLOUR_ALWAYS, VIEW_COLOUR_NEVER };
extern int view_colour;
bool view_wants_colour(FILE *stream);

/* Returns the columns of the terminal, or 80. */
size_t view_width(FILE *stream);

/* Returns the lines of the terminal; 0: not a terminal. */
size_t view_height(FILE *stream);
