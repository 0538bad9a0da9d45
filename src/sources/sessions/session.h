/*
 * Shared by all databases. A driver (postgres, mariadb, odbc) reports what each session did in an
 * interval. The functions here make the rows of a frame from the reports, by rules
 * (ledger/session_rules.h).
 *
 * The states are cpu, run_queue, contention, wait and idle. Each column of the rules adds a counter
 * STATE_COLUMN_ns, which is a part of its state. With `detail` the columns of the rules are the
 * states, after cpu and run_queue. Where a driver knows the times that the database itself reports,
 * the columns reported_cpu_ns ... reported_idle_ns follow.
 *
 * If CPU and run queue are measured and the samples only divide the other time, the states always
 * add up to the wall time, whatever the samples say. For comparison, sampled_asleep_ns is the time
 * asleep by the samples alone.
 *
 * If states are sampled or scaled, the column "samples" has the number n of a session's samples. A
 * share p of the samples has the standard error sqrt(p (1 - p) / n).
 */
#pragma once

#include "ledger/frame.h"
#include "ledger/session_rules.h"

/* Time that a session was not on a CPU, with the database's names for the reason. */
struct session_time {
    struct session_kind kind;
    uint64_t ns;
};

struct session {
    /* entity.id is unique among living sessions. entity.pid is the server's process or thread on
     * this machine, or 0. */
    struct entity entity;
    uint64_t elapsed_ns; /* the session's own wall time in the interval */
    /* by the operating system, or by the database if the system's count is unknown */
    uint64_t cpu_ns;
    uint64_t run_queue_ns; /* by the operating system, or 0 */
    /* [time_count], in any order; the same kind may occur several times */
    const struct session_time *times;
    size_t time_count;
    uint64_t sampled_ns;   /* time asleep by the samples alone, if `times` are scaled */
    uint64_t sample_count; /* number of samples in the interval, if `times` are sampled or scaled */
    /* The times of the same interval by the database's own report. The rules also assign these
     * times to states; an active session without an event counts as on a CPU. */
    uint64_t reported_ns[SESSION_STATE_COUNT];
};

/* made from rules/NAME.rules */
extern const char session_rules_mariadb[];
extern const char session_rules_oracle[];
extern const char session_rules_postgres[];

struct session_plan {
    const char *name; /* name of the schema, such as "postgres" */
    bool detail;      /* The columns of the rules are the states. */
    bool has_reported;
    bool has_sampled;
    enum camp_provenance cpu_provenance;  /* provenance of cpu and run_queue */
    enum camp_provenance wait_provenance; /* provenance of all other states */
    const char *rules_path;               /* NULL for the built-in rules in rules_text */
    const char *rules_text;
    const char *const *label_names; /* [label_count], static */
    size_t label_count;
};

struct session_frame {
    struct session_rules rules;
    struct schema schema;
    /* [schema.column_count], owned, with the names and titles of the columns */
    struct column *columns;
    bool detail;
    size_t first_rule_column, first_reported_column, sampled_column,
        samples_column; /* index of a column, or 0 if the frame has no such column */
    struct frame frame;
    void *kinds; /* cache of session_frame_state(), for tsearch(3) */
};

/* CAMP_E_IO if the file of rules cannot be read, CAMP_E_FORMAT with the line if a rule is wrong,
 * CAMP_E_NOMEM. The caller calls session_frame_release() even after a failure. `ret` must not move.
 */
int session_frame_init(struct session_frame *ret, const struct session_plan *plan,
                       struct camp_error *error);
void session_frame_release(struct session_frame *sessions);

void session_frame_begin(struct session_frame *sessions, uint64_t start_ns, uint64_t end_ns,
                         int64_t wall_clock_ns);

/* Adds a row. CAMP_OK or CAMP_E_NOMEM. */
int session_frame_add(struct session_frame *sessions, const struct session *session);

/* Returns the state of a kind by the rules, for reported_ns. Returns SESSION_STATE_COUNT if no rule
 * matches; the time is then unaccounted. */
enum session_state session_frame_state(struct session_frame *sessions,
                                       const struct session_kind *kind);
