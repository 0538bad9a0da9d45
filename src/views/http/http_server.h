/*
 * A local HTTP server, shared by the page's server and the exporter. One thread of libmicrohttpd
 * answers GET and HEAD requests. For each request, this thread calls http_service.answer, which
 * applies the access rules (http_rules.h).
 */
#pragma once

#include "http_rules.h"
#include "libraries/libmicrohttpd.h"
#include "listen.h"

#include <sys/queue.h>

/* A guest is a connection whose client has not authenticated. If there are GUESTS_MAXIMUM guests, a
 * new connection replaces the oldest guest, so that idle connections cannot keep clients out. */
#define GUESTS_MAXIMUM 64
TAILQ_HEAD(guest_list, guest);

/* Answers a request. The server calls this function before it reads the body of the request. */
typedef enum MHD_Result http_service_answer(void *context, struct MHD_Connection *connection,
                                            const struct http_request *request);

struct http_service {
    http_service_answer *answer;
    void *context;
    unsigned connections;
    unsigned silent_s; /* a connection without traffic for this time is closed */
    size_t memory_each;
};

struct http_server {
    struct http_service service;
    struct MHD_Daemon *daemon;
    struct http_place place;
    struct guest_list guests; /* the oldest guest first; only the server's thread uses this list */
    size_t guest_count;
    char *path; /* the Unix socket, which is unlinked at the end; NULL for a port */
};

/* Starts the server in a thread in which all signals are blocked. The caller has set
 * ret->place.token. Returns CAMP_OK, an error of listen_at(), CAMP_E_IO if the thread does not
 * start, or CAMP_E_NOTSUP if libmicrohttpd is not installed. */
int http_server_open(struct http_server *ret, const struct listen_address *at,
                     const struct http_service *service, struct camp_error *error);

/* Closes all connections. `server` may be all zero, and may be one that http_server_open() failed
 * to start. */
void http_server_close(struct http_server *server);

/* Marks the client of the connection as authenticated. The connection is no longer a guest, so no
 * new connection replaces it. The connection's send buffer in the kernel gets the size
 * `send_buffer_size`, in bytes. */
void http_server_promote(struct http_server *server, struct MHD_Connection *connection,
                         int send_buffer_size);

/* Queues the response with the security headers, and releases it. `policy` is the content security
 * policy; NULL means that the content may load nothing. If `response` is NULL, the connection is
 * closed. */
enum MHD_Result http_answer(struct MHD_Connection *connection, struct MHD_Response *response,
                            unsigned status, const char *type, const char *policy);

/* Like http_answer(), but the content is a copy of `text`. */
enum MHD_Result http_answer_text(struct MHD_Connection *connection, unsigned status,
                                 const char *type, const char *text);
#define HTTP_PLAIN "text/plain; charset=utf-8"
#define HTTP_HTML "text/html; charset=utf-8"
