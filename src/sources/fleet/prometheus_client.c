/* libcurl's multi interface, which does not block while the server works. Proxies and resolvers are
 * those of curl(1) (http_proxy, NO_PROXY). Certificates are always verified. */
#include "prometheus_client.h"

#include "counters/error.h"
#include "counters/units.h"
#include "ledger/array.h"
#include "libraries/libcurl.h"
#include "prometheus_failure.h"
#include "prometheus_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES ((size_t)64 << 20)
#define CONNECT_MS 3000
#define WHOLE_MS 30000 /* limit of a question and its answer */
#define SLICE_MS 50    /* delay until *stop takes effect */
#define TOKEN_SIZE 16384

struct prometheus_client {
    struct prometheus_place place;
    const volatile sig_atomic_t *stop;
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    bool is_asked; /* and no answer yet */
    char *body;    /* of the question */
    char *text;    /* [length] of the answer; capacity is one more */
    size_t length, capacity;
    char detail[CURL_ERROR_SIZE];
    /* For failures: */
    struct camp_error failure;
    struct retry retry;
};

const char *prometheus_client_shown(const struct prometheus_client *client)
{
    return client->place.shown;
}

bool prometheus_client_is_asked(const struct prometheus_client *client)
{
    return client->is_asked;
}

/* ------------------------------------------------------------------------------ Opening -- */

/* libcurl's callback: a smaller return value ends the transfer. */
static size_t append(char *data, size_t size, size_t count, void *context)
{
    struct prometheus_client *client = context;
    const size_t more = size * count, needed = client->length + more + 1;

    if (needed > ANSWER_BYTES)
        return 0;
    if (!ARRAY_RESERVE(client->text, client->capacity, needed))
        return 0;
    memcpy(client->text + client->length, data, more);
    client->length += more;
    client->text[client->length] = '\0';
    return more;
}

static bool set_options(struct prometheus_client *client)
{
    CURL *easy = client->easy;
    const char *ca = getenv("CAMP_PROMETHEUS_CA");
    bool good = true;

    libcurl.curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    libcurl.curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
    libcurl.curl_easy_setopt(easy, CURLOPT_WRITEDATA, client);
    libcurl.curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->detail);
    libcurl.curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    libcurl.curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)WHOLE_MS);
    libcurl.curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, ""); /* every encoding of libcurl */
    libcurl.curl_easy_setopt(easy, CURLOPT_USERAGENT, "camp/" CAMP_VERSION);
    good &= libcurl.curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
    if (client->place.socket != NULL)
        good &= libcurl.curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, client->place.socket) ==
                CURLE_OK;
    if (client->place.credential != NULL) {
        libcurl.curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        good &=
            libcurl.curl_easy_setopt(easy, CURLOPT_USERPWD, client->place.credential) == CURLE_OK;
    }
    if (ca != NULL)
        good &= libcurl.curl_easy_setopt(easy, CURLOPT_CAINFO, ca) == CURLE_OK;
    return good;
}

int prometheus_client_open(const char *place, const volatile sig_atomic_t *stop,
                           struct prometheus_client **ret, struct camp_error *error)
{
    struct prometheus_client *client;
    int r = libcurl_load(error);

