/* The moments of samples, and how long each of them counts. */
#pragma once

#include "sample_rows.h"

struct sample_times {
    uint32_t *order; /* [number of rows] indexes of rows, by time; the caller frees it */
    uint64_t period_ns;
    uint64_t period_numbers; /* SAMPLE_NUMBER grows so much in a period; 0 if unknown */
};

/* Orders the rows and finds the period. Marks second samples of a session at a moment as skipped,
 * and sets last_row of each session. Returns CAMP_OK or CAMP_E_NOMEM. */
int sample_times_find(struct sample_times *ret, struct sample_rows *rows);

/* Returns the position in `order` after the last row of the moment that starts at `at`. */
size_t sample_moment_end(const struct sample_times *times, const struct sample_rows *rows,
                         size_t at);
