/*
 * A connection to a server that answers one question at a time, and never waits longer than the
 * caller's deadline:
 *
 *     DOWN -> BUSY (connecting, setting up) -> READY <-> BUSY (asking)
 *
 * Each BUSY step ends with an answer, with a failure, or at its own deadline. A failure of the
 * connection leads back to DOWN; it is reported once, by the call that saw it, and the next calls
 * connect again: at once first, then after growing pauses. A driver implements the steps by one
 * client library. None of them blocks: libpq, libmariadb and libcurl work without blocking, and the
 * calls of ODBC run on another thread (odbc_thread.h).
 */
#pragma once

#include "counters/units.h"

#include <camp/camp.h>

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

enum { REMOTE_PENDING = 1 };
enum remote_state { REMOTE_DOWN, REMOTE_BUSY, REMOTE_READY };

/* Functions that return a result call remote_busy(), remote_ready() or, before they report a
 * failure of the connection, remote_down(). */
struct remote_driver {
    int (*connect)(void *context, struct camp_error *error);
    bool (*is_answered)(const void *context); /* the answer that the caller wants has arrived */
    int (*ask)(void *context, struct camp_error *error);
    /* Waits for the server until `until_ns`; returns the events as poll(2) does, or 0. */
    short (*wait)(void *context, uint64_t until_ns);
    int (*go_on)(void *context, short events, struct camp_error *error);
    /* fails at the deadline of a step; NULL: no step has one */
    int (*fail_late)(void *context, struct camp_error *error);
};

struct remote {
    const struct remote_driver *driver;
    void *context;                     /* the driver's */
    const volatile sig_atomic_t *stop; /* or NULL */
    enum remote_state state;
    uint64_t step_ends_ns;    /* of BUSY */
    unsigned failed_in_a_row; /* failures since the last answer */
    uint64_t not_before_ns;   /* in DOWN: time of the next attempt (CLOCK_MONOTONIC) */
};

/* A driver calls this when it starts a step that waits for the server, for at most `limit_ns`;
 * UINT64_MAX: no limit. */
void remote_busy(struct remote *remote, uint64_t limit_ns);
void remote_ready(struct remote *remote);
/* A driver calls this when the connection is closed. Without `may_pass`, such as after a wrong
 * password, the next attempt follows after a long pause, because each attempt is a line in the
 * server's log. */
void remote_down(struct remote *remote, bool may_pass);

/* A driver's wait(), if its library has a file descriptor. */
short remote_poll(int fd, short events, uint64_t until_ns);

/* Connects and asks until is_answered() is true: CAMP_OK. REMOTE_PENDING: there was no answer until
 * `until_ns` (CLOCK_MONOTONIC), or *stop is set; the next call continues. Otherwise the driver's
 * failure. */
int remote_run(struct remote *remote, uint64_t until_ns, struct camp_error *error);
