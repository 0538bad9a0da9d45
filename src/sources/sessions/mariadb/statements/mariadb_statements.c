#include "mariadb_statements.h"

#include "ledger/array.h"
#include "sources/sessions/statement_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 32 /* hexadecimal, of a struct statement_id */

#define TEXT_OF(number) TEXT(number)
#define TEXT(number) #number
#define ENDED(table)                                                                               \
    " from performance_schema." table " where DIGEST is not null and SQL_TEXT is not null"
const struct mariadb_statement mariadb_digests_statement = {
    .sql = "select left(SQL_TEXT, 1000) as " MARIADB_OWN ", DIGEST, left(DIGEST_TEXT, 300)" ENDED(
        "events_statements_current") " union all select left(SQL_TEXT, 1000), DIGEST,"
                                     " left(DIGEST_TEXT, 300)" ENDED(
                                         "events_statements_history") " limit " TEXT_OF(MARIADB_DIGESTS_MOST),
    .columns = 3,
    .rows_most = MARIADB_DIGESTS_MOST,
};

void mariadb_statements_release(struct mariadb_statements *statements)
{
    free(statements->texts);
    free(statements->digests);
    *statements = (struct mariadb_statements){ .has_digests = statements->has_digests };
}

/* Writes the first MARIADB_SQL_BYTES of a text without their literals. */
static void strip(const char *sql, char ret[MARIADB_SQL_BYTES + 1])
{
    char start[MARIADB_SQL_BYTES + 1];

    snprintf(start, sizeof start, "%s", sql);
    statement_text_without_literals(STATEMENT_MYSQL, start, ret, sizeof start);
}

/* FNV-1a. A client that makes a statement with the number of another one hides which of the two
 * has the time, but not the time itself. */
static int64_t number_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash == 0 || hash == UINT64_MAX ? 1 : (int64_t)hash;
}

int64_t mariadb_statement_number(const char *sql)
{
    char text[MARIADB_SQL_BYTES + 1];

    strip(sql, text);
    return number_of(text);
}

static int compare_texts(const void *key, const void *element)
{
    const int64_t number = *(const int64_t *)key;
    const struct mariadb_text *text = element;

    return number < text->number ? -1 : number > text->number;
}

struct mariadb_text *mariadb_statements_find(const struct mariadb_statements *statements,
                                             int64_t number)
{
    return ARRAY_FIND(&number, statements->texts, statements->text_count, compare_texts);
}

int mariadb_statements_add(struct mariadb_statements *statements, const char *sql,
                           int64_t *ret_number)
{
    char text[MARIADB_SQL_BYTES + 1];
    size_t at;

    strip(sql, text);
    *ret_number = number_of(text);
    if (mariadb_statements_find(statements, *ret_number) != NULL ||
        statements->text_count == MARIADB_STATEMENTS_MOST)
        return CAMP_OK;
    at = ARRAY_POSITION(ret_number, statements->texts, statements->text_count, compare_texts);
    if (!ARRAY_INSERT(statements->texts, statements->text_count, statements->text_capacity, at))
        return CAMP_E_NOMEM;
    statements->texts[at] = (struct mariadb_text){ .number = *ret_number };
    snprintf(statements->texts[at].text, sizeof statements->texts[at].text, "%.*s",
             (int)sizeof statements->texts[at].text - 1, text);
    statements->unknown++;
    return CAMP_OK;
}

