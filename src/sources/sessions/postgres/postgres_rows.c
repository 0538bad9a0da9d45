#include "ledger/array.h"
#include "postgres_inside.h"
#include "sources/sessions/postgres/blockers/postgres_blockers.h"
#include "sources/sessions/session_shares.h"

#include "counters/units.h"

#include <stdio.h>
#include <string.h>

/* Longest time between the start of a backend and its first snapshot. SQL shows a session only
 * after its client is authenticated. */
#define APPEARS_NS ((uint64_t)NS_PER_S)

static bool reserve(struct postgres_source *source, size_t count)
{
    return ARRAYS_RESERVE(source->time_capacity, count, ARRAY(source->times),
                          ARRAY(source->statements), ARRAY(source->names));
}

static struct session_kind kind_of(labels_id kind)
{
    struct session_kind ret;

    for (int i = 0; i < SESSION_KEYS; i++)
        ret.texts[i] = labels_value(kind, (size_t)i);
    return ret;
}

static bool is_untracked(const struct session_kind *kind)
{
    return strcmp(kind->texts[SESSION_ACTIVITY], "disabled") == 0;
}

/* A session whose track_activities is off has a wait event while it waits for its client. */
static bool is_on_cpu(const struct session_kind *kind)
{
    return strcmp(kind->texts[SESSION_CLASS], "none") == 0 &&
           (strcmp(kind->texts[SESSION_ACTIVITY], "active") == 0 || is_untracked(kind));
}

/* True if nothing is known of the session: its track_activities is off, and the server's version
 * then has no wait events either. */
static bool is_unknown(const struct postgres_source *source, const struct session_kind *kind)
{
    return is_untracked(kind) && !source->sampler.has_untracked_waits;
}

enum session_state postgres_state(struct postgres_source *source, const struct session_kind *kind)
{
    if (is_unknown(source, kind))
        return SESSION_STATE_COUNT;
    return is_on_cpu(kind) ? SESSION_CPU : session_frame_state(&source->sessions, kind);
}

static int report(struct postgres_source *source, const struct postgres_process *process,
                  struct session *session)
{
    const struct sampled_session *reported =
        sampled_times_find(&source->sampler.times, process->pid, process->start_us);

    for (size_t i = 0; reported != NULL && i < reported->time_count; i++) {
        const struct sampled_time *time = &reported->times[i];
        const struct session_kind kind = kind_of(time->kind);
        const enum session_state state = postgres_state(source, &kind);
        struct postgres_part *part;

        if (state == SESSION_STATE_COUNT)
            continue;
        session->reported_ns[state] += time->reported_ns;
        if (!source->has_parts)
            continue;
        part = postgres_parts_get(&source->parts, time->statement);
        if (part == NULL)
            return CAMP_E_NOMEM;
        part->reported_ns[state] += time->reported_ns;
    }
    return CAMP_OK;
}

static int add_rows(struct postgres_source *source, const struct postgres_process *process,
                    struct session *session)
{
    session->start = process->start_us;
    return source->has_parts ? postgres_parts_add_rows(source, session)
                             : session_frame_add(&source->sessions, session);
}

static struct entity entity_of(const struct postgres_source *source,
                               const struct postgres_process *process, bool is_new, bool is_ended)
{
    /* The pid of a remote server's process is not valid on this machine. */
    const bool is_local = source->registry.is_local;
    struct entity entity = { .id = process->pid,
                             .flags = (is_new ? ENTITY_NEW : 0u) | (is_ended ? ENTITY_ENDED : 0u),
                             .count = 1,
                             .pid = is_local ? process->pid : 0,
                             .parent = is_local ? process->leader_pid : 0,
                             .labels = process->labels };

    memcpy(entity.name, process->name, sizeof entity.name);
    return entity;
}

/* Makes a process for a session that started and ended between two snapshots by SQL. */
static struct postgres_process unnamed_process(const struct backend_account *account)
{
    return (struct postgres_process){ .pid = account->pid,
                                      .name = "(gone before SQL saw it)",
                                      .type = "client_backend" };
}

/* Names a session of which no whole snapshot by SQL has been taken. */
static void name_by_memory(const struct postgres_source *source,
                           const struct backend_account *account, struct postgres_process *process)
{
    const struct postgres_numbers numbers = { account->database, account->user };
    char application[BACKEND_APPLICATION_SIZE];

    snprintf(application, sizeof application, "%.*s", BACKEND_APPLICATION_SIZE - 1,
             account->application);
    if (process->labels == LABELS_NONE && (account->flags & BACKEND_NAMED) != 0)
        postgres_registry_name(&source->registry, &numbers, application, process);
}

