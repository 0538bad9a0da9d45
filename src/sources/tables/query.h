/* The rows of an SQL query of an SQLite file, opened read-only. */
#pragma once

#include "rows.h"
#include "sources/from.h"

/* `query` is one statement. *error has SQLite's message. */
int query_rows_open(const char *path, const char *query, const struct from *from, struct rows **ret,
                    struct camp_error *error);
