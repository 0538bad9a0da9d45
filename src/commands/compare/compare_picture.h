/* The picture of a comparison: an arrow for each entity, from its place in A to that in B. */
#pragma once

#include "compare_rows.h"

/* Writes the picture (views/pictures/arrows.h) to the file `output`. `axes` is the text of --axes,
 * or NULL. Entities of the first `rows` rows have an arrow; 0 means all rows. Returns STATUS_OK, or
 * an exit status after an error message. */
int compare_picture(const char *output, const char *axes, const struct compare_side sides[2],
                    const struct comparison *comparison, size_t rows);
