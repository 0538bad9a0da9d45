/*
 * The rows of an answer, copied from libpq row by row, so that a server cannot fill the memory with
 * rows. Values are in the binary form of PostgreSQL: a number has its most significant byte first.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POSTGRES_COLUMNS_MOST 20
#define POSTGRES_ROWS_MOST ((size_t)10000)
#define POSTGRES_ANSWER_BYTES ((size_t)16 * 1024 * 1024) /* most bytes of an answer */

struct postgres_field {
    const char *bytes; /* [length] and a NUL; NULL for no value */
    size_t length;
};

/* All zero means no rows. */
struct postgres_answer {
    char *bytes; /* [size] for each field its length, its bytes and a NUL */
    size_t size, capacity;
    size_t columns, rows;
    size_t rows_most;
    size_t at; /* where postgres_answer_next() goes on */
};

/* Starts an answer of at most POSTGRES_COLUMNS_MOST columns and of POSTGRES_ROWS_MOST rows, unless
 * the caller then sets rows_most. The memory of an earlier answer is used again. */
void postgres_answer_begin(struct postgres_answer *answer, size_t columns);

/* Appends the row fields[answer->columns]. Returns CAMP_E_FORMAT if the answer would be too large,
 * with a message, or CAMP_E_NOMEM. */
int postgres_answer_add(struct postgres_answer *answer, const struct postgres_field *fields,
                        struct camp_error *error);

/* Fills row[answer->columns] with the next row and returns true, or returns false after the last
 * row. The values are valid until postgres_answer_begin(). */
bool postgres_answer_next(struct postgres_answer *answer,
                          struct postgres_field row[POSTGRES_COLUMNS_MOST]);

void postgres_answer_release(struct postgres_answer *answer);
