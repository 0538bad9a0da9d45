/*
 * Iteratively reweighted least squares for 1 / (a + b x), Gamma family (McCullagh and Nelder,
 * "Generalized Linear Models", 1989, ch. 2 and 8). With eta = a + b x the fitted error is
 * mu = 1 / eta, its variance grows with mu^2, and each step solves the least squares problem
 *
 *     weight mu:  eta - (y - mu) eta^2  ~  a + b x
 *
 * by GSL's Householder QR. What R's glm.fit does beyond that is done here too, in its order, since
 * its answers are what ours are held against.
 */
#include "inverse_fit.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>

#define CONVERGED 1e-8  /* glm.control()'s epsilon */
#define RANK_LOST 1e-11 /* of a column's length, after the other was taken out of it */
#define COEFFICIENTS 2

struct coefficients {
    double a, b;
};

struct work {
    size_t count;
    struct inverse_point *points; /* [count], errors above 0 */
    double *eta;                  /* [count] a + b x of each point */
    double *weights;              /* [count] of the last step: mu */
    gsl_matrix *qr;               /* [count x 2] */
    gsl_vector *tau, *target, *solution, *residual;
};

static double eta_at(const struct coefficients *at, double cpu)
{
    return at->a + at->b * cpu;
}

/* ------------------------------------------------------------------------------ Memory -- */

static bool is_usable(const struct inverse_point *point)
{
    return isfinite(point->cpu) && isfinite(point->error) && point->error > 0;
}

static void release(struct work *work)
{
    free(work->points);
    free(work->eta);
    free(work->weights);
    gsl_matrix_free(work->qr);
    gsl_vector_free(work->tau);
    gsl_vector_free(work->target);
    gsl_vector_free(work->solution);
    gsl_vector_free(work->residual);
}

static bool reserve(struct work *work, const struct inverse_point *points, size_t count)
{
    work->points = calloc(count, sizeof *work->points);
    work->eta = calloc(count, sizeof *work->eta);
    work->weights = calloc(count, sizeof *work->weights);
    if (work->points == NULL || work->eta == NULL || work->weights == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (is_usable(&points[i]))
            work->points[work->count++] = points[i];
    }
    work->qr = gsl_matrix_alloc(work->count, COEFFICIENTS);
    work->tau = gsl_vector_alloc(COEFFICIENTS);
    work->target = gsl_vector_alloc(work->count);
    work->solution = gsl_vector_alloc(COEFFICIENTS);
    work->residual = gsl_vector_alloc(work->count);
    return work->qr != NULL && work->tau != NULL && work->target != NULL &&
           work->solution != NULL && work->residual != NULL;
}

/* --------------------------------------------------------------------------------- Fit -- */

/* Of one point, as a difference of log likelihoods from a perfect fit. */
static double deviance_of(double error, double mu)
{
    return -2 * (log(error / mu) - (error - mu) / mu);
}

/* NAN: at some point the fitted error is not above 0. */
static double deviance_at(const struct work *work, const struct coefficients *at)
{
    double sum = 0;

    for (size_t i = 0; i < work->count; i++) {
        double eta = eta_at(at, work->points[i].cpu);

        if (!(eta > 0))
            return NAN;
        sum += deviance_of(work->points[i].error, 1 / eta);
    }
    return sum;
}

/* One weighted least squares step from work->eta. False: the loads are all the same. */
static bool step(struct work *work, struct coefficients *ret)
{
    double taken;

    for (size_t i = 0; i < work->count; i++) {
        const double eta = work->eta[i], mu = 1 / eta;

        work->weights[i] = mu;
        gsl_matrix_set(work->qr, i, 0, mu);
        gsl_matrix_set(work->qr, i, 1, mu * work->points[i].cpu);
        gsl_vector_set(work->target, i, mu * (eta - (work->points[i].error - mu) * eta * eta));
    }
    gsl_linalg_QR_decomp(work->qr, work->tau);
    taken = fabs(gsl_matrix_get(work->qr, 1, 1));
    if (taken <= RANK_LOST * hypot(taken, gsl_matrix_get(work->qr, 0, 1)))
        return false;
    gsl_linalg_QR_lssolve(work->qr, work->tau, work->target, work->solution, work->residual);
    ret->a = gsl_vector_get(work->solution, 0);
    ret->b = gsl_vector_get(work->solution, 1);
    return true;
}

/* Halves the step until all fitted errors are above 0, and returns the deviance there: NAN when
 * that does not help. */
static double shorten(const struct work *work, const struct coefficients *before,
                      struct coefficients *now)
{
    double deviance = NAN;

    for (int i = 0; i < INVERSE_ITERATIONS && !isfinite(deviance); i++) {
        now->a = (now->a + before->a) / 2;
        now->b = (now->b + before->b) / 2;
        deviance = deviance_at(work, now);
    }
    return deviance;
}

static void set_eta(struct work *work, const struct coefficients *at)
{
    for (size_t i = 0; i < work->count; i++)
        work->eta[i] = eta_at(at, work->points[i].cpu);
}

