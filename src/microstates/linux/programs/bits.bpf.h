/* Sets of small numbers in one word. */
#pragma once

#include "kernel.h"

#include <stdint.h>

/* Returns the number of the lowest bit of a word that is not 0. (BPF has no such instruction.) */
static __always_inline uint32_t lowest_bit(uint64_t word)
{
    uint32_t bit = 0;

    if ((word & 0xffffffff) == 0) {
        bit = 32;
        word >>= 32;
    }
    for (uint32_t half = 16; half != 0; half >>= 1) {
        if ((word & ((UINT64_C(1) << half) - 1)) == 0) {
            bit += half;
            word >>= half;
        }
    }
    return bit;
}
