/*
 * Which statements wait for the locks of rows. Only the transactions of InnoDB show these waits.
 * They are read less often than the states of sessions, and InnoDB's list of them may be older than
 * the process list. So a sample may have a statement of which it is unknown whether it waits: such
 * a sample is open. The samples that know divide the open ones, statement by statement.
 */
#pragma once

#include "sources/sessions/mariadb/mariadb_sessions.h"

/* Returns whether a session in this sleep and STATE of the process list may wait for a row. */
bool mariadb_row_wait_is_possible(const char *class, const char *state);

/* Updates session->row_wait for a sample at `now_ns`, whose transaction and lasting_ns the session
 * already has. `is_of_statement` says that the transaction has the statement of the
 * process list. */
void mariadb_row_wait_find(struct mariadb_session *session, uint64_t now_ns, bool is_idle,
                           bool transactions, bool is_of_statement);

/* Counts time of a statement that may be a wait for a row, and is or is not one. */
void mariadb_row_wait_count(struct mariadb_statements *statements, int64_t statement, uint64_t ns,
                            bool is_locked);

/* Divides each open sample of a session by its other samples of the same statement and sleep; if it
 * has none, by those of all sessions. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_row_wait_resolve(struct mariadb_session *session,
                             const struct mariadb_statements *statements);
