/* Shared by the files of the PostgreSQL source: postgres.c (intervals), postgres_tier.c (the
 * tiers), postgres_rows.c (rows by tier), postgres_sampler.c (samples by SQL) and
 * postgres_memory_samples.c (samples of memory). */
#pragma once

#include "backend_accounts.h"
#include "postgres_client.h"
#include "postgres_events.h"
#include "postgres_layout.h"
#include "postgres_memory.h"
#include "postgres_registry.h"
#include "sources/session_facts.h"
#include "sources/sessions/child_exits.h"
#include "sources/sessions/postgres/lengths/postgres_lengths.h"
#include "sources/sessions/postgres/statements/backend_shares.h"
#include "sources/sessions/postgres/statements/postgres_counts.h"
#include "sources/sessions/postgres/statements/postgres_statements.h"
#include "sources/sessions/sampled_times.h"
#include "sources/sessions/session.h"
#include "sources/source.h"

enum postgres_tier {
    POSTGRES_BPF,    /* tier bpf (postgres.h) */
    POSTGRES_MEMORY, /* tier schedstat+memory */
    POSTGRES_GATED,  /* tier schedstat+SQL */
    POSTGRES_SQL,    /* tier SQL */
    POSTGRES_TIERS
};

struct postgres_tier_facts {
    const char *name;
    enum camp_provenance waits; /* how the times of waits are obtained */
};

extern const struct postgres_tier_facts postgres_tiers[POSTGRES_TIERS];

/* The time between two samples. period_ns is wanted_ns, or longer if samples would use more than 1
 * % of one CPU. */
struct postgres_pace {
    uint64_t wanted_ns, period_ns;
    uint64_t next_ns;
    uint64_t cost_ns; /* smoothed CPU time of one sample; 0 before the first sample */
};

/* Samples by SQL. Their cost is the CPU time of this thread, plus that of the backend of camp's
 * connection if the server runs on this machine. */
struct postgres_sampler {
    struct postgres_client *client;
    const struct postgres_snapshot *snapshot; /* NULL if the last attempt failed */
    struct sampled_times times;
    struct blocker_samples blockers;
    struct session_sample *samples;
    size_t capacity;
    struct postgres_pace pace;
    uint64_t end_ns;
    uint64_t names_until_ns;
    uint64_t backend_ns;
    uint64_t connection;
    size_t hidden;
    size_t untracked;              /* sessions whose track_activities is off */
    bool has_untracked_waits;      /* their wait events are known (version 14 and later) */
    char failure[CAMP_ERROR_SIZE]; /* first failure of the interval, or "" */
};

/* Samples of the server's memory, taken between the snapshots by SQL. */
struct postgres_memory_samples {
    bool is_open;
    struct postgres_process **processes; /* [capacity], pointers into the registry */
    struct postgres_backend *backends;   /* [capacity], in the order of `processes` */
    struct postgres_backend *later;      /* [capacity], the second reading of the backends */
    struct session_sample *samples;
    char (*names)[POSTGRES_EVENT_SIZE]; /* [capacity], texts for events without a known name */
    size_t capacity;
    struct sampled_times times;
    struct postgres_pace pace;
};

/* The part of a session's interval that it spent with one statement. */
struct postgres_part {
    int64_t statement; /* 0 for none, or POSTGRES_OTHER */
    uint64_t cpu_ns, run_queue_ns, throttled_ns, asleep_ns;
    uint64_t awake_ns; /* by samples that found the session awake */
    uint64_t sampled_ns, sample_count;
    bool has_lengths; /* sleeps of it have ended */
    uint64_t reported_ns[SESSION_STATE_COUNT];
};

/* stands for the statements of a session that the kernel had no place for */
#define POSTGRES_OTHER INT64_MIN

/* The interval of one session, divided by statement. */
struct postgres_parts {
    struct postgres_part *parts; /* [count] */
    size_t count, capacity;
    struct session_time *times; /* [time_capacity], those of one part */
    size_t time_capacity;
};

