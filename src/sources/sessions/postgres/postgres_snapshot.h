/*
 * Snapshots of a PostgreSQL server's sessions, as pg_stat_activity reports them, from version 10
 * on. camp's own session is in no snapshot.
 *
 * A role without the rights of pg_monitor sees only that the sessions of other roles exist. These
 * sessions are hidden: they are counted, but have no state.
 */
#pragma once

#include "ledger/session_rules.h"
#include "libraries/libpq.h"
#include "postgres_answer.h"
#include "sources/sessions/blocker_samples.h"

#define POSTGRES_HAS_QUERY_ID 140000 /* the first version with pg_stat_activity.query_id */

/* Texts are never NULL. A missing text is "none" in `kind` and "" elsewhere. Texts belong to
 * the answer. */
struct postgres_session {
    int32_t pid;        /* in the server's pid namespace */
    int32_t leader_pid; /* pid of a parallel worker's leader, or 0 */
    int64_t start_us;   /* since 1970, by the server's clock; distinguishes reused pids */
    int64_t changed_us; /* start of the session's activity, or 0; only in a whole snapshot */
    int64_t query_id;   /* of the statement that ran last; 0 if the server computes no ids */
    struct session_kind kind;
    /* of a session that waits for a lock (class "Lock"): those that block it, at most
     * BLOCKERS_MOST, as postgres_session_blockers() reads them */
    const char *blockers;
    size_t blocker_count;
    char type[40];
    /* The following texts are only in a whole snapshot. */
    const char *user, *database, *application;
    const char *client;     /* an address, or "local" */
    const char *query;      /* "" if not requested */
    int64_t transaction_us; /* start of the session's transaction, since 1970; 0 if it has none */
};

struct postgres_snapshot {
    bool is_whole;
    int version; /* server_version_num, such as 150018 */
    /* number of the connection, counted from 1 */
    uint64_t connection;
    uint64_t asked_ns, answered_ns;    /* CLOCK_MONOTONIC; the snapshot was taken in between */
    int64_t server_us;                 /* the server's clock during the snapshot, since 1970 */
    struct postgres_session *sessions; /* [count], in no order */
    size_t count;
    size_t hidden;    /* number of sessions that this role may not see */
    size_t untracked; /* number of sessions whose track_activities is off: their state is unknown */
    bool own_is_untracked;
    int32_t own_pid;
    int64_t own_start_us;
    int64_t own_query_id; /* of the statement that asked for this snapshot */
    /* Only in a whole snapshot: since when the blocker that blocks longest has blocked, since 1970;
     * 0 if no session waits for a lock. Of many that wait, those whose statements began first are
     * examined. */
    int64_t blocked_us;
    size_t capacity;
};

/* What a snapshot has besides the sessions and what each does. */
struct postgres_contents {
    bool queries;  /* a whole snapshot has the texts of statements */
    bool facts;    /* a whole snapshot has since when the longest blocker has blocked */
    bool blockers; /* pg_blocking_pids() may be called; otherwise both are unknown */
};

/* Writes to `ret` the statement that asks a server of `version` (server_version_num) for a
 * snapshot. A whole snapshot costs the server three times as much as a brief one.
 * pg_blocking_pids() is called only for sessions that wait for a lock. */
#define POSTGRES_STATEMENT_SIZE 3000
void postgres_snapshot_statement(bool is_whole, const struct postgres_contents *contents,
                                 int version, char ret[POSTGRES_STATEMENT_SIZE]);

/* Returns the number of columns of a snapshot. */
size_t postgres_snapshot_columns(bool is_whole);

/* Returns true if `result` has the columns of a snapshot, with their types, in binary form. */
bool postgres_snapshot_has_columns(bool is_whole, const PGresult *result);

/* Fills *ret from the rows of an answer, whose columns were checked. *ret refers to the texts of
 * the answer. The caller sets connection, asked_ns and answered_ns. Returns CAMP_E_FORMAT if the
 * answer has an impossible value, with a message, or CAMP_E_NOMEM; then *ret must not be used. */
int postgres_snapshot_read(struct postgres_snapshot *ret, bool is_whole,
                           struct postgres_answer *answer, struct camp_error *error);
void postgres_snapshot_release(struct postgres_snapshot *snapshot);

/* postgres_snapshot_ns() returns the time of the snapshot: the middle of the query.
 * postgres_session_start_ns() returns the start of a session. Both times are CLOCK_MONOTONIC. The
 * start is computed from the session's age, so the server's clock may differ from camp's. */
uint64_t postgres_snapshot_ns(const struct postgres_snapshot *snapshot);
uint64_t postgres_session_start_ns(const struct postgres_snapshot *snapshot,
                                   const struct postgres_session *session);

/* Copies the pids of the sessions that block a session, and returns their number. A prepared
 * transaction is BLOCKER_PREPARED. */
size_t postgres_session_blockers(const struct postgres_session *session,
                                 int64_t ret[BLOCKERS_MOST]);

/* Returns the id of the statement that the session runs now, or 0 if it runs none. */
int64_t postgres_session_statement(const struct postgres_session *session);
