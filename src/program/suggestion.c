#include "suggestion.h"

#include <stdint.h>
#include <string.h>

#define WORD_MAXIMUM 63

/* Returns the number of letters to insert, delete or change (Levenshtein distance). Swapping two
 * neighbouring letters counts as 1. The algorithm needs only three rows of its table at a time. */
static size_t word_distance(const char *left, const char *right)
{
    size_t rows[3][WORD_MAXIMUM + 1];
    size_t width = strlen(right);
    size_t height = strlen(left);

    if (width > WORD_MAXIMUM || height > WORD_MAXIMUM)
        return SIZE_MAX;
    for (size_t x = 0; x <= width; x++)
        rows[0][x] = x;
    for (size_t y = 1; y <= height; y++) {
        size_t *row = rows[y % 3];
        const size_t *above = rows[(y + 2) % 3];

        row[0] = y;
        for (size_t x = 1; x <= width; x++) {
            size_t best = above[x - 1] + (left[y - 1] != right[x - 1]);

            best = above[x] + 1 < best ? above[x] + 1 : best;
            best = row[x - 1] + 1 < best ? row[x - 1] + 1 : best;
            if (y > 1 && x > 1 && left[y - 1] == right[x - 2] && left[y - 2] == right[x - 1] &&
                rows[(y + 1) % 3][x - 2] + 1 < best)
                best = rows[(y + 1) % 3][x - 2] + 1;
            row[x] = best;
        }
    }
    return rows[height % 3][width];
}

/* A word that is the start of a candidate, such as "free" for "free_bytes", has distance 1. */
size_t suggestion_distance(const char *word, const char *candidate)
{
    const size_t length = strlen(word);

    if (length >= 3 && strncmp(candidate, word, length) == 0)
        return 1;
    return word_distance(word, candidate);
}

void suggestion_offer(struct suggestion *suggestion, const char *candidate)
{
    const size_t length = strlen(suggestion->word);
    const size_t distance = suggestion_distance(suggestion->word, candidate);
    const size_t bound = length / 3 < 1 ? 1 : length / 3;

    if (distance > bound || (suggestion->best != NULL && distance >= suggestion->distance))
        return;
    suggestion->best = candidate;
    suggestion->distance = distance;
}
