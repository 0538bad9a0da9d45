/* Takes samples of a PostgreSQL server's sessions by SQL, and converts them to times
 * (sampled_times.h), and samples of pg_blocking_pids(), which say who blocks whom. */
#include "postgres_inside.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "ledger/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD_NS (100 * (uint64_t)NS_PER_MS)
#define EARLY_NS (20 * (uint64_t)NS_PER_MS) /* how often it looks whether the interval is over */
/* longest wait for the answer to a request for a snapshot */
#define LATE_NS (50 * (uint64_t)NS_PER_MS)
#define FIRST_NS ((uint64_t)NS_PER_S) /* longest wait for the answer to the very first one */
/* between two snapshots, samples account for at most this time, or three periods if longer */
#define LONGEST_NS ((uint64_t)NS_PER_S)
/* Most sessions in the registry, which keeps those of two intervals. Each needs about 1 KB. */
#define SESSIONS_MOST (2 * POSTGRES_ROWS_MOST)
#define CPU_SHARE 0.01
#define NAMES_NS ((uint64_t)NS_PER_S) /* how long after an arrival snapshots are whole */
#define HAS_UNTRACKED_WAITS 140000    /* the first version with wait events of such sessions */
#define SMOOTHING 8 /* a new sample changes the smoothed cost by 1/8 of the difference */

void postgres_pace_update(struct postgres_pace *pace, uint64_t cost_ns)
{
    uint64_t least_ns;

    pace->cost_ns =
        pace->cost_ns == 0 ? cost_ns : (pace->cost_ns * (SMOOTHING - 1) + cost_ns) / SMOOTHING;
    least_ns = (uint64_t)((double)pace->cost_ns / CPU_SHARE);
    pace->period_ns = least_ns > pace->wanted_ns ? least_ns : pace->wanted_ns;
}

/* Returns the CPU time that the backend of camp's connection used since the last snapshot. Returns
 * 0 if the server runs on another machine, or if the connection is new (`is_same` is false). */
static uint64_t backend_cost_ns(struct postgres_source *source, bool is_same)
{
    struct postgres_sampler *sampler = &source->sampler;
    const uint64_t before_ns = sampler->backend_ns;
    uint64_t ns = 0;

    if (!source->registry.is_local || camp_pid_cpu_ns(sampler->snapshot->own_pid, &ns) != CAMP_OK)
        return 0;
    sampler->backend_ns = ns;
    return is_same ? counted_since(before_ns, ns) : 0;
}

static int add_samples(struct postgres_source *source)
{
    struct postgres_sampler *sampler = &source->sampler;
    const struct postgres_snapshot *snapshot = sampler->snapshot;

    if (!ARRAY_RESERVE(sampler->samples, sampler->capacity, snapshot->count))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct postgres_session *session = &snapshot->sessions[i];
        struct postgres_process *process =
            postgres_registry_find(&source->registry, session->pid, session->start_us);
        const bool is_asleep = source->registry.is_local
                                   ? source->tier == POSTGRES_GATED && postgres_is_asleep(process)
                                   : strcmp(session->kind.texts[SESSION_CLASS], "none") != 0;

        sampler->samples[i] = (struct session_sample){
            session->pid,
            session->start_us,
            postgres_session_start_ns(snapshot, session),
            session->kind,
            is_asleep,
            source->by_statement ? postgres_session_statement(session) : 0
        };
        if (is_asleep && source->registry.is_local)
            postgres_mark_stopped(process, &sampler->samples[i]);
    }
    return sampled_times_add(&sampler->times, postgres_snapshot_ns(snapshot), sampler->samples,
                             snapshot->count);
}

/* Only a whole snapshot has the texts of statements. */
static int add_texts(struct postgres_source *source, const struct postgres_snapshot *snapshot)
{
    int r = CAMP_OK;

    for (size_t i = 0; i < snapshot->count && source->by_statement && source->queries; i++) {
        const struct postgres_session *session = &snapshot->sessions[i];

        r = postgres_statements_add(&source->texts, session->query_id, session->query);
        if (r != CAMP_OK)
            break;
    }
    return r;
}

/* Takes one snapshot. Returns REMOTE_PENDING if there was no answer until `until_ns`, or if the
 * server failed. The first failure of the interval is kept in sampler->failure. */
static int take_snapshot(struct postgres_source *source, bool whole, uint64_t until_ns,
                         struct camp_error *error)
{
    struct postgres_sampler *sampler = &source->sampler;
    uint64_t before_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    struct camp_error failure;
    const struct postgres_snapshot *snapshot;
    bool is_same;
    int r = postgres_client_ask(sampler->client, whole, until_ns, &snapshot, &failure);

