#include "postgres_sampler.h"

#include "counters/error.h"
#include "counters/units.h"
#include "ledger/array.h"
#include "postgres_local.h"
#include "sources/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATE_NS                                                                                    \
    (50 * (uint64_t)NS_PER_MS) /* how long a snapshot may take, also at the interval's end */
#define LONGEST_NS                                                                                 \
    ((uint64_t)NS_PER_S) /* between two snapshots; or three periods, if that is longer */
#define SMOOTHING 8      /* of a snapshot's cost: an outlier changes it by 1/8 */

struct postgres_sampler {
    struct postgres_sampler_options options;
    struct postgres_sessions *sessions;
    const struct postgres_snapshot *snapshot;
    struct sampled_times times;
    struct session_sample *samples; /* [capacity] */
    size_t capacity;
    uint64_t wanted_ns, period_ns;
    uint64_t end_ns;  /* of the last interval */
    uint64_t next_ns; /* when the next snapshot is due */
    uint64_t snapshot_cost_ns;
    uint64_t backend_ns; /* CPU time of camp's backend, at the last snapshot */
    uint64_t connection; /* of the last snapshot; a new connection has another backend */
    bool is_local;
    size_t hidden; /* at the last snapshot */
    char failure[CAMP_ERROR_SIZE];
};

uint64_t postgres_sampler_period_ns(uint64_t wanted_ns, uint64_t snapshot_ns)
{
    const uint64_t least_ns = (uint64_t)((double)snapshot_ns / SAMPLER_SHARE);

    return least_ns > wanted_ns ? least_ns : wanted_ns;
}

/* -------------------------------------------------------------------------------- Cost -- */

/* CPU time of camp's backend since the last snapshot, if it runs on this machine. */
static uint64_t backend_cost_ns(struct postgres_sampler *sampler, bool is_same)
{
    const uint64_t before_ns = sampler->backend_ns;
    uint64_t ns = 0;

    if (!sampler->is_local || camp_pid_cpu_ns(sampler->snapshot->own_pid, &ns) != CAMP_OK)
        return 0;
    sampler->backend_ns = ns;
    return is_same ? counted_since(before_ns, ns) : 0;
}

static void update_cost(struct postgres_sampler *sampler, uint64_t ns)
{
    if (sampler->snapshot_cost_ns == 0)
        sampler->snapshot_cost_ns = ns;
    else
        sampler->snapshot_cost_ns = (sampler->snapshot_cost_ns * (SMOOTHING - 1) + ns) / SMOOTHING;
    sampler->period_ns = postgres_sampler_period_ns(sampler->wanted_ns, sampler->snapshot_cost_ns);
    sampler->times.longest_ns =
        3 * sampler->period_ns > LONGEST_NS ? 3 * sampler->period_ns : LONGEST_NS;
}

/* --------------------------------------------------------------------------------- Snapshots -- */

static bool is_waiting(const struct session_kind *kind)
{
    return strcmp(kind->texts[SESSION_CLASS], "none") != 0;
}

static bool is_asleep(const struct postgres_sampler *sampler,
                      const struct postgres_session *session)
{
    const struct postgres_sampler_options *options = &sampler->options;

    if (options->is_asleep == NULL || !sampler->is_local)
        return is_waiting(&session->kind);
    return options->is_asleep(options->context, session->pid, session->start_us);
}

static int add_samples(struct postgres_sampler *sampler, const struct postgres_snapshot *snapshot)
{
    if (!ARRAY_RESERVE(sampler->samples, sampler->capacity, snapshot->count))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct postgres_session *session = &snapshot->sessions[i];

        sampler->samples[i] = (struct session_sample){ session->pid, session->start_us,
                                                       postgres_session_start_ns(snapshot, session),
                                                       session->kind, is_asleep(sampler, session) };
    }
    return sampled_times_add(&sampler->times, postgres_snapshot_ns(snapshot), sampler->samples,
                             snapshot->count);
}

/* Whether the connection is that of the last snapshot. For a new one, checks whether the server is
 * local. */
