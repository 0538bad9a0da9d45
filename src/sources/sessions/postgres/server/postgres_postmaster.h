/*
 * The postmaster: the process of a PostgreSQL server that accepts connections and starts backends.
 *
 * A server that starts, recovers or shuts down refuses connections, and writes a line into its log
 * for each of them. A client cannot ask whether it would be refused. So camp reads which processes
 * a server on this machine has before it connects again. Only a server that accepts connections has
 * a WAL writer: the postmaster starts it when it begins to accept connections, and ends it together
 * with the backends.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

#define POSTMASTER_COMMAND_SIZE 4096

/* All zero means an unknown postmaster: that of a server on another machine or in another
 * container, or of a standby, which has no WAL writer. */
struct postgres_postmaster {
    bool is_known;
    struct camp_process process;
    /* The arguments, by which the postmaster is found after a restart of the server. */
    char command[POSTMASTER_COMMAND_SIZE];
    size_t command_length;
    struct camp_process writer; /* the WAL writer at the last call; pid 0 if there was none */
    uint64_t writer_ns;         /* CLOCK_MONOTONIC when this WAL writer was first seen */
};

/* Called while a connection exists. `backend` is the pid of its backend on this machine, or 0 if
 * the server is not known to run on this machine. */
void postgres_postmaster_remember(struct postgres_postmaster *ret, int32_t backend);

/* Returns false if the server would refuse a connection and log it. Returns true if it accepts
 * connections, if it is not running, or if that is unknown. Reads the arguments of the server's
 * processes, or of all processes once the known postmaster is gone, so it should not be called more
 * often than every POSTMASTER_PERIOD_NS. A server that accepts connections is recognised at the
 * third call at the latest. */
#define POSTMASTER_PERIOD_NS (50 * (uint64_t)1000000)
bool postgres_postmaster_may_accept(struct postgres_postmaster *postmaster);
