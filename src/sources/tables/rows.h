/*
 * The interface to the input of a table: rows of text. The first row has the names of the columns.
 * CSV files (csv.c) and queries (query.c, odbc_query.h) implement it; table.h makes frames of the
 * rows.
 */
#pragma once

#include "sources/field.h"
#include "sources/from.h"

#include <camp/camp.h>

struct row {
    /* For messages: the row's first line in a file, or its number in the result of a query. */
    uint64_t number;
    size_t count;
    const struct field *fields; /* [count]; valid until the next call of next() */
    /* What is wrong with the row, such as "a quote is not closed"; NULL if nothing is. */
    const char *problem;
};

struct rows {
    /* Returns CAMP_OK, SOURCE_END (source.h) or an error. */
    int (*next)(struct rows *rows, struct row *ret, struct camp_error *error);
    void (*close)(struct rows *rows); /* also frees *rows */
    const char *word;                 /* what `number` counts: "line" or "row" */
    /* Most bytes that the kept rows may need, because a query may have no end; 0 for no limit */
    size_t bytes_most;
};

/* Returns whether a row has as many fields as the header, `columns`, without empty fields at its
 * end. Otherwise writes what is wrong with it to problem[size]. */
bool row_is_complete(const struct row *row, size_t columns, char *problem, size_t size);

/* Copies a row, including its texts, to one allocated block: the caller frees ret->fields. If the
 * row has fewer than `least` fields, adds empty fields. Returns false if there is no memory. */
bool row_copy(struct row *ret, const struct row *row, size_t least);

/* Opens a CSV file, or standard input if `path` is "-". from->progress gets numbers of bytes; a
 * total of 0 means unknown. Reading fails when *from->stop is set. */
int csv_rows_open(const char *path, const struct from *from, struct rows **ret,
                  struct camp_error *error);

/* Runs `query`, one SQL statement, on the SQLite file `path`. The file is opened read-only. *error
 * has the message of SQLite. */
int query_rows_open(const char *path, const char *query, const struct from *from, struct rows **ret,
                    struct camp_error *error);
