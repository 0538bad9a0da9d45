/* A synthetic database behind ODBC: these functions replace those of
 * sources/sessions/odbc/odbc_connection.c, which is not linked. */
#pragma once

#include "counters/clock.h"
#include "counters/error.h"
#include "sources/sessions/odbc/odbc_connection.h"
#include "sources/source.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fake_answer {
    const char *of;             /* in the text of its statements */
    const struct field *fields; /* [rows x columns] */
    size_t rows, columns;
    const struct field *again; /* [rows_again x columns] of each second execution; or NULL */
    size_t rows_again;
    unsigned ms; /* duration of an execution */
    int result;  /* of an execution */
    unsigned executed;
};

static struct fake_answer *fake_answers; /* [fake_answer_count] */
static size_t fake_answer_count;

struct odbc_connection {
    int nothing;
};

struct odbc_statement {
    struct fake_answer *answer;
    size_t at;
};

int odbc_connection_open(const char *text, struct odbc_connection **ret, struct camp_error *error)
{
    (void)text, (void)error;
    *ret = calloc(1, sizeof **ret);
    return *ret != NULL ? CAMP_OK : CAMP_E_NOMEM;
}

void odbc_connection_close(struct odbc_connection *connection)
{
    free(connection);
}

int odbc_statement_open(struct odbc_connection *connection, const char *text, unsigned answer_s,
                        struct odbc_statement **ret, struct camp_error *error)
{
    (void)connection, (void)answer_s;
    for (size_t i = 0; i < fake_answer_count; i++) {
        if (strstr(text, fake_answers[i].of) == NULL)
            continue;
        *ret = calloc(1, sizeof **ret);
        if (*ret == NULL)
            return CAMP_E_NOMEM;
        (*ret)->answer = &fake_answers[i];
        return CAMP_OK;
    }
    return camp_fail(error, CAMP_E_INVALID, 0, "no such table");
}

void odbc_statement_close(struct odbc_statement *statement)
{
    free(statement);
}

int odbc_statement_execute(struct odbc_statement *statement, struct camp_error *error)
{
    struct fake_answer *answer = statement->answer;
    const struct timespec length = { answer->ms / 1000, (long)(answer->ms % 1000 * NS_PER_MS) };

    statement->at = 0;
    answer->executed++;
    if (answer->ms > 0)
        nanosleep(&length, NULL);
    return answer->result == CAMP_OK ? CAMP_OK : camp_fail(error, answer->result, 0, "it is down");
}

int odbc_statement_names(struct odbc_statement *statement, struct row *ret,
                         struct camp_error *error)
{
    (void)statement, (void)ret;
    return camp_fail(error, CAMP_E_NOTSUP, 0, "it has no names");
}

int odbc_statement_next(struct odbc_statement *statement, struct row *ret, struct camp_error *error)
{
    const struct fake_answer *answer = statement->answer;
    const bool is_again = answer->again != NULL && answer->executed % 2 == 0;
    const struct field *fields = is_again ? answer->again : answer->fields;

    (void)error;
    if (statement->at == (is_again ? answer->rows_again : answer->rows))
        return SOURCE_END;
    *ret = (struct row){ .count = answer->columns,
                         .fields = fields + statement->at++ * answer->columns };
    return CAMP_OK;
}
