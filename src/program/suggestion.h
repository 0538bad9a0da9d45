/* "Did you mean ...?" */
#pragma once

#include <stddef.h>

/* The candidate nearest to a mistyped word, of all that suggestion_offer() was called with. */
struct suggestion {
    const char *word;
    const char *best; /* NULL: none is near enough */
    size_t distance;
};

void suggestion_offer(struct suggestion *suggestion, const char *candidate);
