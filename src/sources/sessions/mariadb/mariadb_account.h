/*
 * Divides the time of a session in an interval by class, event and activity. The functions do no
 * I/O.
 *
 * The operating system measures the sleep of each class, or only the sum of all sleep. What the
 * database reports divides the sleep further:
 *
 * - Between statements, a server waits for its client in a poll, a socket or a pipe. So this sleep
 *   is idle, up to the time that the session was between statements. The instrument "idle" measures
 *   that time. If the instrument is not enabled, samples estimate the time.
 * - Sleep in a futex belongs to the events that the instruments report. If samples saw a wait for
 *   the lock of a row, the rest of the sleep in a futex belongs to that lock.
 * - Any other sleep is divided in proportion to the samples of its class.
 *
 * Each time is of the statement of the sample that divided it, MARIADB_STATEMENT_NONE between
 * statements, or MARIADB_STATEMENT_OTHER if no sample found the statement. Waits that the
 * instruments report are divided by the statements that samples found.
 */
#pragma once

#include "mariadb_waits.h"
#include "sources/sessions/session.h"

struct mariadb_account {
    struct session_time *times; /* [count] */
    int64_t *statements;        /* [count] of which statement each time is; see mariadb_sample */
    size_t count, capacity;
    bool failed; /* memory has run out */
    const char *type;
};

void mariadb_account_release(struct mariadb_account *account);

/* What the instruments report of a session in an interval; all zero if they report nothing. */
struct mariadb_reported {
    const struct mariadb_waits *waits; /* NULL if the instruments were not read in the interval */
    uint64_t elapsed_ns;               /* time between the last two readings of the instruments */
    bool has_synch; /* waits for condition variables (wait/synch/cond) are enabled */
};

/* Each function replaces the contents of *account. mariadb_account_threads() divides the sleep of a
 * thread; `measured` means that times->asleep_ns has the sleep of each class, not only the sum.
 * mariadb_account_samples() divides elapsed_ns in proportion to the samples of the session.
 * mariadb_account_waits() accounts the waits that the instruments report; their sum may be less
 * than elapsed_ns. */
void mariadb_account_threads(struct mariadb_account *account, const struct mariadb_session *session,
                             const struct mariadb_thread_times *times, bool measured,
                             const struct mariadb_reported *reported);
void mariadb_account_samples(struct mariadb_account *account, const struct mariadb_session *session,
                             uint64_t elapsed_ns);
void mariadb_account_waits(struct mariadb_account *account, const struct mariadb_session *session,
                           uint64_t elapsed_ns, const struct mariadb_reported *reported);

/* Reduces the times, in proportion, to what `awake_ns` leaves of elapsed_ns, if their sum is more.
 * A wait of the instruments lasts until its thread runs again, and contains its system calls, so
 * the operating system has counted a part of it as time in the run queue and on a CPU. */
void mariadb_account_fit(struct mariadb_account *account, uint64_t elapsed_ns, uint64_t awake_ns);
