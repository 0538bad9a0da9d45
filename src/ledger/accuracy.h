/*
 * The error of sampled CPU time, computed like cpuchk does it (Cockcroft, "CPU Time Measurement
 * Errors", CMG98).
 *
 * The error of one process is (sampled - measured) / measured. Three errors describe all processes
 * that ran:
 *
 *     error    = (sum of sampled - sum of measured) / sum of measured     errors cancel out
 *     absolute = sum of |sampled - measured| / sum of measured            no error cancels out
 *     maximum  = the largest |sampled - measured| / measured of one process
 *
 * A process whose measured time is 0 is in none of the three errors, as in the paper. Its sampled
 * time is added up separately in `stray`, because there is no measured time to compare it with.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sums over processes. All times have one unit, which is ns or any other, such as the printed
 * percentages of the paper. */
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

/* The errors in percent, of one process or of a sum. The result is NAN if the measured time is
 * 0. */
double error_percent(double measured, double sampled);
double absolute_error_percent(const struct accuracy *accuracy);
double maximum_error_percent(const struct accuracy *accuracy);
