/*
 * Looks at a PostgreSQL server's sessions at a rate, made to times (sampled_times.h).
 *
 * It holds itself to 1 % of one CPU: a snapshot's cost is this thread's CPU time for it, and that
 * of our backend where the server is on this machine; when snapshots at the wished rate would cost
 * more, they become fewer, and the rate says so.
 */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_SAMPLER_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_SAMPLER_H

#include "postgres_sessions.h"
#include "sources/sessions/sampled_times.h"

#define SAMPLER_RATE 10.0  /* snapshots a second, where nothing else is wished */
#define SAMPLER_SHARE 0.01 /* of one CPU */

struct postgres_sampler_options {
    struct postgres_options sessions;
    double rate; /* snapshots a second, at most; 0: SAMPLER_RATE */
    /* Whether the task is asleep now, by the operating system (not R in /proc/PID/stat); asked for
     * each session of a local server right after a snapshot. NULL: all that wait count as asleep.
     */
    bool (*is_asleep)(void *context, int32_t pid, int64_t start_us);
    /* Called with each snapshot, before its sessions are asked for: whole at the end of an
     * interval, and right after one in which somebody is new. CAMP_OK or CAMP_E_NOMEM. NULL: not.
     */
    int (*on_snapshot)(void *context, const struct postgres_snapshot *snapshot, bool is_local);
    /* Waits until then or *stop, in between two snapshots; NULL: it sleeps. */
    void (*wait)(void *context, uint64_t until_ns);
    void *context;
    const volatile sig_atomic_t *stop;
};

struct postgres_sampler_facts {
    double rate;          /* snapshots a second, now */
    double share;         /* of one CPU that they take */
    uint64_t snapshot_ns; /* what one costs */
    bool is_local;        /* the server's processes are of this machine */
    bool is_connected;
    size_t hidden; /* sessions that may not be seen, at the last snapshot that was answered */
    struct postgres_client_facts client;
    char failure[CAMP_ERROR_SIZE]; /* the first since the interval began: its cause; "": none */
};

struct postgres_sampler;

/* As postgres_sessions_open(); then a first snapshot. Where sessions are hidden it still is
 * CAMP_OK. */
int postgres_sampler_open(const char *conninfo, const struct postgres_sampler_options *options,
                          struct postgres_sampler **ret, struct camp_error *error);
void postgres_sampler_close(struct postgres_sampler *sampler);

/* An interval, until `deadline_ns` (CLOCK_MONOTONIC) or *stop: its last snapshot is at its end.
 * Returns its end in *ret_end_ns: the time of that snapshot, or `deadline_ns` where the server did
 * not answer, which is no failure: the facts name it, and the next interval tries again. CAMP_OK or
 * CAMP_E_NOMEM. */
int postgres_sampler_next(struct postgres_sampler *sampler, uint64_t deadline_ns,
                          uint64_t *ret_end_ns, struct camp_error *error);

/* What each session did in the interval; until the next one. Their labels are postgres_labels;
 * names are asked for at the end of an interval, and once more when somebody is new. */
const struct sampled_times *postgres_sampler_times(const struct postgres_sampler *sampler);

/* The last snapshot; NULL: the last attempt failed. */
const struct postgres_snapshot *postgres_sampler_snapshot(const struct postgres_sampler *sampler);

void postgres_sampler_facts(const struct postgres_sampler *sampler,
                            struct postgres_sampler_facts *ret);

/* The time between two snapshots that cost so much each, at a wished one. Pure. */
uint64_t postgres_sampler_period_ns(uint64_t wanted_ns, uint64_t snapshot_ns);

#endif
