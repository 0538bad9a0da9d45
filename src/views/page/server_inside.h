/* Private parts of the server. server.c opens and closes the server and receives frames.
 * server_clients.c answers requests and sends the stream. */
#pragma once

#include "server.h"
#include "views/http/http_server.h"

#include <pthread.h>

#define SERVER_STREAMS_MAXIMUM 32

struct client;

struct server {
    struct http_server http;
    struct bytes head;

    pthread_mutex_t lock; /* protects all following members */
    struct stream stream;
    struct history history;
    struct bytes written; /* blocks that are not in the history yet */
    struct client *clients;
    size_t client_count;
    bool has_ended, is_closing;
    pthread_cond_t changed; /* signalled when the server closes, or when a client has left */
    pthread_t beat;
    bool has_beat;
};

/* Waits until server->changed is signalled. Returns false if CLOCK_MONOTONIC reaches `until_ns`
 * first. The caller holds server->lock. */
bool server_wait(struct server *server, uint64_t until_ns);

/* Wakes all clients to send new data. The caller holds server->lock. */
void clients_wake(struct server *server);

/* The function of a thread that runs until the server closes. To each client that got no data for
 * about a second, the thread sends a beat, which is an empty block. A beat lets the server detect a
 * lost client, and lets the page detect a lost server. */
void *clients_beat(void *server);

/* Answers with the page, the stream or the reason for a refusal. `context` is a struct server. */
http_service_answer request_answer;
