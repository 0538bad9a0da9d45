/*
 * One HTML file that needs nothing else: no script, no font, no picture from outside, and a policy
 * (CSP) that lets a browser take none. Light and dark, as the reader has it. Texts may be any bytes
 * (svg.h). Nothing is returned: ask the stream once at the end.
 */
#ifndef CAMP_VIEWS_HTML_H
#define CAMP_VIEWS_HTML_H

#include "record.h"

#include <stdio.h>

/* Head, and the title as the first heading. */
void html_begin(FILE *stream, const char *title);
void html_end(FILE *stream);

void html_heading(FILE *stream, const char *text);
void html_paragraph(FILE *stream, const char *text);

/* Columns with a title. A cell's number stands as JSON has it in the value of its <data>, and with
 * the field's decimals in the text (below 0: so many digits that count). `caption` NULL: none. */
void html_table(FILE *stream, const struct table *table, const char *caption);

/* A picture as svg_begin() to svg_end() wrote it. */
void html_picture(FILE *stream, const char *svg);

#endif
