/*
 * The contract of a table's input: rows of text, the names of the columns first. CSV files (csv.c)
 * and queries (query.c, odbc_query.h) implement it; table.h makes frames of it.
 */
#pragma once

#include "sources/field.h"
#include "sources/from.h"

#include <camp/camp.h>

struct row {
    uint64_t number; /* number of its first line, or of the row in the result: for messages */
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

/* Opens the rows of a CSV file, or of standard input if `path` is "-". Calls
 * from->progress with bytes (a total of 0: unknown), and ends when *from->stop is set. */
int csv_rows_open(const char *path, const struct from *from, struct rows **ret,
                  struct camp_error *error);

/* Opens the rows of an SQL query of an SQLite file, which is opened read-only. `query` is one
 * statement. *error has SQLite's message. */
int query_rows_open(const char *path, const char *query, const struct from *from, struct rows **ret,
                    struct camp_error *error);
