/* "Did you mean ...?" */
#pragma once

#include <stddef.h>

/* Of the candidates offered in turn, the one nearest to a mistyped word. */
struct suggestion {
    const char *word;
    const char *best; /* NULL: none is near */
    size_t distance;
};

void suggestion_offer(struct suggestion *suggestion, const char *candidate);
