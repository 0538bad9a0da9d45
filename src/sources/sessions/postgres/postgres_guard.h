/*
 * Connects to PostgreSQL, and protects camp and its user from a hostile server, or from somebody
 * between camp and the server (docs/sessions.md):
 *
 * - A password leaves for another machine only through TLS. Where the user does not say otherwise
 *   (sslmode=require, verify-ca), the certificate and the name in it are verified.
 * - What the server sends is limited, because libpq stores all of it.
 */
#pragma once

#include "libraries/libpq.h"
#include "libraries/receive_limit.h"
#include "postgres_failure.h"

#include <stdbool.h>

/* Most bytes of a login, and of an answer without its rows (the description of its columns, notices
 * and so on). libpq searches all parameters of a server for each new one, so that many would take
 * very long. */
#define POSTGRES_GUARD_BYTES ((uint64_t)32 * 1024)

/* the name of camp's sessions */
#define POSTGRES_APPLICATION "camp"

struct postgres_guard {
    PGconn *connection; /* NULL if there is none */
    struct receive_limit limit;
    const char *conninfo; /* belongs to the caller; used while connecting */
    bool verifies;        /* camp itself asks for TLS and a verified certificate */
    bool is_made;         /* a server, which may not know TLS, accepted the connection */
    bool is_refused;      /* the user forbids TLS, which the password needs */
};

/* Starts to connect. Notices of the server are ignored. Returns false if there is no memory; other
 * failures are reported by postgres_guard_poll(). This function and the next one may block, while
 * libpq waits for the lookup of a name, or computes (postgres_attempt.h). */
bool postgres_guard_start(struct postgres_guard *guard, const char *conninfo);

/* Goes on with connecting. The caller waits for PQsocket() as the result says, and for writing
 * before the first call. The socket may be another one after each call. */
PostgresPollingStatusType postgres_guard_poll(struct postgres_guard *guard);

/* Says why connecting failed. */
void postgres_guard_failure(const struct postgres_guard *guard, struct postgres_failure *ret);

/* Allows the server to send POSTGRES_GUARD_BYTES and rows of `rows` bytes since the number of
 * received bytes was `since`. Returns false if it has sent more. */
bool postgres_guard_allow(struct postgres_guard *guard, uint64_t since, uint64_t rows);

/* Returns true if `result` starts a copy: PQgetResult() would return it for ever. No statement of
 * camp asks for one. */
bool postgres_guard_is_copy(const PGresult *result);

/* Waits until the server has answered a statement in progress, but at most until `until_ns`
 * (CLOCK_MONOTONIC), and closes the connection. A server that cannot send its answer writes an
 * error into its log. */
void postgres_guard_finish_answered(struct postgres_guard *guard, uint64_t until_ns);

/* Closes the connection, if there is one. */
void postgres_guard_finish(struct postgres_guard *guard);
