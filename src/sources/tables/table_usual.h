/* What is usual: the median of many numbers, of which at most 65,536 are looked at. */
#ifndef CAMP_SOURCES_TABLES_TABLE_USUAL_H
#define CAMP_SOURCES_TABLES_TABLE_USUAL_H

#include <stdbool.h>
#include <stddef.h>

struct usual {
    double *numbers; /* owned: usual_release() */
    size_t count, step;
};

/* Of at most `count` numbers. False: no memory. */
bool usual_init(struct usual *usual, size_t count);
void usual_release(struct usual *usual);

/* The number that comes `at` that place of all, each place once. */
void usual_add(struct usual *usual, size_t at, double number);

/* Of an even count the lower of the two in the middle, so that it is one of them; 0 when there is
 * none. */
double usual_median(struct usual *usual);

#endif
