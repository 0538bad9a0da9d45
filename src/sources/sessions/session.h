/*
 * What all databases have in common: sessions, whose wall time of an interval is booked by rules
 * (ledger/session_rules.h) to one frame. A driver (postgres, mariadb, odbc) says what each session
 * did; here it becomes rows.
 *
 * The states are cpu, run_queue, contention, wait and idle. Behind them is a counter for each
 * column of the rules, named STATE_COLUMN_ns, which tells what its state is made of; with `detail`
 * those columns are the states themselves, behind cpu and run_queue. At last comes what the
 * database itself says of the same sessions: reported_cpu_ns ... reported_idle_ns, where a driver
 * knows it.
 *
 * Where CPU and run queue are measured and the other states are what is left of the session's time,
 * divided in the proportion of samples, their sum is right by construction, and proves nothing:
 * sampled_asleep_ns is what the samples alone would have booked.
 *
 * Where states are sampled or scaled, looks is how many samples there were of a session: of n a
 * share p has the standard error sqrt(p (1 - p) / n).
 */
#ifndef CAMP_SOURCES_SESSIONS_SESSION_H
#define CAMP_SOURCES_SESSIONS_SESSION_H

#include "ledger/frame.h"
#include "ledger/session_rules.h"

/* Time of a session off the CPUs, by what the database calls it. */
struct session_time {
    struct session_kind kind;
    uint64_t ns;
};

/* A session in an interval. */
struct session {
    struct entity entity; /* id: what tells it from all others that live; pid: of the server's
                           * process or thread on this machine, 0: none */
    uint64_t elapsed_ns;  /* R: its own real time in the interval, CLOCK_MONOTONIC */
    uint64_t cpu_ns; /* of the operating system, or of the database where that is all there is */
    uint64_t run_queue_ns;            /* of the operating system; 0 where it is not known */
    const struct session_time *times; /* [time_count], any order; the same kind may come twice */
    size_t time_count;
    uint64_t sampled_ns;   /* off the CPUs by the samples alone, where `times` are scaled */
    uint64_t sample_count; /* that saw it in the interval, where `times` are sampled or scaled */
    /* The same interval as the database tells it: what it says of class and event is booked by the
     * same rules, and "active without an event" is on a CPU to it. */
    uint64_t reported_ns[SESSION_STATE_COUNT];
};

/* The rules of each database that camp knows: rules/NAME.rules, built in. */
extern const char session_rules_mariadb[];
extern const char session_rules_oracle[];
extern const char session_rules_postgres[];

/* What is the same in all frames of a source. */
struct session_plan {
    const char *name;                     /* of the schema: "postgres" */
    bool detail;                          /* the columns of the rules are the states */
    bool has_reported;                    /* there is what the database itself says */
    bool has_sampled;                     /* there is sampled_ns */
    enum camp_provenance cpu_provenance;  /* of cpu and run_queue */
    enum camp_provenance wait_provenance; /* of all others */
    const char *rules_path;               /* NULL: rules_text */
    const char *rules_text;               /* the database's own */
    const char *const *label_names;       /* [label_count]; static */
    size_t label_count;
};

struct session_frame {
    struct session_rules rules;
    struct schema schema;
    struct column *columns; /* [schema.column_count]; owned, names and titles with them */
    bool detail;
    size_t first_rule_column, first_reported_column, sampled_column,
        samples_column; /* 0: not there */
    struct frame frame;
    void *kinds; /* what was asked of the rules before: tsearch(3) */
};

/* CAMP_OK; CAMP_E_INVALID: the rules cannot be read, `error` says where. session_frame_release() in
 * any case. `ret` is not to be moved. */
int session_frame_init(struct session_frame *ret, const struct session_plan *plan,
                       struct camp_error *error);
void session_frame_release(struct session_frame *sessions);

/* Begins the frame of an interval: frame_clear(), and its times. */
void session_frame_begin(struct session_frame *sessions, uint64_t start_ns, uint64_t end_ns,
                         int64_t wall_clock_ns);

/* A row. CAMP_OK or CAMP_E_NOMEM. */
int session_frame_add(struct session_frame *sessions, const struct session *session);

/* The state that the rules book a kind to; SESSION_STATE_COUNT: none, it is unaccounted. For
 * reported_ns. */
enum session_state session_frame_state(struct session_frame *sessions,
                                       const struct session_kind *kind);

#endif