static bool check_connection(struct postgres_sampler *sampler)
{
    struct postgres_client_facts facts;
    bool is_same;

    postgres_sessions_facts(sampler->sessions, &facts);
    is_same = facts.connections == sampler->connection;
    sampler->connection = facts.connections;
    if (!is_same)
        sampler->is_local =
            postgres_is_process(sampler->snapshot->own_pid, sampler->snapshot->own_start_us);
    return is_same;
}

/* Takes one snapshot, answered by `until_ns`. A failure of the server is kept for the facts, and
 * returns REMOTE_PENDING as well. CAMP_E_NOMEM is camp's. */
static int take_snapshot(struct postgres_sampler *sampler, bool whole, uint64_t until_ns,
                         struct camp_error *error)
{
    const uint64_t before_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    struct camp_error failure;
    bool is_same;
    int r =
        postgres_sessions_read(sampler->sessions, whole, until_ns, &sampler->snapshot, &failure);

    if (r != CAMP_OK) {
        sampler->snapshot = NULL;
        if (r != REMOTE_PENDING && sampler->failure[0] == '\0')
            snprintf(sampler->failure, sizeof sampler->failure, "%s", failure.message);
        return REMOTE_PENDING;
    }
    sampler->hidden = sampler->snapshot->hidden;
    is_same = check_connection(sampler);
    r = sampler->options.on_snapshot == NULL
            ? CAMP_OK
            : sampler->options.on_snapshot(sampler->options.context, sampler->snapshot,
                                           sampler->is_local);
    if (r == CAMP_OK)
        r = add_samples(sampler, sampler->snapshot);
    if (r != CAMP_OK)
        return camp_fail(error, r, 0, "no memory for the sessions");
    update_cost(sampler,
                now_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns + backend_cost_ns(sampler, is_same));
    return CAMP_OK;
}

/* -------------------------------------------------------------------------- Public functions -- */

int postgres_sampler_open(const char *conninfo, const struct postgres_sampler_options *options,
                          struct postgres_sampler **ret, struct camp_error *error)
{
    struct postgres_sampler *sampler = calloc(1, sizeof *sampler);
    uint64_t end_ns;
    int r;

    if (sampler == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the sessions");
    sampler->options = *options;
    sampler->wanted_ns = (uint64_t)(NS_PER_S / (options->rate > 0 ? options->rate : SAMPLER_RATE));
    sampled_times_init(&sampler->times, LONGEST_NS);
    sampler->period_ns = sampler->wanted_ns;
    r = postgres_sessions_open(conninfo, &options->sessions, options->stop, &sampler->sessions,
                               error);
    if (r == CAMP_OK)
        r = postgres_sampler_next(sampler, now_ns(CLOCK_MONOTONIC), &end_ns, error);
    if (r != CAMP_OK) {
        postgres_sampler_close(sampler);
        return r;
    }
    *ret = sampler;
    return CAMP_OK;
}

void postgres_sampler_close(struct postgres_sampler *sampler)
{
    if (sampler == NULL)
        return;
    postgres_sessions_close(sampler->sessions);
    sampled_times_release(&sampler->times);
    free(sampler->samples);
    free(sampler);
}

static bool is_stopped(const struct postgres_sampler *sampler)
{
    return *sampler->options.stop;
}

static void pause_until(const struct postgres_sampler *sampler, uint64_t until_ns)
{
    if (sampler->options.wait != NULL)
        sampler->options.wait(sampler->options.context, until_ns);
    else
        source_wait(until_ns, UINT64_MAX, sampler->options.stop);
}

/* Whether the last snapshot was brief and contained new sessions. */
static bool wants_names(const struct postgres_sampler *sampler)
{
    return sampler->snapshot != NULL && !sampler->snapshot->is_whole && sampler->times.arrived > 0;
}

/* Gives up soon on a server that does not answer, because pause_until() has other work. */
static uint64_t answer_deadline_ns(uint64_t deadline_ns)
{
    const uint64_t ns = now_ns(CLOCK_MONOTONIC) + LATE_NS;

    return ns < deadline_ns ? ns : deadline_ns;
}

/* Takes the snapshots due before the end. One due within half a period of the end is the last
 * one. */
static int take_snapshots_until(struct postgres_sampler *sampler, uint64_t deadline_ns,
                                struct camp_error *error)
{
    int r = CAMP_OK;

