#include "odbc_text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char blanks[] = " \t";

/* A part of a connection string: KEY=VALUE; or KEY={VALUE; with }} for }}; */
struct part {
    const char *key, *value;
    size_t key_length, value_length; /* the value as it is written */
};

/* Takes the next part from *text. False: there is none. */
static bool next_part(const char **text, struct part *ret)
{
    const char *at = *text + strspn(*text, "; \t");
    const char *equals = strchr(at, '=');
    const char *end;

    if (equals == NULL)
        return false;
    ret->key = at;
    ret->key_length = (size_t)(equals - at);
    while (ret->key_length > 0 && strchr(blanks, at[ret->key_length - 1]) != NULL)
        ret->key_length--;
    ret->value = end = equals + 1 + strspn(equals + 1, blanks);
    if (*end == '{') {
        for (end++; *end != '\0' && (*end != '}' || end[1] == '}'); end++)
            end += *end == '}';
    }
    end += strcspn(end, ";");
    ret->value_length = (size_t)(end - ret->value);
    *text = end;
    return true;
}

static bool is_key(const struct part *part, const char *key)
{
    return strlen(key) == part->key_length && strncasecmp(part->key, key, part->key_length) == 0;
}

static bool is_string(const char *text)
{
    return strchr(text, '=') != NULL;
}

bool odbc_text_has(const char *text, const char *key)
{
    struct part part;

    while (next_part(&text, &part)) {
        if (is_key(&part, key))
            return true;
    }
    return false;
}

/* Adds ";KEY={VALUE}", the braces within doubled. */
static bool add(char ret[ODBC_TEXT_SIZE], const char *key, const char *value)
{
    size_t length = strlen(ret);

    if (length + strlen(key) + 2 * strlen(value) + 5 > ODBC_TEXT_SIZE)
        return false;
    length += (size_t)sprintf(ret + length, ";%s={", key);
    for (; *value != '\0'; value++) {
        if (*value == '}')
            ret[length++] = '}';
        ret[length++] = *value;
    }
    memcpy(ret + length, "}", 2);
    return true;
}

bool odbc_text_to_connect(const char *text, const char *user, const char *password,
                          char ret[ODBC_TEXT_SIZE])
{
    const int length = snprintf(ret, ODBC_TEXT_SIZE, "%s%s", is_string(text) ? "" : "DSN=", text);

    if (length < 0 || length >= ODBC_TEXT_SIZE)
        return false;
    if (user != NULL && !odbc_text_has(ret, "UID") && !add(ret, "UID", user))
        return false;
    return password == NULL || odbc_text_has(ret, "PWD") || add(ret, "PWD", password);
}

static bool may_be_shown(const struct part *part)
{
    static const char *const keys[] = { "DSN",  "FILEDSN", "DRIVER",   "SERVER", "SERVERNAME",
                                        "HOST", "PORT",    "DATABASE", "DBQ" };

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (is_key(part, keys[i]))
            return memchr(part->value, '@', part->value_length) == NULL &&
                   memchr(part->value, '=', part->value_length) == NULL;
    }
    return false;
}

/* One line, whatever stands in it. */
static void make_printable(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == '\x7f')
            *text = '?';
    }
}

void odbc_text_shown(const char *text, char *ret, size_t size)
{
    struct part part;
    size_t length = 0;

    if (!is_string(text)) { /* "bob/secret@sales" is no name: ODBC allows none of these in one */
        snprintf(ret, size, "%s", strpbrk(text, "[]{}(),;?*!@\\") == NULL ? text : "(hidden)");
        make_printable(ret);
        return;
    }
    ret[0] = '\0';
    while (next_part(&text, &part)) {
        if (!may_be_shown(&part) || length + part.key_length + part.value_length + 3 > size)
            continue;
        length +=
            (size_t)snprintf(ret + length, size - length, "%s%.*s=%.*s", length > 0 ? ";" : "",
                             (int)part.key_length, part.key, (int)part.value_length, part.value);
    }
    if (length == 0)
        snprintf(ret, size, "(hidden)");
    make_printable(ret);
}
