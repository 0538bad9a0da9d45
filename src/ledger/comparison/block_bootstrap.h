/*
 * How sure the ratio of two sums over successive intervals is, such as the CPU time of a process
 * divided by the wall time.
 *
 * Successive intervals resemble each other: a process that is busy now is often busy in the next
 * second. So the intervals are not independent, and the standard error of independent values would
 * be too small. A block bootstrap (Kuensch 1989; circular: Politis and Romano 1992) draws blocks of
 * successive intervals with replacement until there are as many intervals as in the series, and
 * computes the ratio again. The scatter of many such ratios is the standard error. Blocks keep the
 * resemblance of the intervals within them, so they must be longer than it lasts.
 *
 * The length of a block is a tenth of the series, or more if the series needs it: twice the number
 * of intervals after which the correlations of the series have summed up, at most a fifth of the
 * series. So a series has between 5 and 10 independent parts, and the few degrees of freedom are
 * taken into account by Student's t (difference.h). Blocks of a short series are too short for
 * correlations that last, and in a short series the estimated correlations are uncertain. So the
 * error is never below, and the degrees of freedom are never above, those of a series that forgets
 * geometrically (AR(1)), whose neighbours are as correlated as those of this one, plus the standard
 * error of that estimate. What changes more slowly than a fifth of the series is not covered.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With fewer intervals than this their correlation is unknown: of 200 rows with a correlation of
 * 0.8, one would often seem to differ. */
#define BOOTSTRAP_FEWEST 20
#define BOOTSTRAP_DRAWS 1000

/* Numbers of successive intervals, in one unit. No number of `wholes` is negative. */
struct ratio_series {
    const double *parts;  /* [count] */
    const double *wholes; /* [count] */
    size_t count;
};

struct ratio {
    double value; /* sum of parts / sum of wholes; NAN if the sum of wholes is 0 */
    /* The standard error of `value`. INFINITY if it is unknown: the series has fewer than
     * BOOTSTRAP_FEWEST intervals, or `wholes` are 0 in all but some five of them. */
    double error;
    double freedom; /* degrees of freedom of `error` */
    size_t block;   /* length of a block, in intervals; 0 if `error` is INFINITY */
};

#define BOOTSTRAP_SCRATCH(count) (2 * ((count) + 1))

/* Computes the ratio of a series and its error. The same series and the same seed give the same
 * result on every machine. `scratch` has space for BOOTSTRAP_SCRATCH(count) numbers, and its
 * content is lost. */
void ratio_of_series(const struct ratio_series *series, uint64_t seed, double *scratch,
                     struct ratio *ret);
