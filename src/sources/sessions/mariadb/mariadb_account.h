/*
 * Accounts the time of a session in an interval by class, event and activity, from the data that
 * the tier has. Pure arithmetic.
 *
 * The operating system measures the sleep of each class, or only the sum of all sleep. The data of
 * the database divides this time further.
 *
 * Sleep in a poll, a socket or a pipe is idle for as long as the session was between statements.
 * That time comes from the instrument "idle" if it is enabled, otherwise from samples.
 *
 * Sleep in a futex belongs to the events that the instruments report. The rest of this sleep
 * belongs to the lock of a row, if samples saw such a wait.
 *
 * Any other sleep is divided by the samples of its class.
 */
#pragma once

#include "mariadb_waits.h"
#include "sources/sessions/session.h"

struct mariadb_account {
    struct session_time *times; /* [count] */
    size_t count, capacity;
    bool failed; /* out of memory */
    const char *type;
};

void mariadb_account_release(struct mariadb_account *account);

/* What the instruments report of a session in an interval. All zero means nothing. */
struct mariadb_reported {
    const struct mariadb_waits *waits; /* NULL if the instruments were not read */
    uint64_t elapsed_ns;               /* time between the last two readings */
    bool has_synch;                    /* the instruments have waits for conditions */
};

/* Each function starts a new account. mariadb_account_threads() accounts the times of the operating
 * system; `measured` means that they have a class. mariadb_account_samples() divides all of
 * elapsed_ns by samples. mariadb_account_waits() accounts only the part of elapsed_ns that the
 * instruments report. */
void mariadb_account_threads(struct mariadb_account *account, const struct mariadb_session *session,
                             const struct mariadb_thread_times *times, bool measured,
                             const struct mariadb_reported *reported);
void mariadb_account_samples(struct mariadb_account *account, const struct mariadb_session *session,
                             uint64_t elapsed_ns);
void mariadb_account_waits(struct mariadb_account *account, const struct mariadb_session *session,
                           uint64_t elapsed_ns, const struct mariadb_reported *reported);