    while (sampler->next_ns + sampler->period_ns / 2 < deadline_ns && !is_stopped(sampler) &&
           r != CAMP_E_NOMEM) {
        pause_until(sampler, sampler->next_ns);
        r = take_snapshot(sampler, wants_names(sampler), answer_deadline_ns(deadline_ns), error);
        sampler->next_ns += sampler->period_ns;
        if (r != CAMP_OK || sampler->next_ns < now_ns(CLOCK_MONOTONIC))
            sampler->next_ns = now_ns(CLOCK_MONOTONIC); /* late: no burst of snapshots afterwards */
    }
    return r;
}

/* The snapshot that ends the interval. A lost connection is made again meanwhile. */
static int take_last_snapshot(struct postgres_sampler *sampler, uint64_t deadline_ns,
                              struct camp_error *error)
{
    uint64_t late_ns;
    int r;

    pause_until(sampler, deadline_ns);
    late_ns = now_ns(CLOCK_MONOTONIC) + LATE_NS;
    do
        r = take_snapshot(sampler, true, late_ns, error);
    while (r == REMOTE_PENDING && !is_stopped(sampler) && now_ns(CLOCK_MONOTONIC) < late_ns);
    return r;
}

/* The end of the interval. If the last sample is late, the interval ends at the one before it: the
 * time between the two belongs to the next interval, with samples at both of its ends. A server
 * that does not answer for longer does not delay the interval. */
static uint64_t end_of_interval(const struct postgres_sampler *sampler, int end_status,
                                uint64_t deadline_ns)
{
    const uint64_t sampled_ns = sampler->times.snapshot_ns;

    if (end_status == CAMP_OK)
        return postgres_snapshot_ns(sampler->snapshot);
    if (is_stopped(sampler))
        return now_ns(CLOCK_MONOTONIC);
    if (sampled_ns > sampler->end_ns && sampled_ns + 2 * sampler->period_ns > deadline_ns)
        return sampled_ns;
    return deadline_ns;
}

int postgres_sampler_next(struct postgres_sampler *sampler, uint64_t deadline_ns,
                          uint64_t *ret_end_ns, struct camp_error *error)
{
    int r;

    sampler->failure[0] = '\0';
    sampled_times_begin(&sampler->times, sampler->end_ns);
    r = take_snapshots_until(sampler, deadline_ns, error);
    if (r != CAMP_E_NOMEM)
        r = take_last_snapshot(sampler, deadline_ns, error);
    if (r == CAMP_E_NOMEM)
        return r;
    sampler->end_ns = end_of_interval(sampler, r, deadline_ns);
    sampled_times_end(&sampler->times, sampler->end_ns);
    sampler->next_ns = sampler->end_ns + sampler->period_ns;
    *ret_end_ns = sampler->end_ns;
    return CAMP_OK;
}

const struct sampled_times *postgres_sampler_times(const struct postgres_sampler *sampler)
{
    return &sampler->times;
}

const struct postgres_snapshot *postgres_sampler_snapshot(const struct postgres_sampler *sampler)
{
    return sampler->snapshot;
}

void postgres_sampler_facts(const struct postgres_sampler *sampler,
                            struct postgres_sampler_facts *ret)
{
    *ret = (struct postgres_sampler_facts){
        .rate = (double)NS_PER_S / (double)sampler->period_ns,
        .share = (double)sampler->snapshot_cost_ns / (double)sampler->period_ns,
        .snapshot_ns = sampler->snapshot_cost_ns,
        .is_local = sampler->is_local,
        .is_connected = sampler->snapshot != NULL,
        .hidden = sampler->hidden,
    };
    postgres_sessions_facts(sampler->sessions, &ret->client);
    memcpy(ret->failure, sampler->failure, sizeof ret->failure);
}
