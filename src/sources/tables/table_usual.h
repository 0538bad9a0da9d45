/* The usual value: the median of many numbers, of which at most 65,536 are sampled. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct usual {
    double *numbers; /* usual_release() frees it */
    size_t count, step;
};

/* For at most `count` numbers. False: no memory. */
bool usual_init(struct usual *usual, size_t count);
void usual_release(struct usual *usual);

/* Adds the number at position `at`; each position once. */
void usual_add(struct usual *usual, size_t at, double number);

/* Of an even count the lower of the two middle ones, so that the result is one of the numbers; 0:
 * there is none. */
double usual_median(struct usual *usual);
