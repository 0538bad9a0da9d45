/*
 * Snapshots of a PostgreSQL server's sessions at a rate, converted to times (sampled_times.h).
 *
 * The sampler limits itself to 1 % of one CPU: the cost of a snapshot is the CPU time of this
 * thread, and of camp's backend if the server is on this machine. If snapshots at the wanted rate
 * would cost more, they become fewer, and the reported rate says so.
 */
#pragma once

#include "postgres_sessions.h"
#include "sources/sessions/sampled_times.h"

#define SAMPLER_RATE 10.0  /* default snapshots per second */
#define SAMPLER_SHARE 0.01 /* of one CPU */

struct postgres_sampler_options {
    struct postgres_options sessions;
    double rate; /* snapshots per second at most; 0: SAMPLER_RATE */
    /* Whether the operating system has the task asleep (not R in /proc/PID/stat); called for each
     * session of a local server right after a snapshot. NULL: a waiting session counts as
     * asleep. */
    bool (*is_asleep)(void *context, int32_t pid, int64_t start_us);
    /* Called with each snapshot, before is_asleep(). The snapshot is whole at the end of an
     * interval, and right after one with new sessions. CAMP_OK or CAMP_E_NOMEM. NULL: not
     * called. */
    int (*on_snapshot)(void *context, const struct postgres_snapshot *snapshot, bool is_local);
    /* Waits until then or *stop between two snapshots; NULL: the sampler sleeps. */
    void (*wait)(void *context, uint64_t until_ns);
    void *context;
    const volatile sig_atomic_t *stop;
};

struct postgres_sampler_facts {
    double rate;          /* actual snapshots per second */
    double share;         /* of one CPU, used by them */
    uint64_t snapshot_ns; /* cost of one */
    bool is_local;        /* the server's processes are of this machine */
    bool is_connected;
    size_t hidden; /* sessions hidden from this role, at the last answered snapshot */
    struct postgres_client_facts client;
    char failure[CAMP_ERROR_SIZE]; /* the first of the interval, with its cause; "": none */
};

struct postgres_sampler;

/* As postgres_sessions_open(); then a first snapshot. Hidden sessions are no failure. */
int postgres_sampler_open(const char *conninfo, const struct postgres_sampler_options *options,
                          struct postgres_sampler **ret, struct camp_error *error);
void postgres_sampler_close(struct postgres_sampler *sampler);

/* Samples an interval, until `deadline_ns` (CLOCK_MONOTONIC) or *stop; the last snapshot is at its
 * end. *ret_end_ns: the time of that snapshot, or `deadline_ns` if the server did not answer. That
 * is no failure: the facts name it, and the next interval tries again. CAMP_OK or CAMP_E_NOMEM. */
int postgres_sampler_next(struct postgres_sampler *sampler, uint64_t deadline_ns,
                          uint64_t *ret_end_ns, struct camp_error *error);

/* What each session did in the interval; valid until the next one. Labels are postgres_labels;
 * names come at the end of an interval, and after a snapshot with new sessions. */
const struct sampled_times *postgres_sampler_times(const struct postgres_sampler *sampler);

/* The last snapshot; NULL: the last attempt failed. */
const struct postgres_snapshot *postgres_sampler_snapshot(const struct postgres_sampler *sampler);

void postgres_sampler_facts(const struct postgres_sampler *sampler,
                            struct postgres_sampler_facts *ret);

/* The time between two snapshots of this cost, at a wanted period. Pure. */
uint64_t postgres_sampler_period_ns(uint64_t wanted_ns, uint64_t snapshot_ns);
