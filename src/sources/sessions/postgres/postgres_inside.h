/* Shared by the files of the PostgreSQL source: postgres.c (tiers and intervals), postgres_rows.c
 * (rows by tier), postgres_sampler.c (samples by SQL) and postgres_memory_samples.c (samples of
 * memory). */
#pragma once

#include "backend_accounts.h"
#include "postgres_client.h"
#include "postgres_events.h"
#include "postgres_layout.h"
#include "postgres_memory.h"
#include "postgres_registry.h"
#include "sources/sessions/sampled_times.h"
#include "sources/sessions/session.h"
#include "sources/source.h"

enum postgres_tier {
    POSTGRES_BPF,    /* measured: wait event and activity are read in the kernel at each switch */
    POSTGRES_MEMORY, /* schedstat, and samples of the shared memory */
    POSTGRES_GATED,  /* schedstat, and samples of pg_stat_activity while a session sleeps */
    POSTGRES_SQL,    /* samples of pg_stat_activity alone: a server on another machine */
    POSTGRES_TIERS
};

/* The time between two samples: as wanted, or longer, so that samples use at most 1 % of one CPU.
 */
struct postgres_pace {
    uint64_t wanted_ns, period_ns;
    uint64_t next_ns; /* when the next sample is due */
    uint64_t cost_ns; /* CPU time of one sample, smoothed; 0: unknown */
};

/* Samples by SQL. A snapshot costs CPU time of this thread, and of camp's backend if the server is
 * on this machine. */
struct postgres_sampler {
    struct postgres_client *client;
    const struct postgres_snapshot *snapshot; /* the last snapshot; NULL: the last attempt failed */
    struct sampled_times times;
    struct session_sample *samples; /* [capacity] */
    size_t capacity;
    struct postgres_pace pace;
    uint64_t end_ns;     /* of the last interval */
    uint64_t backend_ns; /* CPU time of camp's backend, at the last snapshot */
    uint64_t connection; /* connection of the last snapshot; a new connection has another backend */
    size_t hidden;       /* sessions hidden from this role, at the last snapshot */
    char failure[CAMP_ERROR_SIZE]; /* the first failure of the interval, with its cause; "": none */
};

/* Samples of the server's memory, taken between the snapshots by SQL. */
struct postgres_memory_samples {
    bool is_open;
    struct postgres_process **processes; /* [capacity], from the registry */
    struct postgres_backend *backends;   /* [capacity], those of `processes` */
    struct postgres_backend *later;     /* [capacity]: read again after the states of their tasks */
    struct session_sample *samples;     /* [capacity] */
    char (*names)[POSTGRES_EVENT_SIZE]; /* [capacity]: texts for events without a name */
    size_t capacity;
    struct sampled_times times;
    struct postgres_pace pace;
};

struct postgres_source {
    struct source source; /* must be first: a pointer to it is cast */
    char *conninfo;
    const volatile sig_atomic_t *stop;
    bool background;
    enum postgres_tier tier;
    struct postgres_sampler sampler;
    struct postgres_registry registry;
    struct postgres_events events;
    struct postgres_layout layout; /* for the tiers that read memory */
    struct backends *backends;     /* for POSTGRES_BPF */
    struct backend_accounts accounts;
    struct backends_losses losses;                 /* as of the last snapshot */
    struct postgres_memory_samples memory_samples; /* for POSTGRES_MEMORY */
    struct session_frame sessions;
    struct session_time *times; /* [time_capacity]: the times of the current row */
    size_t time_capacity;
    char (*names)[POSTGRES_EVENT_SIZE]; /* [time_capacity]: texts for events without a name */
    uint64_t end_ns;                    /* of the last interval */
    uint64_t snapshots;         /* number of snapshots by SQL at the end of the last interval */
    uint64_t connection;        /* the connection when the tier was set up */
    char note[FRAME_NOTE_SIZE]; /* the note of the current interval */
};

/* Add the rows of the interval to sessions.frame, which the caller has started. CAMP_OK or
 * CAMP_E_NOMEM. */
int postgres_rows_of_accounts(struct postgres_source *source);
int postgres_rows_of_samples(struct postgres_source *source);

/* Updates the pace by the CPU time of a sample. */
void postgres_pace_update(struct postgres_pace *pace, uint64_t cost_ns);

/* Connects, then takes a first snapshot. Hidden sessions are no failure. Fails as
 * postgres_client_open(). */
int postgres_sampler_open(struct postgres_source *source, bool queries, struct camp_error *error);
void postgres_sampler_close(struct postgres_source *source);

/* Samples an interval, until `deadline_ns` (CLOCK_MONOTONIC) or *stop; the last snapshot is at its
 * end: sampler.end_ns is the time of that snapshot, or `deadline_ns` if the server did not answer.
 * A missing answer is CAMP_OK, too: sampler.failure names it, and the next interval tries again.
 * CAMP_OK or CAMP_E_NOMEM. Until the next interval, sampler.times has what each session did. */
int postgres_sampler_next(struct postgres_source *source, uint64_t deadline_ns,
                          struct camp_error *error);

/* Resolves names of events: compares a snapshot by SQL with memory read right after it. A failure
 * only means that fewer names are known. */
void postgres_memory_samples_name_events(struct postgres_source *source,
                                         const struct postgres_snapshot *snapshot);

/* Takes samples until `until_ns`, where other tiers sleep. */
void postgres_memory_samples_until(struct postgres_source *source, uint64_t until_ns);

/* Takes the last sample of the interval; returns its time, the end of the interval. */
uint64_t postgres_memory_samples_end(struct postgres_source *source);

void postgres_memory_samples_open(struct postgres_source *source);
void postgres_memory_samples_close(struct postgres_source *source);

/* Whether the task of a session sleeps now: it is not R in /proc/PID/stat. */
bool postgres_is_asleep(struct postgres_process *process);

/* Returns the name of an activity in the rules: "idle", "idle_in_transaction" ... */
const char *postgres_activity_name(const struct postgres_layout *layout, uint32_t code);
