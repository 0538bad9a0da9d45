/* Reads the results of a statement from libpq, row by row, and counts what the server sends. */
#pragma once

#include "postgres_answer.h"
#include "postgres_guard.h"

/* A snapshot and a query have rows; those of other statements are ignored. */
enum postgres_question { POSTGRES_OTHER, POSTGRES_BRIEF, POSTGRES_WHOLE, POSTGRES_QUERY };

#define POSTGRES_QUERY_ROWS_MOST ((size_t)100001)

/* A statement whose rows the caller reads, with values in binary form. `types` and `table` must be
 * constants. */
struct postgres_query {
    const char *text;
    const char *parameter; /* the value of $1 as text, or NULL if there is no $1 */
    const unsigned
        *types; /* [columns] their numbers in pg_type, which never change; 0 for a text */
    size_t columns;
    const char *table; /* for messages, such as "pg_stat_statements" */
};

/* All zero means no results. */
struct postgres_results {
    enum postgres_question question;
    struct postgres_query query; /* of POSTGRES_QUERY; without its text and parameter */
    PGresult *result;            /* the first result that is not a row; NULL before it */
    struct postgres_answer answer;
    uint64_t since;      /* guard->limit.received when the statement was sent */
    uint64_t row_bytes;  /* of the rows */
    uint64_t head_bytes; /* of what else an honest server sends */
};

/* Called when a statement is sent. `query` is NULL unless the question is POSTGRES_QUERY. In a
 * snapshot or a query, each row must be a result of its own (PQsetSingleRowMode()). */
void postgres_results_begin(struct postgres_results *results, struct postgres_guard *guard,
                            enum postgres_question question, const struct postgres_query *query);

/* Reads what has arrived. *ret_is_all is true if there is no more to come. Returns CAMP_E_FORMAT if
 * the server answers as PostgreSQL does not, with a message, or CAMP_E_NOMEM. An error of the
 * server is a result (postgres_results_are_good()). */
int postgres_results_read(struct postgres_results *results, struct postgres_guard *guard,
                          bool *ret_is_all, struct camp_error *error);

bool postgres_results_are_good(const struct postgres_results *results);

/* Returns a field of the server's error (PG_DIAG_...), or "". */
const char *postgres_results_error(const struct postgres_results *results, int field);

/* Returns the bytes that an honest server would not have sent, except by TLS. */
uint64_t postgres_results_other_bytes(const struct postgres_results *results,
                                      const struct postgres_guard *guard);

/* Frees the result; the rows stay. */
void postgres_results_clear(struct postgres_results *results);
void postgres_results_release(struct postgres_results *results);
