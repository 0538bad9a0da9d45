/*
 * Connections that have proven nothing: all but those that get the stream. There are only so many;
 * who comes when the house is full takes the place of the one who came first. So a crowd that
 * connects and says nothing keeps nobody out. Only the server's thread uses it.
 */
#ifndef CAMP_VIEWS_PAGE_SERVER_GUESTS_H
#define CAMP_VIEWS_PAGE_SERVER_GUESTS_H

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
    struct guest_list list; /* the oldest first */
    size_t count;
};

void guests_init(struct guests *guests);

/* A connection has begun; may show the oldest one the door. NULL: no memory. */
struct guest *guests_enter(struct guests *guests, int socket);

/* The same, or guests_leave(), as the library says. */
void guests_note(struct guests *guests, struct MHD_Connection *connection, struct guest **guest,
                 enum MHD_ConnectionNotificationCode code);

/* It has proven who it is: nobody takes its place. */
void guests_promote(struct guests *guests, struct guest *guest);

/* It is over. NULL is allowed. */
void guests_leave(struct guests *guests, struct guest *guest);

#endif
