/*
 * Colours mixed in OKLab, where equal steps look equal (Björn Ottosson, "A perceptual color space
 * for image processing", 2020). Pure arithmetic.
 */
#ifndef CAMP_VIEWS_PICTURES_OKLAB_H
#define CAMP_VIEWS_PICTURES_OKLAB_H

#include <stddef.h>
#include <stdint.h>

struct oklab {
    double lightness, a, b;
};

/* Of "#rrggbb", sRGB. */
struct oklab oklab_of(const char *text);

/* 0xrrggbb; what no screen shows is cut off. */
uint32_t oklab_rgb(struct oklab colour);

/* The colours [count], each by its share; the rest to 1 is of the ground. Shares that add up to
 * more than 1 are taken by their proportions. */
struct oklab oklab_mix(const struct oklab *colours, const double *shares, size_t count,
                       struct oklab ground);

#endif
