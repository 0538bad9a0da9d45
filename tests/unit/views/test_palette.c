/* Colours are visible on their paper, and any two of them differ for people with each kind of
 * colour blindness. */
#include "views/pictures/oklab.h"
#include "views/pictures/palette.h"
#include "views/pictures/svg.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LIGHT_PAPER "#ffffff"
#define DARK_PAPER "#15181c"
#define TEXT_CONTRAST 4.5 /* WCAG 2.1, 1.4.3 */
#define AREA_CONTRAST 3.0 /* WCAG 2.1, 1.4.11 */
/* Smallest distances in OKLab, where black and white are 1 apart, and a difference that is just
 * visible is about 0.02. */
#define CLASSES_APART 0.065
#define GROUPS_APART 0.1
#define MARKS_APART 0.15

#define MISSING_COLOUR "#d1242f" /* svg.c */
#define PIN_COLOUR "#7a35e0"     /* web/src/style.css */

enum sight { NORMAL, PROTANOPIA, DEUTERANOPIA, TRITANOPIA, SIGHTS };

/*
 * What is seen of a colour in linear sRGB. Protanopia and deuteranopia are simulated with one plane
 * (Viénot, Brettel and Mollon, "Digital video colourmaps for checking the legibility of displays by
 * dichromats", 1999), tritanopia with two half planes (Brettel, Viénot and Mollon, "Computerized
 * simulation of color appearance for dichromats", 1997). The numbers are those of libDaltonLens.
 */
static const double protanopia[] = {
    0.11238, 0.88762, 0, 0.11238, 0.88762, 0, 0.00401, -0.00401, 1
};
static const double deuteranopia[] = { 0.29275, 0.70725,  0,       0.29275, 0.70725,
                                       0,       -0.02234, 0.02234, 1 };
static const double tritanopia[2][9] = {
    { 1.01277, 0.13548, -0.14826, -0.01243, 0.86812, 0.14431, 0.07589, 0.80500, 0.11911 },
    { 0.93678, 0.18979, -0.12657, 0.06154, 0.81526, 0.12320, -0.37562, 1.12767, 0.24796 },
};
static const double tritanopia_side[] = { 0.03901, -0.02788, -0.01113 };

static double product(const double *row, const double *rgb)
{
    return row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2];
}

static void to_linear(const char *text, double ret[3])
{
    const unsigned long rgb = strtoul(text + 1, NULL, 16);

    for (int i = 0; i < 3; i++) {
        const double value = (double)(rgb >> (16 - 8 * i) & 255) / 255;

        ret[i] = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
    }
}

static unsigned to_byte(double linear)
{
    const double value = fmin(1, fmax(0, linear));

    return (unsigned)lround(
        255 * (value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055));
}

static struct oklab seen(const char *colour, enum sight sight)
{
    double rgb[3];
    const double *matrix;
    char text[8];

    if (sight == NORMAL)
        return oklab_of(colour);
    to_linear(colour, rgb);
    matrix = sight == PROTANOPIA                  ? protanopia
             : sight == DEUTERANOPIA              ? deuteranopia
             : product(tritanopia_side, rgb) >= 0 ? tritanopia[0]
                                                  : tritanopia[1];
    snprintf(text, sizeof text, "#%02x%02x%02x", to_byte(product(matrix, rgb)),
             to_byte(product(matrix + 3, rgb)), to_byte(product(matrix + 6, rgb)));
    return oklab_of(text);
}

static double distance(const char *one, const char *other, enum sight sight)
{
    const struct oklab a = seen(one, sight), b = seen(other, sight);

    return sqrt(pow(a.lightness - b.lightness, 2) + pow(a.a - b.a, 2) + pow(a.b - b.b, 2));
}

static double contrast(const char *one, const char *other)
{
    static const double weights[] = { 0.2126, 0.7152, 0.0722 };
    double a[3], b[3];

    to_linear(one, a);
    to_linear(other, b);
    return (fmax(product(weights, a), product(weights, b)) + 0.05) /
           (fmin(product(weights, a), product(weights, b)) + 0.05);
}

static void assert_apart(const char *const *colours, size_t count, double least)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            for (int sight = NORMAL; sight < SIGHTS; sight++) {
                const double found = distance(colours[i], colours[j], (enum sight)sight);

                if (found < least)
                    fail_msg("%s and %s are %.3f apart, sight %d", colours[i], colours[j], found,
                             sight);
            }
        }
    }
}

static void assert_contrast(const char *colour, const char *paper, double least)
{
    if (contrast(colour, paper) < least)
        fail_msg("%s on %s has a contrast of %.2f", colour, paper, contrast(colour, paper));
}

