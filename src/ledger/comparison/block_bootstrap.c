#include "block_bootstrap.h"

#include <math.h>

#define MOST_BLOCKS 10
#define FEWEST_BLOCKS 5
#define ALIKE_MOST 0.95 /* a larger estimated correlation of neighbours is reduced to this one */

/* SplitMix64 (Steele, Lea and Flood, 2014): the same numbers on every machine. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

/* Returns a number below `limit`, which is at most 2^32: the upper half of a product. */
static size_t random_below(uint64_t *state, size_t limit)
{
    return (size_t)((next_random(state) >> 32) * (uint64_t)limit >> 32);
}

static double sum_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static double product_at(const double *values, size_t count, size_t lag)
{
    double sum = 0;

    for (size_t i = lag; i < count; i++)
        sum += values[i] * values[i - lag];
    return sum;
}

/* Returns for how many intervals the series stays alike: 1 plus twice the sum of its correlations,
 * up to the lag that is five times this number (Sokal 1989). `rests` is the series without its
 * mean. A mean that is computed from the series itself makes each correlation too small by about
 * 1 / count, which is added again. */
static double alike_for(const double *rests, size_t count)
{
    const double whole = product_at(rests, count, 0);
    double ret = 1;

    if (!(whole > 0))
        return 1;
    for (size_t lag = 1; lag < count / 2 && (double)lag <= 5 * ret; lag++)
        ret += 2 * (product_at(rests, count, lag) / whole + 1.0 / (double)count);
    return fmax(1, ret);
}

/* An AR(1) series, whose correlations fall geometrically with the lag. */
struct neighbours {
    double error;   /* the standard error of its sum */
    double freedom; /* degrees of freedom of `error` */
};

/* Describes a series whose neighbours are as correlated as those of `rests`. The estimate of that
 * correlation is too small by (1 + 3 times it) / count (Kendall 1954), which is corrected. It is
 * also uncertain in a short series, and too small a correlation makes the error far too small. So
 * one standard error of the estimate is added (Bartlett 1946). The series is then worth
 * count * (1 - alike) / (1 + alike) independent values. Half of them are counted, because the same
 * values tell the variance and the correlation. */
static void measure_neighbours(const double *rests, size_t count, struct neighbours *ret)
{
    const double n = (double)count, squares = product_at(rests, count, 0);
    double alike;

    *ret = (struct neighbours){ .error = 0, .freedom = n - 1 };
    if (!(squares > 0))
        return;
    alike = (product_at(rests, count, 1) / squares + 1 / n) / (1 - 3 / n);
    alike = fmin(ALIKE_MOST, fmax(0, alike));
    alike = fmin(ALIKE_MOST, alike + sqrt((1 - alike * alike) / n));
    ret->error = sqrt(squares * (1 + alike) / (1 - alike));
    ret->freedom = fmax(1, n * (1 - alike) / (1 + alike) / 2 - 1);
}

static size_t block_of(const double *rests, size_t count)
{
    const double least = (double)count / MOST_BLOCKS, most = (double)count / FEWEST_BLOCKS;

    return (size_t)fmax(1, floor(fmin(most, fmax(least, 2 * alike_for(rests, count)))));
}

/* Sets ret[count + 1] to the sums of the first 0, 1, ... values. */
static void add_up(const double *values, size_t count, double *ret)
{
    ret[0] = 0;
    for (size_t i = 0; i < count; i++)
        ret[i + 1] = ret[i] + values[i];
}

/* Returns the sum of `length` values from `at` on, in a circle, from the sums of add_up(). */
static double sum_between(const double *sums, size_t count, size_t at, size_t length)
{
    return at + length <= count ? sums[at + length] - sums[at]
                                : sums[count] - sums[at] + sums[at + length - count];
}

/* Draws one series of blocks, in a circle, and returns its ratio. `parts` and `wholes` are sums of
 * add_up(). */
static double draw(const double *parts, const double *wholes, size_t count, size_t block,
                   uint64_t *random)
{
    double part = 0, whole = 0;
    size_t left = count;

    while (left > 0) {
        const size_t length = left < block ? left : block, at = random_below(random, count);

        part += sum_between(parts, count, at, length);
        whole += sum_between(wholes, count, at, length);
        left -= length;
    }
    return whole > 0 ? part / whole : NAN;
}

/* Returns the standard deviation of the ratios of many draws; INFINITY if more than a tenth of the
 * draws have none. */
static double error_of_draws(const struct ratio_series *series, size_t block, double value,
                             uint64_t seed, double *scratch)
{
    double *parts = scratch, *wholes = scratch + series->count + 1, squares = 0, sum = 0;
    size_t known = 0;

    add_up(series->parts, series->count, parts);
    add_up(series->wholes, series->count, wholes);
    for (size_t i = 0; i < BOOTSTRAP_DRAWS; i++) {
        const double rest = draw(parts, wholes, series->count, block, &seed) - value;

        if (isnan(rest))
            continue;
        sum += rest;
        squares += rest * rest;
        known++;
    }
    if (known < BOOTSTRAP_DRAWS - BOOTSTRAP_DRAWS / 10)
        return INFINITY;
    return sqrt(fmax(0, squares - sum * sum / (double)known) / (double)(known - 1));
}

/* Returns of how many intervals of equal length the wholes are worth (Kish 1965): an entity that
 * was there in three of 100 intervals has a series of three. */
static double present_in(const double *wholes, size_t count)
{
    const double sum = sum_of(wholes, count);

    return sum * sum / product_at(wholes, count, 0);
}

void ratio_of_series(const struct ratio_series *series, uint64_t seed, double *scratch,
                     struct ratio *ret)
{
    const double whole = sum_of(series->wholes, series->count);
    struct neighbours neighbours;
    double blocks, present;

    *ret = (struct ratio){ .value = NAN, .error = INFINITY, .freedom = 1 };
    if (!(whole > 0))
        return;
    ret->value = sum_of(series->parts, series->count) / whole;
    present = present_in(series->wholes, series->count);
    if (series->count < BOOTSTRAP_FEWEST || present < FEWEST_BLOCKS)
        return;
    for (size_t i = 0; i < series->count; i++)
        scratch[i] = series->parts[i] - ret->value * series->wholes[i];
    ret->block = block_of(scratch, series->count);
    blocks = (double)series->count / (double)ret->block;
    measure_neighbours(scratch, series->count, &neighbours);
    ret->freedom = fmin(fmin(blocks, present) - 1, neighbours.freedom);
    /* The variance of draws is too small by the factor (blocks - 1) / blocks, like any variance
     * around a mean of the same values. */
    ret->error =
        error_of_draws(series, ret->block, ret->value, seed, scratch) * sqrt(blocks / (blocks - 1));
    ret->error = fmax(ret->error, neighbours.error / whole);
    if (isinf(ret->error))
        ret->block = 0;
}
