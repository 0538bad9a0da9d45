/*
 * The contract of a table's input: rows of text, the names of the columns first. CSV files (csv.h)
 * and queries (query.h) implement it; table.h makes frames of it.
 */
#pragma once

#include "sources/field.h"

#include <camp/camp.h>

struct row {
    uint64_t number; /* of its first line, or of the result: for messages */
    size_t count;
    const struct field *fields; /* [count]; valid until the next call */
    const char *problem; /* "a quote is not closed": the row cannot be divided; NULL: it is valid */
};

struct rows {
    /* CAMP_OK, SOURCE_END (source.h) or CAMP_E_*. */
    int (*next)(struct rows *rows, struct row *ret, struct camp_error *error);
    void (*close)(struct rows *rows); /* releases all, *rows included */
    const char *word;                 /* the unit of `number`: "line", "row" */
};
