/* Private parts of the server: server.c opens and closes it and receives frames, server_requests.c
 * answers, server_clients.c sends the stream. */
#pragma once

#include "libraries/libmicrohttpd.h"
#include "server.h"
#include "views/http/http_server.h"

#include <pthread.h>

#define SERVER_STREAMS_MAXIMUM 32

/* A client of the stream. */
struct client {
    struct client *next;
    struct server *server;
    struct MHD_Connection *connection;
    struct bytes own; /* sent first: head and entities, a beat, a note */
    size_t own_offset;
    struct history_reader reader;
    uint64_t sent_ns; /* of the last data sent to it */
    bool is_waiting;  /* suspended */
    bool is_due;      /* for a beat */
};

struct server {
    struct http_server http;
    struct bytes head;

    pthread_mutex_t lock; /* of all members below */
    struct stream stream;
    struct history history;
    struct bytes written; /* the current frame */
    struct client *clients;
    size_t client_count;
    bool has_ended, is_closing;
    pthread_cond_t changed; /* closing, or a client has left */
    pthread_t beat;
    bool has_beat;
};

/* Adds a client. NULL: too many, or no memory. */
struct client *client_enter(struct server *server, struct MHD_Connection *connection);

/* The functions of a response with this context: the next data, and the end. */
ssize_t client_read(void *context, uint64_t position, char *ret, size_t capacity);
void client_leave(void *context);

/* Wakes all clients for new data. The lock is held. */
void clients_wake(struct server *server);

/* A thread of its own, until the server closes: clients without data for a second get a beat. So
 * the server notices lost clients, and the page a lost server. */
void *clients_beat(void *server);

/* Answers with the page, the stream or why not; its context is the server. */
http_service_answer request_answer;
