/*
 * The error of sampled CPU time: the arithmetic of cpuchk (CMG98).
 *
 * The error of a process is (sampled - measured) / measured. Over all processes that ran:
 *
 *     error    = (sum of sampled - sum of measured) / sum of measured     errors cancel out
 *     absolute = sum of |sampled - measured| / sum of measured            no error cancels out
 *     maximum  = the largest |sampled - measured| / measured of one
 *
 * A process with measured time 0 is excluded from all three, as in the paper; its sampled time is
 * kept apart (`stray`), as an error without a reference.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* All times in one unit: ns, or any other such as the paper's printed percents. */
struct accuracy {
    uint64_t active; /* processes with measured > 0 */
    double measured; /* their sums */
    double sampled;
    double absolute; /* sum of |sampled - measured| */
    double maximum;  /* largest |sampled - measured| / measured, a ratio */
    double stray;    /* sampled time of processes with measured 0 */
};

/* Adds one process. */
void accuracy_add(struct accuracy *accuracy, double measured, double sampled);

/* Adds the sums of `part` to those of `whole`. */
void accuracy_merge(struct accuracy *whole, const struct accuracy *part);

/* The error in percent, of one process or a total; NAN without measured time. */
double error_percent(double measured, double sampled);
double absolute_error_percent(const struct accuracy *accuracy);
double maximum_error_percent(const struct accuracy *accuracy);
