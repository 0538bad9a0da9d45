/*
 * How wrong sampled CPU time is: the arithmetic of cpuchk (CMG98).
 *
 * The error of a process is (sampled - measured) / measured. Over all processes that ran:
 *
 *     error    = (sum of sampled - sum of measured) / sum of measured     errors cancel out
 *     absolute = sum of |sampled - measured| / sum of measured            none cancels
 *     maximum  = the largest |sampled - measured| / measured of one
 *
 * A process that was not measured to run at all (measured 0) is left out of all three, as in the
 * paper; what was sampled of it is kept apart (`stray`), for it is an error without a measure.
 */
#ifndef CAMP_LEDGER_ACCURACY_H
#define CAMP_LEDGER_ACCURACY_H

#include <stdbool.h>
#include <stdint.h>

/* Any unit will do (ns, or the paper's printed percents), as long as it is the same throughout. */
struct accuracy {
    uint64_t active; /* processes with measured > 0 */
    double measured; /* their sums */
    double sampled;
    double absolute; /* sum of |sampled - measured| */
    double maximum;  /* largest |sampled - measured| / measured, a ratio */
    double stray;    /* sampled of processes with measured 0 */
};

/* One process. */
void accuracy_add(struct accuracy *accuracy, double measured, double sampled);

/* Many at once that were added up before: what `part` holds goes to `whole`. */
void accuracy_merge(struct accuracy *whole, const struct accuracy *part);

/* In percent; NAN when nothing was measured. Of one process as of a total. */
double error_percent(double measured, double sampled);
double absolute_error_percent(const struct accuracy *accuracy);
double maximum_error_percent(const struct accuracy *accuracy);

#endif
