/*
 * The address of a Prometheus server. It is the text after "prometheus:" in --from:
 *
 *      http://host:9090/prefix      https://user:password@host/prometheus      host:9090
 *      unix:/run/thanos.sock        a Unix socket
 *
 * Every user can see the address in the list of processes, even if it contains a password. Secrets
 * are better given in environment variables:
 *
 *      CAMP_PROMETHEUS_TOKEN_FILE   a file with a bearer token, read again for each question
 *      CAMP_PROMETHEUS_TOKEN        the token itself
 *      CAMP_PROMETHEUS_CA           a file of certificates to trust instead of the system's
 *      CAMP_PROMETHEUS_PLAIN=yes    permits sending a password or token without TLS
 *      CAMP_PROMETHEUS_TENANT       the value of the header X-Scope-OrgID, for Mimir and Cortex
 *
 * libcurl's own parser splits the address, so that messages show the address that libcurl requests.
 */
#include "prometheus_client.h"

#include "counters/error.h"
#include "fleet_text.h"
#include "libraries/libcurl.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOCKET_PREFIX "unix:"
#define SOCKET_HOST "http://localhost"

static const struct {
    CURLUcode code;
    const char *fault;
} faults[] = {
    { CURLUE_BAD_PORT_NUMBER, "the port is not a number from 1 to 65535" },
    { CURLUE_UNSUPPORTED_SCHEME, "the scheme is neither http:// nor https://" },
    { CURLUE_BAD_SCHEME, "the scheme is neither http:// nor https://" },
    { CURLUE_BAD_HOSTNAME, "the host has a character that is not allowed in names" },
    { CURLUE_BAD_IPV6, "the IPv6 address cannot be read: write it in []" },
    { CURLUE_NO_HOST, "the host is missing" },
    { CURLUE_BAD_LOGIN, "user:password@ cannot be read: write @ as %40, : as %3A, / as %2F" },
    /* this element stands for all other codes, so it must be last */
    { CURLUE_OK, "the address cannot be read" },
};

static int complain(const char *fault, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "prometheus: %s; give an address such as http://host:9090, "
                     "https://host/prefix or unix:/path/to/socket",
                     fault);
}

static int complain_of(CURLUcode code, struct camp_error *error)
{
    size_t i = 0;

    if (code == CURLUE_OUT_OF_MEMORY)
        return CAMP_E_NOMEM;
    while (faults[i].code != code && faults[i].code != CURLUE_OK)
        i++;
    return complain(faults[i].fault, error);
}

void prometheus_place_release(struct prometheus_place *place)
{
    free(place->base);
    free(place->credential);
    free(place->socket);
    free(place->shown);
    *place = (struct prometheus_place){ 0 };
}

/* Gets a part of the address, or NULL if the address has no such part. The caller frees it. Returns
 * false if there is no memory. */
static bool get_part(CURLU *url, CURLUPart part, unsigned flags, char **ret)
{
    char *text = NULL;
    const CURLUcode code = libcurl.curl_url_get(url, part, &text, flags);

    *ret = code == CURLUE_OK ? strdup(text) : NULL;
    libcurl.curl_free(text);
    return code != CURLUE_OUT_OF_MEMORY && (code != CURLUE_OK || *ret != NULL);
}

static bool read_credential(CURLU *url, struct prometheus_place *ret)
{
    char *user = NULL, *password = NULL;
    bool good = get_part(url, CURLUPART_USER, CURLU_URLDECODE, &user) &&
                get_part(url, CURLUPART_PASSWORD, CURLU_URLDECODE, &password);

    if (good && (user != NULL || password != NULL)) {
        ret->credential =
            fleet_text_of("%s:%s", user != NULL ? user : "", password != NULL ? password : "");
        good = ret->credential != NULL;
    }
    free(user);
    free(password);
    return good;
}

static char *base_of(CURLU *url)
{
    char *base;
    size_t length;

    libcurl.curl_url_set(url, CURLUPART_USER, NULL, 0);
    libcurl.curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
    if (!get_part(url, CURLUPART_URL, 0, &base) || base == NULL)
        return NULL;
    length = strlen(base);
    while (length > 0 && base[length - 1] == '/')
        base[--length] = '\0';
    return base;
}

/* Complains about a query, "?key=value", in the address. The message names the key, unless the
 * address has an @: then the text after "?" may be part of a password. */
