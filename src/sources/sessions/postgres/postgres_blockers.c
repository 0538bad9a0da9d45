/* Who blocks whom in a PostgreSQL server, by samples of pg_blocking_pids(). */
#include "postgres_inside.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

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
