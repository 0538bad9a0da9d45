#include "exporter_server.h"

#include "counters/error.h"
#include "libraries/libmicrohttpd.h"
#include "negotiate.h"
#include "views/http/http_rules.h"
#include "views/http/listen.h"
#include "views/page/server_guests.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define SILENT_S 60 /* idle connections are kept this long between scrapes */
#define MEMORY_EACH (16 * 1024)
#define GZIP_WINDOW (15 + 16) /* the largest window, with a gzip header */
#define GZIP_MEMORY 8         /* zlib's default */

struct exporter_server {
    struct MHD_Daemon *daemon;
    struct http_place place;
    struct guests guests;
    struct exporter_requests requests;
    exporter_page *page;
    void *context;
    char *path;       /* to unlink at the end; NULL: none */
    char index[1024]; /* the page at / */
};

/* A request. */
struct asked {
    struct http_request request;
    struct http_header accept, encoding;
};

static const char *reason_of(unsigned status)
{
    switch (status) {
    case 403:
        return "Another page asks for this: open the address yourself.\n";
    case 404:
        return "There is /metrics.\n";
    case 405:
        return "This takes GET and HEAD.\n";
    case 421:
        return "camp export answers to 127.0.0.1, localhost and [::1] with its own port; a proxy "
               "sends one of these as Host.\n";
    default:
        return "This is no request that is answered here.\n";
    }
}

/* Consumes the response. */
static enum MHD_Result answer(struct MHD_Connection *connection, struct MHD_Response *response,
                              unsigned status, const char *type)
{
    enum MHD_Result result;

    if (response == NULL)
        return MHD_NO;
    libmicrohttpd.MHD_add_response_header(response, "Content-Type", type);
    libmicrohttpd.MHD_add_response_header(response, "Cache-Control", "no-store");
    libmicrohttpd.MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    libmicrohttpd.MHD_add_response_header(response, "Content-Security-Policy",
                                          "default-src 'none'; frame-ancestors 'none'");
    if (status == 405)
        libmicrohttpd.MHD_add_response_header(response, "Allow", "GET, HEAD");
    if (status != 200)
        libmicrohttpd.MHD_add_response_header(response, "Connection", "close");
    result = libmicrohttpd.MHD_queue_response(connection, status, response);
    libmicrohttpd.MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
                                   const char *type, const char *text)
{
    return answer(connection,
                  libmicrohttpd.MHD_create_response_from_buffer(
                      strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY),
                  status, type);
}

/* In place. False: unchanged. */
static bool compress_page(struct bytes *page)
{
    z_stream stream = { .next_in = page->data, .avail_in = (uInt)page->size };
    struct bytes small = { 0 };
    bool done;

    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    stream.avail_out = (uInt)deflateBound(&stream, (uLong)page->size);
    stream.next_out = bytes_extend(&small, stream.avail_out);
    done = stream.next_out != NULL && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    small.size = stream.total_out;
    deflateEnd(&stream);
    bytes_release(done ? page : &small);
    if (done)
        *page = small;
    return done;
}

static enum MHD_Result fail(struct exporter_server *server, struct MHD_Connection *connection,
                            const struct camp_error *error)
{
    char text[CAMP_ERROR_SIZE + 2];

    server->requests.failed++;
    snprintf(text, sizeof text, "%s\n", error->message[0] != '\0' ? error->message : "no memory");
    return answer_text(connection, 500, "text/plain; charset=utf-8", text);
}

static enum MHD_Result answer_metrics(struct exporter_server *server,
                                      struct MHD_Connection *connection, const struct asked *asked)
{
    const enum exposition_format format =
        negotiate_format(asked->accept.value, asked->accept.length);
    struct camp_error error = { 0 };
    struct bytes page = { 0 };
    struct MHD_Response *response;
    bool small;

    if (server->page(server->context, format, &server->requests, &page, &error) != CAMP_OK ||
        page.failed) {
        bytes_release(&page);
        return fail(server, connection, &error);
    }
    small = negotiate_gzip(asked->encoding.value, asked->encoding.length) && compress_page(&page);
    server->requests.answered++;
    if (strcmp(asked->request.method, "HEAD") != 0) /* the answer to HEAD has no body */
        server->requests.sent_bytes += page.size;
    response =
        libmicrohttpd.MHD_create_response_from_buffer(page.size, page.data, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        bytes_release(&page);
        return MHD_NO;
    }
    if (small)
        libmicrohttpd.MHD_add_response_header(response, "Content-Encoding", "gzip");
    libmicrohttpd.MHD_add_response_header(response, "Vary", "Accept, Accept-Encoding");
    return answer(connection, response, 200, exposition_type(format));
}

