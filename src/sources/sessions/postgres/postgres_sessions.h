/*
 * The sessions of a PostgreSQL server as pg_stat_activity tells them, one snapshot after the other:
 * versions from 10 on, by the columns that each has. Our own session is in no snapshot.
 *
 * A role without the rights of pg_monitor sees of others' sessions that they are there, and nothing
 * else: those are hidden, counted, and in no state.
 */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_SESSIONS_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_SESSIONS_H

#include "ledger/session_rules.h"
#include "postgres_client.h"

struct postgres_options {
    bool background; /* also processes of the server itself */
    bool queries;    /* also statements' texts */
};

/* Texts are never NULL; what there is not is "", of a kind "none". They live as long as the
 * snapshot.
 */
struct postgres_session {
    int32_t pid;        /* by the server's word, in its pid namespace */
    int32_t leader_pid; /* of a parallel worker: who it works for; 0: of no other */
    int64_t start_us;   /* when it began, since 1970, by the server's clock: tells pids apart */
    int64_t changed_us; /* when its activity began; 0: not known. In a whole snapshot only */
    int64_t query_id;   /* 0: not known (compute_query_id, version 14). In a whole snapshot only */
    struct session_kind kind;
    char type[40]; /* of kind */
    /* In a whole snapshot only: */
    const char *user, *database, *application;
    const char *client; /* an address, or "local" */
    const char *query;  /* "": without `queries` */
};

struct postgres_snapshot {
    bool is_whole;                     /* names were asked for */
    uint64_t asked_ns, answered_ns;    /* CLOCK_MONOTONIC; it is as of some time between */
    int64_t server_us;                 /* the server's clock meanwhile, since 1970 */
    struct postgres_session *sessions; /* [count], in no order */
    size_t count;
    size_t hidden;        /* sessions of which our role may not see more; not in sessions */
    int32_t own_pid;      /* of our own session */
    int64_t own_start_us; /* when it began */
    size_t capacity;
    PGresult *rows; /* holds the texts */
};

struct postgres_sessions;

/* As postgres_client_open(). *options stays the caller's. */
int postgres_sessions_open(const char *conninfo, const struct postgres_options *options,
                           const volatile sig_atomic_t *stop, struct postgres_sessions **ret,
                           struct camp_error *error);
void postgres_sessions_close(struct postgres_sessions *sessions);

/* When it was made: in the middle of asking. CLOCK_MONOTONIC, as is when a session of it began: by
 * its age, so that the server's clock need not be ours. */
uint64_t postgres_snapshot_ns(const struct postgres_snapshot *snapshot);
uint64_t postgres_session_start_ns(const struct postgres_snapshot *snapshot,
                                   const struct postgres_session *session);

/* A new snapshot in place of the last one, which *ret_snapshot points to until the next call. A
 * whole one costs the server three times as much. As postgres_client_ask(): what was asked before
 * is answered first, so snapshot at is_whole. On POSTGRES_PENDING and failures there is no
 * snapshot. */
int postgres_sessions_read(struct postgres_sessions *sessions, bool whole, uint64_t until_ns,
                           const struct postgres_snapshot **ret_snapshot, struct camp_error *error);

void postgres_sessions_facts(const struct postgres_sessions *sessions,
                             struct postgres_client_facts *ret);

#endif