static void collect_waits(struct postgres_source *source, const struct backend_account *since,
                          const char *type)
{
    for (uint32_t i = 0; i < since->wait_count; i++) {
        const struct backend_wait *wait = &since->waits[i];

        source->times[i] = (struct session_time){
            { { postgres_event_class(wait->event),
                postgres_event_name(&source->events, wait->event, source->names[i]),
                postgres_activity_name(&source->layout, wait->activity), type } },
            wait->ns
        };
    }
}

/* Divides the growth of account `at` by statement. Replaces the waits of collect_waits(). */
static int divide_account(struct postgres_source *source, size_t at,
                          const struct backend_account *since,
                          const struct postgres_process *process, struct session *session)
{
    struct backend_statements *now = backend_accounts_statements(&source->accounts, at);
    struct backend_part parts[BACKEND_PARTS_MAX];
    size_t count;

    /* A session that has not left its CPU since it began a statement: SQL knows it. */
    if (process->statement != 0 && since->state != BACKEND_OFF_CPU)
        now->statement = (uint64_t)process->statement;
    count = backend_parts_since(now, backend_accounts_statements_before(&source->accounts, at),
                                since, parts);
    session->time_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct backend_part *part = &parts[i];
        const bool is_wait = backend_part_is_wait(part);
        /* A session that runs no statement keeps the id of its last one. */
        const bool is_between =
            is_wait && postgres_layout_activity(&source->layout, part->activity) != POSTGRES_ACTIVE;
        const int64_t statement = is_between       ? 0
                                  : part->is_other ? POSTGRES_OTHER
                                                   : (int64_t)part->statement;
        struct postgres_part *to = postgres_parts_get(&source->parts, statement);

        if (to == NULL)
            return CAMP_E_NOMEM;
        if (!is_wait) {
            *postgres_part_awake(to, part) += part->ns;
        } else {
            const size_t place = session->time_count++;

            source->times[place] = (struct session_time){
                { { postgres_event_class(part->event),
                    postgres_event_name(&source->events, part->event, source->names[place]),
                    postgres_activity_name(&source->layout, part->activity), process->type } },
                part->ns
            };
            source->statements[place] = statement;
        }
    }
    return CAMP_OK;
}

/* True if the backend is so young at `until_ns` that SQL need not have shown it yet. An older one
 * that SQL did not show is hidden from this role, or is camp's own. */
static bool is_too_young(const struct postgres_source *source,
                         const struct backend_account *account, uint64_t until_ns)
{
    const struct postgres_registry *registry = &source->registry;

    return (account->flags & BACKEND_OLDER) == 0 && account->pid != registry->own_pids[0] &&
           account->pid != registry->own_pids[1] && account->begin_ns + APPEARS_NS > until_ns;
}

/* True if the backend has had a user or an activity: only backends of clients have one. A backend
 * that never slept after its login, because each statement came before it did, has no activity. */
static bool was_a_client(const struct postgres_source *source,
                         const struct backend_account *account)
{
    if ((account->flags & BACKEND_NAMED) != 0)
        return true;
    for (uint32_t i = 0; i < account->wait_count; i++) {
        if (postgres_layout_activity(&source->layout, account->waits[i].activity) !=
            POSTGRES_ACTIVITIES)
            return true;
    }
    return false;
}

/* Adds the row of account `at`. *ret_is_early is true if the session has no name yet, but may get
 * one. The caller then omits the account, so that the next interval has the whole account. */
