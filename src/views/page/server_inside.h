/* The server's parts among themselves: server.c opens and closes it and takes frames,
 * server_requests.c answers, server_clients.c sends the stream. */
#ifndef CAMP_VIEWS_PAGE_SERVER_INSIDE_H
#define CAMP_VIEWS_PAGE_SERVER_INSIDE_H

#include "libraries/libmicrohttpd.h"
#include "server.h"
#include "server_guests.h"

#include <pthread.h>

#define SERVER_STREAMS_MAXIMUM 32

/* Who gets the stream. */
struct client {
    struct client *next;
    struct server *server;
    struct MHD_Connection *connection;
    struct bytes own; /* goes out first: head and entities, a beat, a note */
    size_t own_offset;
    struct history_reader reader;
    uint64_t sent_ns; /* when it last got something */
    bool is_waiting;  /* suspended */
    bool is_due;      /* for a beat */
};

struct server {
    struct http_place place;
    char *path; /* to be unlinked; NULL: none */
    struct MHD_Daemon *daemon;
    struct guests guests;
    struct bytes head;

    pthread_mutex_t lock; /* of all that follows */
    struct stream stream;
    struct history history;
    struct bytes written; /* the frame at hand */
    struct client *clients;
    size_t client_count;
    bool has_ended, is_closing;
    pthread_cond_t changed; /* closing, or a client has left */
    pthread_t beat;
    bool has_beat;
};

/* ------------------------------------------------------------------------------- Clients -- */

/* One more who gets the stream. NULL: there are too many, or no memory. */
struct client *client_enter(struct server *server, struct MHD_Connection *connection);

/* What it gets next, and its end: the two functions of a response with this context. */
ssize_t client_read(void *context, uint64_t position, char *ret, size_t capacity);
void client_leave(void *context);

/* There is something for all of them. The lock is held. */
void clients_wake(struct server *server);

/* A thread of its own, until the server is closing: who gets nothing for a second gets a beat. By
 * that a client that has gone is noticed, and a page sees that the server is there. */
void *clients_beat(void *server);

/* ------------------------------------------------------------------------------- Requests -- */

/* The functions that libmicrohttpd calls; their context is the server, but for the target's. */
enum MHD_Result request_handle(void *server, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **target);
void *request_note_target(void *context, const char *target, struct MHD_Connection *connection);
void request_end(void *context, struct MHD_Connection *connection, void **target,
                 enum MHD_RequestTerminationCode code);
void request_note_connection(void *server, struct MHD_Connection *connection, void **guest,
                             enum MHD_ConnectionNotificationCode code);

#endif
