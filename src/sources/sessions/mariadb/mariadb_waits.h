/*
 * The report of MariaDB's own instruments (performance_schema): for each session the cumulative
 * time of its waits by name, and of "idle" between two statements, including what still lasts.
 *
 * It has idle, wait/synch, wait/io/file and wait/io/socket. wait/io/table, wait/lock/table and
 * wait/lock/metadata (a wait for the condition MDL_context) contain others of these: with them,
 * time would be counted twice. Waits for the lock of a row in InnoDB are in none of them.
 */
#pragma once

#include "mariadb_sessions.h"

/* The enabled instruments, as a sum of these; the number of objects and threads that did not
 * fit. */
extern const char mariadb_instruments_statement[];
enum { INSTRUMENTS_IDLE = 1, INSTRUMENTS_SYNCH = 2, INSTRUMENTS_IN_FLIGHT = 4 };

/* The times. */
extern const char mariadb_waits_statement[];

struct mariadb_wait {
    int64_t id;                /* of the session */
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

/* Replaces the rows by those of an answer. `instruments`: without IN_FLIGHT the process list
 * reports lasting idle time. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_waits_read(struct mariadb_waits *waits, MYSQL_RES *rows, unsigned instruments,
                       uint64_t elapsed_ns, const struct mariadb_sessions *sessions);

/* Lasting waits are read some ms before finished ones: a wait that ends in between is in both, as
 * metadata waits are each second. Such a wait has grown by more than elapsed_ns since the last
 * rows, and is counted once. */
void mariadb_waits_resolve(struct mariadb_waits *waits, uint64_t elapsed_ns);

/* The current waits of a session: [*ret_count], by kind; 0: it is not instrumented.
 * mariadb_wait_since() has their growth. */
const struct mariadb_wait *mariadb_waits_of(const struct mariadb_waits *waits, int64_t id,
                                            size_t *ret_count);
uint64_t mariadb_wait_since(const struct mariadb_waits *waits, const struct mariadb_wait *wait);
