/* A field is stored as HAS_VALUE and its text with a NUL, or as NO_VALUE. */
#include "mariadb_answer.h"

#include "counters/error.h"
#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

enum { NO_VALUE, HAS_VALUE };

void mariadb_answer_begin(struct mariadb_answer *answer, const struct mariadb_statement *statement)
{
    answer->size = answer->rows = answer->at = 0;
    answer->columns = statement->columns;
}

static size_t size_of(const char *field)
{
    return field != NULL ? strlen(field) + 2 : 1;
}

static void append(struct mariadb_answer *answer, const char *field, size_t size)
{
    answer->bytes[answer->size] = field != NULL ? HAS_VALUE : NO_VALUE;
    if (field != NULL)
        memcpy(answer->bytes + answer->size + 1, field, size - 1);
    answer->size += size;
}

int mariadb_answer_add(struct mariadb_answer *answer, const struct mariadb_statement *statement,
                       const char *const *fields, struct camp_error *error)
{
    size_t size = answer->size;

    for (size_t i = 0; i < answer->columns; i++)
        size += size_of(fields[i]);
    if (answer->rows == statement->rows_most)
        return camp_fail(error, CAMP_E_FORMAT, 0, "MariaDB: an answer has more than %zu rows",
                         statement->rows_most);
    if (size > MARIADB_ANSWER_BYTES)
        return camp_fail(error, CAMP_E_FORMAT, 0, "MariaDB: an answer has more than %zu bytes",
                         MARIADB_ANSWER_BYTES);
    if (!ARRAY_RESERVE(answer->bytes, answer->capacity, size))
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for an answer of %zu bytes", size);
    for (size_t i = 0; i < answer->columns; i++)
        append(answer, fields[i], size_of(fields[i]));
    answer->rows++;
    return CAMP_OK;
}

bool mariadb_answer_next(struct mariadb_answer *answer, const char *row[MARIADB_COLUMNS_MOST])
{
    if (answer->at == answer->size)
        return false;
    for (size_t i = 0; i < answer->columns; i++) {
        const bool has_value = answer->bytes[answer->at++] == HAS_VALUE;

        row[i] = has_value ? answer->bytes + answer->at : NULL;
        answer->at += has_value ? strlen(row[i]) + 1 : 0;
    }
    return true;
}

void mariadb_answer_release(struct mariadb_answer *answer)
{
    free(answer->bytes);
    *answer = (struct mariadb_answer){ 0 };
}
