/*
 * A connection to a server that answers one question at a time. No call waits longer than the
 * caller's deadline. The states are:
 *
 *     DOWN -> BUSY (connecting, setting up) -> READY <-> BUSY (asking)
 *
 * Each BUSY step ends with an answer, with a failure, or at its own deadline. A failure of the
 * connection leads back to DOWN. It is reported once, by the call that saw it. The next calls
 * connect again: at once the first time, then after growing pauses.
 *
 * A driver implements the steps by one client library. No function of a driver blocks: libpq,
 * libmariadb and libcurl work without blocking, and the calls of ODBC run on another thread
 * (odbc_thread.h).
 */
#pragma once

#include "counters/units.h"

#include <camp/camp.h>

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

enum { REMOTE_PENDING = 1 };
enum remote_state { REMOTE_DOWN, REMOTE_BUSY, REMOTE_READY };

/* Each function that returns an int calls remote_busy() or remote_ready(). If the connection
 * failed, the function calls remote_down() before it returns the failure. */
struct remote_driver {
    int (*connect)(void *context, struct camp_error *error);
    /* Returns true if the answer that the caller wants has arrived. */
    bool (*is_answered)(const void *context);
    int (*ask)(void *context, struct camp_error *error);
    /* Waits for the server until `until_ns`. Returns the events as poll(2) does, or 0. */
    short (*wait)(void *context, uint64_t until_ns);
    int (*go_on)(void *context, short events, struct camp_error *error);
    /* Called when a step has reached its deadline. NULL is allowed if no step has a deadline. */
    int (*fail_late)(void *context, struct camp_error *error);
};

struct remote {
    const struct remote_driver *driver;
    void *context;
    const volatile sig_atomic_t *stop; /* may be NULL */
    enum remote_state state;
    uint64_t step_ends_ns; /* deadline of the BUSY step */
    unsigned failed_in_a_row;
    uint64_t not_before_ns; /* time of the next attempt in state DOWN (CLOCK_MONOTONIC) */
};

/* A driver calls this when it starts a step that waits for the server for at most `limit_ns`.
 * UINT64_MAX means no limit. */
void remote_busy(struct remote *remote, uint64_t limit_ns);
void remote_ready(struct remote *remote);
/* A driver calls this when the connection is closed. `may_pass` is false after a failure that
 * lasts, such as a wrong password. The next pause is then long, because each attempt writes a line
 * into the server's log. */
void remote_down(struct remote *remote, bool may_pass);

short remote_poll(int fd, short events, uint64_t until_ns);

/* Connects and asks until is_answered() is true, and then returns CAMP_OK. REMOTE_PENDING means
 * that there was no answer until `until_ns` (CLOCK_MONOTONIC) or that *stop is set; the next call
 * continues. Other results are failures of the driver. */
int remote_run(struct remote *remote, uint64_t until_ns, struct camp_error *error);
