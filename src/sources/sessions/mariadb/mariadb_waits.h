/*
 * Reads the instruments of MariaDB (performance_schema). They report for each session the total
 * time of its waits, by name. The time between statements is the wait "idle". A wait that still
 * lasts is included.
 *
 * Only the instruments idle, wait/synch, wait/io/file and wait/io/socket are read. The waits of
 * wait/io/table, wait/lock/table and wait/lock/metadata contain waits of wait/synch, such as a wait
 * for the condition MDL_context, so time would be counted twice. No instrument measures waits for
 * the lock of a row in InnoDB.
 */
#pragma once

#include "mariadb_sessions.h"

/* This statement returns one row: the sum of the INSTRUMENTS_... that are enabled, and the number
 * of objects that did not fit into performance_schema. INSTRUMENTS_IN_FLIGHT means that waits are
 * reported while they last. */
extern const struct mariadb_statement mariadb_instruments_statement;
enum { INSTRUMENTS_IDLE = 1, INSTRUMENTS_SYNCH = 2, INSTRUMENTS_IN_FLIGHT = 4 };

extern const struct mariadb_statement mariadb_waits_statement;

struct mariadb_wait {
    int64_t id;     /* id of the session */
    labels_id kind; /* its class is idle, synch, io_file or io_socket */
    uint64_t ns;
    /* Part of `ns` that belongs to a wait that still lasts; 0 after mariadb_waits_resolve(). */
    uint64_t lasting_ns;
};

/* The last two readings. All zero means that there are none. */
struct mariadb_waits {
    struct mariadb_wait *now, *before; /* [count] and [before_count], in the order of id and kind */
    size_t count, before_count, capacity, before_capacity;
};

void mariadb_waits_release(struct mariadb_waits *waits);

/* Stores the rows of an answer as a new reading. `elapsed_ns` is the time since the previous
 * reading. Without INSTRUMENTS_IN_FLIGHT in `instruments`, idle time that still lasts is taken from
 * `sessions`. Returns CAMP_OK or CAMP_E_NOMEM. */
int mariadb_waits_read(struct mariadb_waits *waits, struct mariadb_answer *rows,
                       unsigned instruments, uint64_t elapsed_ns,
                       const struct mariadb_sessions *sessions);

/* Corrects waits that were read twice. The server reads its table of lasting waits some ms before
 * its table of finished waits, so a wait that ends in between is in both tables. The time of such a
 * wait has grown by more than elapsed_ns, the time since the previous reading. Waits for metadata
 * are often affected, because they end each second. */
void mariadb_waits_resolve(struct mariadb_waits *waits, uint64_t elapsed_ns);

/* Returns the waits of a session in the last reading, in the order of their kinds. *ret_count is 0
 * if the session is not instrumented. mariadb_wait_since() returns by how much a wait has grown
 * since the previous reading. */
const struct mariadb_wait *mariadb_waits_of(const struct mariadb_waits *waits, int64_t id,
                                            size_t *ret_count);
uint64_t mariadb_wait_since(const struct mariadb_waits *waits, const struct mariadb_wait *wait);
