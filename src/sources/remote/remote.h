/*
 * A connection to a server that answers one question at a time, and never waits longer than the
 * caller's deadline:
 *
 *     DOWN -> BUSY (connecting, setting up) -> READY <-> BUSY (asking)
 *
 * Each busy step ends by an answer, by a failure or by its own deadline. Any failure leads back to
 * DOWN; it is reported once, by the call that saw it, and the next calls connect again: at once
 * first, then after growing pauses (retry.h). A driver has the steps of one client library, none of
 * which blocks.
 */
#pragma once

#include "retry.h"

#include <camp/camp.h>

#include <poll.h>
#include <signal.h>

enum { REMOTE_PENDING = 1 };
enum remote_state { REMOTE_DOWN, REMOTE_BUSY, REMOTE_READY };

/* Functions that return a result call remote_busy(), remote_ready() or, before they report a
 * failure of the connection, remote_down(). */
struct remote_driver {
    int (*connect)(void *context, struct camp_error *error);
    bool (*is_answered)(const void *context); /* what the caller wants is there */
    int (*ask)(void *context, struct camp_error *error);
    struct pollfd (*awaited)(void *context);
    int (*go_on)(void *context, short events, struct camp_error *error);
    int (*fail_late)(void *context, struct camp_error *error);
};

struct remote {
    const struct remote_driver *driver;
    void *context;                     /* the driver's */
    const volatile sig_atomic_t *stop; /* or NULL */
    enum remote_state state;
    uint64_t step_ends_ns; /* of BUSY */
    struct retry retry;    /* of DOWN */
};

/* A step has started that waits for the server, so long at most. */
void remote_busy(struct remote *remote, uint64_t limit_ns);
void remote_ready(struct remote *remote);
/* The connection is closed. `may_pass`: as in retry_failed(). */
void remote_down(struct remote *remote, bool may_pass);

/* Connects and asks until is_answered(): CAMP_OK. REMOTE_PENDING: not answered until `until_ns`
 * (CLOCK_MONOTONIC), or *stop is set; the next call continues. Otherwise the driver's failure. */
int remote_run(struct remote *remote, uint64_t until_ns, struct camp_error *error);
