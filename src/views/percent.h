/* Cells with percentages, for narrow columns. */
#pragma once

#include "record.h"

#define PERCENT_SIZE 12

/* Returns a share such as 0.3, 99.9, 100, 2500 or "30k" (30,000). `buffer` holds a text such as
 * "30k", and must live as long as the cell. A value that rounds to 0.0 is faint. */
struct cell percent_cell(int64_t part, uint64_t whole, char buffer[PERCENT_SIZE]);

/* Returns a share of unaccounted time, which is emphasised as bad unless it rounds to 0.0. A
 * negative share ends with "!", for terminals without colours. If `aligned` is set, other shares
 * end with a blank. */
struct cell unaccounted_cell(int64_t part, uint64_t whole, bool aligned, char buffer[PERCENT_SIZE]);
