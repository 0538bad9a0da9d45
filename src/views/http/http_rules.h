/*
 * Access rules of the local server, applied to a request. This code uses no socket and no library.
 *
 * Any web page in the user's browser may send requests to this computer's ports. So a request must
 * use a host name that cannot be registered (otherwise an attacker's name that resolves to
 * 127.0.0.1 would be "the same origin" to the browser: DNS rebinding), must not come from another
 * page, and must ask for an existing target. The data are sent only to a client with the token,
 * which is compared in constant time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_TOKEN_LENGTH 32 /* 128 bits in hexadecimal */

/* A header: how often it occurs, and the value of its first occurrence (any bytes). */
struct http_header {
    unsigned count;
    const char *value;
    size_t length;
};

struct http_request {
    const char *method; /* "GET" */
    const char *target; /* path and query, as sent: "/stream" */
    struct http_header host, origin, fetch_site, authorization;
    struct http_header body; /* Content-Length or Transfer-Encoding */
    struct http_header accept, encoding;
    const char *path; /* the path of `target`, decoded and without the query */
};

/* Adds a header to the request if it is one of the above; `value` NULL: the header has no value. */
void http_note_header(struct http_request *request, const char *name, size_t name_size,
                      const char *value, size_t value_size);

/* The server's own address. */
struct http_place {
    uint16_t port; /* 0: any, for requests through a tunnel to a Unix socket */
    bool any_name; /* reachable from outside: any name of this computer */
    char token[HTTP_TOKEN_LENGTH + 1];
};

enum http_resource { HTTP_PAGE, HTTP_STREAM };

/* Returns the status of the answer: 200, and the target in *ret; or 400 (no browser sends such a
 * request), 421 (another host name), 405 (not GET or HEAD), 403 (from another page), 404, 401 (no
 * token, or a wrong one). */
unsigned http_check(const struct http_place *place, const struct http_request *request,
                    enum http_resource *ret);

/* Likewise, but does not check target and token: returns 200, or 400, 421, 405, 403 as above. */
unsigned http_check_access(const struct http_place *place, const struct http_request *request);

/* Returns the reason for a refusal and its remedy: the body of an answer other than 200. */
const char *http_reason(unsigned status);
