/* Helpers of tests that draw points as a triangle of characters. */
#pragma once

#include "views/terminal/barry.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#define POINTS_MAXIMUM 2000
#define HEIGHT 10 /* lines of the triangle in a picture of 40 x 13 */
#define LEFT 10   /* column of the triangle's left corner */
#define MIDDLE (LEFT + HEIGHT)

static const char *const names[] = { "CPU", "idle", "waiting" };
static struct barry_point points[POINTS_MAXIMUM];

static struct barry_point point(double cpu, double idle, double waiting, const char *name)
{
    const struct barry_point ret = { { .shares = { cpu, idle, waiting } }, name };

    return ret;
}

/* Returns the picture of the first `count` points, which the caller frees. */
static char *draw(size_t count, size_t columns, size_t rows, bool utf8)
{
    const struct barry barry = { names, points, count, columns, rows, utf8 };
    char *text = barry_draw(&barry);

    assert_non_null(text);
    return text;
}

/* Copies a line of the text to `ret`, or "" if the text has no such line. */
static void take_line(const char *text, size_t number, wchar_t *ret, size_t capacity)
{
    char line[1000];
    size_t length;

    for (size_t i = 0; i < number && *text != '\0'; i++)
        text += strcspn(text, "\n") + 1;
    length = strcspn(text, "\n");
    assert_in_range(length, 0, sizeof line - 1);
    memcpy(line, text, length);
    line[length] = '\0';
    assert_int_not_equal(mbstowcs(ret, line, capacity), (size_t)-1);
}

static size_t dots_of(wchar_t character)
{
    return character >= 0x2800 && character <= 0x28ff
               ? (size_t)__builtin_popcount((unsigned)character & 0xff)
               : 0;
}

static size_t dots_in(const char *text, size_t rows)
{
    size_t count = 0;
    wchar_t line[400];

    for (size_t row = 0; row < rows; row++) {
        take_line(text, row, line, 400);
        for (size_t i = 0; line[i] != L'\0'; i++)
            count += dots_of(line[i]);
    }
    return count;
}

static double any_share(void)
{
    return (double)(rand() % 1001) / 1000;
}

static void make_points(size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const double cpu = i % 3 == 0 ? 0 : any_share(), rest = 1 - cpu;
        const double idle = i % 4 == 1 ? rest : any_share() * rest;

        points[i] = point(cpu, idle, rest - idle, name);
    }
}
