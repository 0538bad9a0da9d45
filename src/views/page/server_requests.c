/* Requests: access (http_rules.h) and headers. */
#include "server_inside.h"

#include "page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define STREAM_STUCK_S 300u    /* covers a stopped page, or a computer asleep */
#define PIECE_SIZE (48 * 1024) /* of an answer */
#define SEND_BUFFER_SIZE (256 * 1024)

static void add_headers(struct MHD_Response *response, unsigned status)
{
    static const struct {
        const char *name, *value;
    } headers[] = {
        { "Cache-Control", "no-store" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Referrer-Policy", "no-referrer" },
        { "X-Content-Type-Options", "nosniff" },
        { "X-Frame-Options", "DENY" },
    };

    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        libmicrohttpd.MHD_add_response_header(response, headers[i].name, headers[i].value);
    if (status == 401)
        libmicrohttpd.MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (status == 405)
        libmicrohttpd.MHD_add_response_header(response, "Allow", "GET, HEAD");
    if (status != 200)
        libmicrohttpd.MHD_add_response_header(response, "Connection", "close");
}

/* Consumes the response. */
static enum MHD_Result answer(struct MHD_Connection *connection, struct MHD_Response *response,
                              unsigned status, const char *type, const char *policy)
{
    enum MHD_Result result;

    if (response == NULL)
        return MHD_NO;
    add_headers(response, status);
    libmicrohttpd.MHD_add_response_header(response, "Content-Type", type);
    libmicrohttpd.MHD_add_response_header(response, "Content-Security-Policy", policy);
    result = libmicrohttpd.MHD_queue_response(connection, status, response);
    libmicrohttpd.MHD_destroy_response(response);
    return result;
}

#define NOTHING_ALLOWED "default-src 'none'; frame-ancestors 'none'"

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status)
{
    const char *text = http_reason(status);

    return answer(connection,
                  libmicrohttpd.MHD_create_response_from_buffer(
                      strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT),
                  status, "text/plain; charset=utf-8", NOTHING_ALLOWED);
}

/* The page has its own policy; this is what only headers can set. */
static enum MHD_Result answer_page(struct MHD_Connection *connection)
{
    return answer(connection,
                  libmicrohttpd.MHD_create_response_from_buffer(
                      page_size(), (void *)(uintptr_t)page_html, MHD_RESPMEM_PERSISTENT),
                  200, "text/html; charset=utf-8", "frame-ancestors 'none'");
}

#define STREAM_TYPE "application/octet-stream"

/* The kernel, too, keeps only so much for a client that does not read. */
static void promote(struct server *server, struct guest *guest)
{
    const int size = SEND_BUFFER_SIZE;

    if (guest == NULL)
        return;
    guests_promote(&server->guests, guest);
    setsockopt(guest->socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

static enum MHD_Result answer_stream(struct server *server, struct MHD_Connection *connection)
{
    struct client *client = client_enter(server, connection);
    const union MHD_ConnectionInfo *info =
        libmicrohttpd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct MHD_Response *response;

    if (client == NULL)
        return answer_text(connection, 503);
    promote(server, info->socket_context);
    libmicrohttpd.MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
                                            STREAM_STUCK_S);
    response = libmicrohttpd.MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE_SIZE,
                                                               client_read, client, client_leave);
    if (response == NULL)
        client_leave(client);
    else
        libmicrohttpd.MHD_add_response_header(response, "Connection", "close");
    return answer(connection, response, 200, STREAM_TYPE, NOTHING_ALLOWED);
}

static enum MHD_Result answer_head_of_stream(struct MHD_Connection *connection)
{
    return answer(connection,
                  libmicrohttpd.MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT),
                  200, STREAM_TYPE, NOTHING_ALLOWED);
}

static enum MHD_Result note_header(void *context, enum MHD_ValueKind kind, const char *name,
                                   size_t name_size, const char *value, size_t value_size)
{
    struct http_request *request = context;
    const struct http_wanted wanted[] = {
        { "Host", &request->host },
        { "Origin", &request->origin },
        { "Sec-Fetch-Site", &request->fetch_site },
        { "Authorization", &request->authorization },
        { "Content-Length", &request->body },
        { "Transfer-Encoding", &request->body },
    };

    (void)kind;
    http_note_header(wanted, sizeof wanted / sizeof wanted[0], name, name_size, value, value_size);
    return MHD_YES;
}

/* The target as sent, with its query: it is the request's context until that is answered. */
void *request_note_target(void *context, const char *target, struct MHD_Connection *connection)
{
    (void)context, (void)connection;
    return strdup(target);
}

/* Everything is answered in the first call, before a body is read. */
enum MHD_Result request_handle(void *context, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **request_context)
{
    struct server *server = context;
    struct http_request request = { .method = method, .target = *request_context };
    enum http_resource resource;
    unsigned status;

    (void)url, (void)version, (void)upload, (void)upload_size;
    if (request.target == NULL)
        return MHD_NO;
    libmicrohttpd.MHD_get_connection_values_n(connection, MHD_HEADER_KIND, note_header, &request);
    status = http_check(&server->place, &request, &resource);
    if (status != 200)
        return answer_text(connection, status);
    if (resource == HTTP_PAGE)
        return answer_page(connection);
    return strcmp(method, "HEAD") == 0 ? answer_head_of_stream(connection)
                                       : answer_stream(server, connection);
}

void request_end(void *context, struct MHD_Connection *connection, void **target,
                 enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection, (void)code;
    free(*target);
    *target = NULL;
}

void request_note_connection(void *context, struct MHD_Connection *connection, void **guest,
                             enum MHD_ConnectionNotificationCode code)
{
    struct server *server = context;

    guests_note(&server->guests, connection, (struct guest **)guest, code);
}
