/*
 * A look at the sessions of an Oracle database: v$session, v$session_event, v$sess_time_model.
 *
 * v$session_event has the waits that have finished; what a session waits for now is in v$session
 * alone, and may last for hours. The two cannot be read at one moment: v$ views are not consistent
 * in time. So v$session is read before and after v$session_event. A wait that the second reading
 * shows to have begun before the finished ones were read was in flight then for certain. One that
 * only the first reading shows ended in between, before or behind the finished ones: whether they
 * have it, their number says (oracle_times.h). The second reading also says whether it is still
 * the same session: v$session_event knows sessions by their sid alone, which is given away again.
 */
#ifndef CAMP_SOURCES_SESSIONS_ODBC_ORACLE_LOOK_H
#define CAMP_SOURCES_SESSIONS_ODBC_ORACLE_LOOK_H

#include "oracle_texts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event of a session; blanks are _. */
struct oracle_wait {
    int64_t sid;
    char class[ORACLE_NAME_SIZE], event[ORACLE_NAME_SIZE];
    uint64_t ns, count; /* of those that have finished, since the session began */
};

/* By class and event: for two waits of one session. */
int oracle_wait_compare(const struct oracle_wait *left, const struct oracle_wait *right);

enum oracle_certainty {
    ORACLE_NO_WAIT,     /* nothing was in flight */
    ORACLE_IN_FLIGHT,   /* when the finished ones were read */
    ORACLE_MAY_BE_ENDED /* by then; oracle_times_settle() */
};

struct oracle_session {
    int64_t sid;
    char serial[24], logon[40]; /* with the sid, who it is */
    char user[ORACLE_NAME_SIZE], program[ORACLE_NAME_SIZE], machine[ORACLE_NAME_SIZE],
        module[ORACLE_NAME_SIZE];
    char status[ORACLE_NAME_SIZE], type[ORACLE_NAME_SIZE]; /* "active", "user" */
    int32_t spid;                    /* of the server's process; 0: none, or not on this machine */
    enum oracle_certainty certainty; /* of the wait in flight */
    struct oracle_wait wait;         /* it, without ns and count */
    uint64_t wait_begin_ns;          /* CLOCK_MONOTONIC */
    size_t first_wait, wait_count;   /* of the look's */
    bool has_clock;                  /* by the operating system, of the process of its own: */
    uint64_t cpu_ns, run_queue_ns;
    uint64_t db_time_ns, db_cpu_ns; /* by the database; written down every 5 s or so */
    int64_t reported_queue_ns;      /* oracle_times.c; INT64_MIN: not known yet */
    bool is_new;                    /* began since the look before */
};

struct oracle_look {
    struct oracle_session *sessions; /* [count], by sid */
    size_t count, capacity;
    struct oracle_wait *waits; /* [wait_count], by sid, then oracle_wait_compare() */
    size_t wait_count, wait_capacity;
    uint64_t at_ns;        /* CLOCK_MONOTONIC: when the finished waits were read */
    int64_t wall_clock_ns; /* the same moment */
};

void oracle_look_release(struct oracle_look *look);

/* Fills *look, whatever it held. Without `use_clock` no process is looked at. */
int oracle_look_read(struct oracle_look *look, struct oracle_texts *texts, bool use_clock,
                     struct camp_error *error);

#endif