static enum MHD_Result note_header(void *context, enum MHD_ValueKind kind, const char *name,
                                   size_t name_size, const char *value, size_t value_size)
{
    struct asked *asked = context;
    struct http_request *request = &asked->request;
    const struct http_wanted wanted[] = {
        { "Host", &request->host },
        { "Origin", &request->origin },
        { "Sec-Fetch-Site", &request->fetch_site },
        { "Content-Length", &request->body },
        { "Transfer-Encoding", &request->body },
        { "Accept", &asked->accept },
        { "Accept-Encoding", &asked->encoding },
    };

    (void)kind;
    http_note_header(wanted, sizeof wanted / sizeof wanted[0], name, name_size, value, value_size);
    return MHD_YES;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **request_context)
{
    struct exporter_server *server = context;
    struct asked asked = { .request = { .method = method, .target = path } };
    unsigned status;

    (void)version, (void)upload, (void)upload_size, (void)request_context;
    libmicrohttpd.MHD_get_connection_values_n(connection, MHD_HEADER_KIND, note_header, &asked);
    status = http_check_access(&server->place, &asked.request);
    if (status == 200 && strcmp(path, "/metrics") == 0)
        return answer_metrics(server, connection, &asked);
    if (status == 200 && strcmp(path, "/") == 0)
        return answer_text(connection, 200, "text/html; charset=utf-8", server->index);
    if (status == 200)
        status = 404;
    server->requests.refused++;
    return answer_text(connection, status, "text/plain; charset=utf-8", reason_of(status));
}

static void note_connection(void *context, struct MHD_Connection *connection, void **guest,
                            enum MHD_ConnectionNotificationCode code)
{
    struct exporter_server *server = context;

    guests_note(&server->guests, connection, (struct guest **)guest, code);
}

static int open_socket(struct exporter_server *server, const struct exporter_place *at, int *ret,
                       struct camp_error *error)
{
    bool loopback = true;
    int r;

    if (at->path != NULL) {
        r = listen_on_path(at->path, ret, error);
        if (r == CAMP_OK)
            server->path = strdup(at->path);
        return r;
    }
    server->place.port = at->port;
    r = listen_on_address(at->address, &server->place.port, &loopback, ret, error);
    server->place.any_name = !loopback;
    return r;
}

static int start(struct exporter_server *server, int listener, struct camp_error *error)
{
    sigset_t all, before;

    sigfillset(&all); /* signals go to the caller's thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    server->daemon = libmicrohttpd.MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, handle, server, MHD_OPTION_LISTEN_SOCKET,
        listener, MHD_OPTION_CONNECTION_LIMIT, 2 * GUESTS_MAXIMUM, MHD_OPTION_CONNECTION_TIMEOUT,
        SILENT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_EACH,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, note_connection, server,
        MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (server->daemon != NULL)
        return CAMP_OK;
    camp_fail_errno(error, errno, "the server does not start");
    close(listener); /* otherwise the library closes it */
    return CAMP_E_IO;
}

static void write_index(struct exporter_server *server, const char *tier)
{
    snprintf(
        server->index, sizeof server->index,
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>camp export</title>\n"
        "<h1>camp export %s</h1>\n<p>Where the time of this computer goes, tier %s.</p>\n"
        "<p><a href=\"/metrics\">/metrics</a>, in the text of Prometheus or as "
        "OpenMetrics</p>\n</html>\n",
        camp_version(), tier);
}

int exporter_server_open(const struct exporter_place *place, exporter_page *page, void *context,
                         struct exporter_server **ret, struct camp_error *error)
{
    struct exporter_server *server;
    int listener = -1, r = libmicrohttpd_load(error);

    if (r != CAMP_OK)
        return r;
    server = calloc(1, sizeof *server);
    if (server == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory");
    guests_init(&server->guests);
    server->page = page;
    server->context = context;
    write_index(server, place->tier);
    r = open_socket(server, place, &listener, error);
    if (r == CAMP_OK)
        r = start(server, listener, error);
    if (r == CAMP_OK)
        *ret = server;
    else
        exporter_server_close(server);
    return r;
}

uint16_t exporter_server_port(const struct exporter_server *server)
{
    return server->place.port;
}

void exporter_server_close(struct exporter_server *server)
{
    if (server == NULL)
        return;
    if (server->daemon != NULL)
        libmicrohttpd.MHD_stop_daemon(server->daemon);
    if (server->path != NULL)
        unlink(server->path);
    free(server->path);
    free(server);
}
