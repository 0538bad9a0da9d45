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
    (50 * (uint64_t)NS_PER_MS) /* a look is waited for so long, at the interval's end too */
#define LONGEST_NS ((uint64_t)NS_PER_S) /* between two looks; three periods where that is more */
#define SMOOTHING 8                     /* of a look's cost: one that is odd changes it by 1/8 */

struct postgres_sampler {
    struct postgres_sampler_options options;
    struct postgres_sessions *sessions;
    const struct postgres_look *look;
    struct sampled_times times;
    struct sampled_sight *sights; /* [capacity] */
    size_t capacity;
    uint64_t wished_ns, period_ns;
    uint64_t end_ns;  /* of the last interval */
    uint64_t next_ns; /* when the next look is due */
    uint64_t look_cost_ns;
    uint64_t backend_ns; /* CPU time of our backend, at the last look */
    uint64_t connection; /* of the last look: a new one has another backend */
    bool is_local;
    size_t hidden; /* at the last look */
    char failure[CAMP_ERROR_SIZE];
};

uint64_t postgres_sampler_period_ns(uint64_t wished_ns, uint64_t look_ns)
{
    const uint64_t least_ns = (uint64_t)((double)look_ns / SAMPLER_SHARE);

    return least_ns > wished_ns ? least_ns : wished_ns;
}

/* -------------------------------------------------------------------------------- Cost -- */

/* What our backend has used since the last look, where it is of this machine. */
static uint64_t backend_cost_ns(struct postgres_sampler *sampler, bool is_same)
{
    const uint64_t before_ns = sampler->backend_ns;
    uint64_t ns = 0;

    if (!sampler->is_local || camp_pid_cpu_ns(sampler->look->own_pid, &ns) != CAMP_OK)
        return 0;
    sampler->backend_ns = ns;
    return is_same ? counted_since(before_ns, ns) : 0;
}

static void take_cost(struct postgres_sampler *sampler, uint64_t ns)
{
    if (sampler->look_cost_ns == 0)
        sampler->look_cost_ns = ns;
    else
        sampler->look_cost_ns = (sampler->look_cost_ns * (SMOOTHING - 1) + ns) / SMOOTHING;
    sampler->period_ns = postgres_sampler_period_ns(sampler->wished_ns, sampler->look_cost_ns);
    sampler->times.longest_ns =
        3 * sampler->period_ns > LONGEST_NS ? 3 * sampler->period_ns : LONGEST_NS;
}

/* ------------------------------------------------------------------------------- Looks -- */

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

static int keep_sights(struct postgres_sampler *sampler, const struct postgres_look *look)
{
    if (!ARRAY_RESERVE(sampler->sights, sampler->capacity, look->count))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < look->count; i++) {
        const struct postgres_session *session = &look->sessions[i];

        sampler->sights[i] = (struct sampled_sight){ session->pid, session->start_us,
                                                     postgres_session_began_ns(look, session),
                                                     session->kind, is_asleep(sampler, session) };
    }
    return sampled_times_look(&sampler->times, postgres_look_ns(look), sampler->sights,
                              look->count);
}

/* Whether it is the connection of the last look; of a new one, whether the server is local. */
static bool know_connection(struct postgres_sampler *sampler)
{
    struct postgres_client_facts facts;
    bool is_same;

    postgres_sessions_facts(sampler->sessions, &facts);
    is_same = facts.connections == sampler->connection;
    sampler->connection = facts.connections;
    if (!is_same)
        sampler->is_local =
            postgres_is_process(sampler->look->own_pid, sampler->look->own_start_us);
    return is_same;
}

/* One look, answered by `until_ns`. What the server fails at is kept for the facts, and is
 * POSTGRES_PENDING as well. CAMP_E_NOMEM is ours. */
static int take_look(struct postgres_sampler *sampler, bool whole, uint64_t until_ns,
                     struct camp_error *error)
{
    const uint64_t before_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    struct camp_error failure;
    bool is_same;
    int r = postgres_sessions_look(sampler->sessions, whole, until_ns, &sampler->look, &failure);

