/* Adds the sessions to a frame. The tier decides where their times come from. */
#include "counters/units.h"
#include "mariadb_inside.h"
#include "statements/mariadb_row_waits.h"

#include <stdio.h>

/* Returns source->reported, or all zero if one of the last two readings of the instruments lacks
 * the session. */
static struct mariadb_reported reported_of(struct mariadb_source *source,
                                           const struct mariadb_session *session)
{
    const struct mariadb_reported nothing = { 0 };
    size_t count;

    if (source->reported.waits == NULL || session->asked_ns == 0 || !session->is_seen)
        return nothing;
    mariadb_waits_of(source->reported.waits, session->id, &count);
    source->not_instrumented += count == 0;
    return count > 0 ? source->reported : nothing;
}

/* Returns the part of the session's interval that is of this statement, or NULL without memory. */
static struct mariadb_part *part_of(struct mariadb_source *source, int64_t statement)
{
    return mariadb_parts_get(&source->parts, &source->statements, statement);
}

/* Fills row->reported_ns, the times that the database reports. Instruments report no CPU time, so
 * all time without a wait counts as CPU time. */
static int report(struct mariadb_source *source, const struct mariadb_session *session,
                  const struct mariadb_reported *reported, struct session *row)
{
    uint64_t sum = 0;

    if (reported->waits != NULL)
        mariadb_account_waits(&source->account, session, row->elapsed_ns, reported);
    else
        mariadb_account_samples(&source->account, session, row->elapsed_ns);
    for (size_t i = 0; i < source->account.count; i++) {
        const enum session_state state =
            session_frame_state(&source->sessions_frame, &source->account.times[i].kind);

        if (state == SESSION_STATE_COUNT)
            continue;
        row->reported_ns[state] += source->account.times[i].ns;
        sum += source->account.times[i].ns;
        if (source->has_parts) {
            struct mariadb_part *part = part_of(source, source->account.statements[i]);

            if (part == NULL)
                return CAMP_E_NOMEM;
            part->reported_ns[state] += source->account.times[i].ns;
        }
    }
    if (reported->waits != NULL)
        row->reported_ns[SESSION_CPU] = sum < row->elapsed_ns ? row->elapsed_ns - sum : 0;
    return source->account.failed ? CAMP_E_NOMEM : CAMP_OK;
}

static int add_row(struct mariadb_source *source, const struct mariadb_session *session,
                   struct session *row)
{
    struct entity *entity = &row->entity;

    entity->id = session->id;
    entity->count = 1;
    entity->pid = source->threads != NULL ? session->tid : 0;
    entity->labels = session->labels;
    snprintf(entity->name, sizeof entity->name, "%s", session->name);
    row->sample_count = session->times_seen;
    row->times = source->account.times;
    row->time_count = source->account.count;
    if (source->account.failed)
        return CAMP_E_NOMEM;
    if (source->has_parts)
        return mariadb_parts_add_rows(source, session, row);
    if (source->by_statement)
        entity->labels = mariadb_parts_labels(source, session->labels, session->last.statement);
    return session_frame_add(&source->sessions_frame, row);
}

/* If the interval has no sample of the session, adds a sample with the last known state of the
 * session, if that state is less than one second old. */
static int assume(const struct mariadb_source *source, struct mariadb_session *session,
                  uint64_t elapsed_ns)
{
    return session->sample_count == 0 && session->last.kind != LABELS_NONE &&
                   source->sessions_frame.frame.end_ns < session->sampled_ns + NS_PER_S
               ? mariadb_session_add_sample(session, &session->last, elapsed_ns)
               : CAMP_OK;
}

/* Adds a row with the times of the session's thread. A new session gets no row yet, because its
 * thread may have served another session before. Its first row is in the next interval. */
static int add_by_thread(struct mariadb_source *source, struct mariadb_session *session)
{
    const struct mariadb_reported reported = reported_of(source, session);
    struct mariadb_thread_times times;
    struct session row = { 0 };
    const int read = mariadb_threads_read(source->threads, session->tid, &session->thread, &times);

    if (read < 0 || !session->is_seen)
        source->sessions_frame.frame.losses.partial++;
    if (read != 1 || !session->is_seen || times.elapsed_ns == 0)
        return CAMP_OK;
    row.elapsed_ns = times.elapsed_ns;
    row.cpu_ns = times.cpu_ns;
    row.run_queue_ns = times.run_queue_ns;
    row.throttled_ns = times.throttled_ns;
    if (assume(source, session, times.elapsed_ns) != CAMP_OK ||
        mariadb_row_wait_resolve(session, &source->statements) != CAMP_OK ||
        report(source, session, &reported, &row) != CAMP_OK)
        return CAMP_E_NOMEM;
    mariadb_account_threads(&source->account, session, &times, source->tier == TIER_BPF, &reported);
    return add_row(source, session, &row);
}

/* Adds a row with what the instruments report. The row has CPU time only if the server is local. */
static int add_by_instruments(struct mariadb_source *source, struct mariadb_session *session)
{
    const struct mariadb_reported reported = reported_of(source, session);
    struct session row = { .elapsed_ns = reported.elapsed_ns };
    struct mariadb_thread_times times = { 0 };

    if (!session->is_seen)
        source->sessions_frame.frame.losses.partial++;
    /* The two times are equal if the instruments were not read in this interval. */
    if (session->asked_ns == source->asked_waits.asked_ns)
        return CAMP_OK;
    if (source->threads != NULL &&
        mariadb_threads_read(source->threads, session->tid, &session->thread, &times) == 1) {
        row.cpu_ns = times.cpu_ns;
        row.run_queue_ns = times.run_queue_ns;
    }
    if (reported.waits == NULL)
        return CAMP_OK;
    if (mariadb_row_wait_resolve(session, &source->statements) != CAMP_OK)
        return CAMP_E_NOMEM;
    mariadb_account_waits(&source->account, session, row.elapsed_ns, &reported);
    if (row.cpu_ns > 0)
        mariadb_account_fit(&source->account, row.elapsed_ns, row.cpu_ns + row.run_queue_ns);
    return add_row(source, session, &row);
}

static int add_by_samples(struct mariadb_source *source, struct mariadb_session *session)
{
    struct session row = { 0 };
    const uint64_t begin_ns = session->begin_ns;

    if (!session->is_seen)
        source->sessions_frame.frame.losses.partial++;
    session->begin_ns = session->sampled_ns;
    if (begin_ns == 0 || begin_ns == session->sampled_ns || !session->is_seen)
        return CAMP_OK;
    row.elapsed_ns = session->sampled_ns - begin_ns;
    if (mariadb_row_wait_resolve(session, &source->statements) != CAMP_OK)
        return CAMP_E_NOMEM;
    mariadb_account_samples(&source->account, session, row.elapsed_ns);
    return add_row(source, session, &row);
}

int mariadb_fill_frame(struct mariadb_source *source)
{
    const bool asked = source->asked_waits.asked_ns != 0;
    int r = CAMP_OK;

    if (source->reported.waits != NULL)
        source->not_instrumented = 0;
    for (size_t i = 0; i < source->sessions.count && r == CAMP_OK; i++) {
        struct mariadb_session *session = &source->sessions.sessions[i];

        if (session->is_background && !source->background)
            continue;
        mariadb_parts_start(&source->parts);
        if (source->tier <= TIER_SCHEDSTAT)
            r = add_by_thread(source, session);
        else if (source->tier == TIER_INSTRUMENTS)
            r = add_by_instruments(source, session);
        else
            r = add_by_samples(source, session);
        session->asked_ns = asked ? source->asked_waits.asked_ns : 0;
    }
    return r;
}