static int value_of_digit(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

bool mariadb_digest_read(const char *text, struct statement_id *ret)
{
    struct statement_id id = { 0 };

    for (size_t i = 0; i < DIGITS; i++) {
        uint64_t *part = i < DIGITS / 2 ? &id.high : &id.low;
        const int value = value_of_digit(text[i]);

        if (value < 0)
            return false;
        *part = *part << 4 | (uint64_t)value;
    }
    *ret = id;
    return id.high != 0 || id.low != 0;
}

static int compare_digests(const void *key, const void *element)
{
    return statement_id_compare(key, &((const struct mariadb_digest *)element)->id);
}

const struct mariadb_digest *
mariadb_statements_find_digest(const struct mariadb_statements *statements,
                               const struct statement_id *id)
{
    return ARRAY_FIND(id, statements->digests, statements->digest_count, compare_digests);
}

int mariadb_statements_add_digest(struct mariadb_statements *statements,
                                  const struct statement_id *id, const char *text)
{
    size_t at = ARRAY_POSITION(id, statements->digests, statements->digest_count, compare_digests);
    const bool is_known =
        at < statements->digest_count && statement_id_compare(id, &statements->digests[at].id) == 0;
    struct mariadb_digest *digest;

    if (!is_known && statements->digest_count == MARIADB_STATEMENTS_MOST)
        return CAMP_OK;
    if (!is_known) {
        if (!ARRAY_INSERT(statements->digests, statements->digest_count,
                          statements->digest_capacity, at))
            return CAMP_E_NOMEM;
        statements->digests[at] = (struct mariadb_digest){ .id = *id };
    }
    digest = &statements->digests[at];
    if (digest->text[0] == '\0' && text != NULL) {
        statement_text_without_literals(STATEMENT_MYSQL, text, digest->text, sizeof digest->text);
        digest->is_own = strstr(text, "`" MARIADB_OWN "`") != NULL;
    }
    return CAMP_OK;
}

int mariadb_statements_learn(struct mariadb_statements *statements, struct mariadb_answer *rows)
{
    const char *row[MARIADB_COLUMNS_MOST];
    int r = CAMP_OK;

    while (r == CAMP_OK && statements->unknown > 0 && mariadb_answer_next(rows, row)) {
        struct statement_id id;
        struct mariadb_text *text;

        if (row[0] == NULL || row[1] == NULL || !mariadb_digest_read(row[1], &id))
            continue;
        text = mariadb_statements_find(statements, mariadb_statement_number(row[0]));
        if (text == NULL || text->digest.high != 0 || text->digest.low != 0)
            continue;
        text->digest = id;
        statements->unknown--;
        r = mariadb_statements_add_digest(statements, &id, row[2]);
    }
    return r;
}

static bool has_digest(const struct mariadb_text *text)
{
    return text != NULL && (text->digest.high != 0 || text->digest.low != 0);
}

int64_t mariadb_statements_merged(const struct mariadb_statements *statements, int64_t number)
{
    const struct mariadb_text *text = mariadb_statements_find(statements, number);

    return has_digest(text) ? (int64_t)text->digest.high : number;
}

void mariadb_statements_show_digest(const struct mariadb_statements *statements,
                                    const struct statement_id *id, bool with_text,
                                    char ret[LABELS_VALUE_SIZE])
{
    const struct mariadb_digest *digest =
        with_text ? mariadb_statements_find_digest(statements, id) : NULL;

    if (digest != NULL && digest->text[0] != '\0')
        snprintf(ret, LABELS_VALUE_SIZE, "%s", digest->text);
    else
        snprintf(ret, LABELS_VALUE_SIZE, "%016" PRIx64 "%016" PRIx64, id->high, id->low);
}

void mariadb_statements_show(const struct mariadb_statements *statements, int64_t number,
                             bool with_text, char ret[LABELS_VALUE_SIZE])
{
    const struct mariadb_text *text = mariadb_statements_find(statements, number);

    if (number == MARIADB_STATEMENT_NONE)
        ret[0] = '\0';
    else if (number == MARIADB_STATEMENT_OTHER)
        snprintf(ret, LABELS_VALUE_SIZE, "(other)");
    else if (has_digest(text))
        mariadb_statements_show_digest(statements, &text->digest, with_text, ret);
    else if (with_text && text != NULL && text->text[0] != '\0')
        snprintf(ret, LABELS_VALUE_SIZE, "%s%s", statements->has_digests ? MARIADB_EXAMPLE : "",
                 text->text);
    else
        snprintf(ret, LABELS_VALUE_SIZE, "%016" PRIx64, (uint64_t)number);
}
