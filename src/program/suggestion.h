/* Finds a word for "Did you mean ...?" */
#pragma once

#include <stddef.h>

/* Keeps the candidate that is most similar to `word`, of all candidates passed to
 * suggestion_offer(). */
struct suggestion {
    const char *word;
    const char *best; /* NULL if no candidate is similar enough */
    size_t distance;
};

void suggestion_offer(struct suggestion *suggestion, const char *candidate);
