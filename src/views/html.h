/*
 * A self-contained HTML file: no script, no external font or picture, and a policy (CSP) that makes
 * browsers refuse them. It is light or dark, by the reader's preference. Texts may be any bytes
 * (svg.h). The functions return no errors: check the stream once at the end.
 */
#pragma once

#include "record.h"

#include <stdio.h>

/* Writes the head, and the title as the first heading. */
void html_begin(FILE *stream, const char *title);
void html_end(FILE *stream);

void html_heading(FILE *stream, const char *text);
void html_paragraph(FILE *stream, const char *text);

/* Writes a table of the columns that have a title. A cell's <data> has the same number as JSON; its
 * text has the field's decimals (below 0: significant digits). `caption` NULL: none. */
void html_table(FILE *stream, const struct table *table, const char *caption);

/* Writes a picture: the output of svg_start() to svg_end(). */
void html_picture(FILE *stream, const char *svg);
