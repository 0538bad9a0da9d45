/*
 * One connection to PostgreSQL, which asks for snapshots by prepared statements, and never waits
 * longer than the caller's deadline: it uses the calls of libpq that do not block, and poll(2).
 *
 * A lost connection is reported once, by the call that found it, and made again by the next calls:
 * at once first, then with growing pauses. A missing answer (a stopped server) is a lost
 * connection. Statements run outside of transactions, because pg_stat_activity does not change
 * within one.
 *
 * Only the lookup of a host name blocks, inside of libpq; hostaddr= avoids it.
 */
#pragma once

#include "postgres_snapshot.h"
#include "sources/remote/remote.h"

struct postgres_client;

/* Connects, for up to 5 s (or connect_timeout of the connection string). `queries`: snapshots have
 * the texts of statements. `stop` belongs to the caller. Fails as postgres_failure_report(). */
int postgres_client_open(const char *conninfo, bool queries, const volatile sig_atomic_t *stop,
                         struct postgres_client **ret, struct camp_error *error);
void postgres_client_close(struct postgres_client *client);

/* Takes a snapshot, until `until_ns` (CLOCK_MONOTONIC), valid until the next call. REMOTE_PENDING:
 * no answer yet, or *stop is set; the next call returns the answer to this question first, so check
 * is_whole. Fails as postgres_failure_report(); call again. */
int postgres_client_ask(struct postgres_client *client, bool whole, uint64_t until_ns,
                        const struct postgres_snapshot **ret, struct camp_error *error);
