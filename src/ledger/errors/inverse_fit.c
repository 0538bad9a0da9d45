/*
 * Fits 1 / (a + b x) by iteratively reweighted least squares, for the Gamma family (McCullagh and
 * Nelder, "Generalized Linear Models", 1989, ch. 2 and 8). x is the load and y the error of a
 * point. With eta = a + b x, the fitted error is mu = 1 / eta.
 *
 * Each step fits a + b x to the targets eta (2 - y eta), with the weights mu^2. Here eta and mu are
 * those of the previous step. The weighted means of the loads and of the targets are subtracted
 * first. Then a and b have separate equations (Draper and Smith, "Applied Regression Analysis",
 * 1998, ch. 1), and no digits are lost if the loads are far from 0. Everything else follows glm.fit
 * in R, in the same order, because the tests compare the results with those of R.
 *
 * Some processors, such as arm64, compute x y + z with a single rounding. eta_at() and step() are
 * written so that no decision depends on the last bit of such a result.
 */
#include "inverse_fit.h"

#include <math.h>
#include <stdlib.h>

#define CONVERGED 1e-8 /* epsilon of glm.control() in R */
/* All loads count as equal if their spread is at most RANK_LOST^2 times the sum of their
 * squares. */
#define RANK_LOST 1e-11
#define COEFFICIENTS 2

struct coefficients {
    double a, b;
};

struct work {
    size_t count;
    struct inverse_point *points; /* [count] points with an error above 0 */
    double *eta;                  /* [count] a + b x of each point */
    double *weights;              /* [count] mu^2 of each point in the last step */
    double weight;                /* sum of the weights */
    double mean;                  /* weighted mean of the loads */
    double spread; /* weighted sum of the squared distances of the loads from their mean */
};

/* Returns a + b x, computed as b (x - pole) with the pole -a / b. The result has the right sign,
 * and is exactly 0 at the pole; rounding could give a + b x the wrong sign. If the pole is too
 * large for a double, b x is negligible compared with a. */
static double eta_at(const struct coefficients *at, double cpu)
{
    const double pole = -at->a / at->b;

    return isfinite(pole) ? at->b * (cpu - pole) : at->a;
}

bool inverse_point_is_usable(const struct inverse_point *point)
{
    return isfinite(point->cpu) && isfinite(point->error) && point->error > 0;
}

static void release(struct work *work)
{
    free(work->points);
    free(work->eta);
    free(work->weights);
}

static bool reserve(struct work *work, const struct inverse_point *points, size_t count)
{
    work->points = calloc(count, sizeof *work->points);
    work->eta = calloc(count, sizeof *work->eta);
    work->weights = calloc(count, sizeof *work->weights);
    if (work->points == NULL || work->eta == NULL || work->weights == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (inverse_point_is_usable(&points[i]))
            work->points[work->count++] = points[i];
    }
    return true;
}

/* Returns the deviance of one point: twice the difference between the log likelihoods of a perfect
 * fit and of this fit. */
static double deviance_of(double error, double mu)
{
    return -2 * (log(error / mu) - (error - mu) / mu);
}

/* Returns the deviance of all points, or NAN if a fitted error is not above 0. */
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

/* Returns the value to which the next step fits a + b x at point i. */
static double target_of(const struct work *work, size_t i)
{
    return work->eta[i] * (2 - work->points[i].error * work->eta[i]);
}

/* Makes one step of weighted least squares from work->eta. Returns false if all loads are equal.
 * The first load is subtracted before the mean is computed, so that equal loads differ from their
 * mean by exactly 0. */
static bool step(struct work *work, struct coefficients *ret)
{
    const double first = work->points[0].cpu;
    double load = 0, target = 0, squares = 0, products = 0;

    work->weight = work->spread = 0;
    for (size_t i = 0; i < work->count; i++) {
        const double weight = 1 / (work->eta[i] * work->eta[i]);

        work->weights[i] = weight;
        work->weight += weight;
        load += weight * (work->points[i].cpu - first);
        target += weight * target_of(work, i);
    }
    load /= work->weight;
    target /= work->weight;
    for (size_t i = 0; i < work->count; i++) {
        const double cpu = work->points[i].cpu, from_mean = cpu - first - load;

        squares += work->weights[i] * cpu * cpu;
        work->spread += work->weights[i] * from_mean * from_mean;
        products += work->weights[i] * from_mean * (target_of(work, i) - target);
    }
    if (!(work->spread > RANK_LOST * RANK_LOST * squares))
        return false;
    work->mean = first + load;
    ret->b = products / work->spread;
    ret->a = target - ret->b * work->mean;
    return true;
}

/* Moves `now` halfway back to `before`, repeatedly, until all fitted errors are above 0. Returns
 * the deviance at the new `now`, or NAN if no step is short enough. */
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

/* The first step starts from fitted errors equal to the errors of the points. If this step leads to
 * a fitted error that is not above 0, the iteration starts from a flat curve instead. */
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

/* Computes the dispersion like summary.glm() in R, from Pearson's residuals and the weights of the
 * last step. */
static double dispersion_of(const struct work *work)
{
    double sum = 0;

    for (size_t i = 0; i < work->count; i++) {
        const double eta = work->eta[i];
        const double residual = (work->points[i].error * eta - 1) * eta;

        sum += work->weights[i] * residual * residual;
    }
    return sum / (double)(work->count - COEFFICIENTS);
}

/* Computes the AIC like Gamma()$aic in R: the shape is count / deviance, and counts as a third
 * parameter. */
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
    const double mean = mean_error(work);

    for (size_t i = 0; i < work->count; i++)
        fit->null_deviance += deviance_of(work->points[i].error, mean);
    fit->dispersion = dispersion_of(work);
    fit->aic = aic_of(work, fit->deviance);
    /* The variances are dispersion x diagonal of the inverse matrix of the normal equations. */
    fit->a_error =
        sqrt(fit->dispersion * (1 / work->weight + work->mean * work->mean / work->spread));
    fit->b_error = sqrt(fit->dispersion / work->spread);
    /* If all errors are equal, b and b_error can both be 0, and 0 / 0 would be NAN. */
    fit->b_probability = fit->b == 0 ? 1
                                     : student_t_two_sided(fit->b / fit->b_error,
                                                           (double)(work->count - COEFFICIENTS));
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
    struct work work = { 0 };
    struct inverse_fit fit = { .outcome = INVERSE_TOO_FEW };

    for (size_t i = 0; i < count; i++)
        fit.used += inverse_point_is_usable(&points[i]);
    fit.left_out = count - fit.used;
    if (fit.used > COEFFICIENTS)
        fit.outcome = reserve(&work, points, count) ? fit_points(&work, &fit) : INVERSE_NO_MEMORY;
    release(&work);
    *ret = fit;
}

double inverse_fit_at(const struct inverse_fit *fit, double cpu)
{
    const double eta = eta_at(&(struct coefficients){ fit->a, fit->b }, cpu);

    return fit->outcome == INVERSE_FITTED && eta > 0 ? 1 / eta : NAN;
}
