/*
 * What protects camp and its user from a hostile MariaDB server, or from somebody between camp and
 * the server (docs/sessions.md):
 *
 * - Passwords are never sent in clear, not even through TLS: only methods that prove a password
 *   without sending it are permitted. No method may ask the user for anything.
 * - MySQL's caching_sha2_password is permitted only if the user names the server as MySQL. A server
 *   may ask it for the password itself. So it is used only through a Unix socket, through TLS to
 *   this machine, or through TLS with a verified certificate. If the server's greeting offers no
 *   TLS, it is not permitted.
 * - A password is used at another machine only through TLS with a verified certificate.
 * - The server gets no file (LOCAL INFILE).
 * - What the server sends at a time is limited (mariadb_guard_expect()).
 *
 * libmariadb reads the option file when it connects, after all calls of mysql_options(). So what
 * must hold whatever the option file says is not done by mysql_options() alone.
 */
#pragma once

#include "libraries/libmariadb.h"

#include <stdbool.h>

struct mariadb_guard {
    MYSQL *mysql;
    bool verifies;   /* false if the user permits servers without a verified certificate */
    bool is_mysql;   /* the method of login of MySQL is permitted, too */
    bool is_greeted; /* the first bytes of the server were received */
    size_t received;
    bool is_exceeded; /* the server sent too much, and the connection was shut down */
    /* the connection could not be protected, and was shut down before the login */
    bool lacks_memory;
};

/* Sets the options of guard->mysql, before it connects. *guard must not move until it is closed.
 * Sets errno to ENOMEM if an option could not be stored. */
void mariadb_guard_begin(struct mariadb_guard *guard);

/* Called each time that libmariadb waits while it connects. */
void mariadb_guard_connecting(struct mariadb_guard *guard);

/* Allows the server to send MARIADB_GUARD_BYTES from now on, for the greeting, the columns of an
 * answer, or one row. If it sends more, the connection is shut down. */
#define MARIADB_GUARD_BYTES ((size_t)1024 * 1024)
void mariadb_guard_expect(struct mariadb_guard *guard);

/* libmariadb may read from the connection of `guard` from now on; NULL: from no connection. The
 * bytes that it receives in this thread are counted for this guard. */
void mariadb_guard_watch(struct mariadb_guard *guard);
