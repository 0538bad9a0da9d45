/*
 * Makes the rows of a frame from what a driver (postgres, mariadb, odbc) reports of each session in
 * an interval. Rules (ledger/session_rules.h) assign the reported times to states and columns.
 *
 * The states are cpu, run_queue, contention, wait and idle, and with has_throttled also throttled,
 * after run_queue: the part of the time without a CPU in which a quota of CPU time was used up.
 * Each column that the rules name adds a counter STATE_COLUMN_ns, such as contention_row_lock_ns,
 * which is a part of the state. With `detail`, the states are instead cpu, run_queue and the
 * columns of the rules. If the database itself also reports times, they are in the columns
 * reported_cpu_ns to reported_idle_ns.
 *
 * If the labels have "blocker", the time that a session waited for locks is divided by the sessions
 * that blocked it (blocker_samples.h). Its row has the one that blocked it longest, blocked_ns is
 * the time of that one, and the rest of the contention is of others or unknown. Divided by blocker,
 * a session has a row for each of its blockers, one for unknown blockers ("unknown"), and one for
 * the rest of its time; they add up to the session. In both forms blocking_ns is how long a session
 * blocked others, added up over these. If the driver measures which session ended a wait, that wait
 * is not divided by samples; blocked_measured_ns is the measured part of blocked_ns.
 *
 * Divided by wait event, a session has a row for each event in which it waited, such as
 * "Lock/transactionid", and one without an event for the rest of its time: on a CPU, in the run
 * queue, asleep without an event, and unaccounted. A second frame, `events`, may have these rows
 * beside whole sessions; they have no blockers.
 *
 * If CPU and run queue are measured and samples only divide the remaining time, the states always
 * add up to the wall time, whatever the samples say. For comparison, sampled_asleep_ns is the time
 * asleep by the samples alone.
 *
 * If the lengths of sleeps are known, a row has columns of those that ended in the interval
 * (session_lengths.h). Idle sleeps count only where sessions are divided by wait event: elsewhere
 * they would hide all others.
 *
 * If the database counts the calls of statements, a row without time has the counts of a statement,
 * in the columns reported_calls to reported_lost.
 *
 * If states are sampled or scaled, the column "samples" has the number n of a session's samples. A
 * share p of the samples has the standard error sqrt(p (1 - p) / n).
 */
#pragma once

#include "blocker_samples.h"
#include "ledger/frame.h"
#include "ledger/index.h"
#include "ledger/session_rules.h"
#include "sources/source.h"
#include "statement_counts.h"

/* How long a session did what `kind` describes. The rules assign this time to a state. */
struct session_time {
    struct session_kind kind;
    uint64_t ns;
};

/* Element n counts sleeps of at least 2^(n + SESSION_LENGTHS_FIRST) ns, and below twice as much.
 * The first one also has those that were shorter, the last one those that were longer. */
#define SESSION_LENGTHS_FIRST 10
#define SESSION_LENGTHS 31

/* The sleeps of a session, with one wait event and activity, that ended in the interval. */
struct session_lengths {
    struct session_kind kind;
    uint64_t ns; /* sum of their lengths */
    uint64_t longest_ns;
    int64_t longest_wall_clock_ns; /* wall clock at the end of the longest, in ns since 1970 */
    const uint64_t *counts;        /* [SESSION_LENGTHS] */
};

/* A part of the time session.times[time] that the session waited for another one. */
struct measured_block {
    size_t time;
    struct block block;
};