/* The contrasts of black, white and grey are those of the definition. Grey looks the same to
 * everybody, and pure red and a dark green look alike without the cones for green. */
static void the_measures_are_right(void **state)
{
    (void)state;
    assert_true(fabs(contrast("#000000", "#ffffff") - 21) < 1e-9);
    assert_true(fabs(contrast("#777777", "#ffffff") - 4.48) < 0.005);
    for (int sight = NORMAL; sight < SIGHTS; sight++) {
        assert_true(fabs(distance("#000000", "#ffffff", (enum sight)sight) - 1) < 1e-3);
        assert_true(fabs(seen("#808080", (enum sight)sight).lightness -
                         oklab_of("#808080").lightness) < 5e-3);
    }
    assert_true(distance("#c00000", "#6c6c00", NORMAL) > 0.15);
    assert_true(distance("#c00000", "#6c6c00", DEUTERANOPIA) < 0.05);
}

static void two_classes_never_look_alike(void **state)
{
    (void)state;
    assert_apart(palette_classes, CLASS_COUNT, CLASSES_APART);
    assert_apart(palette_classes_dark, CLASS_COUNT, CLASSES_APART);
}

/* Idle time is pale on purpose; its edge is not. */
static void each_class_stands_out_from_the_paper(void **state)
{
    (void)state;
    for (int class = 0; class < CLASS_COUNT; class ++) {
        if (class == CLASS_IDLE)
            continue;
        assert_contrast(palette_classes[class], LIGHT_PAPER, AREA_CONTRAST);
        assert_contrast(palette_classes_dark[class], DARK_PAPER, AREA_CONTRAST);
    }
    assert_contrast(PALETTE_IDLE_EDGE, LIGHT_PAPER, AREA_CONTRAST);
    assert_true(contrast(palette_classes[CLASS_IDLE], LIGHT_PAPER) > 1.2);
}

static void groups_differ_from_each_other_and_from_marks(void **state)
{
    const size_t count = sizeof palette_groups / sizeof palette_groups[0];

    (void)state;
    assert_int_equal(count, 6);
    assert_apart(palette_groups, count, GROUPS_APART);
    for (size_t i = 0; i < count; i++) {
        assert_contrast(palette_groups[i], LIGHT_PAPER, AREA_CONTRAST);
        assert_true(distance(palette_groups[i], MISSING_COLOUR, NORMAL) > MARKS_APART);
        assert_true(distance(palette_groups[i], PIN_COLOUR, NORMAL) > MARKS_APART);
    }
}

/* The area of the others is a neighbour of any group. It has no contrast of its own: it is between
 * groups or at the edge of a picture of areas. */
static void groups_differ_on_dark_paper_and_from_the_others(void **state)
{
    const size_t count = sizeof palette_groups / sizeof palette_groups[0];
    const char *light[7], *dark[7];

    (void)state;
    assert_int_equal(sizeof palette_groups_dark / sizeof palette_groups_dark[0], count);
    memcpy(light, palette_groups, sizeof palette_groups);
    memcpy(dark, palette_groups_dark, sizeof palette_groups_dark);
    light[count] = PALETTE_OTHERS;
    dark[count] = PALETTE_OTHERS_DARK;
    assert_apart(light, count + 1, GROUPS_APART);
    assert_apart(dark, count + 1, GROUPS_APART);
    for (size_t i = 0; i < count; i++)
        assert_contrast(palette_groups_dark[i], DARK_PAPER, AREA_CONTRAST);
}

/* In the style sheet of pictures, only texts have a fill, apart from "none". */
static void the_texts_of_pictures_are_readable(void **state)
{
    char *svg = NULL, colour[8];
    size_t length, count = 0;
    FILE *stream = open_memstream(&svg, &length);

    (void)state;
    assert_non_null(stream);
    svg_start(stream, 10, 10, "", "");
    svg_end(stream);
    assert_int_equal(fclose(stream), 0);
    for (const char *at = svg; (at = strstr(at, "fill:#")) != NULL && at < strstr(svg, "</style>");
         at++, count++) {
        snprintf(colour, sizeof colour, "%s", at + strlen("fill:"));
        assert_contrast(colour, LIGHT_PAPER, TEXT_CONTRAST);
    }
    assert_true(count >= 3);
    free(svg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_measures_are_right),
        cmocka_unit_test(two_classes_never_look_alike),
        cmocka_unit_test(each_class_stands_out_from_the_paper),
        cmocka_unit_test(groups_differ_from_each_other_and_from_marks),
        cmocka_unit_test(groups_differ_on_dark_paper_and_from_the_others),
        cmocka_unit_test(the_texts_of_pictures_are_readable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
