#include "odbc_reading.h"

#include "counters/error.h"
#include "ledger/array.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define WORD_MOST 30 /* longest word in a message */

/* EXPLAIN is not among these: EXPLAIN ANALYZE executes its statement. */
static const char *const words[] = { "select", "with", "values",   "table",
                                     "show",   "desc", "describe", "from" };

/* Returns the end of a text that starts with a quote, or of a comment, or `text` itself if it
 * starts with neither. */
static const char *skip_one(const char *text)
{
    const char *end;

    if (text[0] == '-' && text[1] == '-')
        return text + strcspn(text, "\n");
    if (text[0] == '/' && text[1] == '*') {
        end = strstr(text + 2, "*/");
        return end != NULL ? end + 2 : text + strlen(text);
    }
    if (text[0] != '\'' && text[0] != '"' && text[0] != '`')
        return text;
    end = strchr(text + 1, text[0]);
    return end != NULL ? end + 1 : text + strlen(text);
}

/* Skips blanks, comments, and characters of `more`. */
static const char *skip_blanks(const char *text, const char *more)
{
    for (;;) {
        const bool is_comment = (text[0] == '-' && text[1] == '-') || //
                                (text[0] == '/' && text[1] == '*');

        if (is_comment)
            text = skip_one(text);
        else if (*text != '\0' && (isspace((unsigned char)*text) || strchr(more, *text) != NULL))
            text++;
        else
            return text;
    }
}

/* Returns true if a second statement follows after a ';'. */
static bool has_more(const char *text)
{
    while (*text != '\0' && *text != ';') {
        const char *end = skip_one(text);

        text = end == text ? text + 1 : end;
    }
    return *skip_blanks(text, ";") != '\0';
}

static size_t length_of_word(const char *text)
{
    size_t length = 0;

    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

int odbc_reading_check(const char *text, struct camp_error *error)
{
    const char *begin = skip_blanks(text, "(");
    const size_t length = length_of_word(begin);

    if (has_more(text))
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "--query takes one statement, and there is more after its ';'");
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        if (strlen(words[i]) == length && strncasecmp(begin, words[i], length) == 0)
            return CAMP_OK;
    }
    return camp_fail(
        error, CAMP_E_INVALID, 0,
        "--query takes a statement that reads, such as SELECT or WITH; this one begins "
        "with \"%.*s\"",
        (int)(length < WORD_MOST ? length : WORD_MOST), begin);
}
