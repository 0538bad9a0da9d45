/*
 * A connection to a server, for one question at a time. No call waits longer than the caller's
 * deadline. The states of a connection are:
 *
 *     DOWN -> BUSY (connecting, setting up) -> READY <-> BUSY (asking)
 *
 * Each BUSY step ends with an answer, with a failure, or at the deadline of the step. After a
 * failure of the connection the state is DOWN. Only the call that finds the failure reports it.
 * Later calls connect again: the first one at once, the others after growing pauses.
 *
 * Each driver implements the steps with one client library. No function of a driver blocks: libpq,
 * libmariadb and libcurl have calls that do not block, and the calls of ODBC run on another thread
 * (remote_thread.h).
 */
#pragma once

#include "counters/clock.h"

#include <camp/camp.h>

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

enum { REMOTE_PENDING = 1 };
enum remote_state { REMOTE_DOWN, REMOTE_BUSY, REMOTE_READY };

/* connect(), ask(), go_on() and fail_late() change the state by remote_busy(), remote_ready(),
 * remote_down() and remote_postpone(). When the connection fails, they call remote_down() and
 * return the failure. */
struct remote_driver {
    int (*connect)(void *context, struct camp_error *error);
    /* Returns true if the answer to the caller's question has arrived. */
    bool (*is_answered)(const void *context);
    int (*ask)(void *context, struct camp_error *error);
    /* Waits for the server until `until_ns`. Returns the events that poll(2) reports, or 0. */
    short (*wait)(void *context, uint64_t until_ns);
    int (*go_on)(void *context, short events, struct camp_error *error);
    /* Called at the deadline of a step. May be NULL if no step has a deadline. */
    int (*fail_late)(void *context, struct camp_error *error);
};

struct remote {
    const struct remote_driver *driver;
    void *context;
    const volatile sig_atomic_t *stop; /* set by a signal handler to end all waits; may be NULL */
    enum remote_state state;
    uint64_t step_ends_ns; /* deadline of the BUSY step */
    unsigned failed_in_a_row;
    uint64_t not_before_ns; /* in state DOWN: earliest time to connect again (CLOCK_MONOTONIC) */
};

/* Called by a driver when it starts a step. The step may last at most `limit_ns`; UINT64_MAX means
 * no limit. */
void remote_busy(struct remote *remote, uint64_t limit_ns);
void remote_ready(struct remote *remote);
/* Called by a driver after it has closed the connection. `may_pass` is false if the failure will
 * not pass by itself, such as a wrong password. The next pause is then long, because each attempt
 * writes a line into the server's log. */
void remote_down(struct remote *remote, bool may_pass);

/* Called by a driver that has no connection, so that the next attempt to connect is not earlier
 * than in `pause_ns`. */
void remote_postpone(struct remote *remote, uint64_t pause_ns);

short remote_poll(int fd, short events, uint64_t until_ns);

/* Returns true if the local end of the connection `fd` is a Unix socket or a loopback address. */
bool remote_is_local(int fd);

/* Connects and asks until is_answered() is true, and then returns CAMP_OK. REMOTE_PENDING means
 * that there was no answer until `until_ns` (CLOCK_MONOTONIC) or that *stop is set; the next call
 * continues. Other results are failures of the driver. */
int remote_run(struct remote *remote, uint64_t until_ns, struct camp_error *error);
