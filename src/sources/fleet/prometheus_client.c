/*
 * The driver (remote.h) for libcurl. The multi interface of libcurl does not block while the server
 * works. libcurl connects by itself when a question needs a connection, and ends a question that
 * takes longer than WHOLE_MS. Proxies (http_proxy, NO_PROXY) and resolvers work as in curl(1).
 * Certificates are always verified.
 */
#include "prometheus_client.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "fleet_text.h"
#include "ledger/array.h"
#include "libraries/libcurl.h"
#include "prometheus_parser.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES ((size_t)64 << 10)
#define CONNECT_MS 3000
#define WHOLE_MS 30000 /* time limit of a question including its answer */
#define TOKEN_SIZE 16384
/* Without it VictoriaMetrics evaluates a query 30 s in the past (-search.latencyOffset). Prometheus
 * ignores it. */
#define NEWEST "nocache=1"

struct prometheus_client {
    struct remote remote;
    struct prometheus_place place;
    CURLM *multi;
    bool owns_multi; /* otherwise it is shared with the client `beside` of prometheus_client_open()
                      */
    CURL *easy;
    bool has_ended; /* the transfer has ended with `result` */
    struct curl_slist *headers;
    const char *path, *query, *times; /* arguments of the current prometheus_client_ask() */
    char *asked; /* the newest question, to compare it with the question of the next call */
    char *body;
    struct prometheus_parser *parser; /* of the answer that arrives; NULL between questions */
    struct prometheus_answer answer;  /* all zero unless is_answered */
    bool is_answered;
    size_t header_bytes; /* of the answer */
    const char *fault;   /* of the headers of the answer; NULL if there is none */
    CURLcode result;
    char detail[CURL_ERROR_SIZE];
    struct camp_error failure;
};

const char *prometheus_client_shown(const struct prometheus_client *client)
{
    return client->place.shown;
}

bool prometheus_client_is_asked(const struct prometheus_client *client)
{
    return client->remote.state == REMOTE_BUSY;
}

/* Called by libcurl with a part of the answer. If the result is 0, libcurl gives up. */
static size_t parse(char *data, size_t size, size_t count, void *context)
{
    struct prometheus_client *client = context;

    return prometheus_parser_feed(client->parser, data, size * count) == CAMP_OK ? size * count : 0;
}

static bool has_value(const char *line, size_t length, const char *value)
{
    return length == strlen(value) && strncasecmp(line, value, length) == 0;
}

/* Returns whether a line of the header is an encoding that libcurl would decode unasked. It keeps
 * up to 128 MB of a text that is compressed by zstd. */
static bool is_unwanted_encoding(const char *line, size_t length)
{
    static const char *const names[] = { "content-encoding:", "transfer-encoding:" };
    static const char blanks[] = " \t\r\n";

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        size_t start = strlen(names[i]);

        if (length < start || strncasecmp(line, names[i], start) != 0)
            continue;
        while (start < length && strchr(blanks, line[start]) != NULL)
            start++;
        while (length > start && strchr(blanks, line[length - 1]) != NULL)
            length--;
        return !has_value(line + start, length - start, "gzip") &&
               !has_value(line + start, length - start, "identity") &&
               !has_value(line + start, length - start, "chunked");
    }
    return false;
}

/* Called by libcurl with a line of the header. If the result is 0, libcurl gives up. */
static size_t check_header(char *line, size_t size, size_t count, void *context)
{
    struct prometheus_client *client = context;
    const size_t length = size * count;

    client->header_bytes += length;
    if (client->header_bytes > HEADER_BYTES)
        client->fault = "its header is longer than 64 KB";
    else if (is_unwanted_encoding(line, length))
        client->fault = "its encoding is neither gzip nor identity";
    return client->fault == NULL ? length : 0;
}

