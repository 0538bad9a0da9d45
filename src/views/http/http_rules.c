#include "http_rules.h"

#include <string.h>
#include <strings.h>

#define PORT_HTTP 80u /* the port if a Host header states no port */

static bool is_text(const char *value, size_t length, const char *text)
{
    return strlen(text) == length && strncasecmp(value, text, length) == 0;
}

void http_note_header(struct http_request *request, const char *name, size_t name_size,
                      const char *value, size_t value_size)
{
    const struct {
        const char *name;
        struct http_header *header;
    } wanted[] = {
        { "Host", &request->host },
        { "Origin", &request->origin },
        { "Sec-Fetch-Site", &request->fetch_site },
        { "Authorization", &request->authorization },
        { "Content-Length", &request->body },
        { "Transfer-Encoding", &request->body },
        { "Accept", &request->accept },
        { "Accept-Encoding", &request->encoding },
    };

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct http_header *header = wanted[i].header;

        if (is_text(name, name_size, wanted[i].name) && header->count++ == 0) {
            header->value = value;
            header->length = value != NULL ? value_size : 0;
        }
    }
}

/* Returns true if the header is as browsers send it: at most once, and without control
 * characters. */
static bool is_sound(const struct http_header *header)
{
    for (size_t i = 0; i < (header->count > 0 ? header->length : 0); i++) {
        if ((unsigned char)header->value[i] < ' ' || header->value[i] == 0x7f)
            return false;
    }
    return header->count <= 1;
}

/* Returns true if the text is ":" and the port, without leading zeros. An empty text means port 80.
 * If `port` is 0, any port is accepted. */
static bool is_port(const char *text, size_t length, uint16_t port)
{
    unsigned number = 0;

    if (length == 0)
        return port == 0 || port == PORT_HTTP;
    if (text[0] != ':' || length < 2 || length > 6 || text[1] == '0')
        return false;
    for (size_t i = 1; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = 10 * number + (unsigned)(text[i] - '0');
    }
    return port == 0 ? number > 0 && number <= UINT16_MAX : number == port;
}

static bool is_our_name(const char *value, size_t length, uint16_t port)
{
    static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t name = strlen(names[i]);

        if (length >= name && is_text(value, name, names[i]))
            return is_port(value + name, length - name, port);
    }
    return false;
}

/* Returns true if another page sends the request. Browsers state the sender in the headers
 * Sec-Fetch-Site and Origin: only the page itself and the address bar are allowed. Other programs
 * send neither header, and are allowed. */
static bool is_from_elsewhere(const struct http_request *request)
{
    const struct http_header *site = &request->fetch_site, *origin = &request->origin;
    const struct http_header *host = &request->host;
    const char scheme[] = "http://";
    const size_t before = sizeof scheme - 1;

    if (site->count > 0 && !is_text(site->value, site->length, "same-origin") &&
        !is_text(site->value, site->length, "none"))
        return true;
    return origin->count > 0 &&
           (origin->length != before + host->length ||
            strncasecmp(origin->value, scheme, before) != 0 ||
            strncasecmp(origin->value + before, host->value, host->length) != 0);
}

static bool has_token(const struct http_header *authorization, const char *token)
{
    const char scheme[] = "Bearer ";
    const size_t before = sizeof scheme - 1;
    unsigned char different = 0;

    if (authorization->count == 0 || authorization->length != before + HTTP_TOKEN_LENGTH ||
        strncasecmp(authorization->value, scheme, before) != 0)
        return false;
    for (size_t i = 0; i < HTTP_TOKEN_LENGTH; i++)
        different |= (unsigned char)(authorization->value[before + i] ^ token[i]);
    return different == 0;
}

unsigned http_check_access(const struct http_place *place, const struct http_request *request)
{
    const char *method = request->method;

    if (!is_sound(&request->host) || !is_sound(&request->origin) ||
        !is_sound(&request->fetch_site) || !is_sound(&request->authorization) ||
        request->host.count == 0 || request->body.count > 0 || request->target[0] != '/')
        return 400;
    if (!place->any_name && !is_our_name(request->host.value, request->host.length, place->port))
        return 421;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return 405;
    return is_from_elsewhere(request) ? 403 : 200;
}

/* Returns false if there is no such target. */
static bool find_resource(const char *target, enum http_resource *ret)
{
    if (strcmp(target, "/") == 0)
        *ret = HTTP_PAGE;
    else if (strcmp(target, "/stream") == 0)
        *ret = HTTP_STREAM;
    else
        return false;
    return true;
}

unsigned http_check(const struct http_place *place, const struct http_request *request,
                    enum http_resource *ret)
{
    const unsigned status = http_check_access(place, request);

    if (status != 200)
        return status;
    if (!find_resource(request->target, ret))
        return 404;
    return *ret == HTTP_PAGE || has_token(&request->authorization, place->token) ? 200 : 401;
}

const char *http_reason(unsigned status)
{
    switch (status) {
    case 401:
        return "This takes the token that camp view printed with its address (behind the #).\n";
    case 403:
        return "Another page asks for this: open the address that camp view printed yourself.\n";
    case 404:
        return "There is / and /stream, without a query.\n";
    case 405:
        return "This takes GET and HEAD.\n";
    case 421:
        return "camp view answers to 127.0.0.1, localhost and [::1] with its own port. Through a "
               "tunnel, take the same port on both sides.\n";
    case 503:
        return "Too many pages are open.\n";
    default:
        return "This is no request of a browser.\n";
    }
}
