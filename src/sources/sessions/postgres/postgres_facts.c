/* What a whole snapshot says of the sessions at one moment (session_facts.h). */
#include "postgres_inside.h"

#include "counters/units.h"

#include <string.h>

/* Both times are by the server's clock. */
static uint64_t age_ns(const struct postgres_snapshot *snapshot, int64_t since_us)
{
    return since_us > 0 && since_us < snapshot->server_us
               ? (uint64_t)(snapshot->server_us - since_us) * NS_PER_US
               : 0;
}

static void keep_oldest(struct session_age *age, uint64_t ns)
{
    if (ns > age->ns)
        age->ns = ns;
}

static bool is_in_transaction(const struct postgres_session *session)
{
    const char *activity = session->kind.texts[SESSION_ACTIVITY];

    return strcmp(activity, "idle_in_transaction") == 0 || strcmp(activity, "aborted") == 0;
}

static void count(struct postgres_source *source, const struct postgres_snapshot *snapshot,
                  const struct postgres_session *session)
{
    struct session_facts *facts = &source->facts;
    const enum session_state state = postgres_state(source, &session->kind);

    keep_oldest(&facts->transaction, age_ns(snapshot, session->transaction_us));
    if (is_in_transaction(session)) {
        facts->in_transaction++;
        keep_oldest(&facts->idle_in_transaction, age_ns(snapshot, session->changed_us));
    } else if (state == SESSION_STATE_COUNT ||
               strcmp(session->kind.texts[SESSION_ACTIVITY], "disabled") == 0) {
        facts->untracked++;
    } else {
        facts->counts[state]++;
    }
}

void postgres_facts_update(struct postgres_source *source, const struct postgres_snapshot *snapshot)
{
    const bool sees_all = snapshot->hidden == 0;
    /* Of a session whose track_activities is off the server reports no transaction. */
    const struct session_age age = { .is_known = sees_all && snapshot->untracked == 0 };

    source->facts = (struct session_facts){
        .is_answered = source->facts.is_answered,
        .hidden = snapshot->hidden,
        .transaction = age,
        .idle_in_transaction = age,
        .blocker = { .is_known = sees_all, .ns = age_ns(snapshot, snapshot->blocked_us) },
    };
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct postgres_session *session = &snapshot->sessions[i];
        const struct postgres_process *process =
            postgres_registry_find(&source->registry, session->pid, session->start_us);

        if (process != NULL && (source->background || postgres_process_is_client(process)))
            count(source, snapshot, session);
    }
}
