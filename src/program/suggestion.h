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

/* Returns the edit distance between a word and a candidate: the number of letters to insert, delete
 * or change. Returns 1 if the word has at least three letters and is the start of the candidate,
 * and SIZE_MAX if one of them is too long to be compared. */
size_t suggestion_distance(const char *word, const char *candidate);