static int add_account(struct postgres_source *source, size_t at, bool *ret_is_early)
{
    const struct backend_account *account = &source->accounts.now[at];
    struct backend_account since;
    const bool is_there = backend_accounts_since(&source->accounts, at, &since);
    const bool is_new =
        since.begin_ns == account->begin_ns && (account->flags & BACKEND_OLDER) == 0;
    const bool is_ended = (account->flags & BACKEND_ENDED) != 0;
    struct postgres_process unknown;
    struct postgres_process *process = postgres_registry_find_process(
        &source->registry, account->pid, account->start_ns, postgres_start_us(account->start_ns));
    struct session session;
    int r;

    *ret_is_early =
        process == NULL && !is_ended && is_too_young(source, account, source->registry.snapshot_ns);
    if (!is_there)
        return CAMP_OK;
    if (process == NULL) {
        unknown = unnamed_process(account);
        process = &unknown;
        if (!is_ended || !is_too_young(source, account, account->time_ns) ||
            !was_a_client(source, account) || postgres_sampler_hides(&source->sampler))
            return CAMP_OK;
    }
    if (!source->background && !postgres_process_is_client(process))
        return CAMP_OK;
    name_by_memory(source, account, process);
    collect_waits(source, &since, process->type);
    session = (struct session){ .entity = entity_of(source, process, is_new, is_ended),
                                .elapsed_ns = since.time_ns - since.begin_ns,
                                .cpu_ns = since.cpu_ns,
                                .run_queue_ns = since.run_queue_ns,
                                .throttled_ns = since.throttled_ns,
                                .times = source->times,
                                .time_count = since.wait_count };
    if (!source->has_parts)
        postgres_measure_blockers(source, at, &since, &session);
    postgres_parts_start(&source->parts);
    r = report(source, process, &session);
    if (r == CAMP_OK)
        r = postgres_lengths_of(source, account, process->type, &session);
    if (r == CAMP_OK && source->has_parts)
        r = divide_account(source, at, &since, process, &session);
    return r == CAMP_OK ? add_rows(source, process, &session) : r;
}

int postgres_rows_of_accounts(struct postgres_source *source)
{
    int r = reserve(source, BACKEND_PARTS_MAX) ? CAMP_OK : CAMP_E_NOMEM;

    for (size_t i = 0; r == CAMP_OK && i < source->accounts.count;) {
        bool is_early;

        r = add_account(source, i, &is_early);
        if (is_early) {
            postgres_lengths_keep(source, &source->accounts.now[i]);
            backend_accounts_omit(&source->accounts, i);
        } else {
            i++;
        }
    }
    return r;
}

static void add_time(struct postgres_source *source, struct session *session,
                     struct session_kind kind, const struct sampled_time *of, uint64_t ns)
{
    source->statements[session->time_count] = of->statement;
    source->times[session->time_count++] = (struct session_time){ kind, ns };
}

static void collect_reported(struct postgres_source *source, const struct sampled_session *sampled,
                             struct session *session)
{
    for (size_t i = 0; i < sampled->time_count; i++) {
        const struct session_kind kind = kind_of(sampled->times[i].kind);

        if (is_unknown(source, &kind))
            continue;
        if (is_on_cpu(&kind))
            session->cpu_ns += sampled->times[i].reported_ns;
        else
            add_time(source, session, kind, &sampled->times[i], sampled->times[i].reported_ns);
    }
}

/* Appends the times during which samples found the task asleep to source->times, and returns their
 * sum. If a task falls asleep after SQL has reported it on a CPU, the reason of the sleep is
 * unknown. Such sleep is appended only if `without_event` is true. */
static uint64_t collect_asleep(struct postgres_source *source,
                               const struct sampled_session *sampled, bool without_event,
                               struct session *session)
{
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < sampled->time_count; i++) {
        const struct sampled_time *time = &sampled->times[i];
        const struct session_kind kind = kind_of(time->kind);

        if (time->asleep_ns == 0 || (!without_event && is_on_cpu(&kind)) ||
            is_unknown(source, &kind))
            continue;
        add_time(source, session, kind, time, time->asleep_ns);
        sum_ns += time->asleep_ns;
    }
    return sum_ns;
}

/* Appends the times of all samples with a wait, for a short session that no sample found asleep:
 * its measured CPU and run-queue time are less than its time, so it slept. */
static uint64_t collect_waits_of_samples(struct postgres_source *source,
                                         const struct sampled_session *sampled,
                                         struct session *session)
{
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < sampled->time_count; i++) {
        const struct sampled_time *time = &sampled->times[i];
        const struct session_kind kind = kind_of(time->kind);

        if (is_on_cpu(&kind) || time->reported_ns == 0)
            continue;
        add_time(source, session, kind, time, time->reported_ns);
        sum_ns += time->reported_ns;
    }
    return sum_ns;
}

/* Scales the times of the samples to the sleep that the scheduler measured. Without scaling, the
 * sum is wrong on a busy machine: camp gets a CPU for its sample mostly when another task falls
 * asleep. */
