/*
 * Snapshots of a PostgreSQL server's sessions, as pg_stat_activity reports them, from version 10
 * on. camp's own session is in no snapshot.
 *
 * Without the rights of pg_monitor, a role sees only that others' sessions exist. These sessions
 * are hidden: they are counted, but have no state.
 */
#pragma once

#include "ledger/session_rules.h"
#include "libraries/libpq.h"

/* Texts are never NULL: a missing one is "", or "none" if it is part of `kind`. They live as long
 * as the snapshot. */
struct postgres_session {
    int32_t pid;        /* in the server's pid namespace */
    int32_t leader_pid; /* pid of a parallel worker's leader; 0: none */
    int64_t start_us;   /* since 1970, by the server's clock: distinguishes reused pids */
    int64_t changed_us; /* start of its activity; 0: unknown. In a whole snapshot only */
    int64_t query_id;   /* 0: unknown (compute_query_id, version 14). In a whole snapshot only */
    struct session_kind kind;
    char type[40]; /* of kind */
    /* In a whole snapshot only: */
    const char *user, *database, *application;
    const char *client; /* an address, or "local" */
    const char *query;  /* "": not requested */
};

struct postgres_snapshot {
    bool is_whole;                     /* it has names and labels */
    uint64_t connection;               /* number of the connection on which it was taken, from 1 */
    uint64_t asked_ns, answered_ns;    /* CLOCK_MONOTONIC; the snapshot was taken in between */
    int64_t server_us;                 /* the server's clock at that time, since 1970 */
    struct postgres_session *sessions; /* [count], in no order */
    size_t count;
    size_t hidden;   /* number of further sessions, which this role may not see */
    int32_t own_pid; /* pid of camp's own session */
    int64_t own_start_us;
    size_t capacity;
    PGresult *rows; /* owns the texts */
};

/* Writes the statement that asks a server of this version (server_version_num) for a snapshot to
 * ret[size]. A whole snapshot costs the server three times as much. `queries`: with the texts of
 * statements. */
#define POSTGRES_STATEMENT_SIZE 1200
void postgres_snapshot_statement(bool is_whole, bool queries, int version,
                                 char ret[POSTGRES_STATEMENT_SIZE]);

/* Fills the sessions of *ret from the answer to such a statement, in binary form; the answer then
 * belongs to the snapshot. The caller sets connection and times. CAMP_E_NOMEM, CAMP_E_FORMAT.
 */
int postgres_snapshot_read(struct postgres_snapshot *ret, PGresult *rows, struct camp_error *error);
void postgres_snapshot_release(struct postgres_snapshot *snapshot);

/* Return the time of the snapshot, in the middle of the query, and the time when one of its
 * sessions started. Both are CLOCK_MONOTONIC; the start is derived from the session's age, so the
 * server's clock need not agree. */
uint64_t postgres_snapshot_ns(const struct postgres_snapshot *snapshot);
uint64_t postgres_session_start_ns(const struct postgres_snapshot *snapshot,
                                   const struct postgres_session *session);
