/*
 * Who blocks whom in MariaDB, by InnoDB's waits for the locks of rows. The ids are those of the
 * process list. Locks of metadata and tables, which InnoDB does not know, have no blocker.
 */
#pragma once

#include "ledger/session_rules.h"
#include "mariadb_sessions.h"
#include "sources/sessions/blocker_samples.h"

/* Asks for pairs of sessions: which waits, and which blocks it. It is sent only right after a
 * sample with transactions that found a wait: InnoDB then still has its table of transactions,
 * which it makes anew after 0.1 s. At most MARIADB_LOCK_WAITS_MOST pairs; of further ones the
 * blocker is unknown. */
#define MARIADB_LOCK_WAITS_MOST 10000
extern const struct mariadb_statement mariadb_lock_waits_statement;

/* Whether the last sample with transactions found a session that waits for the lock of a row. */
bool mariadb_sessions_wait_for_rows(const struct mariadb_sessions *sessions);

/* Adds a sample. `rows` is the answer to mariadb_lock_waits_statement, or NULL if it was not asked:
 * no session waits, or the blockers of those that wait are unknown. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_blockers_add(struct blocker_samples *samples, uint64_t at_ns,
                         const struct mariadb_sessions *sessions, struct mariadb_answer *rows);

/* Whether a session waits for a lock of which InnoDB knows the holder. */
bool mariadb_is_lock(const struct session_kind *kind);
