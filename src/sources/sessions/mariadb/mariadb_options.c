#include "mariadb_options.h"

#include "counters/error.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SEPARATORS " \t;" /* ';' separates options in ODBC and JDBC */

static const char *const names[MARIADB_OPTION_COUNT] = { "host",   "port",     "user",
                                                         "socket", "database", "defaults-file",
                                                         "verify" };

static int refuse_password(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "mariadb: a password is not for the command line, where all can read it: "
                     "write it into ~/.my.cnf, or set MARIADB_PWD");
}

static int set_option(struct mariadb_options *options, enum mariadb_option option,
                      const char *value, size_t length, struct camp_error *error)
{
    char *ret = options->values[option];

    if (length >= MARIADB_VALUE_SIZE)
        return camp_fail(error, CAMP_E_INVALID, 0, "mariadb: %s= is too long", names[option]);
    memcpy(ret, value, length);
    ret[length] = '\0';
    for (char *at = ret; *at != '\0'; at++) {
        if (iscntrl((unsigned char)*at))
            return camp_fail(error, CAMP_E_INVALID, 0, "mariadb: %s= has control characters in it",
                             names[option]);
    }
    if (option == MARIADB_OPTION_PORT && strspn(ret, "0123456789") != strlen(ret))
        return camp_fail(error, CAMP_E_INVALID, 0, "mariadb: port= is a number");
    if (option == MARIADB_OPTION_VERIFY && strcmp(ret, "no") != 0 && strcmp(ret, "yes") != 0)
        return camp_fail(error, CAMP_E_INVALID, 0, "mariadb: verify= is yes or no");
    return CAMP_OK;
}

static bool is_key(const char *word, const char *name, size_t length)
{
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

/* Returns true if an error message may show the key `word`. A word that does not look like a key
 * may be the rest of a password with a blank in it. */
static bool may_be_shown(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!islower((unsigned char)word[i]) && word[i] != '-' && word[i] != '_')
            return false;
    }
    return length > 0 && length < 24;
}

static int parse_word(struct mariadb_options *options, const char *word, size_t length,
                      struct camp_error *error)
{
    const char *equals = memchr(word, '=', length);
    const size_t key = equals != NULL ? (size_t)(equals - word) : 0;

    for (int i = 0; i < MARIADB_OPTION_COUNT && equals != NULL; i++) {
        if (is_key(word, names[i], key))
            return set_option(options, (enum mariadb_option)i, equals + 1, length - key - 1, error);
    }
    if (equals != NULL && (is_key(word, "password", key) || is_key(word, "passwd", key)))
        return refuse_password(error);
    if (may_be_shown(word, key))
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "mariadb: there is no key %.*s=; the keys are host=, port=, user=, "
                         "socket=, database=, defaults-file= and verify=",
                         (int)key, word);
    return camp_fail(
        error, CAMP_E_INVALID, 0,
        "mariadb: give keys (host=, port=, user=, socket=, database=, "
        "defaults-file=, verify=), the path of a socket, or //USER@HOST:PORT/DATABASE");
}

static int parse_words(struct mariadb_options *options, const char *text, struct camp_error *error)
{
    int r = CAMP_OK;

    while (r == CAMP_OK && *(text += strspn(text, SEPARATORS)) != '\0') {
        const size_t length = strcspn(text, SEPARATORS);

        r = parse_word(options, text, length, error);
        text += length;
    }
    return r;
}

/* Parses USER@HOST:PORT/DATABASE. An IPv6 address is in brackets. The user extends to the last '@',
 * so that no part of a password with an '@' is taken for the host. */
static int parse_uri(struct mariadb_options *options, const char *text, struct camp_error *error)
{
    const char *slash = strchr(text, '/'), *at = strrchr(text, '@');
    const char *end = slash != NULL ? slash : text + strlen(text);
    const char *host = at != NULL ? at + 1 : text;
    const char *host_end, *port;
    int r = CAMP_OK;

    if (at != NULL && (at > end || memchr(text, ':', (size_t)(at - text)) != NULL))
        return refuse_password(error);
    if (at != NULL)
        r = set_option(options, MARIADB_OPTION_USER, text, (size_t)(at - text), error);
    host_end = *host == '[' ? memchr(host, ']', (size_t)(end - host)) : NULL;
    port = memchr(host_end != NULL ? host_end : host, ':',
                  (size_t)(end - (host_end != NULL ? host_end : host)));
    if (host_end != NULL)
        host++;
    else
        host_end = port != NULL ? port : end;
    if (r == CAMP_OK)
        r = set_option(options, MARIADB_OPTION_HOST, host, (size_t)(host_end - host), error);
    if (r == CAMP_OK && port != NULL)
        r = set_option(options, MARIADB_OPTION_PORT, port + 1, (size_t)(end - port) - 1, error);
    if (r == CAMP_OK && slash != NULL)
        r = set_option(options, MARIADB_OPTION_DATABASE, slash + 1, strlen(slash + 1), error);
    return r;
}

int mariadb_options_parse(const char *text, struct mariadb_options *ret, struct camp_error *error)
{
    struct mariadb_options options = { 0 };
    int r;

    if (strncmp(text, "//", 2) == 0)
        r = parse_uri(&options, text + 2, error);
    else if (text[0] == '/')
        r = set_option(&options, MARIADB_OPTION_SOCKET, text, strlen(text), error);
    else
        r = parse_words(&options, text, error);
    if (r == CAMP_OK)
        *ret = options;
    return r;
}

void mariadb_options_show(const struct mariadb_options *options, char *ret, size_t size)
{
    const char *user = options->values[MARIADB_OPTION_USER],
               *host = options->values[MARIADB_OPTION_HOST];
    const char *port = options->values[MARIADB_OPTION_PORT];

    if (host[0] == '\0')
        host = options->values[MARIADB_OPTION_SOCKET];
    if (user[0] == '\0' && host[0] == '\0')
        snprintf(ret, size, "default");
    else
        snprintf(ret, size, "%s%s%s%s%s", user, user[0] != '\0' ? "@" : "",
                 host[0] != '\0' ? host : "localhost", port[0] != '\0' ? ":" : "", port);
}

void mariadb_options_from(const struct mariadb_options *options, char *ret, size_t size)
{
    size_t length = (size_t)snprintf(ret, size, "%s:", options->is_mysql ? "mysql" : "mariadb");

    for (int i = 0; i < MARIADB_OPTION_COUNT && length < size; i++) {
        const char *value = options->values[i];

        if (value[0] == '\0')
            continue;
        if (strpbrk(value, SEPARATORS) != NULL)
            length = size;
        else
            length += (size_t)snprintf(ret + length, size - length, "%s%s=%s",
                                       ret[length - 1] == ':' ? "" : " ", names[i], value);
    }
    if (length >= size)
        ret[0] = '\0';
}
