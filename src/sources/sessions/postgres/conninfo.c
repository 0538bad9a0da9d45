/*
 * Only the options in shown_options are shown, so options of newer versions of libpq stay hidden.
 *
 * libpq reads "postgres://u:p@ss@host" as host "ss@host", and "postgres://u:p/w@host" as database
 * "w@host": both contain a part of the password. So the whole string is hidden if an '@' is in an
 * unusual position. A URI is hidden also if it has several, or if any shown value has an '@'.
 */
#include "conninfo.h"

#include "counters/error.h"
#include "counters/units.h"
#include "ledger/array.h"
#include "libraries/libpq.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const shown_options[] = {
    "service", "host", "hostaddr", "port", "dbname", "user"
};

static const PQconninfoOption *find(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword != NULL; options++) {
        if (strcmp(options->keyword, keyword) == 0)
            return options;
    }
    return NULL;
}

/* True if one of the comma-separated hosts has an '@' after its first character. An '@' at the
 * start is usual: it marks the name of an abstract socket. */
static bool has_inner_at(const char *value)
{
    for (const char *at = strchr(value, '@'); at != NULL; at = strchr(at + 1, '@')) {
        if (at != value && at[-1] != ',')
            return true;
    }
    return false;
}

/* True if a value may be shown. The name of a database may itself be a connection string, such as
 * "dbname=postgres://...", and is then hidden. */
static bool is_plain(const char *keyword, const char *value)
{
    if (strcmp(keyword, "port") == 0)
        return strspn(value, "0123456789,") == strlen(value);
    if (strcmp(keyword, "dbname") == 0 && strpbrk(value, "=:/") != NULL)
        return false;
    return strcmp(keyword, "user") == 0 ? strpbrk(value, ":/") == NULL : !has_inner_at(value);
}

static void clean(char *text)
{
    for (; *text != '\0'; text++) {
        if (iscntrl((unsigned char)*text))
            *text = '?';
    }
}

static bool show(const PQconninfoOption *options, bool of_uri, char *ret, size_t size)
{
    size_t length = 0, left;

    snprintf(ret, size, "(default)");
    for (size_t i = 0; i < ARRAY_COUNT(shown_options); i++) {
        const PQconninfoOption *option = find(options, shown_options[i]);

        if (option == NULL || option->val == NULL || option->val[0] == '\0')
            continue;
        if (!is_plain(option->keyword, option->val) || (of_uri && strchr(option->val, '@') != NULL))
            return false;
        left = length < size ? size - length : 0;
        length += (size_t)snprintf(left > 0 ? ret + length : NULL, left, "%s%s=%s",
                                   length > 0 ? " " : "", option->keyword, option->val);
    }
    return true;
}

/* As libpq does. Elsewhere in the string, "://" belongs to a value. */
static bool is_uri(const char *conninfo)
{
    return strncmp(conninfo, "postgres://", 11) == 0 || strncmp(conninfo, "postgresql://", 13) == 0;
}

static bool has_several_at(const char *text)
{
    return strchr(text, '@') != strrchr(text, '@');
}

static bool is_name_alone(const char *conninfo)
{
    return strchr(conninfo, '=') == NULL && strstr(conninfo, "://") == NULL;
}

void conninfo_shown(const char *conninfo, char *ret, size_t size)
{
    PQconninfoOption *options = libpq.PQconninfoParse(conninfo, NULL);

    if (conninfo[0] != '\0' && is_name_alone(conninfo) && is_plain("dbname", conninfo))
        snprintf(ret, size, "dbname=%s", conninfo);
    else if (options == NULL || (is_uri(conninfo) && has_several_at(conninfo)) ||
             !show(options, is_uri(conninfo), ret, size))
        snprintf(ret, size, "(hidden)");
    clean(ret);
    libpq.PQconninfoFree(options);
}

/* Appends keyword='value'. Returns false if it does not fit. */
static bool append_quoted(const PQconninfoOption *option, char *ret, size_t size)
{
    size_t length = strlen(ret);

    length += (size_t)snprintf(ret + length, size - length, "%s%s='", length > 0 ? " " : "",
                               option->keyword);
    for (const char *at = option->val; *at != '\0' && length + 3 < size; at++) {
        if (*at == '\'' || *at == '\\')
            ret[length++] = '\\';
        ret[length++] = *at;
    }
    if (length + 2 > size)
        return false;
    strcpy(ret + length, "'");
    return length + 3 < size;
}

