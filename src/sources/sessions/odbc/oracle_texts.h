/*
 * What Oracle is asked. The texts run on it and, for tests, on views of its shape in SQLite,
 * PostgreSQL and MariaDB (ANSI): columns are told by their place, '' is NULL.
 */
#ifndef CAMP_SOURCES_SESSIONS_ODBC_ORACLE_TEXTS_H
#define CAMP_SOURCES_SESSIONS_ODBC_ORACLE_TEXTS_H

#include "odbc_connection.h"

#include <stdbool.h>

#define ORACLE_NAME_SIZE 65 /* of a value that is a name */

/* The statements of a look, prepared. */
struct oracle_texts {
    struct odbc_statement *sessions, *waits, *model;
    bool is_local; /* the server runs on this machine, by the name of its host */
};

/* Failures as odbc_connection.h. oracle_texts_close() in any case. */
int oracle_texts_open(struct oracle_texts *ret, struct odbc_connection *connection, bool background,
                      struct camp_error *error);
void oracle_texts_close(struct oracle_texts *texts);

/* A value as a string, cut where it is too long; "" where there is no such column. */
void oracle_text_copy(const struct row *row, size_t column, char *ret, size_t size);

#endif
