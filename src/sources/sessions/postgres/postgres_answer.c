#include "postgres_answer.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "postgres_failure.h"

#include <stdlib.h>
#include <string.h>

#define NO_VALUE SIZE_MAX

void postgres_answer_begin(struct postgres_answer *answer, size_t columns)
{
    answer->size = answer->rows = answer->at = 0;
    answer->columns = columns;
    answer->rows_most = POSTGRES_ROWS_MOST;
}

static size_t size_of(const struct postgres_field *field)
{
    return sizeof field->length + (field->bytes != NULL ? field->length + 1 : 0);
}

static void append(struct postgres_answer *answer, const struct postgres_field *field)
{
    const size_t length = field->bytes != NULL ? field->length : NO_VALUE;
    char *at = answer->bytes + answer->size;

    memcpy(at, &length, sizeof length);
    if (field->bytes != NULL) {
        memcpy(at + sizeof length, field->bytes, length);
        at[sizeof length + length] = '\0';
    }
    answer->size += size_of(field);
}

int postgres_answer_add(struct postgres_answer *answer, const struct postgres_field *fields,
                        struct camp_error *error)
{
    size_t size = answer->size;

    for (size_t i = 0; i < answer->columns; i++)
        size += size_of(&fields[i]);
    if (answer->rows == answer->rows_most || size > POSTGRES_ANSWER_BYTES)
        return postgres_failure_wrong("it sends too many rows", error);
    if (!ARRAY_RESERVE(answer->bytes, answer->capacity, size))
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for an answer of %zu bytes", size);
    for (size_t i = 0; i < answer->columns; i++)
        append(answer, &fields[i]);
    answer->rows++;
    return CAMP_OK;
}

bool postgres_answer_next(struct postgres_answer *answer,
                          struct postgres_field row[POSTGRES_COLUMNS_MOST])
{
    if (answer->at == answer->size)
        return false;
    for (size_t i = 0; i < answer->columns; i++) {
        size_t length;

        memcpy(&length, answer->bytes + answer->at, sizeof length);
        answer->at += sizeof length;
        row[i] = (struct postgres_field){ 0 };
        if (length == NO_VALUE)
            continue;
        row[i] = (struct postgres_field){ answer->bytes + answer->at, length };
        answer->at += length + 1;
    }
    return true;
}

void postgres_answer_release(struct postgres_answer *answer)
{
    free(answer->bytes);
    *answer = (struct postgres_answer){ 0 };
}
