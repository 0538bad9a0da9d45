/*
 * Accounts for the time of a session in an interval by class, event and activity, from what each
 * tier knows. Pure arithmetic.
 *
 * With the operating system each sleep is measured (by its class), or the sum of all sleeps. The
 * database's data divides it. Sleep in a poll or a socket is idle while the session was between
 * statements, by its instrument "idle" if enabled, otherwise by samples. Sleep in a futex belongs
 * to the events of the instruments, if enabled; the rest of it belongs to the lock of a row if
 * samples saw one. Any other sleep is divided by the samples of its class.
 */
#pragma once

#include "mariadb_waits.h"
#include "sources/sessions/session.h"

struct mariadb_account {
    struct session_time *times; /* [count]; mariadb_account_release() frees them */
    size_t count, capacity;
    bool failed; /* out of memory */
    const char *type;
};

void mariadb_account_release(struct mariadb_account *account);

/* What the instruments report of a session in an interval. All zero: nothing. */
struct mariadb_reported {
    const struct mariadb_waits *waits; /* NULL: not read */
    uint64_t elapsed_ns;               /* time between the two readings */
    bool has_synch;                    /* waits for conditions are instrumented */
};

/* Each function starts a new account. The times come from the operating system (*times), from
 * samples (all of elapsed_ns), or from instruments (the part of elapsed_ns that they report). */
void mariadb_account_threads(struct mariadb_account *account, const struct mariadb_session *session,
                             const struct mariadb_thread_times *times, bool measured,
                             const struct mariadb_reported *reported);
void mariadb_account_samples(struct mariadb_account *account, const struct mariadb_session *session,
                             uint64_t elapsed_ns);
void mariadb_account_waits(struct mariadb_account *account, const struct mariadb_session *session,
                           uint64_t elapsed_ns, const struct mariadb_reported *reported);
