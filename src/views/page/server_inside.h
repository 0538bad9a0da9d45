/* Private parts of the server: server.c opens and closes it and receives frames, server_clients.c
 * answers requests and sends the stream. */
#pragma once

#include "server.h"
#include "views/http/http_server.h"

#include <pthread.h>

#define SERVER_STREAMS_MAXIMUM 32

struct client;

struct server {
    struct http_server http;
    struct bytes head;

    pthread_mutex_t lock; /* protects all members below */
    struct stream stream;
    struct history history;
    struct bytes written; /* blocks that are not yet in the history */
    struct client *clients;
    size_t client_count;
    bool has_ended, is_closing;
    pthread_cond_t changed; /* signalled when the server closes, or a client has left */
    pthread_t beat;
    bool has_beat;
};

/* Waits until server->changed is signalled; false: not before this time of CLOCK_MONOTONIC. The
 * caller holds the lock. */
bool server_wait(struct server *server, uint64_t until_ns);

/* Wakes all clients for new data. The caller holds the lock. */
void clients_wake(struct server *server);

/* Runs in a thread until the server closes: a client that got no data for a second gets a beat. The
 * server detects lost clients by it, and the page a lost server. */
void *clients_beat(void *server);

/* Answers with the page, the stream or the reason for a refusal; its context is the server. */
http_service_answer request_answer;
