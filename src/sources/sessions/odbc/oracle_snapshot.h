/*
 * A snapshot of the sessions of an Oracle database: v$session, v$session_event and
 * v$sess_time_model.
 *
 * v$session_event counts only waits that have finished. The current wait of a session, which may
 * last for hours, is only in v$session. The two views cannot be read at the same moment, so
 * v$session is read twice: before and after v$session_event.
 *
 * - If the second reading of v$session has a wait that started before v$session_event was read,
 *   this wait was in flight (not finished) when v$session_event was read.
 * - If only the first reading has a wait, the wait may have ended before or after v$session_event
 *   was read. The number and the time of the finished waits then decide (oracle_times.h).
 *
 * The second reading also shows whether a sid still belongs to the same session. v$session_event
 * has only the sid, and sids are used again.
 */
#pragma once

#include "odbc_connection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_NAME_SIZE 65

/* The waits of a session for one event. Class and event have _ for blanks. */
struct oracle_wait {
    int64_t sid;
    char class[ORACLE_NAME_SIZE], event[ORACLE_NAME_SIZE];
    uint64_t ns, count; /* time and number of the finished waits since the session started */
};

/* Orders the waits of one session by class and event. */
int oracle_wait_compare(const struct oracle_wait *left, const struct oracle_wait *right);

enum oracle_certainty {
    ORACLE_NO_WAIT,
    ORACLE_IN_FLIGHT,   /* the wait was in flight when v$session_event was read */
    ORACLE_MAY_BE_ENDED /* only the first reading of v$session has the wait; resolved by
                           oracle_times_fill() */
};

struct oracle_session {
    int64_t sid;
    char serial[24], logon[40]; /* identify the session, together with the sid */
    char user[ORACLE_NAME_SIZE], program[ORACLE_NAME_SIZE], machine[ORACLE_NAME_SIZE],
        module[ORACLE_NAME_SIZE];
    char status[ORACLE_NAME_SIZE], type[ORACLE_NAME_SIZE]; /* such as "active" and "user" */
    /* Pid of the process that serves the session; 0 if there is none, or the server is remote. */
    int32_t spid;
    enum oracle_certainty certainty;
    struct oracle_wait wait;       /* the wait in flight; only class and event are set */
    uint64_t wait_begin_ns;        /* CLOCK_MONOTONIC */
    size_t first_wait, wait_count; /* the session's finished waits in oracle_snapshot.waits */
    bool has_clock;                /* cpu_ns and run_queue_ns of the process are known */
    uint64_t cpu_ns, run_queue_ns;
    uint64_t db_time_ns, db_cpu_ns; /* the database updates them about every 5 s */
    /* largest unexplained() so far (oracle_times.c); INT64_MIN if unknown */
    int64_t reported_queue_ns;
    bool is_new; /* the preceding snapshot does not have the session */
};

struct oracle_snapshot {
    struct oracle_session *sessions; /* [count], in the order of sids */
    size_t count, capacity;
    struct oracle_wait *waits; /* [wait_count], in the order of sids and oracle_wait_compare() */
    size_t wait_count, wait_capacity;
    uint64_t from_ns;      /* CLOCK_MONOTONIC when the reading of v$session_event began */
    uint64_t at_ns;        /* the middle of this reading */
    int64_t wall_clock_ns; /* CLOCK_REALTIME of the same moment */
};

/* The prepared statements of a snapshot (oracle_statements.c). */
struct oracle_statements {
    struct odbc_statement *sessions, *waits, *model;
    bool is_local; /* the server runs on this machine, judged by its host name */
};

/* Prepares the statements. Errors are those of odbc_connection.h. The caller calls
 * oracle_statements_close() also after a failure. */
int oracle_statements_open(struct oracle_statements *ret, struct odbc_connection *connection,
                           bool background, struct camp_error *error);
void oracle_statements_close(struct oracle_statements *statements);

/* Copies the value of a column to ret[size], cut if it is too long. Copies "" if there is no such
 * column. */
void oracle_text_copy(const struct row *row, size_t column, char *ret, size_t size);

void oracle_snapshot_release(struct oracle_snapshot *snapshot);

/* Replaces *snapshot by a new snapshot. Without `use_clock`, has_clock is false for all sessions.
 * Errors are those of odbc_connection.h. */
int oracle_snapshot_read(struct oracle_snapshot *snapshot, struct oracle_statements *statements,
                         bool use_clock, struct camp_error *error);
