/*
 * Colours mixed in OKLab, where equal steps look equal (Björn Ottosson, "A perceptual color space
 * for image processing", 2020). Pure arithmetic.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct oklab {
    double lightness, a, b;
};

/* Converts "#rrggbb" in sRGB to OKLab. */
struct oklab oklab_of(const char *text);

/* Converts a colour to 0xrrggbb; colours that sRGB does not have are clipped. */
uint32_t oklab_rgb(struct oklab colour);

/* Mixes colours[count] by their shares; `ground` has the rest up to 1. Shares above 1 in total are
 * normalised. */
struct oklab oklab_mix(const struct oklab *colours, const double *shares, size_t count,
                       struct oklab ground);