static int complain_of_query(const char *query, const char *text, struct camp_error *error)
{
    const size_t length = strspn(query, "abcdefghijklmnopqrstuvwxyz_");
    char fault[80] = "the address must not have a query (?)";

    if (length > 0 && length < 24 && query[length] == '=' && strchr(text, '@') == NULL)
        snprintf(fault, sizeof fault, "the address must not have ?%.*s=", (int)length, query);
    return complain(fault, error);
}

/* Refuses schemes other than http and https. Refuses a query or a fragment, because camp would
 * ignore it. */
static int check(CURLU *url, const char *text, struct camp_error *error)
{
    char *scheme = NULL, *query = NULL, *fragment = NULL;
    int r = CAMP_OK;

    if (!get_part(url, CURLUPART_SCHEME, 0, &scheme) ||
        !get_part(url, CURLUPART_QUERY, 0, &query) ||
        !get_part(url, CURLUPART_FRAGMENT, 0, &fragment))
        r = CAMP_E_NOMEM;
    else if (scheme == NULL || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
        r = complain_of(CURLUE_UNSUPPORTED_SCHEME, error);
    else if (query != NULL)
        r = complain_of_query(query, text, error);
    else if (fragment != NULL)
        r = complain("the address must not have a #", error);
    free(scheme);
    free(query);
    free(fragment);
    return r;
}

/* libcurl itself resolves "localhost" to a loopback address. */
static bool is_loopback(const char *host)
{
    struct in_addr address;

    if (strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0)
        return true;
    return inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
}

static bool read_way(CURLU *url, struct prometheus_place *ret)
{
    char *scheme = NULL, *host = NULL;
    const bool good = get_part(url, CURLUPART_SCHEME, 0, &scheme) &&
                      get_part(url, CURLUPART_HOST, 0, &host) && scheme != NULL && host != NULL;

    ret->is_encrypted = good && strcmp(scheme, "https") == 0;
    ret->is_local = good && is_loopback(host);
    free(scheme);
    free(host);
    return good;
}

static int parse_address(const char *text, struct prometheus_place *ret, struct camp_error *error)
{
    /* without a scheme, libcurl would take "host" in "host:9090" for the scheme */
    const char *scheme = strstr(text, "://") != NULL   ? ""
                         : strncmp(text, "//", 2) == 0 ? "http:"
                                                       : "http://";
    char *whole = fleet_text_of("%s%s", scheme, text);
    CURLU *url = libcurl.curl_url();
    CURLUcode code;
    int r = CAMP_OK;

    if (url == NULL || whole == NULL)
        r = CAMP_E_NOMEM;
    else if ((code = libcurl.curl_url_set(url, CURLUPART_URL, whole, 0)) != CURLUE_OK)
        r = complain_of(code, error);
    else
        r = check(url, text, error);
    if (r == CAMP_OK &&
        (!read_way(url, ret) || !read_credential(url, ret) || (ret->base = base_of(url)) == NULL))
        r = CAMP_E_NOMEM;
    if (r == CAMP_OK && (ret->shown = strdup(ret->base)) == NULL)
        r = CAMP_E_NOMEM;
    free(whole);
    libcurl.curl_url_cleanup(url);
    return r;
}

static int parse_socket(const char *path, struct prometheus_place *ret, struct camp_error *error)
{
    if (path[0] != '/')
        return complain("the path of the socket must start with /", error);
    ret->is_local = true;
    ret->socket = strdup(path);
    ret->base = strdup(SOCKET_HOST);
    ret->shown = fleet_text_of(SOCKET_PREFIX "%s", path);
    return ret->socket != NULL && ret->base != NULL && ret->shown != NULL ? CAMP_OK : CAMP_E_NOMEM;
}

int prometheus_place_parse(const char *text, struct prometheus_place *ret, struct camp_error *error)
{
    int r;

    *ret = (struct prometheus_place){ 0 };
    if (text[0] == '\0')
        return complain("the address is missing", error);
    r = strncmp(text, SOCKET_PREFIX, strlen(SOCKET_PREFIX)) == 0
            ? parse_socket(text + strlen(SOCKET_PREFIX), ret, error)
            : parse_address(text, ret, error);
    if (ret->shown != NULL)
        fleet_clean(ret->shown);
    if (r == CAMP_E_NOMEM)
        camp_fail(error, r, 0, "no memory for an address");
    if (r != CAMP_OK)
        prometheus_place_release(ret);
    return r;
}
