/*
 * One connection to PostgreSQL that asks prepared statements again and again, and never waits
 * longer than it is told: libpq without blocking, one poll(2), a deadline for everything.
 *
 * A connection that is lost is told once, by the call that saw it, and made again by the next ones:
 * at once first, then with growing pauses. An answer that does not come (a server that is stopped)
 * is a lost connection. Outside of transactions, as pg_stat_activity stands still within one.
 *
 * Names of hosts are looked up by libpq, which waits for them: give hostaddr where that hurts.
 */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_CLIENT_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_CLIENT_H

#include "libraries/libpq.h"
#include "sources/remote/remote.h"

#include <camp/camp.h>

#include <signal.h>
#include <stdbool.h>

#define POSTGRES_VERSION_MIN                                                                       \
    100000 /* version 10: backend_type, set_config() of all that is asked */

struct postgres_client;

struct postgres_client_facts {
    int version;         /* 150018: server_version_num; 0: not connected yet */
    int32_t backend_pid; /* of this connection, by the server's word; 0: there is none */
    uint64_t
        connections; /* how many were made: who has more than before starts anew with the server */
    uint64_t failures; /* how many were lost, or not to be had */
    uint64_t answers;  /* round trips of statements */
    uint64_t asked_ns; /* when the last one began, CLOCK_MONOTONIC */
};

#define POSTGRES_STATEMENTS 2

/* The texts[POSTGRES_STATEMENTS] for a version of the server (server_version_num); asked at each
 * connection. */
struct postgres_statements {
    void (*texts)(void *context, int version, const char **ret_texts);
    void *context;
};

/* Connects, for up to 5 s (or connect_timeout of the connection string). `conninfo` and
 * `statements` stay the caller's; so does what they refer to. Failures: as
 * postgres_failure_report().
 */
int postgres_client_open(const char *conninfo, const struct postgres_statements *statements,
                         const volatile sig_atomic_t *stop, struct postgres_client **ret,
                         struct camp_error *error);
void postgres_client_close(struct postgres_client *client);

/* Asks a statement, until `until_ns` (CLOCK_MONOTONIC). CAMP_OK: *ret is all rows in binary form,
 * to be released by PQclear(). REMOTE_PENDING: nothing by then, or *stop is set; call again: what
 * was asked before is then answered first, whichever statement it was. Failures: as
 * postgres_failure_report(); call again. */
int postgres_client_ask(struct postgres_client *client, unsigned statement, uint64_t until_ns,
                        PGresult **ret, struct camp_error *error);

void postgres_client_facts(const struct postgres_client *client, struct postgres_client_facts *ret);

#endif