    sampler->snapshot = r == CAMP_OK ? snapshot : NULL;
    source->facts.is_answered = r == CAMP_OK || (r == REMOTE_PENDING && source->facts.is_answered);
    if (r != CAMP_OK) {
        if (r != REMOTE_PENDING && sampler->failure[0] == '\0')
            snprintf(sampler->failure, sizeof sampler->failure, "%s", failure.message);
        return REMOTE_PENDING;
    }
    sampler->hidden = snapshot->hidden;
    source->facts.hidden = snapshot->hidden;
    sampler->untracked = snapshot->untracked;
    postgres_counts_add_own(&source->counts, snapshot->own_query_id);
    sampler->has_untracked_waits = snapshot->version >= HAS_UNTRACKED_WAITS;
    source->events.version = snapshot->version;
    is_same = snapshot->connection == sampler->connection;
    sampler->connection = snapshot->connection;
    if (!is_same) {
        const uint64_t began_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);

        source->registry.is_local = postgres_is_process(snapshot->own_pid, snapshot->own_start_us);
        postgres_client_set_local(sampler->client, source->registry.is_local);
        if (source->registry.is_local)
            postgres_find_postmaster(source, &source->postmaster, NULL);
        before_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns; /* no cost of later snapshots */
    }
    child_exits_read(&source->exits, source->postmaster);
    if (source->registry.count + snapshot->count > SESSIONS_MOST) {
        if (sampler->failure[0] == '\0')
            snprintf(sampler->failure, sizeof sampler->failure,
                     "more than %zu sessions in two intervals: shorten the interval",
                     SESSIONS_MOST);
        sampler->snapshot = NULL;
        return REMOTE_PENDING;
    }
    postgres_memory_samples_name_events(source, snapshot);
    r = postgres_registry_update(&source->registry, snapshot);
    if (r == CAMP_OK)
        r = add_texts(source, snapshot);
    if (r == CAMP_OK)
        r = add_samples(source);
    if (r == CAMP_OK)
        r = postgres_blockers_add(source, snapshot);
    if (r != CAMP_OK)
        return camp_fail(error, r, 0, "no memory for the sessions");
    if (snapshot->is_whole)
        postgres_facts_update(source, snapshot);
    postgres_pace_update(&sampler->pace, now_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns +
                                             backend_cost_ns(source, is_same));
    sampler->times.longest_ns =
        3 * sampler->pace.period_ns > LONGEST_NS ? 3 * sampler->pace.period_ns : LONGEST_NS;
    sampler->blockers.longest_ns = sampler->times.longest_ns;
    return CAMP_OK;
}

static void pause_until(struct postgres_source *source, uint64_t until_ns)
{
    const uint64_t slice_ns = source_ends_early != NULL ? EARLY_NS : PERIOD_NS;

    if (source->tier == POSTGRES_MEMORY && source->memory_samples.is_open)
        postgres_memory_samples_until(source, until_ns);
    else
        while (!source_is_over() && source_wait(until_ns, slice_ns, source->stop))
            ;
}

/* Only a whole snapshot has the names of sessions. It is wanted while sessions arrive, because a
 * short session may be in one snapshot only. */
static bool wants_names(struct postgres_sampler *sampler)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC);

    if (sampler->snapshot != NULL && sampler->times.arrived > 0)
        sampler->names_until_ns = now + NAMES_NS;
    return now < sampler->names_until_ns;
}

/* While camp waits for an answer, it takes no samples of memory, so it waits at most LATE_NS. */
static uint64_t answer_deadline_ns(uint64_t deadline_ns)
{
    const uint64_t ns = now_ns(CLOCK_MONOTONIC) + LATE_NS;

    return ns < deadline_ns ? ns : deadline_ns;
}

/* Takes the snapshots before the end of the interval. A snapshot that is due less than half a
 * period before the end is left to take_last_snapshot(). */
static int take_snapshots_until(struct postgres_source *source, uint64_t deadline_ns,
                                struct camp_error *error)
{
    struct postgres_pace *pace = &source->sampler.pace;
    int r = CAMP_OK;

    while (pace->next_ns + pace->period_ns / 2 < deadline_ns && !*source->stop &&
           r != CAMP_E_NOMEM) {
        pause_until(source, pace->next_ns);
        if (source_is_over())
            break;
        r = take_snapshot(source, source->misses_texts || wants_names(&source->sampler),
                          answer_deadline_ns(deadline_ns), error);
        pace->next_ns += pace->period_ns;
        if (r != CAMP_OK || pace->next_ns < now_ns(CLOCK_MONOTONIC))
            /* Missed snapshots are not taken later. */
            pace->next_ns = now_ns(CLOCK_MONOTONIC);
    }
    return r;
}

/* Takes the snapshot that ends the interval. If the connection is lost, tries to connect again
 * until LATE_NS after the deadline. */
static int take_last_snapshot(struct postgres_source *source, uint64_t deadline_ns,
                              struct camp_error *error)
{
    uint64_t late_ns;
    int r;

    pause_until(source, deadline_ns);
    late_ns = now_ns(CLOCK_MONOTONIC) + LATE_NS;
    do
        r = take_snapshot(source, true, late_ns, error);
    while (r == REMOTE_PENDING && !*source->stop && now_ns(CLOCK_MONOTONIC) < late_ns);
    return r;
}

/* Returns the end of the interval: the time of the last snapshot if the server answered. If only
 * the last answer is missing, the interval ends at the snapshot before it, so that the next
 * interval also starts at a snapshot. If more answers are missing, the interval ends at its
 * deadline. */
