/* rsvg-convert, which makes PNG and PDF files of pictures. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CONVERTER "rsvg-convert"

/* Returns whether the converter is installed. */
bool converter_exists(void);

/* What a user can do about a missing converter: "needs ...: install ..." */
extern const char converter_change[];

/* Converts svg[length] to PNG, or to PDF if `is_png` is false, and writes it to `output`. Returns
 * STATUS_OK, or an exit status after an error message. */
int converter_run(bool is_png, const char *svg, size_t length, FILE *output);