    if (r != CAMP_OK)
        return r;
    if (libcurl.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for libcurl");
    client = calloc(1, sizeof *client);
    if (client == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a client");
    client->stop = stop;
    r = prometheus_place_parse(place, &client->place, error);
    if (r == CAMP_OK) {
        client->multi = libcurl.curl_multi_init();
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

static void forget_question(struct prometheus_client *client)
{
    if (client->is_asked)
        libcurl.curl_multi_remove_handle(client->multi, client->easy);
    client->is_asked = false;
    libcurl.curl_slist_free_all(client->headers);
    client->headers = NULL;
}

void prometheus_client_close(struct prometheus_client *client)
{
    if (client == NULL)
        return;
    forget_question(client);
    libcurl.curl_easy_cleanup(client->easy);
    libcurl.curl_multi_cleanup(client->multi);
    prometheus_place_release(&client->place);
    free(client->body);
    free(client->text);
    free(client);
}

/* --------------------------------------------------------------------------------- Questions -- */

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

/* Reads the first word of a file, because tokens are renewed while camp runs. */
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
    const char *said = getenv("CAMP_PROMETHEUS_TOKEN"), *tenant = getenv("CAMP_PROMETHEUS_TENANT");
    char token[TOKEN_SIZE] = "";
    bool good = true;
    int r = CAMP_OK;

    if (path != NULL)
        r = read_token(path, token, error);
    else if (said != NULL)
        snprintf(token, sizeof token, "%.*s", (int)strcspn(said, "\r\n"), said);
    if (r != CAMP_OK)
        return r;
    if (token[0] != '\0')
        good &= add_header(client, "Authorization: Bearer ", token);
    if (tenant != NULL && strpbrk(tenant, "\r\n") == NULL)
        good &= add_header(client, "X-Scope-OrgID: ", tenant);
    good &= add_header(client, "Expect:", ""); /* saves a round trip per question */
    explicit_bzero(token, sizeof token);
    libcurl.curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, client->headers);
    return good ? CAMP_OK : camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a question");
}

/* "query=up&time=1": the caller frees *ret. */
static bool encode(CURL *easy, const struct prometheus_parameter *parameters, size_t count,
                   char **ret)
{
    size_t length;
    FILE *stream = open_memstream(ret, &length);
    bool good = stream != NULL;

    for (size_t i = 0; i < count && good; i++) {
        char *value = libcurl.curl_easy_escape(easy, parameters[i].value, 0);

        good = value != NULL &&
               fprintf(stream, "%s%s=%s", i > 0 ? "&" : "", parameters[i].name, value) > 0;
        libcurl.curl_free(value);
    }
    return stream != NULL && fclose(stream) == 0 && good;
}

static int begin(struct prometheus_client *client, const char *path,
                 const struct prometheus_parameter *parameters, size_t count,
                 struct camp_error *error)
{
    char *address = NULL;
    int r = set_headers(client, error);

    free(client->body);
    client->body = NULL;
    client->length = 0;
    client->detail[0] = '\0';
    if (r != CAMP_OK)
        return r;
    if (asprintf(&address, "%s/api/v1/%s", client->place.base, path) < 0)
        address = NULL;
    if (address == NULL || !encode(client->easy, parameters, count, &client->body) ||
        libcurl.curl_easy_setopt(client->easy, CURLOPT_URL, address) != CURLE_OK ||
        libcurl.curl_easy_setopt(client->easy, CURLOPT_POSTFIELDS, client->body) != CURLE_OK ||
        libcurl.curl_multi_add_handle(client->multi, client->easy) != CURLM_OK)
        r = camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a question");
    client->is_asked = r == CAMP_OK;
    free(address);
    return r;
}

/* Whether the answer has arrived; *ret is its result. */
static bool is_done(struct prometheus_client *client, CURLcode *ret)
{
    CURLMsg *message;
    int left;

    while ((message = libcurl.curl_multi_info_read(client->multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *ret = message->data.result;
            return true;
        }
    }
    return false;
}

static bool wait_until(struct prometheus_client *client, uint64_t until_ns, CURLcode *ret)
{
    for (;;) {
        const uint64_t now = now_ns(CLOCK_MONOTONIC);
        const uint64_t left_ms = until_ns > now ? (until_ns - now) / NS_PER_MS : 0;
        int running;

        libcurl.curl_multi_perform(client->multi, &running);
        if (is_done(client, ret))
            return true;
        if (left_ms == 0 || (client->stop != NULL && *client->stop != 0))
            return false;
        libcurl.curl_multi_poll(client->multi, NULL, 0,
                                left_ms < SLICE_MS ? (int)left_ms : SLICE_MS, NULL);
    }
}

/* CAMP_OK, or the failure. */
static int judge(struct prometheus_client *client, CURLcode result, bool *ret_may_pass)
{
    const struct prometheus_outcome outcome = {
        .result = (int)result,
        .too_long = result == CURLE_WRITE_ERROR,
        .detail = client->detail,
        .place = client->place.shown,
        .text = client->length > 0 ? client->text : "",
        .length = client->length,
    };
    long status = 0, system_error = 0;

    libcurl.curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
    libcurl.curl_easy_getinfo(client->easy, CURLINFO_OS_ERRNO, &system_error);
    return prometheus_failure_report(&outcome, status, (int)system_error, ret_may_pass,
                                     &client->failure);
}

static int finish(struct prometheus_client *client, CURLcode result, const char **ret_text,
                  size_t *ret_length, struct camp_error *error)
{
    bool may_pass = true;
    const int r = judge(client, result, &may_pass);

    forget_question(client);
    if (r == CAMP_OK) {
        client->retry = (struct retry){ 0 };
        *ret_text = client->length > 0 ? client->text : "";
        *ret_length = client->length;
        return r;
    }
    retry_failed(&client->retry, may_pass);
    if (error != NULL)
        *error = client->failure;
    return r;
}

int prometheus_client_ask(struct prometheus_client *client, const char *path,
                          const struct prometheus_parameter *parameters, size_t count,
                          uint64_t until_ns, const char **ret_text, size_t *ret_length,
                          struct camp_error *error)
{
    CURLcode result;
    int r;

    if (!client->is_asked) {
        if (now_ns(CLOCK_MONOTONIC) < client->retry.not_before_ns) {
            if (error != NULL)
                *error = client->failure;
            return client->failure.code;
        }
        r = begin(client, path, parameters, count, error);
        if (r != CAMP_OK) {
            forget_question(client);
            return r;
        }
    }
    if (!wait_until(client, until_ns, &result))
        return REMOTE_PENDING;
    return finish(client, result, ret_text, ret_length, error);
}
