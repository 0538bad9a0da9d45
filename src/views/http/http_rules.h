/*
 * Access rules of the local server. This code checks a request, and uses no socket and no library.
 *
 * Any web page in the user's browser may send requests to ports of this computer. An attacker's
 * host name could even resolve to 127.0.0.1, and then the browser would treat the attacker's page
 * and this server as one origin (DNS rebinding). So a request must use a host name that nobody can
 * register. It must not come from another page, and must ask for an existing target. The stream is
 * sent only to a client that has the token. The token is compared in constant time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_TOKEN_LENGTH 32 /* 128 bits in hexadecimal */

/* A header of a request. `count` is how often the request has the header. `value` is the first
 * value, and may be any bytes. */
struct http_header {
    unsigned count;
    const char *value;
    size_t length;
};

struct http_request {
    const char *method;
    const char *target; /* path and query as sent by the client, such as "/stream" */
    struct http_header host, origin, fetch_site, authorization;
    struct http_header body; /* a Content-Length or Transfer-Encoding header */
    struct http_header accept, encoding;
    const char *path; /* decoded path of `target`, without the query */
};

/* Adds a header to the request if struct http_request has a member for it. `value` is NULL if the
 * header has no value. */
void http_note_header(struct http_request *request, const char *name, size_t name_size,
                      const char *value, size_t value_size);

/* The address of the server, and the token that clients need. */
struct http_place {
    uint16_t port; /* 0 accepts any port, as a tunnel to a Unix socket needs */
    bool any_name; /* the server is reachable from outside, so any host name is accepted */
    char token[HTTP_TOKEN_LENGTH + 1];
};

/* HTTP_PAGE is "/", and HTTP_STREAM is "/stream". */
enum http_resource { HTTP_PAGE, HTTP_STREAM };

/*
 * Checks a request. Returns 200 and sets *ret, or returns the status of a refusal:
 *
 *     400  no browser sends such a request
 *     401  the token is missing or wrong
 *     403  the request comes from another page
 *     404  there is no such target
 *     405  the method is neither GET nor HEAD
 *     421  the host name is not accepted
 */
unsigned http_check(const struct http_place *place, const struct http_request *request,
                    enum http_resource *ret);

/* Like http_check(), but without the checks of target and token. Returns 200, 400, 403, 405 or
 * 421. */
unsigned http_check_access(const struct http_place *place, const struct http_request *request);

/* Returns the body of an answer whose status is not 200: the reason for the refusal, and what the
 * user can do. */
const char *http_reason(unsigned status);
