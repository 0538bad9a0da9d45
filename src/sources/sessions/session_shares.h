/* Divides times in proportion to others. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns ns * part / whole, rounded down; 0 if the whole is 0. */
static inline uint64_t share_of(uint64_t ns, uint64_t part, uint64_t whole)
{
    if (part == whole)
        return ns;
    return whole > 0 ? (uint64_t)((double)ns * (double)part / (double)whole) : 0;
}

/* The parts that were divided so far. All zero before the first part. */
struct shares {
    uint64_t parts, given;
};

/* Returns the share of the next part. The shares of all parts, which are together `whole`, add up
 * to `ns` exactly: rounding leaves nothing over. */
static inline uint64_t share_next(struct shares *shares, uint64_t ns, uint64_t part, uint64_t whole)
{
    uint64_t upto, ret;

    shares->parts += part;
    upto = share_of(ns, shares->parts, whole);
    ret = upto > shares->given ? upto - shares->given : 0;
    shares->given += ret;
    return ret;
}
