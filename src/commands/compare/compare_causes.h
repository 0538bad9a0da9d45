/* The differences of the causes of waits in two recordings. */
#pragma once

#include "compare_rows.h"

/* Returns whether the causes of both sides can be compared. */
bool compare_has_causes(const struct compare_side sides[2]);

/* Compares the causes of both sides, as comparison_fill() does the states, and sets `causes_found`
 * of the rows of `states` to the number of their causes that differ. Does nothing unless both have
 * causes. Returns CAMP_OK or CAMP_E_NOMEM. */
int compare_causes(struct comparison *ret, struct comparison *states,
                   const struct compare_side sides[2], double least, uint64_t seed);
