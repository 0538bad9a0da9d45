/* Shares in percent, in four columns of text. */
#pragma once

#include "record.h"

#define PERCENT_SIZE 12

/* "0.3", "99.9", "100", "2500", "30k" (30,000). `buffer` holds what is no number. Faint where it
 * would be 0.0. */
struct cell percent_cell(int64_t part, uint64_t whole, char buffer[PERCENT_SIZE]);

/* Of unaccounted time: bad where it is not 0.0, and marked (!) below 0, for readers without
 * colours. `aligned`: a blank where no mark is. */
struct cell unaccounted_cell(int64_t part, uint64_t whole, bool aligned, char buffer[PERCENT_SIZE]);