static bool set_options(struct prometheus_client *client)
{
    CURL *easy = client->easy;
    const char *ca = getenv("CAMP_PROMETHEUS_CA");
    bool good = true;

    libcurl.curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    libcurl.curl_easy_setopt(easy, CURLOPT_PRIVATE, client);
    libcurl.curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, parse);
    libcurl.curl_easy_setopt(easy, CURLOPT_WRITEDATA, client);
    libcurl.curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, check_header);
    libcurl.curl_easy_setopt(easy, CURLOPT_HEADERDATA, client);
    libcurl.curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->detail);
    libcurl.curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    libcurl.curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)WHOLE_MS);
    /* On the same machine compressing costs more than it saves. */
    libcurl.curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING,
                             client->place.is_local ? "identity" : "gzip");
    libcurl.curl_easy_setopt(easy, CURLOPT_USERAGENT, "camp/" CAMP_VERSION);
    good &= libcurl.curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
    if (client->place.socket != NULL)
        good &= libcurl.curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, client->place.socket) ==
                CURLE_OK;
    if (client->place.is_local) /* what is for this machine is not for a proxy */
        good &= libcurl.curl_easy_setopt(easy, CURLOPT_NOPROXY, "*") == CURLE_OK;
    if (client->place.credential != NULL) {
        libcurl.curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        good &=
            libcurl.curl_easy_setopt(easy, CURLOPT_USERPWD, client->place.credential) == CURLE_OK;
    }
    if (ca != NULL)
        good &= libcurl.curl_easy_setopt(easy, CURLOPT_CAINFO, ca) == CURLE_OK;
    return good;
}

static void forget_question(struct prometheus_client *client)
{
    libcurl.curl_multi_remove_handle(client->multi, client->easy);
    libcurl.curl_slist_free_all(client->headers);
    client->headers = NULL;
    prometheus_parser_free(client->parser);
    client->parser = NULL;
}

static bool add_header(struct prometheus_client *client, const char *name, const char *value)
{
    struct curl_slist *longer;
    char *line;

    if (asprintf(&line, "%s%s", name, value) < 0)
        return false;
    longer = libcurl.curl_slist_append(client->headers, line);
    free(line);
    if (longer != NULL)
        client->headers = longer;
    return longer != NULL;
}

/* Reads the token, which is the first word of a file. Called for each question, because tokens are
 * renewed while camp runs. */
static int read_token(const char *path, char *ret, struct camp_error *error)
{
    FILE *file = fopen(path, "re");
    size_t length;

    if (file == NULL)
        return camp_fail_errno(error, errno, path);
    length = fread(ret, 1, TOKEN_SIZE - 1, file);
    fclose(file);
    ret[length] = '\0';
    ret[strcspn(ret, " \t\r\n")] = '\0';
    return ret[0] != '\0' ? CAMP_OK : camp_fail(error, CAMP_E_IO, 0, "%s has no token in it", path);
}

static int set_headers(struct prometheus_client *client, struct camp_error *error)
{
    const char *path = getenv("CAMP_PROMETHEUS_TOKEN_FILE");
    const char *given = getenv("CAMP_PROMETHEUS_TOKEN"), *tenant = getenv("CAMP_PROMETHEUS_TENANT");
    char token[TOKEN_SIZE] = "";
    bool good = true;
    int r = CAMP_OK;

    if (path != NULL)
        r = read_token(path, token, error);
    else if (given != NULL)
        snprintf(token, sizeof token, "%.*s", (int)strcspn(given, "\r\n"), given);
    if (r != CAMP_OK)
        return r;
    if (token[0] != '\0')
        good &= add_header(client, "Authorization: Bearer ", token);
    if (tenant != NULL && strpbrk(tenant, "\r\n") == NULL)
        good &= add_header(client, "X-Scope-OrgID: ", tenant);
    /* An empty Expect prevents "Expect: 100-continue", which would cost a round trip. */
    good &= add_header(client, "Expect:", "");
    explicit_bzero(token, sizeof token);
    libcurl.curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, client->headers);
    return good ? CAMP_OK : camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a question");
}

static bool encode(struct prometheus_client *client)
{
    char *query = libcurl.curl_easy_escape(client->easy, client->query, 0);

    client->body =
        query != NULL ? fleet_text_of("query=%s&" NEWEST "%s", query, client->times) : NULL;
    libcurl.curl_free(query);
    return client->body != NULL;
}

