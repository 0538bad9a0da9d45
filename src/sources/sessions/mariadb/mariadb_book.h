/*
 * The time of a session in an interval, by class, event and activity: what each tier knows, put
 * together. Arithmetic alone.
 *
 * With the operating system each sleep is measured (by what the thread slept in), or their sum is;
 * the database's samples divide it: what was slept in a poll or on a socket is idle as far as the
 * session was between statements, by its instrument "idle" where that is on, otherwise by samples;
 * what was slept in a futex is of the events of the instruments, where these are on, and what they
 * do not know of it is for a row's lock, when samples saw that; otherwise it is of the samples that
 * saw it sleep in one.
 */
#ifndef CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_BOOK_H
#define CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_BOOK_H

#include "mariadb_waits.h"
#include "sources/sessions/session.h"

struct mariadb_book {
    struct session_time *times; /* [count]; owned: mariadb_book_release() */
    size_t count, capacity;
    bool failed; /* there was no memory for one */
    const char *type;
};

void mariadb_book_release(struct mariadb_book *book);

/* What instruments say of a session in an interval. All zero: nothing. */
struct mariadb_reported {
    const struct mariadb_waits *waits; /* NULL: not asked */
    uint64_t elapsed_ns;               /* between the two answers */
    bool knows_synch;                  /* waits for conditions are instrumented */
};

/* Each begins anew. By the operating system: *times; by samples: all of elapsed_ns; by instruments:
 * what they say, as a share of elapsed_ns, and no more than that of one. */
void mariadb_book_threads(struct mariadb_book *book, const struct mariadb_session *session,
                          const struct mariadb_thread_times *times, bool measured,
                          const struct mariadb_reported *reported);
void mariadb_book_samples(struct mariadb_book *book, const struct mariadb_session *session,
                          uint64_t elapsed_ns);
void mariadb_book_waits(struct mariadb_book *book, const struct mariadb_session *session,
                        uint64_t elapsed_ns, const struct mariadb_reported *reported);

#endif