struct postgres_source {
    struct source source; /* must be first, because a pointer to it is cast */
    char *conninfo;
    const volatile sig_atomic_t *stop;
    bool background;
    /* The session's time is divided by statement; rows are of a session and a statement while
     * has_parts is set. */
    bool by_statement, has_parts;
    struct postgres_parts parts;
    bool queries; /* labels have the texts of statements */
    struct postgres_statements texts;
    struct postgres_counts counts;
    bool misses_texts; /* a part of the last interval has no text yet */
    enum postgres_tier tier;
    struct postgres_sampler sampler;
    struct postgres_registry registry;
    int32_t postmaster; /* 0 if unknown */
    /* open on the schedstat tiers; why_no_exits if it cannot be */
    struct child_exits exits;
    struct camp_error why_no_exits;
    struct postgres_events events;
    struct postgres_layout layout;
    /* Opened before the server is asked, and kept while the tier is bpf; otherwise NULL, and
     * `refusal` says why it could not be opened. */
    struct backends *backends;
    struct camp_error refusal;
    struct backend_accounts accounts;
    struct backends_losses losses;
    struct postgres_lengths lengths;
    struct postgres_memory_samples memory_samples;
    struct session_frame sessions;
    struct session_time *times; /* [time_capacity] */
    int64_t *statements;        /* [time_capacity] of each of `times` */
    size_t time_capacity;
    char (*names)[POSTGRES_EVENT_SIZE]; /* [time_capacity], texts for events without a known name */
    /* of the session that is added; a wait and its blocker, and at most one more for each wait */
    struct measured_block measured[BACKEND_BLOCKS + BACKEND_WAITS_MAX];
    uint64_t end_ns;
    uint64_t snapshots;  /* number of snapshots by SQL at the end of the last interval */
    uint64_t connection; /* number of the connection for which the tier was opened */
    char note[FRAME_NOTE_SIZE];
    struct session_facts facts; /* of the last whole snapshot; is_answered of the last question */
};

/* Fills source->facts, without is_answered, from a whole snapshot (postgres_facts.c). The registry
 * has the sessions of the snapshot. */
void postgres_facts_update(struct postgres_source *source,
                           const struct postgres_snapshot *snapshot);

/* Returns the state that the server reports: SESSION_CPU without a wait event, and
 * SESSION_STATE_COUNT if nothing is known of the session. */
enum session_state postgres_state(struct postgres_source *source, const struct session_kind *kind);

/* Both functions add the rows of the interval to source->sessions, after session_frame_begin().
 * CAMP_OK or CAMP_E_NOMEM. */
int postgres_rows_of_accounts(struct postgres_source *source);
int postgres_rows_of_samples(struct postgres_source *source);

/* Starts to divide the interval of a session. */
void postgres_parts_start(struct postgres_parts *parts);

/* Returns the part of a statement, or NULL if there is no memory. Earlier pointers become invalid.
 */
struct postgres_part *postgres_parts_get(struct postgres_parts *parts, int64_t statement);

/* Returns the member of a part for time that is no wait (backend_part_is_wait()). */
uint64_t *postgres_part_awake(struct postgres_part *part, const struct backend_part *of);

/* Sets the CPU and run-queue times of the parts to shares of those of the session, in proportion to
 * awake_ns. Without such samples they belong to no statement. CAMP_OK or CAMP_E_NOMEM. */
int postgres_parts_divide(struct postgres_parts *parts, const struct session *session);

/* Adds a row for each part of a session. session->times[i] is of the statement
 * source->statements[i]. Time of the session in no part gets a part without a statement. CAMP_OK or
 * CAMP_E_NOMEM. */
int postgres_parts_add_rows(struct postgres_source *source, const struct session *session);
void postgres_parts_release(struct postgres_parts *parts);

/* Returns the labels of a session with the text or the id of a statement. */
labels_id postgres_parts_labels(struct postgres_source *source, labels_id of_session,
                                int64_t statement);