static int begin(void *context, struct camp_error *error)
{
    struct prometheus_client *client = context;
    char *address = NULL;
    int r = set_headers(client, error);

    free(client->body);
    client->body = NULL;
    client->header_bytes = 0;
    client->has_ended = false;
    client->fault = NULL;
    client->detail[0] = '\0';
    prometheus_answer_release(&client->answer);
    client->parser = prometheus_parser_new();
    if (r == CAMP_OK)
        address = fleet_text_of("%s/api/v1/%s", client->place.base, client->path);
    if (r == CAMP_OK &&
        (address == NULL || client->parser == NULL || !encode(client) ||
         libcurl.curl_easy_setopt(client->easy, CURLOPT_URL, address) != CURLE_OK ||
         libcurl.curl_easy_setopt(client->easy, CURLOPT_POSTFIELDS, client->body) != CURLE_OK ||
         libcurl.curl_multi_add_handle(client->multi, client->easy) != CURLM_OK))
        r = camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a question");
    free(address);
    if (r == CAMP_OK)
        remote_busy(&client->remote, UINT64_MAX);
    else
        forget_question(client);
    return r;
}

static bool is_answered(const void *context)
{
    return ((const struct prometheus_client *)context)->is_answered;
}

/* Continues the transfers of all clients that share the connections. */
static short wait_for_answer(void *context, uint64_t until_ns)
{
    struct prometheus_client *client = context, *ended = NULL;
    const uint64_t now = now_ns(CLOCK_MONOTONIC);
    const uint64_t left_ms = until_ns > now ? (until_ns - now + NS_PER_MS - 1) / NS_PER_MS : 0;
    CURLMsg *message;
    int count;

    if (client->has_ended) /* while another client waited */
        return POLLIN;
    libcurl.curl_multi_poll(client->multi, NULL, 0, (int)left_ms, NULL);
    libcurl.curl_multi_perform(client->multi, &count);
    while ((message = libcurl.curl_multi_info_read(client->multi, &count)) != NULL) {
        if (message->msg != CURLMSG_DONE ||
            libcurl.curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &ended) != CURLE_OK)
            continue;
        ended->result = message->data.result;
        ended->has_ended = true;
    }
    return client->has_ended ? POLLIN : 0;
}

/* Fills client->failure, and returns its code, or moves the answer to client->answer. */
static int result_of_transfer(struct prometheus_client *client, bool *ret_may_pass)
{
    struct camp_error error = { 0 };
    long status = 0, system_error = 0;
    const int parsed = prometheus_parser_end(client->parser, &client->answer, &error);
    /* libcurl reports a write error if parse() or check_header() gave up */
    const bool gave_up = client->result == CURLE_WRITE_ERROR;
    const struct prometheus_outcome outcome = {
        .result = gave_up ? CURLE_OK : (int)client->result,
        .detail = client->detail,
        .place = client->place.shown,
        .reason = prometheus_parser_reason(client->parser),
    };
    int r;

    libcurl.curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
    libcurl.curl_easy_getinfo(client->easy, CURLINFO_OS_ERRNO, &system_error);
    r = prometheus_failure_report(&outcome, status, (int)system_error, ret_may_pass,
                                  &client->failure);
    if (r != CAMP_OK || (parsed == CAMP_OK && client->fault == NULL))
        return r;
    *ret_may_pass = parsed == CAMP_E_NOMEM;
    if (client->fault != NULL)
        return camp_fail(&client->failure, CAMP_E_FORMAT, 0,
                         "%s: no answer of Prometheus: %s; is it one?", client->place.shown,
                         client->fault);
    return camp_fail(&client->failure, parsed, 0, "%s: %s", client->place.shown, error.message);
}

static int finish(void *context, short events, struct camp_error *error)
{
    struct prometheus_client *client = context;
    bool may_pass;
    const int r = result_of_transfer(client, &may_pass);

    (void)events;
    forget_question(client);
    client->is_answered = r == CAMP_OK;
    if (r == CAMP_OK) {
        remote_ready(&client->remote);
        return r;
    }
    prometheus_answer_release(&client->answer);
    remote_down(&client->remote, may_pass);
    if (error != NULL)
        *error = client->failure;
    return r;
}

