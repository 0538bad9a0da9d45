/*
 * The sessions of a PostgreSQL server as pg_stat_activity reports them, one snapshot after the
 * other, from version 10 on. camp's own session is in no snapshot.
 *
 * Without the rights of pg_monitor, a role sees only that others' sessions exist: those are hidden,
 * counted, and in no state.
 */
#pragma once

#include "ledger/session_rules.h"
#include "postgres_client.h"

struct postgres_options {
    bool background; /* processes of the server itself, too */
    bool queries;    /* texts of statements, too */
};

/* Texts are never NULL; a missing one is "", in a kind "none". They live as long as the
 * snapshot. */
struct postgres_session {
    int32_t pid;        /* in the server's pid namespace */
    int32_t leader_pid; /* of a parallel worker: its leader; 0: none */
    int64_t start_us;   /* since 1970, by the server's clock: distinguishes reused pids */
    int64_t changed_us; /* start of its activity; 0: unknown. In a whole snapshot only */
    int64_t query_id;   /* 0: unknown (compute_query_id, version 14). In a whole snapshot only */
    struct session_kind kind;
    char type[40]; /* of kind */
    /* In a whole snapshot only: */
    const char *user, *database, *application;
    const char *client; /* an address, or "local" */
    const char *query;  /* "": without `queries` */
};

struct postgres_snapshot {
    bool is_whole;                     /* it has names */
    uint64_t asked_ns, answered_ns;    /* CLOCK_MONOTONIC; the snapshot was taken in between */
    int64_t server_us;                 /* the server's clock at that time, since 1970 */
    struct postgres_session *sessions; /* [count], in no order */
    size_t count;
    size_t hidden;   /* how many more sessions this role may not see */
    int32_t own_pid; /* of our own session */
    int64_t own_start_us;
    size_t capacity;
    PGresult *rows; /* owns the texts */
};

struct postgres_sessions;

/* As postgres_client_open(). *options remains the caller's. */
int postgres_sessions_open(const char *conninfo, const struct postgres_options *options,
                           const volatile sig_atomic_t *stop, struct postgres_sessions **ret,
                           struct camp_error *error);
void postgres_sessions_close(struct postgres_sessions *sessions);

/* The time of the snapshot, in the middle of the query, and of the start of one of its sessions.
 * Both are CLOCK_MONOTONIC; the start is derived from the session's age, so the server's clock need
 * not agree. */
uint64_t postgres_snapshot_ns(const struct postgres_snapshot *snapshot);
uint64_t postgres_session_start_ns(const struct postgres_snapshot *snapshot,
                                   const struct postgres_session *session);

/* Takes a new snapshot, valid until the next call. A whole one costs the server three times as
 * much. As postgres_client_ask(): an earlier question is answered first, so check is_whole. After
 * REMOTE_PENDING or a failure there is no snapshot. */
int postgres_sessions_read(struct postgres_sessions *sessions, bool whole, uint64_t until_ns,
                           const struct postgres_snapshot **ret_snapshot, struct camp_error *error);

void postgres_sessions_facts(const struct postgres_sessions *sessions,
                             struct postgres_client_facts *ret);