/* Sets session->cpu_ns and run_queue_ns from the scheduler's counts since the last reading, or
 * since the session's start if the session is new. Of a session that has ended (is_ended) they are
 * in the kernel's exit record, which also says how long it lived: then sets session->elapsed_ns and
 * *ret_is_final. Returns false if the counts of this interval are unknown. */
bool postgres_clock_read(const struct postgres_source *source, struct postgres_process *process,
                         bool is_ended, struct session *session, bool *ret_is_final);

/* The postmaster is the parent of the backend that serves camp's own connection. */
int postgres_find_postmaster(const struct postgres_source *source, int32_t *ret,
                             struct camp_error *error);

/* Sets the range of tiers that --tier names, or of all tiers if `text` is NULL. CAMP_E_INVALID. */
int postgres_tier_parse(const char *text, enum postgres_tier *ret_first,
                        enum postgres_tier *ret_last, struct camp_error *error);

/* Opens the best available tier from `first` to `last`. *error is the failure of the first tier
 * that could not be opened, even if a later tier opens. */
int postgres_tier_open(struct postgres_source *source, enum postgres_tier first,
                       enum postgres_tier last, struct camp_error *error);
void postgres_tier_close(struct postgres_source *source);

/* Opens the tier again after a restart of the server, because the new postmaster has other
 * addresses. */
void postgres_tier_follow_restart(struct postgres_source *source);

/* Ends the programs in the kernel. */
void postgres_tier_close_backends(struct postgres_source *source);

void postgres_pace_update(struct postgres_pace *pace, uint64_t cost_ns);

/* Connects and takes a first snapshot. Hidden sessions (postgres_snapshot.h) are no failure. Errors
 * are those of postgres_client_open(). */
int postgres_sampler_open(struct postgres_source *source, const struct postgres_contents *contents,
                          struct camp_error *error);
void postgres_sampler_close(struct postgres_source *source);

/* Takes the samples of an interval, until `deadline_ns` (CLOCK_MONOTONIC) or until *stop is set.
 * Afterwards sampler.times has the times of each session, and sampler.end_ns is the end of the
 * interval: the time of the last snapshot if the server answered. A missing answer is no failure:
 * sampler.failure has its reason, and the next interval tries again. CAMP_OK or CAMP_E_NOMEM. */
int postgres_sampler_next(struct postgres_source *source, uint64_t deadline_ns,
                          struct camp_error *error);
/* Returns whether this role may not see other sessions. If so, counts a session that ended before
 * a snapshot by SQL as hidden. */
bool postgres_sampler_hides(struct postgres_sampler *sampler);

/* Whether a session waits for a heavyweight lock, which pg_blocking_pids() knows. */
bool postgres_is_lock(const struct session_kind *kind);

/* Adds a snapshot to sampler.blockers. CAMP_OK or CAMP_E_NOMEM. */
int postgres_blockers_add(struct postgres_source *source, const struct postgres_snapshot *snapshot);

/* Fills the columns of the sessions that blocked others, after the last row of an interval. */
void postgres_blockers_end(struct postgres_source *source);

/* Finds the names of events by comparing a snapshot by SQL with memory that is read right after the
 * snapshot. A failure is ignored; it only leaves events without a name. */
void postgres_memory_samples_name_events(struct postgres_source *source,
                                         const struct postgres_snapshot *snapshot);

void postgres_memory_samples_until(struct postgres_source *source, uint64_t until_ns);

/* Takes the last sample of the interval. Returns the time of this sample, which is the end of the
 * interval. */
uint64_t postgres_memory_samples_end(struct postgres_source *source);

void postgres_memory_samples_open(struct postgres_source *source);
void postgres_memory_samples_close(struct postgres_source *source);

/* Returns true if the task of a session sleeps now: its state in /proc/PID/stat is not R. */
bool postgres_is_asleep(struct postgres_process *process);

/* Sets the event of a sample that found the task stopped. */
void postgres_mark_stopped(const struct postgres_process *process, struct session_sample *sample);

const char *postgres_activity_name(const struct postgres_layout *layout, uint32_t code);
