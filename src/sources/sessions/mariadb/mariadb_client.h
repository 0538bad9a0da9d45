/*
 * One connection to MariaDB that never waits longer than the caller's deadline: it uses the calls
 * of libmariadb that do not block (mysql_..._start, mysql_..._cont) and poll(2).
 *
 * A lost connection is reported once, by the call that found it, and made again by the next calls:
 * at once first, then with growing pauses. A missing answer (a stopped server) is a lost
 * connection. Only the lookup of a host name blocks, inside of libmariadb.
 */
#pragma once

#include "libraries/libmariadb.h"
#include "mariadb_options.h"
#include "sources/remote/remote.h"

#include <signal.h>
#include <stdbool.h>

struct mariadb_client;

struct mariadb_client_facts {
    int64_t connection;   /* its id, as the server reports it; 0: none */
    int32_t server_pid;   /* the local process that listens on the Unix socket; 0: unknown */
    bool is_loopback;     /* the server is at the other end of a Unix socket, or of 127.0.0.1 */
    uint64_t connections; /* made so far */
};

/* Connects, for up to 5 s. Fails as mariadb_failure_report(). CAMP_E_NOTSUP: it is not MariaDB. */
int mariadb_client_open(const struct mariadb_options *options, const volatile sig_atomic_t *stop,
                        struct mariadb_client **ret, struct camp_error *error);
void mariadb_client_close(struct mariadb_client *client);

/* Runs a statement, or continues a pending one, until `until_ns` (CLOCK_MONOTONIC). CAMP_OK: *ret
 * has all rows; release it with mysql_free_result(). REMOTE_PENDING: no answer yet, or *stop is
 * set; call again (the answer to an earlier statement is then dropped). Fails as
 * mariadb_failure_report(); call again. `statement` is a constant. */
int mariadb_client_ask(struct mariadb_client *client, const char *statement, uint64_t until_ns,
                       MYSQL_RES **ret, struct camp_error *error);

/* Owned by the client. */
const struct mariadb_client_facts *mariadb_client_facts(const struct mariadb_client *client);

/* mariadb_failure.c: one line that names a failure and says what to do. `number` and `text` are
 * those of mysql_errno() and mysql_error(); number 0: a failure found by camp (a deadline). Fills
 * *error and returns its code: CAMP_E_PERM (refused), CAMP_E_INVALID (an unknown name), CAMP_E_GONE
 * (no server there), CAMP_E_NOMEM (no free connections), CAMP_E_IO. *ret_may_pass: whether another
 * try may help; false after the server refused the user. */
int mariadb_failure_report(unsigned number, const char *text, bool *ret_may_pass,
                           struct camp_error *error);
