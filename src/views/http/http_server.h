/*
 * A local HTTP server, which answers GET and HEAD in one thread of libmicrohttpd: what the page's
 * server and the exporter share. The service's function answers; whether a request may be answered
 * is in http_rules.h.
 */
#pragma once

#include "http_rules.h"
#include "libraries/libmicrohttpd.h"
#include "listen.h"

#include <sys/queue.h>

/* Guests: connections that have not authenticated, all except for clients of the stream. Beyond
 * this number a new one replaces the oldest, so idle connections keep nobody out. */
#define GUESTS_MAXIMUM 64

/* Before a body is read. */
typedef enum MHD_Result http_service_answer(void *context, struct MHD_Connection *connection,
                                            const struct http_request *request);

struct http_service {
    http_service_answer *answer;
    void *context;
    unsigned connections; /* at most */
    unsigned silent_s;    /* a connection without traffic is closed after this time */
    size_t memory_each;   /* of a connection */
};

struct http_server {
    struct http_service service;
    struct MHD_Daemon *daemon;
    struct http_place place;
    TAILQ_HEAD(, guest) guests; /* oldest first; only the server's thread uses them */
    size_t guest_count;
    char *path; /* to unlink at the end; NULL: none */
};

/* Answers from now on, in a thread that takes no signals. The token of ret->place is the caller's.
 * Errors: as listen_at(), and CAMP_E_NOTSUP without libmicrohttpd. */
int http_server_open(struct http_server *ret, const struct listen_address *at,
                     const struct http_service *service, struct camp_error *error);

/* Closes all connections. What was not opened may be closed. */
void http_server_close(struct http_server *server);

/* The connection carries data for a client that has the token: no guest replaces it. */
void http_server_promote(struct http_server *server, struct MHD_Connection *connection,
                         int send_buffer_size);

/* Queues the response with the security headers, and releases it; `policy`: of the content; NULL:
 * it may load nothing. A response that is NULL closes the connection. */
enum MHD_Result http_answer(struct MHD_Connection *connection, struct MHD_Response *response,
                            unsigned status, const char *type, const char *policy);

/* The text is copied. */
enum MHD_Result http_answer_text(struct MHD_Connection *connection, unsigned status,
                                 const char *type, const char *text);
#define HTTP_PLAIN "text/plain; charset=utf-8"
#define HTTP_HTML "text/html; charset=utf-8"
