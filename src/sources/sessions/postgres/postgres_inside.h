/* What the parts of the source of PostgreSQL sessions know of each other: postgres.c (tiers and
 * intervals), postgres_rows.c (what a session did, by each tier), postgres_memory_samples.c
 * (memory). */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_INSIDE_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_INSIDE_H

#include "backend_accounts.h"
#include "postgres_events.h"
#include "postgres_layout.h"
#include "postgres_memory.h"
#include "postgres_registry.h"
#include "postgres_sampler.h"
#include "sources/sessions/session.h"
#include "sources/source.h"

enum postgres_tier {
    POSTGRES_BPF,    /* each switch: wait event and activity read in the kernel */
    POSTGRES_MEMORY, /* schedstat, and samples of the shared memory */
    POSTGRES_GATED,  /* schedstat, and samples of pg_stat_activity */
    POSTGRES_SQL,    /* samples of pg_stat_activity alone: a server elsewhere */
    POSTGRES_TIERS
};

/* Samples of the server's memory, between those by SQL. */
struct postgres_memory_samples {
    struct postgres_memory *memory;
    struct postgres_backend *backends;  /* [capacity] */
    struct postgres_backend *later;     /* [capacity]: the same, read after their tasks' states */
    struct session_sample *samples;     /* [capacity] */
    char (*names)[POSTGRES_EVENT_SIZE]; /* [capacity] of events without one */
    size_t capacity;
    struct sampled_times times;
    uint64_t period_ns, next_ns, cost_ns; /* one takes so much CPU time; 0: not known yet */
};

struct postgres_source {
    struct source source; /* first: a postgres_source is a source */
    char *conninfo;
    const volatile sig_atomic_t *stop;
    bool background;
    enum postgres_tier tier;
    struct postgres_sampler *sampler;
    const struct sampled_times *reported; /* by SQL: the sampler's */
    struct postgres_registry registry;
    struct postgres_events events;
    struct postgres_layout layout; /* of the tiers that read memory */
    struct backends *backends;     /* of POSTGRES_BPF */
    struct backend_accounts accounts;
    struct backends_losses losses;                 /* as of the last snapshot */
    struct postgres_memory_samples memory_samples; /* of POSTGRES_MEMORY */
    struct session_frame sessions;
    struct session_time *times; /* [time_capacity]: of the row at hand */
    size_t time_capacity;
    char (*names)[POSTGRES_EVENT_SIZE]; /* [time_capacity]: of events without one */
    uint64_t end_ns;                    /* of the last interval */
    uint64_t snapshots;                 /* by SQL, when it ended */
    uint64_t connections;               /* by SQL, when the tier was set up */
    char note[FRAME_NOTE_SIZE];         /* of the interval at hand */
};

/* The interval's rows, into sessions.frame, which was begun. CAMP_OK or CAMP_E_NOMEM. */
int postgres_rows_of_accounts(struct postgres_source *source);
int postgres_rows_of_samples(struct postgres_source *source);

/* Learns names of events from a snapshot by SQL, and what memory says right after it. Failures are
 * none: there is less to learn from. */
void postgres_memory_samples_name_events(struct postgres_source *source,
                                         const struct postgres_snapshot *snapshot);

/* Samples until then, instead of sleeping. */
void postgres_memory_samples_until(struct postgres_source *source, uint64_t until_ns);

/* A last sample, which ends the interval: when that is. */
uint64_t postgres_memory_samples_end(struct postgres_source *source);

int postgres_memory_samples_open(struct postgres_source *source, struct camp_error *error);
void postgres_memory_samples_close(struct postgres_source *source);

/* Whether a session's task sleeps now; asked by the sampler, of a snapshot just taken. */
bool postgres_is_asleep(void *context, int32_t pid, int64_t start_us);

/* What an activity's number is called in the rules: "idle", "idle_in_transaction" ... */
const char *postgres_activity_name(const struct postgres_layout *layout, uint32_t code);

#endif
