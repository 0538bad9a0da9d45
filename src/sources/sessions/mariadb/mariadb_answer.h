/*
 * The rows of an answer, copied from libmariadb row by row, so that a server cannot fill the memory
 * with rows. A statement says how many columns and at most how many rows its answer has.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>

#define MARIADB_COLUMNS_MOST 11
#define MARIADB_ANSWER_BYTES ((size_t)16 * 1024 * 1024) /* most bytes of an answer */

/* Statements are compared by address. */
struct mariadb_statement {
    const char *sql;
    size_t columns; /* 0 for a statement without rows, else at most MARIADB_COLUMNS_MOST */
    size_t rows_most;
};

/* All zero means no rows. */
struct mariadb_answer {
    char *bytes; /* [size] the fields of all rows; see mariadb_answer.c */
    size_t size, capacity;
    size_t columns, rows;
    size_t at; /* where mariadb_answer_next() goes on */
};

/* Starts an answer to `statement` without rows. The memory of an earlier answer is used again. */
void mariadb_answer_begin(struct mariadb_answer *answer, const struct mariadb_statement *statement);

/* Appends the row fields[answer->columns]; NULL is a field without a value. Returns CAMP_E_FORMAT
 * if the answer would be larger than `statement` permits, with a message, or CAMP_E_NOMEM. */
int mariadb_answer_add(struct mariadb_answer *answer, const struct mariadb_statement *statement,
                       const char *const *fields, struct camp_error *error);

/* Fills row[answer->columns] with the next row and returns true, or returns false after the last
 * row. The texts are valid until mariadb_answer_begin(). */
bool mariadb_answer_next(struct mariadb_answer *answer, const char *row[MARIADB_COLUMNS_MOST]);

void mariadb_answer_release(struct mariadb_answer *answer);
