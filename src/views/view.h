/*
 * The contract of a view: one function, which writes a record to a stream. A view does not know
 * where the data come from.
 *
 * The function returns 0, or the errno of a failed write. If this is EPIPE (`| head`), the command
 * ends without a message: see output_failed() in program/command.h.
 */
#pragma once

#include "record.h"

#include <stdio.h>

struct view_options {
    FILE *stream;
    bool colour;
    size_t width;      /* the text view wraps or cuts rows at this column; 0 means no limit */
    const char *table; /* the table that the CSV view writes; NULL means the main table */
    /* The names of the columns of the main table to show, NULL-terminated. NULL shows all
     * columns. */
    const char *const *columns;
};

struct view {
    const char *name; /* such as "text"; the value of --format */
    const char *help;
    /* `number` counts the records of this schema that are already written. */
    int (*record)(const struct view_options *options, const struct record *record, uint64_t number);
};

extern const struct view text_view;
extern const struct view json_view;
extern const struct view csv_view;
/* Writes camp.check/1 like cpuchk, and camp.wait/1 like mpstat. */
extern const struct view classic_view;
/* Write camp.wait/1 like mpstat and vmstat of Solaris. */
extern const struct view mpstat_view;
extern const struct view vmstat_view;

/* Returns the mark at the end of a text that was cut: "…", or ".." without UTF-8. *ret_columns is
 * its width. */
const char *view_cut_mark(size_t *ret_columns);

/* Returns the options for a stream. The width is that of the terminal; a file or pipe has no limit.
 * Colours are used if the stream supports them. Only the text view uses width and colours. */
struct view_options view_options_of(FILE *stream);

/* Returns NULL if there is no view with this name. */
const struct view *view_by_name(const char *name);

/* The values of --color, in the order of the option's choices. VIEW_COLOUR_AUTOMATIC uses colours
 * if the output is a terminal, TERM is not "dumb" and NO_COLOR is not set. */
enum view_colour { VIEW_COLOUR_AUTOMATIC, VIEW_COLOUR_ALWAYS, VIEW_COLOUR_NEVER };
extern int view_colour;
bool view_wants_colour(FILE *stream);

/* Returns the width of the terminal, or 80 if the stream is not a terminal. */
size_t view_width(FILE *stream);

/* Returns the width of the terminal, or 0 (no limit) if the stream is not a terminal. */
size_t view_limit(FILE *stream);

/* Returns the number of lines of the terminal, or 0 if the stream is not a terminal. */
size_t view_height(FILE *stream);