static uint64_t end_of_interval(const struct postgres_source *source, int end_status,
                                uint64_t deadline_ns)
{
    const struct postgres_sampler *sampler = &source->sampler;
    const uint64_t sampled_ns = sampler->times.snapshot_ns;

    if (end_status == CAMP_OK)
        return postgres_snapshot_ns(sampler->snapshot);
    if (*source->stop)
        return now_ns(CLOCK_MONOTONIC);
    if (sampled_ns > sampler->end_ns && sampled_ns + 2 * sampler->pace.period_ns > deadline_ns)
        return sampled_ns;
    return deadline_ns;
}

int postgres_sampler_next(struct postgres_source *source, uint64_t deadline_ns,
                          struct camp_error *error)
{
    struct postgres_sampler *sampler = &source->sampler;
    int r;

    sampler->failure[0] = '\0';
    sampled_times_begin(&sampler->times, sampler->end_ns);
    blocker_samples_begin(&sampler->blockers);
    r = take_snapshots_until(source, deadline_ns, error);
    if (source_is_over() && now_ns(CLOCK_MONOTONIC) < deadline_ns)
        deadline_ns = now_ns(CLOCK_MONOTONIC);
    if (r != CAMP_E_NOMEM)
        r = take_last_snapshot(source, deadline_ns, error);
    if (r == CAMP_E_NOMEM)
        return r;
    sampler->end_ns = end_of_interval(source, r, deadline_ns);
    sampled_times_end(&sampler->times, sampler->end_ns);
    sampler->pace.next_ns = sampler->end_ns + sampler->pace.period_ns;
    return CAMP_OK;
}

bool postgres_is_lock(const struct session_kind *kind)
{
    return strcmp(kind->texts[SESSION_CLASS], "Lock") == 0;
}

int postgres_blockers_add(struct postgres_source *source, const struct postgres_snapshot *snapshot)
{
    struct blocked_sample *waiting = NULL;
    int64_t *ids = NULL;
    size_t count = 0, id_count = 0, at = 0;
    int r = CAMP_OK;

    for (size_t i = 0; i < snapshot->count; i++) {
        count += postgres_is_lock(&snapshot->sessions[i].kind);
        id_count += snapshot->sessions[i].blocker_count;
    }
    if (count > 0) {
        waiting = calloc(count, sizeof *waiting);
        ids = calloc(id_count + BLOCKERS_MOST, sizeof *ids);
        id_count = 0;
        if (waiting == NULL || ids == NULL)
            r = CAMP_E_NOMEM;
    }
    for (size_t i = 0; i < snapshot->count && count > 0 && r == CAMP_OK; i++) {
        const struct postgres_session *session = &snapshot->sessions[i];

        if (!postgres_is_lock(&session->kind))
            continue;
        waiting[at] = (struct blocked_sample){ session->pid, session->start_us, ids + id_count,
                                               postgres_session_blockers(session, ids + id_count) };
        id_count += waiting[at++].count;
    }
    if (r == CAMP_OK)
        r = blocker_samples_add(&source->sampler.blockers, postgres_snapshot_ns(snapshot), waiting,
                                count);
    free(waiting);
    free(ids);
    return r;
}

static struct session_activity activity_of(const void *context, const struct entity *row)
{
    const struct postgres_source *source = context;
    const struct postgres_process *process =
        postgres_registry_newest(&source->registry, (int32_t)row->id);

    return process != NULL && process->activity[0] != '\0'
               ? (struct session_activity){ process->activity, process->activity_ns }
               : (struct session_activity){ 0 };
}

void postgres_blockers_end(struct postgres_source *source)
{
    session_frame_end(&source->sessions, activity_of, source);
}

int postgres_sampler_open(struct postgres_source *source, const struct postgres_contents *contents,
                          struct camp_error *error)
{
    struct postgres_sampler *sampler = &source->sampler;
    const uint64_t late_ns = now_ns(CLOCK_MONOTONIC) + FIRST_NS;
    int r = postgres_client_open(source->conninfo, contents, source->stop, &sampler->client, error);

    sampler->pace = (struct postgres_pace){ .wanted_ns = PERIOD_NS, .period_ns = PERIOD_NS };
    sampled_times_init(&sampler->times, LONGEST_NS);
    sampler->blockers.longest_ns = LONGEST_NS;
    if (r != CAMP_OK)
        return r;
    /* Without the first snapshot, the start of the first interval would be in no state. */
    do
        r = postgres_sampler_next(source, now_ns(CLOCK_MONOTONIC), error);
    while (r == CAMP_OK && sampler->snapshot == NULL && sampler->failure[0] == '\0' &&
           !*source->stop && now_ns(CLOCK_MONOTONIC) < late_ns);
    return r;
}

void postgres_sampler_close(struct postgres_source *source)
{
    postgres_client_close(source->sampler.client);
    sampled_times_release(&source->sampler.times);
    blocker_samples_release(&source->sampler.blockers);
    free(source->sampler.samples);
}

bool postgres_sampler_hides(struct postgres_sampler *sampler)
{
    if (sampler->hidden == 0)
        return false;
    sampler->hidden++;
    return true;
}
