/*
 * What MariaDB's own instruments say (performance_schema): for each session the time of its waits
 * by name, and of "idle", between two statements; cumulative, with what still lasts.
 *
 * Taken are idle, wait/synch, wait/io/file and wait/io/socket. wait/io/table and wait/lock/table
 * contain others of these, and so does wait/lock/metadata (the condition MDL_context is what it
 * waits for): taken as well, time would be counted twice. What waits for the lock of a row in
 * InnoDB is in none of them.
 */
#ifndef CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_WAITS_H
#define CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_WAITS_H

#include "mariadb_sessions.h"

/* Which instruments are on, a sum of these; how many objects and threads it had no room for. */
extern const char mariadb_instruments_statement[];
enum { INSTRUMENTS_IDLE = 1, INSTRUMENTS_SYNCH = 2, INSTRUMENTS_IN_FLIGHT = 4 };

/* The times themselves. */
extern const char mariadb_waits_statement[];

struct mariadb_wait {
    int64_t id;                /* of the session */
    const struct labels *kind; /* class: idle, synch, io_file, io_socket */
    uint64_t ns;
    uint64_t lasting_ns; /* part of it that has not ended, until it is settled */
};

/* Owned: mariadb_waits_release(). All zero is empty. */
struct mariadb_waits {
    struct mariadb_wait *now, *before; /* [count], [before_count]; ascending by id and kind */
    size_t count, before_count, capacity, before_capacity;
};

void mariadb_waits_release(struct mariadb_waits *waits);

/* The rows of an answer take the place of those before. `instruments`: without IN_FLIGHT the idle
 * time that lasts is what the process list says. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_waits_take(struct mariadb_waits *waits, MYSQL_RES *rows, unsigned instruments,
                       uint64_t elapsed_ns, const struct mariadb_sessions *sessions);

/* What lasts is read before what has ended, a few ms apart: a wait that ends in between is in both,
 * as waits for metadata do each second. It has then grown by more than elapsed_ns, since the rows
 * before, and is taken once. */
void mariadb_waits_settle(struct mariadb_waits *waits, uint64_t elapsed_ns);

/* What there is of a session now: [*ret_count], by kind; 0: it is not instrumented. Its growth:
 * mariadb_wait_since(). */
const struct mariadb_wait *mariadb_waits_of(const struct mariadb_waits *waits, int64_t id,
                                            size_t *ret_count);
uint64_t mariadb_wait_since(const struct mariadb_waits *waits, const struct mariadb_wait *wait);

#endif
