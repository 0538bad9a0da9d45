/* Synthetic series for tests of differences. The generator has a fixed seed, so all runs have the
 * same numbers. */
#pragma once

#include "ledger/comparison/difference.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define MOST 500

static uint64_t state = 1;

/* xorshift64 (Marsaglia 2003) */
static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* A series of mean `mean` and standard deviation 1, each value of which has the correlation `alike`
 * with the one before (AR(1)). */
static void fill_alike(double *ret, size_t count, double mean, double alike)
{
    double value = normal();

    for (size_t i = 0; i < count; i++) {
        value = alike * value + sqrt(1 - alike * alike) * normal();
        ret[i] = mean + value;
    }
}

static void fill_ones(double *ret, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ret[i] = 1;
}

static struct ratio ratio_of(const double *parts, const double *wholes, size_t count, uint64_t seed)
{
    const struct ratio_series series = { parts, wholes, count };
    double scratch[BOOTSTRAP_SCRATCH(MOST)];
    struct ratio ret;

    ratio_of_series(&series, seed, scratch, &ret);
    return ret;
}
