/*
 * A snapshot of the sessions of an Oracle database: v$session, v$session_event, v$sess_time_model.
 *
 * v$session_event has finished waits; only v$session has the current wait of a session, which may
 * last for hours. The views are not consistent in time, so v$session is read before and after
 * v$session_event. If the second reading shows that a wait started before the finished waits were
 * read, the wait was certainly in flight then. A wait that is only in the first reading ended
 * before or after the finished waits were read: the number of finished waits decides whether they
 * contain it (oracle_times.h). The second reading also shows whether the session is still the same:
 * v$session_event has only the sid, which is reused.
 */
#pragma once

#include "odbc_connection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_NAME_SIZE 65 /* size of a name in a row */

/* An event of a session, with _ for blanks. */
struct oracle_wait {
    int64_t sid;
    char class[ORACLE_NAME_SIZE], event[ORACLE_NAME_SIZE];
    uint64_t ns, count; /* of finished waits, since the session started */
};

/* Compares class and event: orders the waits of one session. */
int oracle_wait_compare(const struct oracle_wait *left, const struct oracle_wait *right);

enum oracle_certainty {
    ORACLE_NO_WAIT,     /* no wait was in flight */
    ORACLE_IN_FLIGHT,   /* the wait was in flight while the finished waits were read */
    ORACLE_MAY_BE_ENDED /* resolved by oracle_times_fill() */
};

struct oracle_session {
    int64_t sid;
    char serial[24], logon[40]; /* identify the session together with the sid */
    char user[ORACLE_NAME_SIZE], program[ORACLE_NAME_SIZE], machine[ORACLE_NAME_SIZE],
        module[ORACLE_NAME_SIZE];
    char status[ORACLE_NAME_SIZE], type[ORACLE_NAME_SIZE]; /* "active", "user" */
    int32_t spid; /* pid of the server's process; 0: none, or the server is remote */
    enum oracle_certainty certainty; /* of the wait in flight */
    struct oracle_wait wait;         /* the wait in flight, without ns and count */
    uint64_t wait_begin_ns;          /* CLOCK_MONOTONIC */
    size_t first_wait, wait_count;   /* its finished waits in the snapshot's waits[] */
    bool has_clock; /* whether the operating system's times of its process are known: */
    uint64_t cpu_ns, run_queue_ns;
    uint64_t db_time_ns, db_cpu_ns; /* by the database; written about every 5 s */
    int64_t reported_queue_ns;      /* for oracle_times.c; INT64_MIN: unknown */
    bool is_new;                    /* started since the snapshot before */
};

struct oracle_snapshot {
    struct oracle_session *sessions; /* [count], by sid */
    size_t count, capacity;
    struct oracle_wait *waits; /* [wait_count], by sid, then oracle_wait_compare() */
    size_t wait_count, wait_capacity;
    uint64_t at_ns;        /* CLOCK_MONOTONIC: when the finished waits were read */
    int64_t wall_clock_ns; /* CLOCK_REALTIME of the same moment */
};

/* oracle_statements.c: the prepared statements of a snapshot. */
struct oracle_statements {
    struct odbc_statement *sessions, *waits, *model;
    bool is_local; /* the server runs on this machine, by its host name */
};

/* Fails as odbc_connection.h. Call oracle_statements_close() in any case. */
int oracle_statements_open(struct oracle_statements *ret, struct odbc_connection *connection,
                           bool background, struct camp_error *error);
void oracle_statements_close(struct oracle_statements *statements);

/* Copies a value as a string, cut if too long; "" if there is no such column. */
void oracle_text_copy(const struct row *row, size_t column, char *ret, size_t size);

void oracle_snapshot_release(struct oracle_snapshot *snapshot);

/* Fills *snapshot, replacing its contents. Without `use_clock` no process is read. */
int oracle_snapshot_read(struct oracle_snapshot *snapshot, struct oracle_statements *statements,
                         bool use_clock, struct camp_error *error);
