/*
 * Connections that have not authenticated: all except for clients of the stream. Their number is
 * limited; beyond it a new one replaces the oldest. So many idle connections keep nobody out. Only
 * the server's thread uses it.
 */
#pragma once

#include "libraries/libmicrohttpd.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#define GUESTS_MAXIMUM 64

struct guest {
    TAILQ_ENTRY(guest) link;
    int socket;
    bool is_listed;
};

TAILQ_HEAD(guest_list, guest);

struct guests {
    struct guest_list list; /* oldest first */
    size_t count;
};

void guests_init(struct guests *guests);

/* A new connection; may close the oldest one. NULL: no memory. */
struct guest *guests_enter(struct guests *guests, int socket);

/* Calls guests_enter() or guests_leave(), on the library's event. */
void guests_note(struct guests *guests, struct MHD_Connection *connection, struct guest **guest,
                 enum MHD_ConnectionNotificationCode code);

/* It has authenticated, and is no longer replaced. */
void guests_promote(struct guests *guests, struct guest *guest);

/* The connection is over. NULL is allowed. */
void guests_leave(struct guests *guests, struct guest *guest);
