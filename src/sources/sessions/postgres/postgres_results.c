#include "postgres_results.h"

#include "postgres_failure.h"
#include "postgres_snapshot.h"

#include <stdio.h>
#include <string.h>

void postgres_results_begin(struct postgres_results *results, struct postgres_guard *guard,
                            enum postgres_question question, const struct postgres_query *query)
{
    postgres_results_clear(results);
    results->question = question;
    results->since = guard->limit.received;
    results->row_bytes = results->head_bytes = 0;
    if (question == POSTGRES_QUERY) {
        results->query = (struct postgres_query){ .types = query->types,
                                                  .columns = query->columns,
                                                  .table = query->table };
        postgres_answer_begin(&results->answer, query->columns);
        results->answer.rows_most = POSTGRES_QUERY_ROWS_MOST;
    } else {
        postgres_answer_begin(&results->answer,
                              postgres_snapshot_columns(question == POSTGRES_WHOLE));
    }
    postgres_guard_allow(guard, results->since, 0);
}

static bool is_good(const PGresult *result)
{
    const ExecStatusType status = libpq.PQresultStatus(result);

    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

static bool has_columns(const struct postgres_results *results, const PGresult *result)
{
    const struct postgres_query *query = &results->query;
    bool has_all;

    if (results->question != POSTGRES_QUERY)
        return postgres_snapshot_has_columns(results->question == POSTGRES_WHOLE, result);
    has_all = libpq.PQnfields(result) == (int)query->columns;
    for (size_t i = 0; has_all && i < query->columns; i++)
        has_all = libpq.PQfformat(result, (int)i) == 1 &&
                  (query->types[i] == 0 || libpq.PQftype(result, (int)i) == query->types[i]);
    return has_all;
}

static int fail_columns(const struct postgres_results *results, struct camp_error *error)
{
    char text[80];

    snprintf(text, sizeof text, "%s has other columns",
             results->question == POSTGRES_QUERY ? results->query.table : "pg_stat_activity");
    return postgres_failure_wrong(text, error);
}

/* Copies a row. Its message has a head of 7 bytes, and a length before each field. */
static int read_row(struct postgres_results *results, const PGresult *result,
                    struct camp_error *error)
{
    struct postgres_field fields[POSTGRES_COLUMNS_MOST];

    if (!has_columns(results, result))
        return fail_columns(results, error);
    results->row_bytes += 7 + 4 * results->answer.columns;
    for (size_t i = 0; i < results->answer.columns; i++) {
        const bool is_null = libpq.PQgetisnull(result, 0, (int)i) != 0;

        fields[i].bytes = is_null ? NULL : libpq.PQgetvalue(result, 0, (int)i);
        fields[i].length = is_null ? 0 : (size_t)libpq.PQgetlength(result, 0, (int)i);
        results->row_bytes += fields[i].length;
    }
    return postgres_answer_add(&results->answer, fields, error);
}

/* Returns the bytes of the messages around the rows: that the statement is bound, its columns (each
 * has 19 bytes in addition to its name), its end, and that the server is ready. */
static uint64_t size_of_head(const PGresult *result, size_t rows)
{
    uint64_t size = 5 + 7 + 6 + (uint64_t)snprintf(NULL, 0, "C....SELECT %zu", rows) + 1;

    for (int i = 0; i < libpq.PQnfields(result); i++)
        size += strlen(libpq.PQfname(result, i)) + 19;
    return size;
}

static int read_result(struct postgres_results *results, PGresult *result, struct camp_error *error)
{
    const bool is_row = libpq.PQresultStatus(result) == PGRES_SINGLE_TUPLE;
    int r = CAMP_OK;

    if (postgres_guard_is_copy(result))
        r = postgres_failure_wrong("it answers with a copy", error);
    else if (is_row)
        r = read_row(results, result, error);
    else if (is_good(result) && results->question != POSTGRES_OTHER &&
             !has_columns(results, result))
        r = fail_columns(results, error);
    else
        results->head_bytes = size_of_head(result, results->answer.rows);
    if (results->result == NULL && !is_row)
        results->result = result;
    else
        libpq.PQclear(result);
    return r;
}

int postgres_results_read(struct postgres_results *results, struct postgres_guard *guard,
                          bool *ret_is_all, struct camp_error *error)
{
    *ret_is_all = false;
    while (!libpq.PQisBusy(guard->connection)) {
        PGresult *result = libpq.PQgetResult(guard->connection);
        int r;

        *ret_is_all = result == NULL;
        if (result == NULL)
            break;
        r = read_result(results, result, error);
        if (r != CAMP_OK)
            return r;
    }
    return postgres_guard_allow(guard, results->since, results->row_bytes)
               ? CAMP_OK
               : postgres_failure_wrong("it sends too much at once", error);
}

bool postgres_results_are_good(const struct postgres_results *results)
{
    return is_good(results->result);
}

const char *postgres_results_error(const struct postgres_results *results, int field)
{
    const char *text =
        results->result != NULL ? libpq.PQresultErrorField(results->result, field) : NULL;

    return text != NULL ? text : "";
}

uint64_t postgres_results_other_bytes(const struct postgres_results *results,
                                      const struct postgres_guard *guard)
{
    const uint64_t received = guard->limit.received - results->since;
    const uint64_t honest = results->row_bytes + results->head_bytes;

    return received > honest ? received - honest : 0;
}

void postgres_results_clear(struct postgres_results *results)
{
    libpq.PQclear(results->result);
    results->result = NULL;
}

void postgres_results_release(struct postgres_results *results)
{
    postgres_results_clear(results);
    postgres_answer_release(&results->answer);
}
