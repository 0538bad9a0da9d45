/*
 * The contract of what a table is read from: rows of text, one after the other, the names of the
 * columns first. A CSV file (csv.h) and a query (query.h) are two of it; table.h makes frames.
 */
#ifndef CAMP_SOURCES_TABLES_ROWS_H
#define CAMP_SOURCES_TABLES_ROWS_H

#include "sources/field.h"

#include <camp/camp.h>

struct row {
    uint64_t number; /* of the line on which it begins, or of the result: for messages */
    size_t count;
    const struct field *fields; /* [count]; theirs until the next call */
    const char *problem; /* "a quote is not closed": it cannot be divided; NULL: it is fine */
};

struct rows {
    /* CAMP_OK, SOURCE_END (source.h) or CAMP_E_*. */
    int (*next)(struct rows *rows, struct row *ret, struct camp_error *error);
    void (*close)(struct rows *rows); /* releases all, *rows included */
    const char *word;                 /* what `number` counts: "line", "row" */
};

#endif
