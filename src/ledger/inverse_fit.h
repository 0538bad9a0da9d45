/*
 * Error as an inverse function of load: the curve of CMG98's Figures 7 to 17,
 *
 *     error = 1 / (a + b x cpu)
 *
 * fitted as a generalized linear model of the Gamma family with its inverse link, like glm(error ~
 * cpu, family = Gamma()) in S-PLUS and R. Errors vary in proportion to their size (Gamma), so a
 * small error at a high load counts as much as a large one of an idle machine. Pure arithmetic.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A point: load and error, both in percent or any other unit. Errors of 0 and below, and NAN, are
 * excluded: a Gamma variable is above 0. */
struct inverse_point {
    double cpu, error;
};

bool inverse_point_is_usable(const struct inverse_point *point);

enum inverse_outcome {
    INVERSE_FITTED,
    INVERSE_TOO_FEW,  /* fewer than three points with an error above 0 */
    INVERSE_ONE_LOAD, /* all at the same load */
    INVERSE_NO_STEP,  /* no step leads to possible errors */
    INVERSE_NO_END,   /* no convergence within INVERSE_ITERATIONS */
    INVERSE_NO_MEMORY
};

#define INVERSE_ITERATIONS 25

/* The numbers are set if the outcome is INVERSE_FITTED. */
struct inverse_fit {
    enum inverse_outcome outcome;
    size_t used, left_out;         /* points */
    double a, b, a_error, b_error; /* coefficients, and their standard errors */
    double b_probability; /* probability of a b at least as far from 0 if there is no relation */
    double dispersion;    /* Pearson's chi squared / (used - 2) */
    double deviance, null_deviance; /* of the curve, and of one error for all loads */
    double aic;                     /* Akaike's information criterion */
    unsigned iterations;
    bool halved; /* a step was shortened to keep errors above 0 */
};

/* Iteratively reweighted least squares, step by step as R's glm.fit: the same starting values,
 * criterion of convergence and step halving, and the same standard errors, which use the last
 * step's weights. Where R finds no first step and asks for starting values, a flat curve is the
 * start. */
void inverse_fit(const struct inverse_point *points, size_t count, struct inverse_fit *ret);

/* The fitted error at a load. NAN at the pole of the curve (-a / b) and beyond it, where a + b x
 * cpu is not positive. */
double inverse_fit_at(const struct inverse_fit *fit, double cpu);

/* Does one curve fit all points? */
enum inverse_verdict {
    VERDICT_FITS,
    VERDICT_NOT_FITTED,  /* outcome says why */
    VERDICT_ONE_LOAD,    /* the load hardly varied: no verdict is possible */
    VERDICT_FEW,         /* too few points */
    VERDICT_NO_RELATION, /* error does not depend on load: b could be 0 */
    VERDICT_RISES,       /* error rises with load: no inverse relation */
    VERDICT_CLUSTERS,    /* separate clusters, each with a curve of its own */
    VERDICT_SCATTERED    /* the curve explains less than half of the deviance */
};

#define VERDICT_SIGNIFICANCE 0.05 /* of b */
#define VERDICT_EXPLAINED 0.5     /* share of the null deviance that the curve must explain */
#define VERDICT_CLUSTERED                                                                          \
    0.85                          /* share of the residuals' variance that lies between two        \
                                   * groups of them */
#define VERDICT_APART 2.0         /* factor between the errors of the two groups, at one load */
#define VERDICT_POINTS 10         /* with fewer points there is no verdict */
#define VERDICT_RANGE 1.25        /* the largest load must be this times the smallest */
#define VERDICT_CLUSTER_POINTS 20 /* fewer points are not split into clusters */

struct inverse_judgement {
    enum inverse_verdict verdict;
    double least_load, most_load; /* of the points used; NAN: there are none */
    double explained;             /* share of the null deviance; NAN: there is none */
    double clustered;             /* best split of the residuals; NAN: too few points */
    double apart;                 /* factor between the errors of its two groups; NAN likewise */
};

/* Judges a fit of these points, by the rules of docs/error.md. */
void inverse_fit_judge(const struct inverse_fit *fit, const struct inverse_point *points,
                       size_t count, struct inverse_judgement *ret);

/* Student's t distribution (student_t.c), which says whether a coefficient differs from 0. */

/* The probability that a variable with `freedom` degrees of freedom (above 0, not only whole
 * numbers) lies at least as far from 0 as `t`, on either side. NAN when an argument is NAN or
 * `freedom` is not above 0. Where the probability is above 1e-300, its relative error is below
 * 1e-12 up to 1,000 degrees of freedom, and below 2e-10 up to 1,000,000. */
double student_t_two_sided(double t, double freedom);
