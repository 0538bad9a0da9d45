/* Describes in one line why PostgreSQL does not answer, and what to do. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

#define SQLSTATE_SIZE 6

struct postgres_failure {
    char sqlstate[SQLSTATE_SIZE]; /* "28P01"; "": no server answered */
    char what[1024];              /* 'role "x" does not exist'; one line */
    char place[256]; /* 'on socket "/run/.s.PGSQL.5432"', if no server was reached; "": unknown */
};

/* Parses libpq's message about a connection (PQerrorMessage() with PQERRORS_VERBOSE, the only
 * source of the SQLSTATE while connecting). If several hosts failed, *ret is the failure of the
 * last. */
void postgres_failure_of_text(const char *text, struct postgres_failure *ret);

/* Fills *error and returns its code: CAMP_E_PERM (refused), CAMP_E_INVALID (an unknown name),
 * CAMP_E_GONE (no server there), CAMP_E_NOMEM (no free connections), CAMP_E_IO. */
int postgres_failure_report(const struct postgres_failure *failure, struct camp_error *error);

/* Whether another try may help; false after the server refused the role. */
bool postgres_failure_may_pass(const struct postgres_failure *failure);
