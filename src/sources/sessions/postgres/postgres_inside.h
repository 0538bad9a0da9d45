/* Shared by the files of the PostgreSQL source: postgres.c (tiers and intervals), postgres_rows.c
 * (rows by tier) and postgres_memory_samples.c (samples of memory). */
#pragma once

#include "backend_accounts.h"
#include "postgres_events.h"
#include "postgres_layout.h"
#include "postgres_memory.h"
#include "postgres_registry.h"
#include "postgres_sampler.h"
#include "sources/sessions/session.h"
#include "sources/source.h"

enum postgres_tier {
    POSTGRES_BPF,    /* measured: wait event and activity are read in the kernel at each switch */
    POSTGRES_MEMORY, /* schedstat, and samples of the shared memory */
    POSTGRES_GATED,  /* schedstat, and samples of pg_stat_activity when a session sleeps */
    POSTGRES_SQL,    /* samples of pg_stat_activity alone: a server on another machine */
    POSTGRES_TIERS
};

/* Samples of the server's memory, taken between the snapshots by SQL. */
struct postgres_memory_samples {
    struct postgres_memory *memory;
    struct postgres_backend *backends;  /* [capacity] */
    struct postgres_backend *later;     /* [capacity]: read again after the states of their tasks */
    struct session_sample *samples;     /* [capacity] */
    char (*names)[POSTGRES_EVENT_SIZE]; /* [capacity]: of events without a name */
    size_t capacity;
    struct sampled_times times;
    uint64_t period_ns, next_ns, cost_ns; /* cost_ns: CPU time of one sample; 0: unknown */
};

struct postgres_source {
    struct source source; /* first: a postgres_source is a source */
    char *conninfo;
    const volatile sig_atomic_t *stop;
    bool background;
    enum postgres_tier tier;
    struct postgres_sampler *sampler;
    const struct sampled_times *reported; /* by the sampler, through SQL */
    struct postgres_registry registry;
    struct postgres_events events;
    struct postgres_layout layout; /* for the tiers that read memory */
    struct backends *backends;     /* for POSTGRES_BPF */
    struct backend_accounts accounts;
    struct backends_losses losses;                 /* as of the last snapshot */
    struct postgres_memory_samples memory_samples; /* for POSTGRES_MEMORY */
    struct session_frame sessions;
    struct session_time *times; /* [time_capacity]: of the current row */
    size_t time_capacity;
    char (*names)[POSTGRES_EVENT_SIZE]; /* [time_capacity]: of events without a name */
    uint64_t end_ns;                    /* of the last interval */
    uint64_t snapshots;                 /* by SQL, at the end of the last interval */
    uint64_t connections;               /* by SQL, when the tier was set up */
    char note[FRAME_NOTE_SIZE];         /* of the current interval */
};

/* Add the rows of the interval to sessions.frame, which the caller has started. CAMP_OK or
 * CAMP_E_NOMEM. */
int postgres_rows_of_accounts(struct postgres_source *source);
int postgres_rows_of_samples(struct postgres_source *source);

/* Resolves names of events: compares a snapshot by SQL with memory read right after it. A failure
 * only means that fewer names are known. */
void postgres_memory_samples_name_events(struct postgres_source *source,
                                         const struct postgres_snapshot *snapshot);

/* Samples until then instead of sleeping. */
void postgres_memory_samples_until(struct postgres_source *source, uint64_t until_ns);

/* Takes the last sample of the interval; returns its time, the end of the interval. */
uint64_t postgres_memory_samples_end(struct postgres_source *source);

int postgres_memory_samples_open(struct postgres_source *source, struct camp_error *error);
void postgres_memory_samples_close(struct postgres_source *source);

/* Whether the task of a session sleeps now. Called by the sampler right after a snapshot. */
bool postgres_is_asleep(void *context, int32_t pid, int64_t start_us);

/* The name of an activity in the rules: "idle", "idle_in_transaction" ... */
const char *postgres_activity_name(const struct postgres_layout *layout, uint32_t code);
