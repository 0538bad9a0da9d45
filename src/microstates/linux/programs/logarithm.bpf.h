/* The buckets of distributions by powers of two. */
#pragma once

#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* Returns the binary logarithm of a number, rounded down, or 0 for 0. */
static __always_inline uint32_t logarithm(uint64_t number)
{
    uint32_t ret = 0;

    for (uint32_t half = 32; half != 0; half >>= 1) {
        if (number >> half != 0) {
            ret += half;
            number >>= half;
        }
    }
    return ret;
}
