/* Describes in one line why PostgreSQL does not answer, and what the user can do. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

#define SQLSTATE_SIZE 6

/* Failures that camp finds itself, in place of a SQLSTATE: the server does not protect the
 * password, or it does not answer as PostgreSQL does. */
#define POSTGRES_UNPROTECTED "tls"
#define POSTGRES_WRONG "wrong"

struct postgres_failure {
    char sqlstate[SQLSTATE_SIZE]; /* such as "28P01"; "" if no server answered */
    char what[1024];              /* such as 'role "x" does not exist', in one line */
    /* place of a server that was not reached, such as 'on socket "/run/.s.PGSQL.5432"', or "" */
    char place[256];
};

/* Parses the text of PQerrorMessage(). The connection must use PQERRORS_VERBOSE; otherwise the text
 * of a failure to connect has no SQLSTATE. If several hosts failed, *ret describes the last one. */
void postgres_failure_of_text(const char *text, struct postgres_failure *ret);

/* Fills *error and returns its code. CAMP_E_PERM if the server refused the role, CAMP_E_GONE if no
 * server answered or the server closed the connection, CAMP_E_NOTSUP for an old server,
 * CAMP_E_NOMEM if the server has no free connection, CAMP_E_FORMAT for POSTGRES_WRONG, and
 * CAMP_E_IO for any other failure. */
int postgres_failure_report(const struct postgres_failure *failure, struct camp_error *error);

/* Fills *error with `what` is wrong with an answer, and returns CAMP_E_FORMAT. */
int postgres_failure_wrong(const char *what, struct camp_error *error);

/* Returns true if another attempt may succeed, and false after the server refused the role. */
bool postgres_failure_may_pass(const struct postgres_failure *failure);
