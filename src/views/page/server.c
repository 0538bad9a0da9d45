#include "server_inside.h"

#include "counters/error.h"
#include "counters/units.h"
#include "views/http/listen.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* clients of the stream, and twice as many others: some are being closed */
#define CONNECTIONS_MAXIMUM (SERVER_STREAMS_MAXIMUM + 2 * GUESTS_MAXIMUM)
#define GUEST_SILENT_S 5
#define MEMORY_EACH (64 * 1024)
#define FAREWELL_NS (NS_PER_S / 4)

static int make_token(char ret[HTTP_TOKEN_LENGTH + 1], struct camp_error *error)
{
    uint8_t random[HTTP_TOKEN_LENGTH / 2];

    if (getrandom(random, sizeof random, 0) != sizeof random)
        return camp_fail_errno(error, errno, "getrandom");
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(ret + 2 * i, 3, "%02x", random[i]);
    return CAMP_OK;
}

static int open_socket(struct server *server, const struct server_place *at, int *ret,
                       struct camp_error *error)
{
    int r;

    server->place.port = at->port;
    if (at->path == NULL)
        return listen_on_loopback(at->version_6, &server->place.port, ret, error);
    server->place.port = 0;
    r = listen_on_path(at->path, ret, error);
    if (r == CAMP_OK)
        server->path = strdup(at->path);
    return r;
}

static int start_daemon(struct server *server, int listener, struct camp_error *error)
{
    server->daemon = libmicrohttpd.MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, request_handle,
        server, MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT,
        CONNECTIONS_MAXIMUM, MHD_OPTION_CONNECTION_TIMEOUT, GUEST_SILENT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_EACH, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_CONNECTION, request_note_connection, server, MHD_OPTION_NOTIFY_COMPLETED,
        request_end, server, MHD_OPTION_URI_LOG_CALLBACK, request_note_target, server,
        MHD_OPTION_END);
    if (server->daemon != NULL)
        return CAMP_OK;
    camp_fail_errno(error, errno, "the server does not start");
    close(listener); /* otherwise the library closes it */
    return CAMP_E_IO;
}

/* Signals go to the caller's thread. */
static int start_threads(struct server *server, int listener, struct camp_error *error)
{
    sigset_t all, before;
    int r;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r = start_daemon(server, listener, error);
    if (r == CAMP_OK) {
        const int failed = pthread_create(&server->beat, NULL, clients_beat, server);

        server->has_beat = failed == 0;
        if (failed != 0)
            r = camp_fail_errno(error, failed, "pthread_create");
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

static void init_lock(struct server *server)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&server->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&server->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

int server_open(const struct server_place *place, const struct schema *schema,
                const struct stream_facts *facts, const struct history_limits *limits,
                struct server **ret, struct camp_error *error)
{
    struct server *server;
    int listener = -1, r = libmicrohttpd_load(error);

    if (r != CAMP_OK)
        return r;
    server = calloc(1, sizeof *server);
    if (server == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory");
    init_lock(server);
    guests_init(&server->guests);
    server->history.limits = *limits;
    r = stream_init(&server->stream, schema);
    if (r != CAMP_OK)
        camp_fail(error, r, 0, "the page shows %d states at most; this source has %zu",
                  STREAM_STATES_MAXIMUM, schema->state_count);
    if (r == CAMP_OK)
        r = stream_head(schema, facts, &server->head);
    if (r == CAMP_OK)
        r = make_token(server->place.token, error);
    if (r == CAMP_OK)
        r = open_socket(server, place, &listener, error);
    if (r == CAMP_OK)
        r = start_threads(server, listener, error);
    if (r != CAMP_OK)
        server_close(server);
    else
        *ret = server;
    return r;
}

const struct http_place *server_at(const struct server *server)
{
    return &server->place;
}

/* Pages may keep frames longer than the server: twice as long. */
static void expire_entities(struct server *server)
{
    const uint64_t oldest = history_oldest_frame(&server->history);
    const uint64_t kept = server->stream.registry.frames - oldest;

    if (oldest > kept)
        stream_expire(&server->stream, oldest - kept);
}

static int put_note(struct server *server, const struct frame *frame)
{
    int r;

    bytes_clear(&server->written);
    r = stream_frame_note(&server->stream, frame, &server->written);
    if (r == CAMP_OK && server->written.size > 0)
        r = history_append(&server->history, server->written.data, server->written.size, false, 0);
    return r;
}

int server_frame(struct server *server, const struct frame *frame)
{
    bool is_key = false;
    int r;

    pthread_mutex_lock(&server->lock);
    r = put_note(server, frame);
    bytes_clear(&server->written);
    if (history_wants_key(&server->history))
        stream_request_key(&server->stream);
    if (r == CAMP_OK)
        r = stream_frame(&server->stream, frame, &server->written, &is_key);
    if (r == CAMP_OK)
        r = history_append(&server->history, server->written.data, server->written.size, is_key,
                           frame->end_ns);
    expire_entities(server);
    clients_wake(server);
    pthread_mutex_unlock(&server->lock);
    return r;
}

int server_end(struct server *server, const char *reason)
{
    int r;

    pthread_mutex_lock(&server->lock);
    bytes_clear(&server->written);
    r = stream_end(reason, &server->written);
    if (r == CAMP_OK)
        r = history_append(&server->history, server->written.data, server->written.size, false, 0);
    server->has_ended = true;
    clients_wake(server);
    pthread_mutex_unlock(&server->lock);
    return r;
}

/* Clients get what is left, unless they take too long. */
static void wait_for_clients(struct server *server)
{
    const uint64_t end = now_ns(CLOCK_MONOTONIC) + FAREWELL_NS;
    const struct timespec until = { .tv_sec = (time_t)(end / NS_PER_S),
                                    .tv_nsec = (long)(end % NS_PER_S) };

    pthread_mutex_lock(&server->lock);
    server->is_closing = true;
    clients_wake(server);
    pthread_cond_broadcast(&server->changed);
    while (server->client_count > 0 &&
           pthread_cond_timedwait(&server->changed, &server->lock, &until) == 0) {
    }
    pthread_mutex_unlock(&server->lock);
}

void server_close(struct server *server)
{
    if (server == NULL)
        return;
    if (server->daemon != NULL) {
        wait_for_clients(server);
        if (server->has_beat)
            pthread_join(server->beat, NULL);
        libmicrohttpd.MHD_stop_daemon(server->daemon);
    }
    if (server->path != NULL)
        unlink(server->path);
    free(server->path);
    stream_release(&server->stream);
    history_release(&server->history);
    bytes_release(&server->head);
    bytes_release(&server->written);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    free(server);
}
