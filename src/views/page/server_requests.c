/* Requests: access (http_rules.h) and headers. */
#include "server_inside.h"

#include "page.h"

#include <string.h>

#define STREAM_STUCK_S 300u           /* covers a stopped page, or a computer asleep */
#define PIECE_SIZE (48 * 1024)        /* of an answer */
#define SEND_BUFFER_SIZE (256 * 1024) /* the kernel keeps this much for a slow reader */

/* The page has its own policy; this is what only headers can set. */
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