static double mean_error(const struct work *work)
{
    double sum = 0;

    for (size_t i = 0; i < work->count; i++)
        sum += work->points[i].error;
    return sum / (double)work->count;
}

/* From the points themselves (each its own mean), or, when the first step from there is no good,
 * from a curve that is flat. */
static enum inverse_outcome iterate(struct work *work, struct inverse_fit *fit,
                                    struct coefficients *ret)
{
    struct coefficients before = { 1 / mean_error(work), 0 };
    double deviance_before = 0;

    for (size_t i = 0; i < work->count; i++)
        work->eta[i] = 1 / work->points[i].error;
    if (!step(work, ret))
        return INVERSE_ONE_LOAD;
    if (!isfinite(deviance_at(work, ret))) {
        set_eta(work, &before);
        deviance_before = deviance_at(work, &before);
    }
    for (fit->iterations = 1; fit->iterations <= INVERSE_ITERATIONS; fit->iterations++) {
        if (!step(work, ret))
            return INVERSE_ONE_LOAD;
        fit->deviance = deviance_at(work, ret);
        if (!isfinite(fit->deviance)) {
            fit->halved = true;
            fit->deviance = shorten(work, &before, ret);
        }
        if (!isfinite(fit->deviance))
            return INVERSE_NO_STEP;
        set_eta(work, ret);
        if (fabs(fit->deviance - deviance_before) / (fabs(fit->deviance) + 0.1) < CONVERGED)
            return INVERSE_FITTED;
        deviance_before = fit->deviance;
        before = *ret;
    }
    return INVERSE_NO_END;
}

/* ---------------------------------------------------------------------- How sure it is -- */

/* summary.glm: Pearson's residuals by the weights of the last step. */
static double dispersion_of(const struct work *work)
{
    double sum = 0;

    for (size_t i = 0; i < work->count; i++) {
        const double eta = work->eta[i];
        const double residual = (work->points[i].error - 1 / eta) * eta * eta;

        sum += work->weights[i] * work->weights[i] * residual * residual;
    }
    return sum / (double)(work->count - COEFFICIENTS);
}

/* Gamma()$aic: the shape is estimated as count / deviance; it counts as a parameter. */
static double aic_of(const struct work *work, double deviance)
{
    const double scale = deviance / (double)work->count, shape = 1 / scale;
    double sum = 0;

    for (size_t i = 0; i < work->count; i++) {
        const double error = work->points[i].error, mu = 1 / work->eta[i];

        sum += (shape - 1) * log(error) - error / (mu * scale) - shape * log(mu * scale) -
               lgamma(shape);
    }
    return -2 * sum + 2 * (COEFFICIENTS + 1);
}

static void describe(const struct work *work, struct inverse_fit *fit)
{
    const double r00 = gsl_matrix_get(work->qr, 0, 0), r01 = gsl_matrix_get(work->qr, 0, 1),
                 r11 = gsl_matrix_get(work->qr, 1, 1);
    const double mean = mean_error(work);

    for (size_t i = 0; i < work->count; i++)
        fit->null_deviance += deviance_of(work->points[i].error, mean);
    fit->dispersion = dispersion_of(work);
    fit->aic = aic_of(work, fit->deviance);
    /* The diagonal of the inverse of R'R. */
    fit->a_error = sqrt(fit->dispersion * (1 / (r00 * r00) + pow(r01 / (r00 * r11), 2)));
    fit->b_error = sqrt(fit->dispersion / (r11 * r11));
    fit->b_probability =
        2 * gsl_cdf_tdist_Q(fabs(fit->b / fit->b_error), (double)(work->count - COEFFICIENTS));
}

static enum inverse_outcome fit_points(struct work *work, struct inverse_fit *fit)
{
    struct coefficients found;
    enum inverse_outcome outcome = iterate(work, fit, &found);

    if (outcome != INVERSE_FITTED)
        return outcome;
    fit->a = found.a;
    fit->b = found.b;
    describe(work, fit);
    return INVERSE_FITTED;
}

void inverse_fit(const struct inverse_point *points, size_t count, struct inverse_fit *ret)
{
    gsl_error_handler_t *handler = gsl_set_error_handler_off(); /* it would abort */
    struct work work = { 0 };
    struct inverse_fit fit = { .outcome = INVERSE_TOO_FEW };

    for (size_t i = 0; i < count; i++)
        fit.used += is_usable(&points[i]);
    fit.left_out = count - fit.used;
    if (fit.used > COEFFICIENTS)
        fit.outcome = reserve(&work, points, count) ? fit_points(&work, &fit) : INVERSE_NO_MEMORY;
    release(&work);
    gsl_set_error_handler(handler);
    *ret = fit;
}

double inverse_fit_at(const struct inverse_fit *fit, double cpu)
{
    double eta = fit->a + fit->b * cpu;

    return fit->outcome == INVERSE_FITTED && eta > 0 ? 1 / eta : NAN;
}
