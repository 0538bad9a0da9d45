/* The lexical rules are those of the manuals: of PostgreSQL, chapter "Lexical Structure"; of MySQL,
 * chapter "Language Structure". */
#include "statement_text.h"

#include <stdbool.h>
#include <string.h>

struct output {
    enum statement_dialect dialect;
    char *text;
    size_t size;
    size_t length; /* of the whole result, also if it has more than `size` bytes */
    char last;     /* the last character that is no blank; 0 at the start */
    /* 1 + where the sign of a number starts, if nothing but blanks follows it; else 0 */
    size_t sign;
};

static void put(struct output *to, char character)
{
    if (to->length + 1 < to->size)
        to->text[to->length] = character;
    to->length++;
}

/* Puts a character that is part of no name. A sign after an operator belongs to the number. */
static void put_symbol(struct output *to, char character)
{
    const bool is_sign = (character == '-' || character == '+') &&
                         (to->last == '\0' || strchr("=<>(,+-*/%", to->last) != NULL);

    to->sign = is_sign ? to->length + 1 : 0;
    to->last = character;
    put(to, character);
}

static bool is_mysql(enum statement_dialect dialect)
{
    return dialect != STATEMENT_POSTGRES;
}

static void put_literal(struct output *to)
{
    if (is_mysql(to->dialect) && to->sign != 0)
        to->length = to->sign - 1;
    to->sign = 0;
    to->last = '?';
    put(to, '?');
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

/* Returns the end of a string of which a setting of the session says whether it has escapes:
 * standard_conforming_strings of PostgreSQL, for strings without an E before them, and the mode
 * NO_BACKSLASH_ESCAPES of MySQL. If that decides where the string ends, it lasts to the end of the
 * text: no reading of it shows private data. */
static const char *end_of_either(const char *at, char quote)
{
    const char *end = end_of_quoted(at, quote, false);
    const char *same = end_of_quoted(at, quote, true);

    return same == end ? end : at + strlen(at);
}

/* Returns the end of a string of MySQL. */
static const char *end_of_mysql(enum statement_dialect dialect, const char *at)
{
    return dialect == STATEMENT_MYSQL ? end_of_quoted(at, *at, true) : end_of_either(at, *at);
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

/* What must follow two dashes so that they start a comment: a blank, a control character, the end.
 */
static bool is_blank_to_mysql(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f;
}

/* Returns the end of a comment of MySQL in asterisks. Servers execute one that starts with an
 * exclamation mark, or take it for a comment, by their version: a quote in it may start a string
 * that goes on after it, so it lasts to the end of the text. */
static const char *end_of_mysql_comment(enum statement_dialect dialect, const char *at)
{
    const char *end = strstr(at + 2, "*/");
    const bool may_be_executed = at[2] == '!' || strncmp(at + 2, "M!", 2) == 0;

    if (end == NULL || (dialect == STATEMENT_MYSQL_ANY_MODE && may_be_executed &&
                        strcspn(at, "'\"`") < (size_t)(end - at)))
        return at + strlen(at);
    return end + 2;
}

/* Returns the end of a comment, of which one in asterisks may have others in it, or `at`. */
static const char *end_of_comment(enum statement_dialect dialect, const char *at)
{
    size_t depth = 0;

    if ((strncmp(at, "--", 2) == 0 && (!is_mysql(dialect) || is_blank_to_mysql(at[2]))) ||
        (is_mysql(dialect) && *at == '#'))
        return at + strcspn(at, "\n");
    if (strncmp(at, "/*", 2) != 0)
        return at;
    if (is_mysql(dialect))
        return end_of_mysql_comment(dialect, at);
    do {
        if (strncmp(at, "/*", 2) == 0 || strncmp(at, "*/", 2) == 0) {
            depth += *at == '/' ? 1 : (size_t)-1;
            at++;
        }
        at++;
    } while (depth > 0 && *at != '\0');
    return at;
}

static const char *skip_blanks(enum statement_dialect dialect, const char *at)
{
    const char *end;

    for (;;) {
        while (is_space(*at))
            at++;
        end = end_of_comment(dialect, at);
        if (end == at)
            return at;
        at = end;
    }
}

/* Copies a name or a keyword. One letter right before a string, as in E'...', belongs to it. */
static const char *copy_name(struct output *to, const char *at)
{
    const bool of_mysql = is_mysql(to->dialect);
    const char *end = at;

    while (is_letter(*end) || is_digit(*end) || *end == '$')
        end++;
    if (end == at + 1 && *end == '\'' && strchr(of_mysql ? "bBxXnN" : "eEbBxXnN", *at) != NULL) {
        put_literal(to);
        if (of_mysql)
            return end_of_mysql(to->dialect, end);
        return *at == 'e' || *at == 'E' ? end_of_quoted(end, '\'', true) : end_of_either(end, '\'');
    }
    while (at < end)
        put(to, *at++);
    to->sign = 0;
    to->last = 'a';
    return end;
}

static const char *end_of_literal(enum statement_dialect dialect, const char *at)
{
    if (is_mysql(dialect) && (*at == '\'' || *at == '"'))
        return end_of_mysql(dialect, at);
    if (*at == '\'')
        return end_of_either(at, '\'');
    if (!is_mysql(dialect) && *at == '$')
        return end_of_dollars(at);
    if (is_digit(*at) || (*at == '.' && is_digit(at[1])))
        return end_of_number(at);
    return at;
}

/* Copies what starts at `at`, and returns its end, which is after `at`. */
static const char *copy_next(struct output *to, const char *at)
{
    const bool of_mysql = is_mysql(to->dialect);
    const char *end = end_of_literal(to->dialect, at);

    if (end > at) {
        put_literal(to);
        return end;
    }
    if (is_letter(*at) || (of_mysql && *at == '$'))
        return copy_name(to, at);
    if (*at == (of_mysql ? '`' : '"'))
        end = end_of_quoted(at, *at, false);
    else if (*at == '$')
        for (end = at + 1; is_digit(*end); end++)
            continue;
    else
        end = at + 1;
    put_symbol(to, *at++);
    while (at < end)
        put(to, *at++);
    return end;
}

void statement_text_without_literals(enum statement_dialect dialect, const char *sql, char *ret,
                                     size_t size)
{
    struct output to = { .dialect = dialect, .text = ret, .size = size };
    const char *at = skip_blanks(dialect, sql);

    while (*at != '\0') {
        const char *next;

        at = copy_next(&to, at);
        next = skip_blanks(dialect, at);
        if (next > at && *next != '\0')
            put(&to, ' ');
        at = next;
    }
    ret[to.length < size ? to.length : size - 1] = '\0';
}
