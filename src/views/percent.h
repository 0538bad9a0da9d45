/* Shares in percent, in four columns of text. */
#pragma once

#include "record.h"

#define PERCENT_SIZE 12

/* Returns a share as "0.3", "99.9", "100", "2500" or "30k" (30,000). `buffer` keeps a text such as
 * "30k". A value that rounds to 0.0 is faint. */
struct cell percent_cell(int64_t part, uint64_t whole, char buffer[PERCENT_SIZE]);

/* Returns unaccounted time. It is emphasised as bad unless it rounds to 0.0; below 0 it is also
 * marked by "!", for terminals without colours. `aligned`: a value without a mark gets a blank. */
struct cell unaccounted_cell(int64_t part, uint64_t whole, bool aligned, char buffer[PERCENT_SIZE]);
