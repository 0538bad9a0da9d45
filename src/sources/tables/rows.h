/*
 * The interface to the input of a table: rows of text. The first row has the names of the columns.
 * CSV files (csv.c) and queries (query.c, odbc_query.h) implement the interface; table.h makes
 * frames of the rows.
 */
#pragma once

#include "sources/field.h"
#include "sources/from.h"

#include <camp/camp.h>

struct row {
    /* For messages: number of the first line of the row in a file, or of the row in a result. */
    uint64_t number;
    size_t count;
    const struct field *fields; /* [count]; valid until the next call */
    /* Why the row cannot be divided, such as "a quote is not closed"; NULL if it can. */
    const char *problem;
};

struct rows {
    /* Returns CAMP_OK, SOURCE_END (source.h) or an error. */
    int (*next)(struct rows *rows, struct row *ret, struct camp_error *error);
    void (*close)(struct rows *rows); /* also frees *rows */
    const char *word;                 /* what `number` counts: "line" or "row" */
};

/* Opens a CSV file, or standard input if `path` is "-". Calls from->progress with numbers of bytes;
 * a total of 0 means unknown. Reading ends when *from->stop is set. */
int csv_rows_open(const char *path, const struct from *from, struct rows **ret,
                  struct camp_error *error);

/* Opens an SQL query of an SQLite file, which is opened read-only. `query` is one statement. *error
 * has the message of SQLite. */
int query_rows_open(const char *path, const char *query, const struct from *from, struct rows **ret,
                    struct camp_error *error);
