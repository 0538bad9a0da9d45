/*
 * Decides whether one curve fits all points. Cockcroft's papers judge plots by eye. They know four
 * cases: a good fit, a reasonable fit of several curves close together, separate clusters with a
 * curve each, and points that are too scattered. This file judges by the numbers of docs/error.md.
 */
#include "inverse_fit.h"

#include <math.h>
#include <stdlib.h>

#define SAME 1e-12 /* if the null deviance per point is below this, all errors count as equal */

struct deviation {
    double residual; /* deviance residual: nearly normal for Gamma variables */
    double ratio;    /* error / fitted error */
};

static struct deviation deviation_of(double error, double mu)
{
    double deviance = -2 * (log(error / mu) - (error - mu) / mu);

    return (struct deviation){ .residual = copysign(sqrt(fmax(deviance, 0)), error - mu),
                               .ratio = error / mu };
}

static int compare_deviations(const void *left, const void *right)
{
    const struct deviation *a = left, *b = right;

    return a->residual < b->residual ? -1 : a->residual > b->residual;
}

/* Splits the sorted residuals into two clusters, with as much as possible of the variance between
 * the clusters. Each cluster has at least a tenth of the points, because a few outliers are no
 * cluster. */
static void split(const struct deviation *deviation, size_t count,
                  struct inverse_judgement *judgement)
{
    const size_t smallest = (count + 9) / 10;
    double sum = 0, squares = 0, ratios = 0, low = 0, low_ratios = 0;

    for (size_t i = 0; i < count; i++) {
        sum += deviation[i].residual;
        squares += deviation[i].residual * deviation[i].residual;
        ratios += deviation[i].ratio;
    }
    squares -= sum * sum / (double)count;
    judgement->clustered = 0;
    judgement->apart = 1;
    for (size_t i = 0; i + smallest < count; i++) {
        const double below = (double)(i + 1), above = (double)(count - i - 1);
        double between;

        low += deviation[i].residual;
        low_ratios += deviation[i].ratio;
        between = low * low / below + (sum - low) * (sum - low) / above - sum * sum / (double)count;
        if (i + 1 < smallest || !(squares > 0) || between / squares <= judgement->clustered)
            continue;
        judgement->clustered = between / squares;
        judgement->apart = (ratios - low_ratios) / above / (low_ratios / below);
    }
}

static void find_clusters(const struct inverse_fit *fit, const struct inverse_point *points,
                          size_t count, struct inverse_judgement *judgement)
{
    struct deviation *deviation =
        fit->used >= VERDICT_CLUSTER_POINTS ? calloc(count, sizeof *deviation) : NULL;
    size_t used = 0;

    if (deviation == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        double mu = inverse_fit_at(fit, points[i].cpu);

        if (mu > 0 && isfinite(points[i].error) && points[i].error > 0)
            deviation[used++] = deviation_of(points[i].error, mu);
    }
    qsort(deviation, used, sizeof *deviation, compare_deviations);
    split(deviation, used, judgement);
    free(deviation);
}

static void find_loads(const struct inverse_point *points, size_t count,
                       struct inverse_judgement *judgement)
{
    for (size_t i = 0; i < count; i++) {
        if (!inverse_point_is_usable(&points[i]))
            continue;
        judgement->least_load = fmin(judgement->least_load, points[i].cpu);
        judgement->most_load = fmax(judgement->most_load, points[i].cpu);
    }
}

void inverse_fit_judge(const struct inverse_fit *fit, const struct inverse_point *points,
                       size_t count, struct inverse_judgement *ret)
{
    *ret = (struct inverse_judgement){ .verdict = VERDICT_NOT_FITTED,
                                       .least_load = NAN,
                                       .most_load = NAN,
                                       .explained = NAN,
                                       .clustered = NAN,
                                       .apart = NAN };
    find_loads(points, count, ret);
    if (fit->outcome != INVERSE_FITTED)
        return;
    if (fit->null_deviance > 0)
        ret->explained = 1 - fit->deviance / fit->null_deviance;
    find_clusters(fit, points, count, ret);
    if (ret->most_load < VERDICT_RANGE * ret->least_load)
        ret->verdict = VERDICT_ONE_LOAD;
    else if (fit->used < VERDICT_POINTS)
        ret->verdict = VERDICT_FEW;
    else if (!(fit->b_probability < VERDICT_SIGNIFICANCE) ||
             fit->null_deviance <= SAME * (double)fit->used)
        ret->verdict = VERDICT_NO_RELATION;
    else if (fit->b < 0)
        ret->verdict = VERDICT_RISES;
    else if (ret->clustered >= VERDICT_CLUSTERED && ret->apart >= VERDICT_APART)
        ret->verdict = VERDICT_CLUSTERS;
    else if (!(ret->explained >= VERDICT_EXPLAINED))
        ret->verdict = VERDICT_SCATTERED;
    else
        ret->verdict = VERDICT_FITS;
}