static bool is_secret(const char *keyword)
{
    return strcmp(keyword, "password") == 0 || strcmp(keyword, "sslpassword") == 0;
}

void conninfo_without_secrets(const char *conninfo, char *ret, size_t size)
{
    const bool is_name = conninfo[0] != '\0' && is_name_alone(conninfo);
    PQconninfoOption *options = is_name ? NULL : libpq.PQconninfoParse(conninfo, NULL);
    PQconninfoOption name = { .keyword = (char *)"dbname", .val = (char *)conninfo };
    char shown[16];
    bool is_good = is_name || options != NULL;

    ret[0] = '\0';
    conninfo_shown(conninfo, shown, sizeof shown);
    is_good = is_good && strcmp(shown, "(hidden)") != 0;
    if (is_good && is_name)
        is_good = append_quoted(&name, ret, size);
    for (const PQconninfoOption *at = options; is_good && at != NULL && at->keyword != NULL; at++) {
        if (at->val == NULL || at->val[0] == '\0' || is_secret(at->keyword))
            continue;
        is_good = false;
        for (size_t i = 0; i < ARRAY_COUNT(shown_options); i++)
            is_good = is_good || strcmp(at->keyword, shown_options[i]) == 0;
        is_good = is_good && append_quoted(at, ret, size);
    }
    if (!is_good)
        ret[0] = '\0';
    libpq.PQconninfoFree(options);
}

/* Finds the first key in `conninfo` that is not in `known`. Sets *ret_key and returns the length of
 * the key, or 0 if there is none. The search ends at a password, a quoted value or a word without
 * '=', because later words may belong to a secret. */
static size_t find_wrong_key(const char *conninfo, const PQconninfoOption *known,
                             const char **ret_key)
{
    const char *word = conninfo + strspn(conninfo, " \t");

    while (*word != '\0' && strstr(conninfo, "://") == NULL) {
        const size_t length = strcspn(word, " \t");
        const size_t key = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
        char name[40];

        if (key == 0 || key >= sizeof name || word[key] != '=' || word[key + 1] == '\'')
            break;
        snprintf(name, sizeof name, "%.*s", (int)key, word);
        if (strcmp(name, "password") == 0 || strcmp(name, "sslpassword") == 0)
            break;
        *ret_key = word;
        if (find(known, name) == NULL)
            return key;
        word += length + strspn(word + length, " \t");
    }
    return 0;
}

int conninfo_check(const char *conninfo, struct camp_error *error)
{
    PQconninfoOption *options;
    bool is_good;
    const char *key;
    size_t length = 0;

    errno = 0;
    options = libpq.PQconninfoParse(is_name_alone(conninfo) ? "" : conninfo, NULL);
    is_good = options != NULL;
    if (!is_good && errno == ENOMEM)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a connection");
    if (!is_good && (options = libpq.PQconninfoParse("", NULL)) != NULL)
        length = find_wrong_key(conninfo, options, &key);
    libpq.PQconninfoFree(options);
    if (is_good)
        return CAMP_OK;
    if (length > 0)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "PostgreSQL: a connection string has no key %.*s=; the usual keys are "
                         "host=, port=, dbname= and user=",
                         (int)length, key);
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "PostgreSQL: the connection string cannot be read: host=H password='a b', "
                     "or a URI with %%40 for @");
}

char *conninfo_of_address(const char *place)
{
    char *conninfo;

    if (strncmp(place, "//", 2) != 0)
        return strdup(place);
    return asprintf(&conninfo, "postgres:%s", place) >= 0 ? conninfo : NULL;
}

#define LIMIT_S 5

static uint64_t limit_of(const char *seconds)
{
    const unsigned long number = seconds != NULL ? strtoul(seconds, NULL, 10) : 0;

    return (number > 0 && number < 3600 ? number : LIMIT_S) * (uint64_t)NS_PER_S;
}

uint64_t conninfo_limit_ns(const char *conninfo)
{
    PQconninfoOption *options = libpq.PQconninfoParse(conninfo, NULL);
    uint64_t limit_ns = limit_of(getenv("PGCONNECT_TIMEOUT"));

    for (const PQconninfoOption *option = options; option != NULL && option->keyword != NULL;
         option++) {
        if (strcmp(option->keyword, "connect_timeout") == 0 && option->val != NULL)
            limit_ns = limit_of(option->val);
    }
    libpq.PQconninfoFree(options);
    return limit_ns;
}
