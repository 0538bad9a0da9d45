/*
 * The error of sampled CPU time, as the program cpuchk computes it (Cockcroft, "CPU Time
 * Measurement Errors", CMG98).
 *
 * The error of one process is (sampled - measured) / measured. Three numbers describe all processes
 * that ran:
 *
 *     error    = (sum of sampled - sum of measured) / sum of measured     + and - cancel out
 *     absolute = sum of |sampled - measured| / sum of measured            nothing cancels out
 *     maximum  = the largest |sampled - measured| / measured of one process
 *
 * A process whose measured time is 0 is left out of the three numbers, as in the paper. Its sampled
 * time is added to `stray`.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sums over processes; `maximum` is the largest error of one process, as a ratio. All times have
 * the unit that the caller chooses. */
struct accuracy {
    uint64_t active; /* processes with measured > 0 */
    double measured;
    double sampled;
    double absolute;
    double maximum;
    double stray; /* sampled time of processes whose measured time is 0 */
};

void accuracy_add(struct accuracy *accuracy, double measured, double sampled);

void accuracy_merge(struct accuracy *whole, const struct accuracy *part);

/* Return percentages, or NAN if the measured time is 0. */
double error_percent(double measured, double sampled);
double absolute_error_percent(const struct accuracy *accuracy);
double maximum_error_percent(const struct accuracy *accuracy);
