/* The lexical rules are those of PostgreSQL's manual, chapter "Lexical Structure". */
#include "statement_text.h"

#include <stdbool.h>
#include <string.h>

struct output {
    char *text;
    size_t size, length;
};

static void put(struct output *to, char character)
{
    if (to->length + 1 < to->size)
        to->text[to->length++] = character;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Bytes of characters that are not ASCII are letters. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

/* Returns the end of a text that starts and ends with `quote`. Two quotes stand for one. */
static const char *end_of_quoted(const char *at, char quote, bool has_escapes)
{
    for (at++; *at != '\0'; at++) {
        if (has_escapes && *at == '\\' && at[1] != '\0')
            at++;
        else if (*at == quote && at[1] == quote)
            at++;
        else if (*at == quote)
            return at + 1;
    }
    return at;
}

/* Returns the end of a string without an E before it. Whether a backslash before a quote ends the
 * string depends on a setting (standard_conforming_strings), so such a string lasts to the end of
 * the text: no reading of it shows private data. */
static const char *end_of_plain(const char *at)
{
    const char *end = end_of_quoted(at, '\'', false);
    const char *same = end_of_quoted(at, '\'', true);

    return same == end ? end : at + strlen(at);
}

/* Returns the end of a string such as $tag$...$tag$, or `at` if none starts here. */
static const char *end_of_dollars(const char *at)
{
    const char *tag_end = at + 1;
    size_t length;

    if (is_digit(*tag_end))
        return at;
    while (is_letter(*tag_end) || is_digit(*tag_end))
        tag_end++;
    if (*tag_end != '$')
        return at;
    length = (size_t)(tag_end + 1 - at);
    for (const char *end = tag_end + 1; *end != '\0'; end++) {
        if (strncmp(end, at, length) == 0)
            return end + length;
    }
    return at + strlen(at);
}

static const char *end_of_number(const char *at)
{
    while (is_digit(*at) || is_letter(*at) || *at == '.' ||
           ((*at == '+' || *at == '-') && (at[-1] == 'e' || at[-1] == 'E')))
        at++;
    return at;
}

/* Returns the end of a comment, of which one in asterisks may have others in it, or `at`. */
static const char *end_of_comment(const char *at)
{
    size_t depth = 0;

    if (strncmp(at, "--", 2) == 0)
        return at + strcspn(at, "\n");
    if (strncmp(at, "/*", 2) != 0)
        return at;
    do {
        if (strncmp(at, "/*", 2) == 0 || strncmp(at, "*/", 2) == 0) {
            depth += *at == '/' ? 1 : (size_t)-1;
            at++;
        }
        at++;
    } while (depth > 0 && *at != '\0');
    return at;
}

static const char *skip_blanks(const char *at)
{
    const char *end;

    for (;;) {
        while (is_space(*at))
            at++;
        end = end_of_comment(at);
        if (end == at)
            return at;
        at = end;
    }
}

/* Copies a name or a keyword. One letter right before a string, as in E'...', belongs to it. */
static const char *copy_name(struct output *to, const char *at)
{
    const char *end = at;

    while (is_letter(*end) || is_digit(*end) || *end == '$')
        end++;
    if (end == at + 1 && *end == '\'' && strchr("eEbBxXnN", *at) != NULL) {
        put(to, '?');
        return *at == 'e' || *at == 'E' ? end_of_quoted(end, '\'', true) : end_of_plain(end);
    }
    while (at < end)
        put(to, *at++);
    return end;
}

/* Copies what starts at `at`, and returns its end, which is after `at`. */
static const char *copy_next(struct output *to, const char *at)
{
    const char *end = at;

    if (*at == '\'')
        end = end_of_plain(at);
    else if (*at == '$' && end_of_dollars(at) > at)
        end = end_of_dollars(at);
    else if (is_digit(*at) || (*at == '.' && is_digit(at[1])))
        end = end_of_number(at);
    if (end > at) {
        put(to, '?');
        return end;
    }
    if (is_letter(*at))
        return copy_name(to, at);
    if (*at == '"')
        end = end_of_quoted(at, '"', false);
    else if (*at == '$')
        for (end = at + 1; is_digit(*end); end++)
            continue;
    else
        end = at + 1;
    while (at < end)
        put(to, *at++);
    return end;
}

void statement_text_without_literals(const char *sql, char *ret, size_t size)
{
    struct output to = { ret, size, 0 };
    const char *at = skip_blanks(sql);

    while (*at != '\0') {
        const char *next;

        at = copy_next(&to, at);
        next = skip_blanks(at);
        if (next > at && *next != '\0')
            put(&to, ' ');
        at = next;
    }
    ret[to.length] = '\0';
}
