/* Answers requests with the page, or with the stream from each client's position. */
#include "server_inside.h"

#include "counters/clock.h"
#include "page.h"

#include <stdlib.h>
#include <string.h>

#define BEAT_NS NS_PER_S
/* A stream whose client takes no data for this time is closed. The time is long, because a page may
 * be paused, or its computer asleep. */
#define STREAM_STUCK_S 300u
#define PIECE_SIZE (48 * 1024)        /* most bytes that client_read() returns */
#define SEND_BUFFER_SIZE (256 * 1024) /* the kernel keeps this much data for a slow client */

struct client {
    struct client *next;
    struct server *server;
    struct MHD_Connection *connection;
    struct bytes own; /* blocks only for this client, sent before more of the history */
    size_t own_offset;
    struct history_reader reader;
    uint64_t sent_ns; /* time at which data were last sent to this client */
    bool is_waiting;
    bool is_due; /* a beat (an empty block) is to be sent to this client */
};

static void wake(struct client *client)
{
    if (client->is_waiting) {
        client->is_waiting = false;
        libmicrohttpd.MHD_resume_connection(client->connection);
    }
}

void clients_wake(struct server *server)
{
    for (struct client *client = server->clients; client != NULL; client = client->next)
        wake(client);
}

/* Handles a gap: the next piece for this client was dropped. The client continues at the oldest
 * piece of the history, and gets all entities again. */
static int skip_gap(struct server *server, struct client *client)
{
    int r = stream_note("This page fell behind: some intervals are missing.", &client->own);

    history_reader_start(&server->history, &client->reader);
    return r == CAMP_OK ? stream_entities(&server->stream, &client->own) : r;
}

static size_t read_own(struct client *client, char *ret, size_t capacity)
{
    size_t count = client->own.size - client->own_offset;

    if (count > capacity)
        count = capacity;
    memcpy(ret, client->own.data + client->own_offset, count);
    client->own_offset += count;
    if (client->own_offset == client->own.size) {
        bytes_release(&client->own);
        client->own_offset = 0;
    }
    return count;
}

static int read_next(struct server *server, struct client *client, char *ret, size_t capacity,
                     size_t *ret_count)
{
    bool gap = false;
    int r = CAMP_OK;

    if (client->own.size == 0) {
        *ret_count = history_read(&server->history, &client->reader, ret, capacity, &gap);
        if (*ret_count > 0)
            return CAMP_OK;
        if (gap)
            r = skip_gap(server, client);
        else if (client->is_due)
            r = stream_beat(&client->own);
        client->is_due = false;
    }
    *ret_count = client->own.size > 0 ? read_own(client, ret, capacity) : 0;
    return r;
}

/* libmicrohttpd calls this function to get more data to send. */
static ssize_t client_read(void *context, uint64_t position, char *ret, size_t capacity)
{
    struct client *client = context;
    struct server *server = client->server;
    size_t total = 0, count;
    ssize_t result;
    int r;

    (void)position;
    pthread_mutex_lock(&server->lock);
    do {
        r = read_next(server, client, ret + total, capacity - total, &count);
        total += count;
    } while (r == CAMP_OK && count > 0 && total < capacity);
    result = (ssize_t)total;
    if (total > 0)
        client->sent_ns = now_ns(CLOCK_MONOTONIC);
    else if (r != CAMP_OK)
        result = MHD_CONTENT_READER_END_WITH_ERROR;
    else if (server->has_ended || server->is_closing)
        result = MHD_CONTENT_READER_END_OF_STREAM;
    else {
        client->is_waiting = true;
        libmicrohttpd.MHD_suspend_connection(client->connection);
    }
    pthread_mutex_unlock(&server->lock);
    return result;
}

/* libmicrohttpd calls this function when the answer is complete, or when the client has
 * disconnected. */
static void client_leave(void *context)
{
    struct client *client = context;
    struct server *server = client->server;

    pthread_mutex_lock(&server->lock);
    for (struct client **at = &server->clients; *at != NULL; at = &(*at)->next) {
        if (*at == client) {
            *at = client->next;
            server->client_count--;
            break;
        }
    }
    history_reader_release(&client->reader);
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
    bytes_release(&client->own);
    free(client);
}

static struct client *client_enter(struct server *server, struct MHD_Connection *connection)
{
    struct client *client = calloc(1, sizeof *client);

    if (client == NULL)
        return NULL;
    client->server = server;
    client->connection = connection;
    bytes_put(&client->own, server->head.data, server->head.size);
    pthread_mutex_lock(&server->lock);
    if (server->client_count < SERVER_STREAMS_MAXIMUM &&
        stream_entities(&server->stream, &client->own) == CAMP_OK) {
        history_reader_start(&server->history, &client->reader);
        client->next = server->clients;
        server->clients = client;
        server->client_count++;
        pthread_mutex_unlock(&server->lock);
        return client;
    }
    pthread_mutex_unlock(&server->lock);
    bytes_release(&client->own);
    free(client);
    return NULL;
}

/* The page contains its content security policy, except frame-ancestors, which must be in a
 * header. */
static enum MHD_Result answer_page(struct MHD_Connection *connection)
{
    return http_answer(connection,
                       libmicrohttpd.MHD_create_response_from_buffer(
                           page_size(), (void *)(uintptr_t)page_html, MHD_RESPMEM_PERSISTENT),
                       200, HTTP_HTML, "frame-ancestors 'none'");
}

#define STREAM_TYPE "application/octet-stream"

static enum MHD_Result answer_stream(struct server *server, struct MHD_Connection *connection)
{
    struct client *client = client_enter(server, connection);
    struct MHD_Response *response;

    if (client == NULL)
        return http_answer_text(connection, 503, HTTP_PLAIN, http_reason(503));
    http_server_promote(&server->http, connection, SEND_BUFFER_SIZE);
    libmicrohttpd.MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
                                            STREAM_STUCK_S);
    response = libmicrohttpd.MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE_SIZE,
                                                               client_read, client, client_leave);
    if (response == NULL)
        client_leave(client);
    else
        libmicrohttpd.MHD_add_response_header(response, "Connection", "close");
    return http_answer(connection, response, 200, STREAM_TYPE, NULL);
}

static enum MHD_Result answer_head_of_stream(struct MHD_Connection *connection)
{
    return http_answer(
        connection, libmicrohttpd.MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT),
        200, STREAM_TYPE, NULL);
}

enum MHD_Result request_answer(void *context, struct MHD_Connection *connection,
                               const struct http_request *request)
{
    struct server *server = context;
    enum http_resource resource;
    const unsigned status = http_check(&server->http.place, request, &resource);

    if (status != 200)
        return http_answer_text(connection, status, HTTP_PLAIN, http_reason(status));
    if (resource == HTTP_PAGE)
        return answer_page(connection);
    return strcmp(request->method, "HEAD") == 0 ? answer_head_of_stream(connection)
                                                : answer_stream(server, connection);
}

void *clients_beat(void *context)
{
    struct server *server = context;

    pthread_mutex_lock(&server->lock);
    while (!server->is_closing) {
        const uint64_t now = now_ns(CLOCK_MONOTONIC);

        for (struct client *client = server->clients; client != NULL; client = client->next) {
            if (now - client->sent_ns < BEAT_NS / 2)
                continue;
            client->is_due = client->is_waiting;
            wake(client);
        }
        server_wait(server, now + BEAT_NS);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}