struct session {
    /* entity.id is unique among living sessions. entity.pid is the process or thread that serves
     * the session, or 0 if the server is not on this machine. */
    struct entity entity;
    uint64_t elapsed_ns; /* the session's own wall time in the interval */
    /* by the operating system; by the database if the operating system does not count it */
    uint64_t cpu_ns;
    uint64_t run_queue_ns; /* by the operating system; 0 if unknown */
    uint64_t throttled_ns; /* not in run_queue_ns, if the frame has_throttled; otherwise 0 */
    /* [time_count], in any order; the same kind may occur several times */
    const struct session_time *times;
    size_t time_count;
    const struct session_lengths *lengths; /* [lengths_count] if the frame has_lengths */
    size_t lengths_count;
    uint64_t sampled_ns;   /* time asleep by the samples alone, if `times` are scaled */
    uint64_t sample_count; /* number of samples in the interval, if `times` are sampled or scaled */
    /* Times in the interval as the database itself reports them, indexed by enum session_state. */
    uint64_t reported_ns[SESSION_STATE_COUNT];
    int64_t start; /* of the session in session_frame.blockers */
    /* [measured_count] the sessions that ended its waits for locks, as far as measured. The parts
     * of a time add up to at most that time; the rest is divided by samples. */
    const struct measured_block *measured;
    size_t measured_count;
    bool waits_for_lock; /* at the end of the interval, if there may be `measured` */
    /* A row for a statement instead of a session, without time: the database's own counts of the
     * statement in the interval. NULL in the row of a session. */
    const struct statement_growth *growth;
};

/* Labels of sources that have blockers, in this order. The first two are pids of the server,
 * or "prepared" for a prepared transaction. The third is what a session does that blocks others. */
#define SESSION_LABELS_OF_BLOCKERS                                                                 \
    SOURCE_LABEL_BLOCKER, SOURCE_LABEL_ROOT_BLOCKER, SOURCE_LABEL_BLOCKING_ACTIVITY
/* Their number, and that of SOURCE_LABEL_WAIT_EVENT, which may be the last label of any source. */
#define SESSION_LABELS_MORE 4
#define SESSION_BLOCKER_PREPARED "prepared"
#define SESSION_BLOCKER_UNKNOWN "unknown"
enum session_label { SESSION_BLOCKER, SESSION_ROOT_BLOCKER, SESSION_BLOCKING_ACTIVITY };

/* the texts of rules/NAME.rules */
extern const char session_rules_mariadb[];
extern const char session_rules_oracle[];
extern const char session_rules_postgres[];

/* How the time of a session is divided into rows. */
enum session_division {
    SESSION_UNDIVIDED,
    SESSION_BY_STATEMENT, /* by the driver */
    SESSION_BY_BLOCKER,
    SESSION_BY_EVENT,
    SESSION_BY_EVENT_AND_BLOCKER,
    SESSION_EVENTS_BESIDE
};

static inline bool session_division_has_events(enum session_division division)
{
    return division == SESSION_BY_EVENT || division == SESSION_BY_EVENT_AND_BLOCKER;
}

static inline bool session_division_has_blockers(enum session_division division)
{
    return division == SESSION_BY_BLOCKER || division == SESSION_BY_EVENT_AND_BLOCKER;
}

/* Returns the division that source.set_division() asks for. */
enum session_division session_division_of(const char *label);

struct session_plan {
    const char *name;   /* name of the schema, such as "postgres" */
    bool detail;        /* the states are cpu, run_queue and the columns of the rules */
    bool has_throttled; /* sessions have throttled_ns */
    bool has_reported;
    bool has_sampled;
    bool has_counts;                     /* the database counts the calls of statements */
    bool has_lengths;                    /* sessions have `lengths` */
    bool has_planning;                   /* with has_counts: it reports their planning times, too */
    bool has_lock_time;                  /* with has_counts: and how long they waited for locks */
    enum camp_provenance cpu_provenance; /* provenance of cpu and run_queue */
    enum camp_provenance wait_provenance; /* provenance of all other states */
    const char *rules_path;               /* NULL for the built-in rules in rules_text */
    const char *rules_text;
    const char *const *label_names; /* [label_count], never freed */
    size_t label_count;
    /* Whether a session waits for a lock that another session holds; NULL if the labels have no
     * SESSION_LABELS_OF_BLOCKERS. */
    bool (*is_lock)(const struct session_kind *kind);
    /* The same, of locks of which samples have the blockers; NULL: of all. */
    bool (*is_sampled_lock)(const struct session_kind *kind);
    bool has_wakers; /* sessions have `measured` */
};

