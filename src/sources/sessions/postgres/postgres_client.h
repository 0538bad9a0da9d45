/*
 * A connection to PostgreSQL that asks for snapshots by prepared statements. It uses poll(2) and
 * the non-blocking calls of libpq, so it never waits longer than the caller's deadline.
 *
 * The call that finds a lost connection reports it once. The next calls connect again: at once the
 * first time, then after growing pauses. A missing answer of a stopped server counts as a lost
 * connection. A server that refuses a connection writes a line into its log, so camp waits until
 * the server accepts connections (postgres_postmaster.h). Where it cannot see that, camp pauses for
 * at least 1, 2, 4 and then 8 s after a refusal, and after the server has announced its end.
 *
 * Statements run outside of transactions, because pg_stat_activity does not change within a
 * transaction.
 */
#pragma once

#include "postgres_results.h"
#include "postgres_snapshot.h"
#include "sources/remote/remote.h"

struct postgres_client;

/* Connects within 5 s, or within connect_timeout of the connection string. contents->blockers is
 * set by what the server allows. `stop` must outlive the client. CAMP_E_INVALID if libpq cannot
 * read the connection string; other errors are those of postgres_failure_report(). */
int postgres_client_open(const char *conninfo, const struct postgres_contents *contents,
                         const volatile sig_atomic_t *stop, struct postgres_client **ret,
                         struct camp_error *error);
void postgres_client_close(struct postgres_client *client);

/* Takes a whole or a brief snapshot (postgres_snapshot.h), which is valid until the next call.
 * REMOTE_PENDING means that there was no answer until `until_ns` (CLOCK_MONOTONIC), or that *stop
 * is set. The next call then returns the answer to the first question, whatever its own `whole` is,
 * so the caller must check (*ret)->is_whole. Other failures are those of postgres_failure_report();
 * the caller may call again. */
int postgres_client_ask(struct postgres_client *client, bool whole, uint64_t until_ns,
                        const struct postgres_snapshot **ret, struct camp_error *error);

/* Asks a query. *ret has its rows, which are valid until the next call, and *ret_connection is the
 * number of the connection, as in a snapshot. REMOTE_PENDING and failures are as above; an answer
 * that comes too late is dropped. A query that fails ends the connection. */
int postgres_client_query(struct postgres_client *client, const struct postgres_query *query,
                          uint64_t until_ns, struct postgres_answer **ret, uint64_t *ret_connection,
                          struct camp_error *error);

/* Called after the first snapshot of each connection. `is_local`: the server runs on this machine,
 * so that camp can see whether it accepts connections before it connects again. */
void postgres_client_set_local(struct postgres_client *client, bool is_local);
