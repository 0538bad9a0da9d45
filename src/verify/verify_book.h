/* The book of camp verify: what verify.c has of it. The trials have verify.h. */
#ifndef CAMP_VERIFY_VERIFY_BOOK_H
#define CAMP_VERIFY_VERIFY_BOOK_H

#include "verify.h"

#define ROWS_MAX 96
#define DISTORTIONS_MAX 128

/* CAMP_VERIFY_DISTORT: how this command itself is tested. */
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

/* Begins anew: nothing of these rows is decided. Wanted are those that match `only` (NULL: all). */
void book_open(struct verification *verification, const struct trial_list *const *lists,
               size_t list_count, const char *only);

/* NULL: there is no such row. */
struct finding *book_find(struct verification *verification, const char *row);

#endif
