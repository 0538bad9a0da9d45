#include "http_server.h"

#include "counters/error.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void add_headers(struct MHD_Response *response, unsigned status)
{
    static const struct {
        /* Answers with this status have the header. 0 means any status, 1 any status except 200. */
        unsigned status;
        const char *name, *value;
    } headers[] = {
        { 0, "Cache-Control", "no-store" },
        { 0, "Cross-Origin-Opener-Policy", "same-origin" },
        { 0, "Cross-Origin-Resource-Policy", "same-origin" },
        { 0, "Referrer-Policy", "no-referrer" },
        { 0, "X-Content-Type-Options", "nosniff" },
        { 0, "X-Frame-Options", "DENY" },
        { 401, "WWW-Authenticate", "Bearer" },
        { 405, "Allow", "GET, HEAD" },
        { 1, "Connection", "close" },
    };

    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        if (headers[i].status == 0 || headers[i].status == status ||
            (headers[i].status == 1 && status != 200))
            libmicrohttpd.MHD_add_response_header(response, headers[i].name, headers[i].value);
    }
}

enum MHD_Result http_answer(struct MHD_Connection *connection, struct MHD_Response *response,
                            unsigned status, const char *type, const char *policy)
{
    enum MHD_Result result;

    if (response == NULL)
        return MHD_NO;
    add_headers(response, status);
    libmicrohttpd.MHD_add_response_header(response, "Content-Type", type);
    libmicrohttpd.MHD_add_response_header(
        response, "Content-Security-Policy",
        policy != NULL ? policy : "default-src 'none'; frame-ancestors 'none'");
    result = libmicrohttpd.MHD_queue_response(connection, status, response);
    libmicrohttpd.MHD_destroy_response(response);
    return result;
}

enum MHD_Result http_answer_text(struct MHD_Connection *connection, unsigned status,
                                 const char *type, const char *text)
{
    return http_answer(connection,
                       libmicrohttpd.MHD_create_response_from_buffer(
                           strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY),
                       status, type, NULL);
}

static enum MHD_Result note_header(void *request, enum MHD_ValueKind kind, const char *name,
                                   size_t name_size, const char *value, size_t value_size)
{
    (void)kind;
    http_note_header(request, name, name_size, value, value_size);
    return MHD_YES;
}

/* Returns a copy of the target as sent by the client, including the query. libmicrohttpd keeps the
 * copy as the context of the request, and end_request() frees it. */
static void *note_target(void *context, const char *target, struct MHD_Connection *connection)
{
    (void)context, (void)connection;
    return strdup(target);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **target)
{
    const struct http_server *server = context;
    struct http_request request = { .method = method, .target = *target, .path = path };

    (void)version, (void)upload, (void)upload_size;
    if (request.target == NULL)
        return MHD_NO;
    libmicrohttpd.MHD_get_connection_values_n(connection, MHD_HEADER_KIND, note_header, &request);
    return server->service.answer(server->service.context, connection, &request);
}

static void end_request(void *context, struct MHD_Connection *connection, void **target,
                        enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection, (void)code;
    free(*target);
    *target = NULL;
}

struct guest {
    TAILQ_ENTRY(guest) link;
    int socket;
    bool is_listed;
};

static void unlist(struct http_server *server, struct guest *guest)
{
    if (!guest->is_listed)
        return;
    TAILQ_REMOVE(&server->guests, guest, link);
    server->guest_count--;
    guest->is_listed = false;
}

static struct guest *add_guest(struct http_server *server, int socket)
{
    struct guest *guest = calloc(1, sizeof *guest);

    if (guest == NULL)
        return NULL;
    if (server->guest_count == GUESTS_MAXIMUM) {
        struct guest *oldest = TAILQ_FIRST(&server->guests);

        shutdown(oldest->socket, SHUT_RDWR); /* libmicrohttpd then closes the socket */
        unlist(server, oldest);
    }
    *guest = (struct guest){ .socket = socket, .is_listed = true };
    TAILQ_INSERT_TAIL(&server->guests, guest, link);
    server->guest_count++;
    return guest;
}

/* libmicrohttpd calls this function when a connection has started or ended. *guest is the context
 * of the connection. */
static void note_connection(void *context, struct MHD_Connection *connection, void **guest,
                            enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = context;
    const union MHD_ConnectionInfo *info =
        libmicrohttpd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *guest = add_guest(server, info->connect_fd);
        return;
    }
    if (*guest != NULL)
        unlist(server, *guest);
    free(*guest);
    *guest = NULL;
}

void http_server_promote(struct http_server *server, struct MHD_Connection *connection,
                         int send_buffer_size)
{
    const union MHD_ConnectionInfo *info =
        libmicrohttpd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct guest *guest = info->socket_context;

    if (guest == NULL)
        return;
    unlist(server, guest);
    setsockopt(guest->socket, SOL_SOCKET, SO_SNDBUF, &send_buffer_size, sizeof send_buffer_size);
}

static int start(struct http_server *server, int listener, struct camp_error *error)
{
    const struct http_service *service = &server->service;
    sigset_t all, before;

    /* The server's thread inherits the blocked signals, so that only the caller's thread gets
     * signals. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    server->daemon = libmicrohttpd.MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, server,
        MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT, service->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, service->silent_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        service->memory_each, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION,
        note_connection, server, MHD_OPTION_NOTIFY_COMPLETED, end_request, server,
        MHD_OPTION_URI_LOG_CALLBACK, note_target, server, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (server->daemon != NULL)
        return CAMP_OK;
    camp_fail_errno(error, errno, "the server does not start");
    /* A daemon that did not start has not closed the listening socket. */
    close(listener);
    return CAMP_E_IO;
}

int http_server_open(struct http_server *ret, const struct listen_address *at,
                     const struct http_service *service, struct camp_error *error)
{
    bool is_loopback;
    int listener, r = library_load(&libmicrohttpd_library, error);

    if (r == CAMP_OK)
        r = listen_at(at, &ret->place.port, &is_loopback, &listener, error);
    if (r != CAMP_OK)
        return r;
    if (at->path != NULL)
        ret->path = strdup(at->path);
    ret->place.any_name = !is_loopback;
    ret->service = *service;
    TAILQ_INIT(&ret->guests);
    return start(ret, listener, error);
}

void http_server_close(struct http_server *server)
{
    if (server->daemon != NULL)
        libmicrohttpd.MHD_stop_daemon(server->daemon);
    if (server->path != NULL)
        unlink(server->path);
    free(server->path);
}
