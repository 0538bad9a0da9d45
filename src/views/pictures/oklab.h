/*
 * Mixes colours in OKLab, a colour space in which equal distances look equal (Björn Ottosson, "A
 * perceptual color space for image processing", 2020).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct oklab {
    double lightness, a, b;
};

/* Converts "#rrggbb" in sRGB to OKLab. */
struct oklab oklab_of(const char *text);

/* Converts a colour to 0xrrggbb. Colours outside of sRGB are clipped. */
uint32_t oklab_rgb(struct oklab colour);

/* Mixes colours[count] by shares[count]. If the shares add up to less than 1, `ground` gets the
 * rest. If they add up to more than 1, they are scaled down to 1. */
struct oklab oklab_mix(const struct oklab *colours, const double *shares, size_t count,
                       struct oklab ground);