struct session_frame {
    struct session_rules rules;
    struct schema schema;
    /* [schema.column_count]; owns the texts of the rules' columns */
    struct column *columns;
    bool detail;
    size_t throttled_column, first_rule_column, first_reported_column, sampled_column,
        samples_column, first_count_column, planning_column, lock_column, first_length_column,
        blocked_column, blocking_column, blocking_activity_column,
        measured_column;        /* indexes of columns; 0 if the frame has no such column */
    size_t first_blocker_label; /* enum session_label, if there is blocked_column */
    size_t event_label;         /* label_count if there is no SOURCE_LABEL_WAIT_EVENT */
    bool (*is_lock)(const struct session_kind *kind);
    bool (*is_sampled_lock)(const struct session_kind *kind);
    struct blocker_samples *blockers; /* set by the driver; NULL if they are unknown */
    enum session_division division;
    struct blocks sampled;          /* of one session */
    struct session_block *blocks;   /* [block_count] of one session, also the measured ones */
    struct session_time *times;     /* [time_capacity] of one row by blocker */
    struct session_time *rest;      /* [rest_count] times in locks that are not measured */
    struct event_part *event_parts; /* [event_capacity] of one session */
    /* [event_capacity] of one row by wait event */
    struct session_time *event_times;
    struct session_lengths *event_lengths;
    struct measured_block *event_measured; /* [event_measured_capacity] of the same row */
    struct block *blockings; /* [blocking_count] each time that a session blocked another one */
    size_t time_capacity, rest_count, rest_capacity, block_count, block_capacity, event_capacity,
        event_measured_capacity, blocking_count, blocking_capacity;
    struct frame frame;
    struct frame events;      /* the rows by wait event of SESSION_EVENTS_BESIDE */
    struct known_kind *kinds; /* [kind_count], cache of session_frame_state() */
    size_t kind_count, kind_capacity;
    struct index kind_index;
};

/* CAMP_E_IO if the file of rules cannot be read, CAMP_E_FORMAT with the line if a rule is wrong,
 * CAMP_E_NOMEM. The caller calls session_frame_release() even after a failure. *ret must not be
 * moved, because it has pointers into itself. */
int session_frame_init(struct session_frame *ret, const struct session_plan *plan,
                       struct camp_error *error);
void session_frame_release(struct session_frame *sessions);

void session_frame_begin(struct session_frame *sessions, uint64_t start_ns, uint64_t end_ns,
                         int64_t wall_clock_ns);

/* Adds a row, or by `division` several. CAMP_OK or CAMP_E_NOMEM. */
int session_frame_add(struct session_frame *sessions, const struct session *session);

/* Returns the rows by wait event, or NULL if `division` is not SESSION_EVENTS_BESIDE. */
const struct frame *session_frame_beside(const struct session_frame *sessions);

/* Returns the number of CPUs of a server (from_facts.server_cpus), which is on this machine if
 * `is_local` is set; 0 if it is unknown. */
size_t session_server_cpus(bool is_local);

/* What a session does at the end of the interval, such as "idle_in_transaction", and how long it
 * has done so; NULL and 0 if this is unknown. */
struct session_activity {
    const char *name;
    uint64_t ns;
};

/* Ends the interval: after the last session, fills the columns of those that blocked others. Calls
 * `activity` for each of them. */
void session_frame_end(struct session_frame *sessions,
                       struct session_activity (*activity)(const void *context,
                                                           const struct entity *row),
                       const void *context);

/* Returns the state that the rules assign to a kind, or SESSION_STATE_COUNT if no rule matches.
 * Drivers use this function to fill reported_ns. */
enum session_state session_frame_state(struct session_frame *sessions,
                                       const struct session_kind *kind);
