/*
 * The statements for Oracle. They also run, for tests, on views of the same shape in SQLite,
 * PostgreSQL and MariaDB (ANSI): columns are identified by position, '' is NULL.
 */
#pragma once

#include "odbc_connection.h"

#include <stdbool.h>

#define ORACLE_NAME_SIZE 65 /* of a value that is a name */

/* The prepared statements of a snapshot. */
struct oracle_statements {
    struct odbc_statement *sessions, *waits, *model;
    bool is_local; /* the server runs on this machine, by its host name */
};

/* Fails as odbc_connection.h. Call oracle_statements_close() in any case. */
int oracle_statements_open(struct oracle_statements *ret, struct odbc_connection *connection,
                           bool background, struct camp_error *error);
void oracle_statements_close(struct oracle_statements *texts);

/* A value as a string, cut if too long; "" without such a column. */
void oracle_text_copy(const struct row *row, size_t column, char *ret, size_t size);
