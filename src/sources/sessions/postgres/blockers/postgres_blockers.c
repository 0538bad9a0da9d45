#include "postgres_blockers.h"

#include "backend_blockers.h"

#include <string.h>

bool postgres_is_any_lock(const struct session_kind *kind)
{
    static const char *const classes[] = { "Lock", "LWLock", "BufferPin" };

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strcmp(kind->texts[SESSION_CLASS], classes[i]) == 0)
            return true;
    }
    return false;
}

/* Divides a part among the waits with this event, of which left_ns[] has no blocker yet. */
static void divide_part(struct postgres_source *source, const struct backend_account *since,
                        uint32_t event, struct backend_blocking *part,
                        uint64_t left_ns[BACKEND_WAITS_MAX], struct session *session)
{
    for (uint32_t i = 0; i < since->wait_count && part->ns > 0; i++) {
        const uint64_t ns = left_ns[i] < part->ns ? left_ns[i] : part->ns;

        if (since->waits[i].event != event || ns == 0)
            continue;
        source->measured[session->measured_count++] =
            (struct measured_block){ i, { part->blocker, part->root, ns } };
        left_ns[i] -= ns;
        part->ns -= ns;
    }
}

void postgres_measure_blockers(struct postgres_source *source, size_t at,
                               const struct backend_account *since, struct session *session)
{
    const struct backend_blocks *now = backend_accounts_blocks(&source->accounts, at);
    struct backend_blocking parts[BACKEND_BLOCKS];
    uint64_t left_ns[BACKEND_WAITS_MAX];
    size_t count;

    session->measured = source->measured;
    session->measured_count = 0;
    if (now == NULL)
        return;
    session->waits_for_lock = now->event != 0;
    for (uint32_t i = 0; i < since->wait_count; i++)
        left_ns[i] = since->waits[i].ns;
    count =
        backend_blockings_since(now, backend_accounts_blocks_before(&source->accounts, at), parts);
    for (size_t i = 0; i < count; i++) {
        divide_part(source, since, parts[i].event, &parts[i], left_ns, session);
        divide_part(source, since, BACKEND_EVENT_REST(parts[i].event), &parts[i], left_ns, session);
    }
}
