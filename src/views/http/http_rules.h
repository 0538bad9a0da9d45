/*
 * Who is answered: the rules of the local server, on what a request says. Pure: no socket, no
 * library.
 *
 * Whoever may open a page in this browser may send requests to this computer's ports. So a request
 * must name us by a name that nobody else can own (a foreign name that was bent to 127.0.0.1 is
 * "the same origin" to a browser: DNS rebinding), must not come from another page, and only asks
 * for what there is. The data are for who has the token; that is compared in a time that does not
 * depend on how much of it is right.
 */
#ifndef CAMP_VIEWS_HTTP_HTTP_RULES_H
#define CAMP_VIEWS_HTTP_HTTP_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_TOKEN_LENGTH 32 /* 128 bits in hexadecimal */

/* A header: how often it stands there, and the first one's value (any bytes). */
struct http_header {
    unsigned count;
    const char *value;
    size_t length;
};

struct http_request {
    const char *method; /* "GET" */
    const char *target; /* as it was sent: "/stream" */
    struct http_header host, origin, fetch_site, authorization;
    struct http_header body; /* Content-Length or Transfer-Encoding */
};

/* A header that is looked for, by its name in any letters. */
struct http_wanted {
    const char *name;
    struct http_header *header;
};

/* One header of a request, `value` NULL if it has none, to the one of wanted[count] that it is. */
void http_note_header(const struct http_wanted *wanted, size_t count, const char *name,
                      size_t name_size, const char *value, size_t value_size);

/* What we are. */
struct http_place {
    uint16_t port; /* 0: any, where who asks comes through a tunnel to a Unix socket */
    bool any_name; /* others may ask, too, by whatever name we have there */
    char token[HTTP_TOKEN_LENGTH + 1];
};

enum http_resource { HTTP_PAGE, HTTP_STREAM };

/* The status of the answer: 200 and what is asked for; or 400 (no such request is sent by a
 * browser), 421 (not our name), 405 (not GET or HEAD), 403 (another page asks), 404, 401 (no token,
 * or a wrong one). */
unsigned http_check(const struct http_place *place, const struct http_request *request,
                    enum http_resource *ret);

/* Who asks, without what for: 200, or 400, 421, 405, 403 as above. */
unsigned http_check_asker(const struct http_place *place, const struct http_request *request);

/* What went wrong and what to do, for the body of an answer that is not 200. */
const char *http_reason(unsigned status);

#endif