static const struct remote_driver driver = {
    .connect = begin,
    .is_answered = is_answered,
    .ask = begin,
    .wait = wait_for_answer,
    .go_on = finish,
};

/* Refuses to send a password or token to another machine without TLS, unless the user permits it.
 */
static int check_secrets(const struct prometheus_place *place, struct camp_error *error)
{
    const char *plain = getenv("CAMP_PROMETHEUS_PLAIN");
    const bool has_secret = place->credential != NULL ||
                            getenv("CAMP_PROMETHEUS_TOKEN_FILE") != NULL ||
                            getenv("CAMP_PROMETHEUS_TOKEN") != NULL;

    if (!has_secret || place->is_local || place->is_encrypted ||
        (plain != NULL && strcmp(plain, "yes") == 0))
        return CAMP_OK;
    return camp_fail(error, CAMP_E_PERM, 0,
                     "%s: a password or token goes to another machine only through TLS: give an "
                     "https:// address, or set CAMP_PROMETHEUS_PLAIN=yes",
                     place->shown);
}

int prometheus_client_open(const char *place, const volatile sig_atomic_t *stop,
                           struct prometheus_client *beside, struct prometheus_client **ret,
                           struct camp_error *error)
{
    struct prometheus_client *client;
    int r = library_load(&libcurl_library, error);

    if (r != CAMP_OK)
        return r;
    if (libcurl.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for libcurl");
    client = calloc(1, sizeof *client);
    if (client == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a client");
    client->remote = (struct remote){ .driver = &driver, .context = client, .stop = stop };
    r = prometheus_place_parse(place, &client->place, error);
    if (r == CAMP_OK)
        r = check_secrets(&client->place, error);
    if (r == CAMP_OK) {
        client->owns_multi = beside == NULL;
        client->multi = beside == NULL ? libcurl.curl_multi_init() : beside->multi;
        client->easy = libcurl.curl_easy_init();
        if (client->multi == NULL || client->easy == NULL || !set_options(client))
            r = camp_fail(error, CAMP_E_NOMEM, 0, "no memory for libcurl");
    }
    if (r != CAMP_OK)
        prometheus_client_close(client);
    else
        *ret = client;
    return r;
}

void prometheus_client_close(struct prometheus_client *client)
{
    if (client == NULL)
        return;
    forget_question(client);
    libcurl.curl_easy_cleanup(client->easy);
    if (client->owns_multi)
        libcurl.curl_multi_cleanup(client->multi);
    prometheus_place_release(&client->place);
    free(client->asked);
    free(client->body);
    prometheus_answer_release(&client->answer);
    free(client);
}

void prometheus_client_drop(struct prometheus_client *client)
{
    if (client->remote.state == REMOTE_BUSY) {
        forget_question(client);
        remote_ready(&client->remote);
    }
    prometheus_answer_release(&client->answer);
}

/* Sets the question. If a different question is still unanswered, drops it, because its answer
 * would be taken for the answer to the new question. */
static int set_question(struct prometheus_client *client, const char *path, const char *query,
                        const char *times, struct camp_error *error)
{
    char *asked = fleet_text_of("%s %s %s", path, query, times);

    if (asked == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a question");
    if (client->remote.state == REMOTE_BUSY && strcmp(client->asked, asked) != 0)
        prometheus_client_drop(client);
    free(client->asked);
    client->asked = asked;
    client->path = path;
    client->query = query;
    client->times = times;
    client->is_answered = false;
    return CAMP_OK;
}

int prometheus_client_ask(struct prometheus_client *client, const char *path, const char *query,
                          const char *times, uint64_t until_ns, struct prometheus_answer *ret,
                          struct camp_error *error)
{
    int r;

    if (client->remote.state == REMOTE_DOWN &&
        now_ns(CLOCK_MONOTONIC) < client->remote.not_before_ns) {
        if (error != NULL)
            *error = client->failure;
        return client->failure.code;
    }
    r = set_question(client, path, query, times, error);
    if (r == CAMP_OK)
        r = remote_run(&client->remote, until_ns, error);
    if (r == CAMP_OK) {
        *ret = client->answer;
        client->answer = (struct prometheus_answer){ 0 };
    }
    return r;
}
