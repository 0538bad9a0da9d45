/*
 * A self-contained HTML file without scripts, external fonts or external pictures. Its content
 * security policy (CSP) makes browsers refuse scripts, external fonts and external pictures.
 *
 * The file is light or dark, as the reader's browser prefers. Texts may be any bytes (svg.h). The
 * functions return no errors. The caller checks the stream once at the end.
 */
#pragma once

#include "record.h"

#include <stdio.h>

/* Writes the head of the file, and the title as the first heading. */
void html_begin(FILE *stream, const char *title);
void html_end(FILE *stream);

void html_heading(FILE *stream, const char *text);
void html_paragraph(FILE *stream, const char *text);

/* Writes a table, whose fields must all have a name, a title and a help text. Each number is in a
 * <data> element, whose value is the number as in JSON. The visible number has field->decimals
 * digits after the point. If `decimals` is negative, the number has -decimals significant digits.
 * `caption` may be NULL. */
void html_table(FILE *stream, const struct table *table, const char *caption);

/* Writes a picture. `svg` is the output from svg_start() to svg_end(). */
void html_picture(FILE *stream, const char *svg);
