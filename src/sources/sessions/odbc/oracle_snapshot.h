/*
 * A snapshot of the sessions of an Oracle database: v$session, v$session_event and
 * v$sess_time_model.
 *
 * v$session_event has finished waits. Only v$session has the current wait of a session, which may
 * last for hours. The views are not read at the same moment, so v$session is read both before and
 * after v$session_event.
 *
 * If the second reading has a wait that started before the finished waits were read, the wait was
 * in flight when they were read. If only the first reading has a wait, the wait may have ended
 * before or after the finished waits were read. Then the number of finished waits decides whether
 * they contain the wait (oracle_times.h).
 *
 * The second reading also shows whether the session is still the same, because v$session_event has
 * only the sid, which is used again.
 */
#pragma once

#include "odbc_connection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_NAME_SIZE 65

/* The waits of a session for one event. Names have _ for blanks. */
struct oracle_wait {
    int64_t sid;
    char class[ORACLE_NAME_SIZE], event[ORACLE_NAME_SIZE];
    uint64_t ns, count; /* of the finished waits since the session started */
};

/* Orders the waits of one session by class and event. */
int oracle_wait_compare(const struct oracle_wait *left, const struct oracle_wait *right);

enum oracle_certainty {
    ORACLE_NO_WAIT,
    ORACLE_IN_FLIGHT,   /* the wait was in flight when the finished waits were read */
    ORACLE_MAY_BE_ENDED /* only the first reading has the wait; oracle_times_fill() resolves it */
};

struct oracle_session {
    int64_t sid;
    char serial[24], logon[40]; /* identify the session together with the sid */
    char user[ORACLE_NAME_SIZE], program[ORACLE_NAME_SIZE], machine[ORACLE_NAME_SIZE],
        module[ORACLE_NAME_SIZE];
    char status[ORACLE_NAME_SIZE], type[ORACLE_NAME_SIZE]; /* such as "active" and "user" */
    /* Pid of the process that serves the session; 0 if there is none, or the server is remote. */
    int32_t spid;
    enum oracle_certainty certainty;
    struct oracle_wait wait;       /* the wait in flight, without its ns and count */
    uint64_t wait_begin_ns;        /* by CLOCK_MONOTONIC */
    size_t first_wait, wait_count; /* finished waits of the session in waits[] of the snapshot */
    bool has_clock;                /* cpu_ns and run_queue_ns of the process are known */
    uint64_t cpu_ns, run_queue_ns;
    uint64_t db_time_ns, db_cpu_ns; /* as the database reports them, about every 5 s */
    int64_t reported_queue_ns;      /* used by oracle_times.c only; INT64_MIN if unknown */
    bool is_new;                    /* the preceding snapshot does not have the session */
};

struct oracle_snapshot {
    struct oracle_session *sessions; /* [count], in the order of sids */
    size_t count, capacity;
    struct oracle_wait *waits; /* [wait_count], in the order of sids and oracle_wait_compare() */
    size_t wait_count, wait_capacity;
    uint64_t at_ns;        /* CLOCK_MONOTONIC when the finished waits were read */
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

/* Copies a value as a string, which is cut if it is too long. Copies "" if there is no such
 * column. */
void oracle_text_copy(const struct row *row, size_t column, char *ret, size_t size);

void oracle_snapshot_release(struct oracle_snapshot *snapshot);

/* Replaces the contents of *snapshot by a new snapshot. Without `use_clock` no process is read.
 * Errors are those of odbc_connection.h. */
int oracle_snapshot_read(struct oracle_snapshot *snapshot, struct oracle_statements *statements,
                         bool use_clock, struct camp_error *error);
