/*
 * Reads the instruments of MariaDB (performance_schema). They have, for each session, the
 * cumulative time of its waits by name, and of "idle" between two statements. A wait that still
 * lasts is included.
 *
 * The instruments idle, wait/synch, wait/io/file and wait/io/socket are read. The instruments
 * wait/io/table, wait/lock/table and wait/lock/metadata are not read: their waits contain waits of
 * the other instruments, such as a wait for the condition MDL_context, so time would be counted
 * twice. No instrument has waits for the lock of a row in InnoDB.
 */
#pragma once

#include "mariadb_sessions.h"

/* The statement whose row tells the enabled instruments, as a sum of INSTRUMENTS_..., and the
 * number of objects that did not fit into performance_schema. */
extern const char mariadb_instruments_statement[];
enum { INSTRUMENTS_IDLE = 1, INSTRUMENTS_SYNCH = 2, INSTRUMENTS_IN_FLIGHT = 4 };

/* The statement that reads the waits of all sessions. */
extern const char mariadb_waits_statement[];

struct mariadb_wait {
    int64_t id;                /* of the session */
    const struct labels *kind; /* its class is idle, synch, io_file or io_socket */
    uint64_t ns;
    /* The part of `ns` that belongs to a wait that still lasts. mariadb_waits_resolve() sets it to
     * 0. */
    uint64_t lasting_ns;
};

/* All zero means empty. */
struct mariadb_waits {
    struct mariadb_wait *now, *before; /* [count] and [before_count], in the order of id and kind */
    size_t count, before_count, capacity, before_capacity;
};

void mariadb_waits_release(struct mariadb_waits *waits);

/* Replaces the waits by the rows of an answer. `elapsed_ns` is the time since the last reading.
 * Without INSTRUMENTS_IN_FLIGHT in `instruments`, idle time that still lasts is taken from the
 * process list. Returns CAMP_OK or CAMP_E_NOMEM. */
int mariadb_waits_read(struct mariadb_waits *waits, MYSQL_RES *rows, unsigned instruments,
                       uint64_t elapsed_ns, const struct mariadb_sessions *sessions);

/* Counts a wait once if it was read twice. The table of lasting waits is read some ms before the
 * table of finished waits, so a wait that ends in between is in both tables. Such a wait has grown
 * by more than elapsed_ns, the time since the last reading. Waits for metadata are often affected,
 * because they end each second. */
void mariadb_waits_resolve(struct mariadb_waits *waits, uint64_t elapsed_ns);

/* Returns the current waits of a session, in the order of their kinds. *ret_count is 0 if the
 * session is not instrumented. mariadb_wait_since() returns by how much a wait has grown since the
 * last reading. */
const struct mariadb_wait *mariadb_waits_of(const struct mariadb_waits *waits, int64_t id,
                                            size_t *ret_count);
uint64_t mariadb_wait_since(const struct mariadb_waits *waits, const struct mariadb_wait *wait);
