/* The findings of camp verify, for verify.c. The trials use verify.h. */
#pragma once

#include "verify.h"

#define ROWS_MAX 96
#define DISTORTIONS_MAX 128

/* CAMP_VERIFY_DISTORT: tests this command itself. */
struct distortion {
    char row[48]; /* a pattern */
    double factor;
};

struct verification {
    struct finding findings[ROWS_MAX];
    size_t count;
    const struct trial *running;
    struct distortion distortions[DISTORTIONS_MAX];
    size_t distortion_count;
};

/* Starts over with undecided rows. Those that match `only` are wanted (NULL: all). */
void findings_open(struct verification *verification, const struct trial_list *const *lists,
                   size_t list_count, const char *only);

/* NULL: no such row. */
struct finding *findings_find(struct verification *verification, const char *row);
