#include "ledger/array.h"
#include "oracle_inside.h"

#include <stdio.h>

const char *const oracle_label_names[ORACLE_LABELS] = { "user", "program", "machine", "module",
                                                        SOURCE_LABEL_WAIT_EVENT };

/* Names a session by its user (or its program, if it has no user), sid and serial number. */
static void name_session(const struct oracle_session *session, bool is_new, struct entity *entity)
{
    const char *labels[] = { session->user, session->program, session->machine, session->module };

    *entity = (struct entity){
        .id = session->sid,
        .flags = is_new ? ENTITY_NEW : 0,
        .count = 1,
        .pid = session->spid,
        .labels = labels_intern(labels, ARRAY_COUNT(labels)),
    };
    snprintf(entity->name, sizeof entity->name, "%.32s %lld,%.16s",
             session->user[0] != '\0' ? session->user : session->program, (long long)session->sid,
             session->serial);
}

static int account_time(struct oracle_source *source, const struct oracle_session *earlier)
{
    const struct oracle_times *times = &source->times;
    const struct oracle_session *session = times->session;
    struct session row = { .elapsed_ns = times->elapsed_ns,
                           .cpu_ns = times->cpu_ns,
                           .run_queue_ns = times->run_queue_ns,
                           .time_count = times->wait_count };

    if (!ARRAY_RESERVE(source->kinds, source->kind_capacity, times->wait_count))
        return CAMP_E_NOMEM;
    row.times = source->kinds;
    row.reported_ns[SESSION_CPU] = times->reported_cpu_ns;
    row.reported_ns[SESSION_RUN_QUEUE] = times->reported_run_queue_ns;
    for (size_t i = 0; i < times->wait_count; i++) {
        struct session_time *time = &source->kinds[i];
        enum session_state state;

        *time = (struct session_time){ { { times->waits[i]->class, times->waits[i]->event,
                                           session->status, session->type } },
                                       times->wait_ns[i] };
        state = session_frame_state(&source->sessions, &time->kind);
        if (state < SESSION_STATE_COUNT)
            row.reported_ns[state] += time->ns;
    }
    name_session(session, earlier->is_new, &row.entity);
    return session_frame_add(&source->sessions, &row);
}

static uint64_t count_partial(const struct oracle_snapshot *before, size_t found)
{
    return before->count > found ? before->count - found : 0;
}

int oracle_rows_fill(struct oracle_source *source, struct oracle_snapshot *after)
{
    const struct oracle_snapshot *before = &source->before;
    size_t found = 0;
    int r = CAMP_OK;

    for (size_t i = 0; r == CAMP_OK && i < after->count; i++) {
        struct oracle_session *session = &after->sessions[i];
        const struct oracle_session *earlier = oracle_times_before(before, session);

        session->is_new = earlier == NULL;
        if (earlier == NULL)
            continue;
        r = oracle_times_fill(&source->times, before, earlier, after, session);
        if (r != CAMP_OK || !source->times.is_known)
            continue;
        found++;
        r = account_time(source, earlier);
    }
    source->sessions.frame.losses.partial = count_partial(before, found);
    return r;
}
