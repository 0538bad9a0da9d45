/*
 * A local HTTP server, shared by the page's server and the exporter. It answers GET and HEAD in one
 * thread of libmicrohttpd with the service's function, which applies the access rules
 * (http_rules.h).
 */
#pragma once

#include "http_rules.h"
#include "libraries/libmicrohttpd.h"
#include "listen.h"

#include <sys/queue.h>

/* Guests are connections that have not authenticated, that is all except for clients of the stream.
 * If there are this many, a new one replaces the oldest, so idle connections keep no client out. */
#define GUESTS_MAXIMUM 64
TAILQ_HEAD(guest_list, guest);

/* Answers a request; called before its body is read. */
typedef enum MHD_Result http_service_answer(void *context, struct MHD_Connection *connection,
                                            const struct http_request *request);

struct http_service {
    http_service_answer *answer;
    void *context;
    unsigned connections; /* at most */
    unsigned silent_s;    /* a connection without traffic is closed after this time */
    size_t memory_each;   /* bytes of memory for each connection */
};

struct http_server {
    struct http_service service;
    struct MHD_Daemon *daemon;
    struct http_place place;
    struct guest_list guests; /* oldest first; only the server's thread uses them */
    size_t guest_count;
    char *path; /* path of the Unix socket, unlinked at the end; NULL: none */
};

/* Starts the server, in a thread with all signals blocked. The caller has set the token of
 * ret->place. Errors are those of listen_at(), and CAMP_E_NOTSUP without libmicrohttpd. */
int http_server_open(struct http_server *ret, const struct listen_address *at,
                     const struct http_service *service, struct camp_error *error);

/* Closes all connections. Allowed after a failed http_server_open(), and for a server that is all
 * zero. */
void http_server_close(struct http_server *server);

/* The connection's client has authenticated: it is no longer a guest, so it is not replaced. */
void http_server_promote(struct http_server *server, struct MHD_Connection *connection,
                         int send_buffer_size);

/* Queues the response with the security headers, and releases it. `policy`: the content security
 * policy; NULL: the content may load nothing. `response` NULL: closes the connection. */
enum MHD_Result http_answer(struct MHD_Connection *connection, struct MHD_Response *response,
                            unsigned status, const char *type, const char *policy);

/* Likewise, with a text as the content, which is copied. */
enum MHD_Result http_answer_text(struct MHD_Connection *connection, unsigned status,
                                 const char *type, const char *text);
#define HTTP_PLAIN "text/plain; charset=utf-8"
#define HTTP_HTML "text/html; charset=utf-8"