static void scale(const struct sampled_session *sampled, bool is_final, uint64_t sum_ns,
                  struct session *session, struct session_time *times)
{
    const uint64_t busy_ns = session->cpu_ns + session->run_queue_ns;
    const uint64_t left_ns = session->elapsed_ns > busy_ns ? session->elapsed_ns - busy_ns : 0;
    struct shares shares = { 0 };
    uint64_t seen_ns = 0, asleep_ns;

    for (size_t i = 0; i < sampled->time_count; i++)
        seen_ns += sampled->times[i].reported_ns;
    if (is_final) /* The samples stand for all of the session's time. */
        seen_ns = session->elapsed_ns;
    asleep_ns = share_of(left_ns, seen_ns, session->elapsed_ns);
    for (size_t i = 0; i < session->time_count; i++)
        times[i].ns = share_next(&shares, asleep_ns, times[i].ns, sum_ns);
}

static void add_sample_times(struct postgres_source *source, const struct sampled_session *sampled,
                             bool is_known, bool is_final, struct session *session)
{
    uint64_t sum_ns = collect_asleep(source, sampled, source->tier != POSTGRES_GATED, session);

    if (sum_ns == 0)
        sum_ns = collect_asleep(source, sampled, true, session);
    if (sum_ns == 0 && is_final)
        sum_ns = collect_waits_of_samples(source, sampled, session);
    for (size_t i = 0; i < sampled->time_count; i++)
        session->sampled_ns += sampled->times[i].asleep_ns;
    if (is_known)
        scale(sampled, is_final, sum_ns, session, source->times);
}

/* Divides the CPU and run-queue time of a session by the samples that found it awake with a
 * statement. A session that was woken by its client, and has no CPU yet, has no statement yet. */
static int divide_sampled(struct postgres_source *source, const struct sampled_session *sampled,
                          const struct session *session)
{
    uint64_t seen_ns = 0;

    for (size_t i = 0; i < sampled->time_count; i++)
        seen_ns += sampled->times[i].reported_ns;
    for (size_t i = 0; i < sampled->time_count; i++) {
        const struct sampled_time *time = &sampled->times[i];
        const struct session_kind kind = kind_of(time->kind);
        struct postgres_part *part = postgres_parts_get(&source->parts, time->statement);

        if (part == NULL)
            return CAMP_E_NOMEM;
        if (time->statement != 0 && (source->tier != POSTGRES_SQL || is_on_cpu(&kind)))
            part->awake_ns += time->reported_ns - time->asleep_ns;
        if (source->tier != POSTGRES_SQL)
            part->sampled_ns += time->asleep_ns;
        part->sample_count += share_of(sampled->sample_count, time->reported_ns, seen_ns);
    }
    return postgres_parts_divide(&source->parts, session);
}

static int add_sampled(struct postgres_source *source, const struct sampled_session *sampled,
                       uint64_t *partial)
{
    struct postgres_process *process =
        postgres_registry_find(&source->registry, (int32_t)sampled->id, sampled->start);
    struct session session = { .elapsed_ns = sampled->elapsed_ns,
                               .sample_count = sampled->sample_count };
    int r = CAMP_OK;

    if (process == NULL || sampled->elapsed_ns == 0)
        return CAMP_OK;
    if (!source->background && !postgres_process_is_client(process))
        return CAMP_OK;
    if (!reserve(source, sampled->time_count))
        return CAMP_E_NOMEM;
    postgres_parts_start(&source->parts);
    if (source->tier == POSTGRES_SQL) {
        collect_reported(source, sampled, &session);
    } else {
        bool is_final;
        const bool is_known =
            postgres_clock_read(source, process, sampled->is_ended, &session, &is_final);

        *partial += !is_known;
        r = report(source, process, &session);
        add_sample_times(source, sampled, is_known, is_final, &session);
    }
    session.times = source->times;
    session.entity = entity_of(source, process, sampled->is_new, sampled->is_ended);
    if (r == CAMP_OK && source->has_parts)
        r = divide_sampled(source, sampled, &session);
    return r == CAMP_OK ? add_rows(source, process, &session) : r;
}

int postgres_rows_of_samples(struct postgres_source *source)
{
    const struct sampled_times *times =
        source->tier == POSTGRES_MEMORY ? &source->memory_samples.times : &source->sampler.times;
    uint64_t partial = 0;
    int r = CAMP_OK;

    for (size_t i = 0; r == CAMP_OK && i < times->count; i++)
        r = add_sampled(source, times->sessions[i], &partial);
    source->sessions.frame.losses.partial += partial;
    return r;
}
