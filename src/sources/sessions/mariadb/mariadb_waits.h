/*
 * Reads MariaDB's own instruments (performance_schema): for each session the cumulative time of its
 * waits by name, and of "idle" between two statements, including a wait that still lasts.
 *
 * It reads idle, wait/synch, wait/io/file and wait/io/socket, but not wait/io/table,
 * wait/lock/table and wait/lock/metadata (a wait for the condition MDL_context), which contain the
 * former: time would be counted twice. Waits for the lock of a row in InnoDB are in no instrument.
 */
#pragma once

#include "mariadb_sessions.h"

/* Its row: the enabled instruments, as a sum of INSTRUMENTS_...; the number of objects and threads
 * that did not fit into performance_schema. */
extern const char mariadb_instruments_statement[];
enum { INSTRUMENTS_IDLE = 1, INSTRUMENTS_SYNCH = 2, INSTRUMENTS_IN_FLIGHT = 4 };

/* The times. */
extern const char mariadb_waits_statement[];

struct mariadb_wait {
    int64_t id;                /* id of the session */
    const struct labels *kind; /* class: idle, synch, io_file, io_socket */
    uint64_t ns;
    uint64_t lasting_ns; /* the part that still lasts, until mariadb_waits_resolve() */
};

/* mariadb_waits_release() frees it. All zero: empty. */
struct mariadb_waits {
    struct mariadb_wait *now, *before; /* [count], [before_count]; ascending by id and kind */
    size_t count, before_count, capacity, before_capacity;
};

void mariadb_waits_release(struct mariadb_waits *waits);

/* Replaces the rows by those of an answer. `instruments`: without IN_FLIGHT, idle time that still
 * lasts is taken from the process list. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_waits_read(struct mariadb_waits *waits, MYSQL_RES *rows, unsigned instruments,
                       uint64_t elapsed_ns, const struct mariadb_sessions *sessions);

/* Counts waits once that were read twice. Lasting waits are read some ms before finished ones, so a
 * wait that ends in between is in both; waits for metadata end each second. Such a wait has grown
 * by more than elapsed_ns since the last rows. */
void mariadb_waits_resolve(struct mariadb_waits *waits, uint64_t elapsed_ns);

/* Returns the current waits of a session, [*ret_count] by kind; 0: it is not instrumented.
 * mariadb_wait_since() returns the growth of one. */
const struct mariadb_wait *mariadb_waits_of(const struct mariadb_waits *waits, int64_t id,
                                            size_t *ret_count);
uint64_t mariadb_wait_since(const struct mariadb_waits *waits, const struct mariadb_wait *wait);
