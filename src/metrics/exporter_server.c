#include "exporter_server.h"

#include "counters/error.h"
#include "negotiate.h"
#include "views/http/http_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define SILENT_S 60 /* a connection without requests is closed after this time */
#define MEMORY_EACH (16 * 1024)
#define GZIP_WINDOW (15 + 16) /* largest window; + 16 adds a gzip header */
#define GZIP_MEMORY 8

struct exporter_server {
    struct http_server http;
    struct scrapes scrapes;
    exporter_page *page;
    void *context;
    char index[1024];
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

/* Compresses the page in place. Returns false if this failed; the page is then unchanged. */
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

    server->scrapes.failed++;
    snprintf(text, sizeof text, "%s\n", error->message[0] != '\0' ? error->message : "no memory");
    return http_answer_text(connection, 500, HTTP_PLAIN, text);
}

static enum MHD_Result answer_metrics(struct exporter_server *server,
                                      struct MHD_Connection *connection,
                                      const struct http_request *request)
{
    const enum exposition_format format =
        negotiate_format(request->accept.value, request->accept.length);
    struct camp_error error = { 0 };
    struct bytes page = { 0 };
    struct MHD_Response *response;
    bool small;

    if (server->page(server->context, format, &server->scrapes, &page, &error) != CAMP_OK ||
        page.failed) {
        bytes_release(&page);
        return fail(server, connection, &error);
    }
    small =
        negotiate_gzip(request->encoding.value, request->encoding.length) && compress_page(&page);
    server->scrapes.answered++;
    if (strcmp(request->method, "HEAD") != 0)
        server->scrapes.sent_bytes += page.size;
    response =
        libmicrohttpd.MHD_create_response_from_buffer(page.size, page.data, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        bytes_release(&page);
        return MHD_NO;
    }
    if (small)
        libmicrohttpd.MHD_add_response_header(response, "Content-Encoding", "gzip");
    libmicrohttpd.MHD_add_response_header(response, "Vary", "Accept, Accept-Encoding");
    return http_answer(connection, response, 200, exposition_type(format), NULL);
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection,
                              const struct http_request *request)
{
    struct exporter_server *server = context;
    unsigned status = http_check_access(&server->http.place, request);

    if (status == 200 && strcmp(request->path, "/metrics") == 0)
        return answer_metrics(server, connection, request);
    if (status == 200 && strcmp(request->path, "/") == 0)
        return http_answer_text(connection, 200, HTTP_HTML, server->index);
    if (status == 200)
        status = 404;
    server->scrapes.refused++;
    return http_answer_text(connection, status, HTTP_PLAIN, reason_of(status));
}

static void write_index(struct exporter_server *server, const struct exporter_place *place)
{
    snprintf(
        server->index, sizeof server->index,
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>camp export</title>\n"
        "<h1>camp export %s</h1>\n<p>Where the time of %s goes, tier %s.</p>\n"
        "<p><a href=\"/metrics\">/metrics</a>, in the text of Prometheus or as "
        "OpenMetrics</p>\n</html>\n",
        camp_version(), place->subject, place->tier);
}

int exporter_server_open(const struct exporter_place *place, exporter_page *page, void *context,
                         struct exporter_server **ret, struct camp_error *error)
{
    struct exporter_server *server = calloc(1, sizeof *server);
    const struct http_service service = { answer, server, 2 * GUESTS_MAXIMUM, SILENT_S,
                                          MEMORY_EACH };
    int r;

    if (server == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory");
    server->page = page;
    server->context = context;
    write_index(server, place);
    r = http_server_open(&server->http, &place->at, &service, error);
    if (r == CAMP_OK)
        *ret = server;
    else
        exporter_server_close(server);
    return r;
}

uint16_t exporter_server_port(const struct exporter_server *server)
{
    return server->http.place.port;
}

void exporter_server_close(struct exporter_server *server)
{
    if (server != NULL)
        http_server_close(&server->http);
    free(server);
}
