/* Why PostgreSQL does not answer: one line that names the failure and says what to do. */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_FAILURE_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_FAILURE_H

#include <camp/camp.h>

#include <stdbool.h>

#define SQLSTATE_SIZE 6

struct postgres_failure {
    char sqlstate[SQLSTATE_SIZE]; /* "28P01"; "": none was told, it is no answer of a server */
    char what[1024];              /* 'role "x" does not exist'; one line */
    char place[256]; /* 'on socket "/run/.s.PGSQL.5432"', if no server was reached; "": unknown */
};

/* Of libpq's message about a connection (PQerrorMessage() with PQERRORS_VERBOSE, which has the
 * SQLSTATE in it: there is no other way to it while connecting). Of several hosts, the last. */
void postgres_failure_of_text(const char *text, struct postgres_failure *ret);

/* Writes *error and returns its code: CAMP_E_PERM (who may not), CAMP_E_INVALID (what there is
 * not), CAMP_E_GONE (no server there), CAMP_E_NOMEM (connections used up), CAMP_E_IO. */
int postgres_failure_tell(const struct postgres_failure *failure, struct camp_error *error);

/* Whether a further try may help: not when the server refused who we are. */
bool postgres_failure_may_pass(const struct postgres_failure *failure);

#endif
