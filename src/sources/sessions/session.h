/*
 * Shared by all databases: the wall time of sessions in an interval, accounted to one frame by
 * rules (ledger/session_rules.h). A driver (postgres, mariadb, odbc) reports what each session did;
 * this file makes rows of it.
 *
 * The states are cpu, run_queue, contention, wait and idle. They are followed by a counter for each
 * column of the rules, named STATE_COLUMN_ns, which divides its state; with `detail` those columns
 * are the states themselves, after cpu and run_queue. Last come the times that the database itself
 * reports: reported_cpu_ns ... reported_idle_ns, where a driver knows them.
 *
 * If CPU and run queue are measured, and the rest of the time is divided in the proportion of
 * samples, the sum of the states is right by construction and proves nothing. For comparison,
 * sampled_asleep_ns is the time that the samples alone would have accounted.
 *
 * If states are sampled or scaled, the column "samples" is the number n of a session's samples: a
 * share p of them has the standard error sqrt(p (1 - p) / n).
 */
#pragma once

#include "ledger/frame.h"
#include "ledger/session_rules.h"

/* Time that a session was not on a CPU, named as in the database. */
struct session_time {
    struct session_kind kind;
    uint64_t ns;
};

/* A session in an interval. */
struct session {
    struct entity entity; /* id: unique among living sessions; pid: of the server's process or
                           * thread on this machine, 0: none */
    uint64_t elapsed_ns;  /* its own wall time in the interval, CLOCK_MONOTONIC */
    uint64_t cpu_ns;      /* by the operating system, or by the database if nothing else is known */
    uint64_t run_queue_ns;            /* by the operating system; 0 if unknown */
    const struct session_time *times; /* [time_count], in any order; a kind may recur */
    size_t time_count;
    uint64_t sampled_ns;   /* time off the CPUs by the samples alone, where `times` are scaled */
    uint64_t sample_count; /* samples in the interval, if `times` are sampled or scaled */
    /* The same interval as the database reports it: classes and events are matched by the same
     * rules; "active without an event" counts as CPU time. */
    uint64_t reported_ns[SESSION_STATE_COUNT];
};

/* The rules of each supported database: rules/NAME.rules, built in. */
extern const char session_rules_mariadb[];
extern const char session_rules_oracle[];
extern const char session_rules_postgres[];

/* Common to all frames of a source. */
struct session_plan {
    const char *name;                     /* name of the schema: "postgres" */
    bool detail;                          /* the columns of the rules are the states */
    bool has_reported;                    /* reported_ns is known */
    bool has_sampled;                     /* sampled_ns is known */
    enum camp_provenance cpu_provenance;  /* of cpu and run_queue */
    enum camp_provenance wait_provenance; /* of all others */
    const char *rules_path;               /* NULL: rules_text */
    const char *rules_text;               /* the built-in rules of the database */
    const char *const *label_names;       /* [label_count]; static */
    size_t label_count;
};

struct session_frame {
    struct session_rules rules;
    struct schema schema;
    struct column *columns; /* [schema.column_count]; owned, names and titles with them */
    bool detail;
    size_t first_rule_column, first_reported_column, sampled_column,
        samples_column; /* 0: no such column */
    struct frame frame;
    void *kinds; /* cache of matched kinds: tsearch(3) */
};

/* CAMP_OK; CAMP_E_INVALID: the rules cannot be read, `error` says where. Call
 * session_frame_release() in any case. `ret` must not move. */
int session_frame_init(struct session_frame *ret, const struct session_plan *plan,
                       struct camp_error *error);
void session_frame_release(struct session_frame *sessions);

/* Starts the frame of an interval. */
void session_frame_begin(struct session_frame *sessions, uint64_t start_ns, uint64_t end_ns,
                         int64_t wall_clock_ns);

/* Adds a row. CAMP_OK or CAMP_E_NOMEM. */
int session_frame_add(struct session_frame *sessions, const struct session *session);

/* Returns the state of a kind by the rules, for reported_ns. SESSION_STATE_COUNT: no rule matches,
 * so the time is unaccounted. */
enum session_state session_frame_state(struct session_frame *sessions,
                                       const struct session_kind *kind);
