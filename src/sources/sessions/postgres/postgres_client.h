/*
 * One connection to PostgreSQL that repeats prepared statements, and never waits longer than the
 * caller's deadline: libpq without blocking, one poll(2), a deadline for everything.
 *
 * A lost connection is reported once, by the call that found it, and made again by the next calls:
 * at once first, then with growing pauses. A missing answer (a stopped server) is a lost
 * connection. Statements run outside of transactions, because pg_stat_activity does not change
 * within one.
 *
 * libpq resolves host names, and blocks meanwhile: hostaddr avoids that.
 */
#pragma once

#include "libraries/libpq.h"
#include "sources/remote/remote.h"

#include <camp/camp.h>

#include <signal.h>
#include <stdbool.h>

#define POSTGRES_VERSION_MIN                                                                       \
    100000 /* version 10: backend_type, and all settings in set_config()                           \
            */

struct postgres_client;

struct postgres_client_facts {
    int version;          /* 150018: server_version_num; 0: not connected yet */
    int32_t backend_pid;  /* of this connection, as the server reports it; 0: none */
    uint64_t connections; /* made so far: the caller starts again after another one */
    uint64_t failures;    /* lost or failed connections */
    uint64_t answers;     /* round trips of statements */
    uint64_t asked_ns;    /* start of the last statement, CLOCK_MONOTONIC */
};

#define POSTGRES_STATEMENTS 2

/* Sets texts[POSTGRES_STATEMENTS] for a version of the server (server_version_num); called for each
 * connection. */
struct postgres_statements {
    void (*texts)(void *context, int version, const char **ret_texts);
    void *context;
};

/* Connects, for up to 5 s (or connect_timeout of the connection string). `conninfo` and
 * `statements`, and what they refer to, remain the caller's. Fails as postgres_failure_report(). */
int postgres_client_open(const char *conninfo, const struct postgres_statements *statements,
                         const volatile sig_atomic_t *stop, struct postgres_client **ret,
                         struct camp_error *error);
void postgres_client_close(struct postgres_client *client);

/* Runs a statement, until `until_ns` (CLOCK_MONOTONIC). CAMP_OK: *ret is all rows in binary form;
 * release it with PQclear(). REMOTE_PENDING: no answer yet, or *stop is set; the next call returns
 * the answer to this statement first, whatever it asks. Fails as postgres_failure_report(); call
 * again. */
int postgres_client_ask(struct postgres_client *client, unsigned statement, uint64_t until_ns,
                        PGresult **ret, struct camp_error *error);

void postgres_client_facts(const struct postgres_client *client, struct postgres_client_facts *ret);
