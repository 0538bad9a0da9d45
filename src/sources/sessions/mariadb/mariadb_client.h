/*
 * One connection to MariaDB. Its calls never wait longer than the deadline of the caller: they use
 * the functions of libmariadb that do not block (mysql_..._start, mysql_..._cont) and poll(2). Only
 * the lookup of a host name, inside libmariadb, blocks.
 *
 * A lost connection is reported once, by the call that finds the loss. The next calls connect
 * again: at once the first time, then after growing pauses. If the server does not answer, for
 * example because it is stopped, the connection counts as lost.
 */
#pragma once

#include "mariadb_answer.h"
#include "mariadb_options.h"
#include "sources/remote/remote.h"

#include <signal.h>
#include <stdbool.h>

struct mariadb_client;

struct mariadb_client_facts {
    int64_t connection;   /* id of the connection in the server; 0 if there is none */
    int32_t server_pid;   /* the local process that listens on the Unix socket; 0 if unknown */
    bool is_mysql;        /* and not MariaDB */
    bool is_loopback;     /* the server is reached through a Unix socket or a loopback address */
    uint64_t connections; /* number of connections made so far */
};

/* Connects within 5 s. Returns CAMP_E_NOTSUP if the server is MySQL and options->is_mysql is not
 * set. Other errors are those
 * of mariadb_failure_report(). */
int mariadb_client_open(const struct mariadb_options *options, const volatile sig_atomic_t *stop,
                        struct mariadb_client **ret, struct camp_error *error);
void mariadb_client_close(struct mariadb_client *client);

/* Runs a statement, as MySQL has it if the server is MySQL (mysql_dialect.h), or continues a
 * pending statement, until `until_ns` (CLOCK_MONOTONIC). On CAMP_OK, *ret has all rows, with the
 * columns of the statement; it is valid until the next call. REMOTE_PENDING means that there is no
 * answer yet, or that *stop is set. Other errors are those of mariadb_failure_report(), and
 * CAMP_E_FORMAT if the answer has other columns or is too large. After an error or REMOTE_PENDING
 * the caller may call again; if it passes another statement, the pending answer is dropped. */
int mariadb_client_ask(struct mariadb_client *client, const struct mariadb_statement *statement,
                       uint64_t until_ns, struct mariadb_answer **ret, struct camp_error *error);

/* Returns the facts, which belong to the client. */
const struct mariadb_client_facts *mariadb_client_facts(const struct mariadb_client *client);

/* Describes a failure in one line that also says what to do (mariadb_failure.c). `number` and
 * `text` are those of mysql_errno() and mysql_error(). The number 0 means a failure that camp
 * found, such as a missed deadline. Fills *error and returns its code: CAMP_E_PERM (refused),
 * CAMP_E_INVALID (an unknown name), CAMP_E_GONE (no server there), CAMP_E_NOMEM (no free
 * connections) or CAMP_E_IO. *ret_may_pass is true if another attempt may succeed, and false if the
 * server refused the user. */
int mariadb_failure_report(unsigned number, const char *text, bool *ret_may_pass,
                           struct camp_error *error);
