#include "oklab.h"

#include <math.h>
#include <stdlib.h>

static double to_linear(unsigned long byte)
{
    const double value = (double)byte / 255;

    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static uint32_t to_byte(double linear)
{
    const double value = fmin(1, fmax(0, linear));

    return (uint32_t)lround(
        255 * (value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055));
}

struct oklab oklab_of(const char *text)
{
    const unsigned long rgb = strtoul(text + 1, NULL, 16);
    const double red = to_linear(rgb >> 16 & 255), green = to_linear(rgb >> 8 & 255),
                 blue = to_linear(rgb & 255);
    const double l = cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
    const double m = cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
    const double s = cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);

    return (struct oklab){
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    };
}

uint32_t oklab_rgb(struct oklab colour)
{
    const double l = colour.lightness + 0.3963377774 * colour.a + 0.2158037573 * colour.b;
    const double m = colour.lightness - 0.1055613458 * colour.a - 0.0638541728 * colour.b;
    const double s = colour.lightness - 0.0894841775 * colour.a - 1.2914855480 * colour.b;
    const double l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;

    return to_byte(4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3) << 16 |
           to_byte(-1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3) << 8 |
           to_byte(-0.0041960863 * l3 - 0.7034186147 * m3 + 1.7076147010 * s3);
}

struct oklab oklab_mix(const struct oklab *colours, const double *shares, size_t count,
                       struct oklab ground)
{
    struct oklab sum = { 0, 0, 0 };
    double whole = 0, rest;

    for (size_t i = 0; i < count; i++) {
        whole += shares[i];
        sum.lightness += shares[i] * colours[i].lightness;
        sum.a += shares[i] * colours[i].a;
        sum.b += shares[i] * colours[i].b;
    }
    if (whole > 1)
        return (struct oklab){ sum.lightness / whole, sum.a / whole, sum.b / whole };
    rest = 1 - whole;
    return (struct oklab){ sum.lightness + rest * ground.lightness, sum.a + rest * ground.a,
                           sum.b + rest * ground.b };
}
