/* Cells with percentages, for narrow columns. */
#pragma once

#include "record.h"

#define PERCENT_SIZE 12

/* Returns part / whole in percent, or NAN if `whole` is 0. */
double percent_of(double part, uint64_t whole);

/* Returns part / whole in percent, such as 0.3, 99.9, 100, 2500 or "30k" (30,000). `buffer` holds a
 * text such as "30k", and must live as long as the cell. A value that rounds to 0.0 is faint. */
struct cell percent_cell(int64_t part, uint64_t whole, char buffer[PERCENT_SIZE]);

/* Returns part / whole in percent, where `part` is unaccounted time. The cell is emphasised as bad
 * unless its value rounds to 0.0. A negative value ends with "!", for terminals without colours. If
 * `aligned` is set, other values end with a blank. */
struct cell unaccounted_cell(int64_t part, uint64_t whole, bool aligned, char buffer[PERCENT_SIZE]);
