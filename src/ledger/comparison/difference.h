/*
 * The difference of two ratios with a known error (block_bootstrap.h), such as the shares of a
 * process in two recordings, with intervals and a verdict.
 *
 * A comparison of many rows would give many false alarms if each of them had a chance of 5 %. So
 * the verdict of a row comes from an interval that is wider: with 95 % probability the intervals of
 * all `rows` rows together contain the true differences (Bonferroni). A verdict of "more" or "less"
 * says that this interval lies beyond the smallest difference of interest.
 */
#pragma once

#include "block_bootstrap.h"

/* The probability that an interval of a row, or any of the wide intervals, misses the truth. */
#define DIFFERENCE_RISK 0.05

enum difference_verdict {
    DIFFERENCE_UNKNOWN, /* a series has too few intervals, or too few of them have a value */
    DIFFERENCE_NONE,    /* no difference was found that is surely of interest */
    DIFFERENCE_MORE,
    DIFFERENCE_LESS
};

struct bounds {
    double low, high; /* -INFINITY and INFINITY if they are unknown */
};

struct difference {
    double value;       /* after - before; NAN if one of them is unknown */
    struct bounds own;  /* contains the truth with a probability of 95 %, for this row alone */
    struct bounds wide; /* contains the truth with a probability of 95 %, for all rows at once */
};

/* Computes the difference of two ratios, which is one of `rows`, at least 1. */
void difference_of(const struct ratio *before, const struct ratio *after, size_t rows,
                   struct difference *ret);

/* Judges a difference. `least` is the smallest difference of interest, 0 or more. */
enum difference_verdict difference_judge(const struct difference *difference, double least);

/* Returns the value that the absolute value of a variable of Student's t distribution exceeds with
 * the probability `risk`, between 0 and 1. `freedom` must be above 0. */
double student_t_limit(double risk, double freedom);