    if (r != CAMP_OK) {
        sampler->look = NULL;
        if (r != POSTGRES_PENDING && sampler->failure[0] == '\0')
            snprintf(sampler->failure, sizeof sampler->failure, "%s", failure.message);
        return POSTGRES_PENDING;
    }
    sampler->hidden = sampler->look->hidden;
    is_same = know_connection(sampler);
    r = sampler->options.looked == NULL
            ? CAMP_OK
            : sampler->options.looked(sampler->options.context, sampler->look, sampler->is_local);
    if (r == CAMP_OK)
        r = keep_sights(sampler, sampler->look);
    if (r != CAMP_OK)
        return camp_fail(error, r, 0, "no memory for the sessions");
    take_cost(sampler,
              now_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns + backend_cost_ns(sampler, is_same));
    return CAMP_OK;
}

/* --------------------------------------------------------------------------- In public -- */

int postgres_sampler_open(const char *conninfo, const struct postgres_sampler_options *options,
                          struct postgres_sampler **ret, struct camp_error *error)
{
    struct postgres_sampler *sampler = calloc(1, sizeof *sampler);
    uint64_t end_ns;
    int r;

    if (sampler == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the sessions");
    sampler->options = *options;
    sampler->wished_ns = (uint64_t)(NS_PER_S / (options->rate > 0 ? options->rate : SAMPLER_RATE));
    sampled_times_init(&sampler->times, LONGEST_NS);
    sampler->period_ns = sampler->wished_ns;
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
    free(sampler->sights);
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

/* Of who came with a brief look. */
static bool wants_names(const struct postgres_sampler *sampler)
{
    return sampler->look != NULL && !sampler->look->is_whole && sampler->times.arrived > 0;
}

/* A server that does not answer is not waited for alone: pause_until() has more to do. */
static uint64_t soon_ns(uint64_t deadline_ns)
{
    const uint64_t ns = now_ns(CLOCK_MONOTONIC) + LATE_NS;

    return ns < deadline_ns ? ns : deadline_ns;
}

/* Looks that are due before the end; what is due within half a period of it is the end's. */
static int look_until(struct postgres_sampler *sampler, uint64_t deadline_ns,
                      struct camp_error *error)
{
    int r = CAMP_OK;

    while (sampler->next_ns + sampler->period_ns / 2 < deadline_ns && !is_stopped(sampler) &&
           r != CAMP_E_NOMEM) {
        pause_until(sampler, sampler->next_ns);
        r = take_look(sampler, wants_names(sampler), soon_ns(deadline_ns), error);
        sampler->next_ns += sampler->period_ns;
        if (r != CAMP_OK || sampler->next_ns < now_ns(CLOCK_MONOTONIC))
            sampler->next_ns = now_ns(CLOCK_MONOTONIC); /* late: no crowd of looks afterwards */
    }
    return r;
}

/* The look that ends the interval. A connection that is found lost is made again meanwhile. */
static int look_at_end(struct postgres_sampler *sampler, uint64_t deadline_ns,
                       struct camp_error *error)
{
    uint64_t late_ns;
    int r;

    pause_until(sampler, deadline_ns);
    late_ns = now_ns(CLOCK_MONOTONIC) + LATE_NS;
    do
        r = take_look(sampler, true, late_ns, error);
    while (r == POSTGRES_PENDING && !is_stopped(sampler) && now_ns(CLOCK_MONOTONIC) < late_ns);
    return r;
}

/* Where the interval ends. If the last sample is late, the interval ends at the one before it: what
 * lies between the two is accounted in the next interval, from samples at both of its ends. A
 * server that does not answer for longer does not hold up the interval. */
static uint64_t end_of_interval(const struct postgres_sampler *sampler, int end_status,
                                uint64_t deadline_ns)
{
    const uint64_t sampled_ns = sampler->times.look_ns;

    if (end_status == CAMP_OK)
        return postgres_look_ns(sampler->look);
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
    r = look_until(sampler, deadline_ns, error);
    if (r != CAMP_E_NOMEM)
        r = look_at_end(sampler, deadline_ns, error);
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

const struct postgres_look *postgres_sampler_look(const struct postgres_sampler *sampler)
{
    return sampler->look;
}

void postgres_sampler_facts(const struct postgres_sampler *sampler,
                            struct postgres_sampler_facts *ret)
{
    *ret = (struct postgres_sampler_facts){
        .rate = (double)NS_PER_S / (double)sampler->period_ns,
        .share = (double)sampler->look_cost_ns / (double)sampler->period_ns,
        .look_ns = sampler->look_cost_ns,
        .is_local = sampler->is_local,
        .is_connected = sampler->look != NULL,
        .hidden = sampler->hidden,
    };
    postgres_sessions_facts(sampler->sessions, &ret->client);
    memcpy(ret->failure, sampler->failure, sizeof ret->failure);
}
