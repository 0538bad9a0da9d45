/* The blockers of sessions of PostgreSQL, as the kernel measures them (tier bpf). */
#pragma once

#include "sources/sessions/postgres/postgres_inside.h"

/* Whether a session waits until another process of the server wakes it: for a heavyweight lock, a
 * lightweight one, or a pin of a buffer. */
bool postgres_is_any_lock(const struct session_kind *kind);

/* Sets session->measured to the waits of account `at` by blocker. `since` is its growth.
 * session->times[i] is the time of since->waits[i]. */
void postgres_measure_blockers(struct postgres_source *source, size_t at,
                               const struct backend_account *since, struct session *session);
