#include "odbc_text.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "ledger/characters.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char blanks[] = " \t";
/* Characters that the name of a data source must not have. */
static const char not_in_names[] = "[]{}(),;?*!@\\";

/* A part of a connection string: "KEY=VALUE;" or "KEY={VALUE};". Within braces, a } of the value is
 * written as }}. */
struct part {
    const char *key, *value;
    size_t key_length, value_length; /* value_length includes the braces */
};

/* Returns the closing brace of a value that starts with a brace, or a pointer to the final '\0' if
 * there is none. */
static const char *closing_brace(const char *value)
{
    const char *end = value + 1;

    for (; *end != '\0' && (*end != '}' || end[1] == '}'); end++)
        end += *end == '}';
    return end;
}

/* Reads the next part, and moves *text to its end. Returns false if there is no further part. */
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
    if (*end == '{')
        end = closing_brace(end);
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

static bool has_key(const char *text, const char *key)
{
    struct part part;

    while (next_part(&text, &part)) {
        if (is_key(&part, key))
            return true;
    }
    return false;
}

/* Returns true if a value is read correctly only within braces. */
static bool needs_braces(const char *value)
{
    const size_t length = strlen(value);

    return strchr(value, ';') != NULL || value[0] == '{' ||
           (length > 0 &&
            (strchr(blanks, value[0]) != NULL || strchr(blanks, value[length - 1]) != NULL));
}

/* Appends ";KEY=VALUE", or ";KEY={VALUE}" with }} for each } of the value. The driver of PostgreSQL
 * takes braces for a part of the user's name, so they are written only where a value needs them.
 * Returns false if ret[] is too small. */
static bool add(char ret[ODBC_TEXT_SIZE], const char *key, const char *value)
{
    size_t length = strlen(ret);

    if (length + strlen(key) + 2 * strlen(value) + 5 > ODBC_TEXT_SIZE)
        return false;
    if (!needs_braces(value)) {
        sprintf(ret + length, ";%s=%s", key, value);
        return true;
    }
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
    if (user != NULL && !has_key(ret, "UID") && !add(ret, "UID", user))
        return false;
    return password == NULL || has_key(ret, "PWD") || add(ret, "PWD", password);
}

static bool has_place_key(const struct part *part)
{
    static const char *const keys[] = { "DSN",  "FILEDSN", "DRIVER",   "SERVER", "SERVERNAME",
                                        "HOST", "PORT",    "DATABASE", "DBQ" };

    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        if (is_key(part, keys[i]))
            return true;
    }
    return false;
}

static bool may_be_shown(const struct part *part)
{
    return has_place_key(part) && memchr(part->value, '@', part->value_length) == NULL &&
           memchr(part->value, '=', part->value_length) == NULL;
}

static const char *fault_of(const struct part *part)
{
    const char *end;

    if (memchr(part->key, ';', part->key_length) != NULL)
        return "has no '='";
    if (part->key_length == 0)
        return "has no key before its '='";
    if (part->value[0] != '{')
        return NULL;
    end = closing_brace(part->value);
    if (*end == '\0')
        return "has no closing }";
    end++;
    end += strspn(end, blanks);
    return *end == ';' || *end == '\0' ? NULL : "has text after its closing }";
}

/* Writes " (KEY=)", or an empty text if the key is not a word. */
static void name_key(const struct part *part, char *ret, size_t size)
{
    ret[0] = '\0';
    for (size_t i = 0; i < part->key_length; i++) {
        if (!isalnum((unsigned char)part->key[i]) && strchr("_ ", part->key[i]) == NULL)
            return;
    }
    if (part->key_length > 0 && part->key_length < 40)
        snprintf(ret, size, " (%.*s=)", (int)part->key_length, part->key);
}

static int refuse_part(size_t number, const char *key, const char *fault, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "odbc: part %zu of the connection string%s %s; write KEY=VALUE parts with ';' "
                     "between them, and a value that has a ';' in {}",
                     number, key, fault);
}

static int check_name(const char *text, struct camp_error *error)
{
    if (strpbrk(text, not_in_names) == NULL)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "odbc: the name of a data source must not have any of %s; a connection string "
                     "is KEY=VALUE;..., such as DSN=NAME;UID=USER",
                     not_in_names);
}

/* A secret value may contain a ';'. The text after that ';' then looks like the next key, but is a
 * piece of the secret. So messages show no keys after a part that may be secret, only the number of
 * the wrong part. */
int odbc_text_check(const char *text, struct camp_error *error)
{
    const bool leads = has_key(text, "DSN") || has_key(text, "DRIVER") || has_key(text, "FILEDSN");
    bool may_be_named = true;
    char key[64], first[64] = "";
    struct part part;
    size_t number = 1;

    if (!is_string(text))
        return check_name(text, error);
    for (; next_part(&text, &part); number++) {
        const char *fault = fault_of(&part);

        name_key(&part, key, sizeof key);
        if (fault != NULL)
            return refuse_part(number, may_be_named ? key : "", fault, error);
        if (number == 1)
            memcpy(first, key, sizeof first);
        may_be_named &= has_place_key(&part);
    }
    if (text[strspn(text, "; \t")] != '\0')
        return refuse_part(number, "", "has no '='", error);
    return leads ? CAMP_OK
                 : camp_fail(error, CAMP_E_INVALID, 0,
                             "odbc: the connection string needs one of DSN=, DRIVER= and "
                             "FILEDSN=%s%s",
                             first[0] != '\0' ? "; its first key is" : "", first);
}

void odbc_text_shown(const char *text, char *ret, size_t size)
{
    struct part part;
    size_t length = 0;

    /* A text such as "bob/secret@sales" is no name, because ODBC does not allow an @ in names. */
    if (!is_string(text)) {
        snprintf(ret, size, "%s", strpbrk(text, not_in_names) == NULL ? text : "(hidden)");
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
