#include "server_inside.h"

#include "counters/clock.h"
#include "counters/error.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* Twice GUESTS_MAXIMUM, because connections of replaced guests may still be closing. */
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

/* Starts a thread that runs clients_beat(). The thread inherits the blocked signals, so that only
 * the caller's thread gets signals. */
static int start_beat(struct server *server, struct camp_error *error)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&server->beat, NULL, clients_beat, server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    server->has_beat = failed == 0;
    return failed == 0 ? CAMP_OK : camp_fail_errno(error, failed, "pthread_create");
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

int server_open(const struct listen_address *at, const struct schema *schema,
                const struct stream_facts *facts, const struct history_limits *limits,
                struct server **ret, struct camp_error *error)
{
    struct server *server = calloc(1, sizeof *server);
    const struct http_service service = { request_answer, server, CONNECTIONS_MAXIMUM,
                                          GUEST_SILENT_S, MEMORY_EACH };
    int r;

    if (server == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory");
    init_lock(server);
    server->history.limits = *limits;
    r = stream_init(&server->stream, schema);
    if (r != CAMP_OK)
        camp_fail(error, r, 0, "the page shows %d states at most; this source has %zu",
                  STREAM_STATES_MAXIMUM, schema->state_count);
    if (r == CAMP_OK)
        r = stream_head(schema, facts, &server->head);
    if (r == CAMP_OK)
        r = make_token(server->http.place.token, error);
    if (r == CAMP_OK)
        r = http_server_open(&server->http, at, &service, error);
    if (r == CAMP_OK)
        r = start_beat(server, error);
    if (r != CAMP_OK)
        server_close(server);
    else
        *ret = server;
    return r;
}

const struct http_place *server_at(const struct server *server)
{
    return &server->http.place;
}

/* Expires the entities that no page needs any more. A page may keep frames twice as long as the
 * server. */
static void expire_entities(struct server *server)
{
    const uint64_t oldest = history_oldest_frame(&server->history);
    const uint64_t kept = server->stream.registry.frames - oldest;

    if (oldest > kept)
        stream_expire(&server->stream, oldest - kept);
}

/* Moves server->written to the history. If `r` is an error, server->written is incomplete, and is
 * cleared instead. */
static int keep_written(struct server *server, int r, bool is_key, uint64_t time_ns)
{
    const struct bytes *written = &server->written;

    if (r == CAMP_OK && written->size > 0)
        r = history_append(&server->history, written->data, written->size, is_key, time_ns);
    bytes_clear(&server->written);
    return r;
}

int server_frame(struct server *server, const struct frame *frame, struct shared_cpus cpus,
                 const struct bytes *causes)
{
    bool is_key = false;
    int r;

    pthread_mutex_lock(&server->lock);
    r = keep_written(server, stream_frame_note(&server->stream, frame, &server->written), false, 0);
    stream_set_cpus(&server->stream, cpus);
    if (history_wants_key(&server->history))
        stream_request_key(&server->stream);
    if (r == CAMP_OK && causes != NULL)
        r = stream_causes(causes, &server->written);
    if (r == CAMP_OK)
        r = stream_frame(&server->stream, frame, &server->written, &is_key);
    r = keep_written(server, r, is_key, frame->end_ns);
    expire_entities(server);
    clients_wake(server);
    pthread_mutex_unlock(&server->lock);
    return r;
}

int server_end(struct server *server, const char *reason)
{
    int r;

    pthread_mutex_lock(&server->lock);
    r = keep_written(server, stream_end(reason, NULL, &server->written), false, 0);
    server->has_ended = true;
    clients_wake(server);
    pthread_mutex_unlock(&server->lock);
    return r;
}

bool server_wait(struct server *server, uint64_t until_ns)
{
    const struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_S),
                                    .tv_nsec = (long)(until_ns % NS_PER_S) };

    return pthread_cond_timedwait(&server->changed, &server->lock, &until) == 0;
}

static void wait_for_clients(struct server *server)
{
    const uint64_t end = now_ns(CLOCK_MONOTONIC) + FAREWELL_NS;

    pthread_mutex_lock(&server->lock);
    server->is_closing = true;
    clients_wake(server);
    pthread_cond_broadcast(&server->changed);
    while (server->client_count > 0 && server_wait(server, end)) {
    }
    pthread_mutex_unlock(&server->lock);
}

void server_close(struct server *server)
{
    if (server == NULL)
        return;
    if (server->http.daemon != NULL)
        wait_for_clients(server);
    if (server->has_beat)
        pthread_join(server->beat, NULL);
    http_server_close(&server->http);
    stream_release(&server->stream);
    history_release(&server->history);
    bytes_release(&server->head);
    bytes_release(&server->written);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    free(server);
}
