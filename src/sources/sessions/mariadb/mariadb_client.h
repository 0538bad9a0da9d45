/*
 * One connection to MariaDB that never waits longer than it is told: libmariadb without blocking
 * (mysql_..._start, mysql_..._cont), one poll(2), a deadline for everything.
 *
 * A connection that is lost is told once, by the call that saw it, and made again by the next ones:
 * at once first, then with growing pauses. An answer that does not come (a server that is stopped)
 * is a lost connection. Names of hosts are looked up by libmariadb, which waits for them.
 */
#ifndef CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_CLIENT_H
#define CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_CLIENT_H

#include "libraries/libmariadb.h"
#include "mariadb_options.h"
#include "sources/remote/remote.h"

#include <signal.h>
#include <stdbool.h>

struct mariadb_client;

struct mariadb_client_facts {
    char version[64];   /* "10.11.6-MariaDB"; "": not connected yet */
    int64_t connection; /* its own id, by the server's word; 0: there is none */
    int32_t server_pid; /* thread listens on the Unix socket, as this machine sees it; 0: unknown */
    bool is_loopback;   /* the server is at the other end of a Unix socket, or of 127.0.0.1 */
    uint64_t connections; /* how many were made */
    uint64_t failures;    /* how many were lost, or not to be had */
    uint64_t answers;
};

/* Connects, for up to 5 s. Failures: as mariadb_failure_report(). CAMP_E_NOTSUP: it is not MariaDB.
 */
int mariadb_client_open(const struct mariadb_options *options, const volatile sig_atomic_t *stop,
                        struct mariadb_client **ret, struct camp_error *error);
void mariadb_client_close(struct mariadb_client *client);

/* Asks, or goes on with what was asked, until `until_ns` (CLOCK_MONOTONIC). CAMP_OK: *ret is all
 * rows, to be released by mysql_free_result(). REMOTE_PENDING: nothing by then, or *stop is set;
 * call again (an answer to another statement is dropped then). Failures: as
 * mariadb_failure_report(); call again. `statement` is a constant. */
int mariadb_client_ask(struct mariadb_client *client, const char *statement, uint64_t until_ns,
                       MYSQL_RES **ret, struct camp_error *error);

void mariadb_client_facts(const struct mariadb_client *client, struct mariadb_client_facts *ret);

#endif
