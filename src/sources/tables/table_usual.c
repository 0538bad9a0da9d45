#include "table_usual.h"

#include <stdlib.h>

#define SAMPLE_SIZE 65536 /* evenly spread */

bool usual_init(struct usual *usual, size_t count)
{
    *usual = (struct usual){ .step = 1 + count / SAMPLE_SIZE };
    usual->numbers = malloc((count / usual->step + 1) * sizeof *usual->numbers);
    return usual->numbers != NULL;
}

void usual_release(struct usual *usual)
{
    free(usual->numbers);
    *usual = (struct usual){ 0 };
}

void usual_add(struct usual *usual, size_t at, double number)
{
    if (at % usual->step == 0)
        usual->numbers[usual->count++] = number;
}

static int compare_numbers(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

double usual_median(struct usual *usual)
{
    if (usual->count == 0)
        return 0;
    qsort(usual->numbers, usual->count, sizeof *usual->numbers, compare_numbers);
    return usual->numbers[(usual->count - 1) / 2];
}
