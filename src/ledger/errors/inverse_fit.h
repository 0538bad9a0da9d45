/*
 * Fits the error of sampled CPU time as an inverse function of load. This is the curve of Figures 7
 * to 17 in Cockcroft, "CPU Time Measurement Errors", CMG98:
 *
 *     error = 1 / (a + b x cpu)
 *
 * The fit is a generalized linear model of the Gamma family with its inverse link, like glm(error ~
 * cpu, family = Gamma()) in S-PLUS and R. In the Gamma family the spread of errors is proportional
 * to their size. So a small error at a high load counts as much as a large error of an idle
 * machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The load and the error of a point. A point is left out of the fit if a number is not finite, or
 * if the error is not above 0, because a Gamma variable is above 0. */
struct inverse_point {
    double cpu, error;
};

bool inverse_point_is_usable(const struct inverse_point *point);

enum inverse_outcome {
    INVERSE_FITTED,
    INVERSE_TOO_FEW, /* fewer than three usable points */
    INVERSE_ONE_LOAD,
    INVERSE_NO_STEP, /* no shortened step leads to fitted errors above 0 */
    INVERSE_NO_END,  /* no convergence within INVERSE_ITERATIONS */
    INVERSE_NO_MEMORY
};

#define INVERSE_ITERATIONS 25

/* Unless the outcome is INVERSE_FITTED, only `used` and `left_out` are valid. */
struct inverse_fit {
    enum inverse_outcome outcome;
    size_t used, left_out;         /* numbers of points */
    double a, b, a_error, b_error; /* coefficients and their standard errors */
    /* If errors did not depend on the load, a `b` at least as far from 0 would have this
     * probability. */
    double b_probability;
    double dispersion; /* Pearson's chi squared / (used - 2) */
    /* Deviance of the curve; null_deviance is that of a constant error. */
    double deviance, null_deviance;
    double aic;
    unsigned iterations;
    bool halved; /* whether a step was shortened to keep the fitted errors above 0 */
};

/* Fits a curve like glm.fit of R, with the same starting values, criterion of convergence, step
 * halving and standard errors (from the weights of the last step). One difference: where R gives up
 * and asks for starting values, this function starts from a flat curve. */
void inverse_fit(const struct inverse_point *points, size_t count, struct inverse_fit *ret);

/* Returns the fitted error at a load. Returns NAN if there is no fit, or if a + b x cpu is not
 * above 0. */
double inverse_fit_at(const struct inverse_fit *fit, double cpu);

enum inverse_verdict {
    VERDICT_FITS,
    VERDICT_NOT_FITTED, /* the outcome of the fit says why */
    VERDICT_ONE_LOAD,   /* the load varied too little for a verdict */
    VERDICT_FEW,
    VERDICT_NO_RELATION, /* b could be 0, so that the error would not depend on the load */
    VERDICT_RISES,
    VERDICT_CLUSTERS, /* the points form separate clusters, each with a curve of its own */
    VERDICT_SCATTERED /* the curve explains less than half of the deviance */
};

/* The verdict is VERDICT_NO_RELATION unless b_probability is below this. */
#define VERDICT_SIGNIFICANCE 0.05
#define VERDICT_EXPLAINED 0.5 /* the curve must explain this share of the null deviance */
/* VERDICT_CLUSTERS needs at least this share of the residuals' variance between two clusters. */
#define VERDICT_CLUSTERED 0.85
/* VERDICT_CLUSTERS needs at least this factor between the errors of two clusters. */
#define VERDICT_APART 2.0
#define VERDICT_POINTS 10         /* fewer points get no verdict */
#define VERDICT_RANGE 1.25        /* the largest load must be at least this times the smallest */
#define VERDICT_CLUSTER_POINTS 20 /* fewer points are not split into clusters */

struct inverse_judgement {
    enum inverse_verdict verdict;
    double least_load, most_load; /* of the points used; NAN if there are none */
    /* Share of the null deviance that the curve explains; NAN if the null deviance is 0. */
    double explained;
    /* Share of the residuals' variance that lies between the two clusters of the best split; NAN if
     * there are too few points. */
    double clustered;
    /* Factor between the errors of the two clusters; NAN if there are too few points. */
    double apart;
};

/* Judges a fit of these points by the rules of docs/error.md. */
void inverse_fit_judge(const struct inverse_fit *fit, const struct inverse_point *points,
                       size_t count, struct inverse_judgement *ret);

/* Returns the probability that a variable of Student's t distribution lies at least as far from 0
 * as `t`, on either side. `freedom` is the number of degrees of freedom, above 0 and not
 * necessarily whole. The result is NAN if an argument is NAN or `freedom` is not above 0. For
 * probabilities above 1e-300, the relative error is below 1e-12 up to 1,000 degrees of freedom, and
 * below 2e-10 up to 1,000,000. */
double student_t_two_sided(double t, double freedom);
