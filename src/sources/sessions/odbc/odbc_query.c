#include "odbc_query.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "odbc_connection.h"
#include "sources/remote/remote_thread.h"

#include <stdlib.h>
#include <string.h>

/* What one call of remote_thread_run() fetches. */
#define BLOCK_ROWS 1000
#define BLOCK_BYTES ((size_t)4 * 1024 * 1024)
#define BYTES_MOST ((size_t)32 * 1024 * 1024) /* of all rows: a million with one number each */

struct block {
    struct field *fields; /* [rows x columns] */
    size_t rows, columns;
    char *texts;
    size_t used, size;
};

/* The data of the thread that calls ODBC (remote_thread.h). While that thread works, no other
 * thread may use the data. */
struct fetching {
    char *connect, *query;
    struct odbc_connection *connection;
    struct odbc_statement *statement;
    struct block block;
    bool is_at_end; /* the block has the last row */
};

struct query {
    struct rows rows; /* must be the first member */
    struct remote_thread *thread;
    struct fetching *fetching;
    size_t at;     /* index of the next row in the block */
    uint64_t read; /* number of rows read, without the header */
    bool is_begun;
};

static bool keep_row(struct block *block, const struct row *row)
{
    struct field *to;
    size_t length = 0;

    for (size_t i = 0; i < row->count; i++)
        length += row->fields[i].length;
    if (!ARRAY_RESERVE(block->texts, block->size, block->used + length + 1))
        return false;
    to = block->fields + block->rows++ * block->columns;
    for (size_t i = 0; i < row->count; i++) {
        if (row->fields[i].length > 0)
            memcpy(block->texts + block->used, row->fields[i].text, row->fields[i].length);
        to[i].length = row->fields[i].length;
        block->used += to[i].length;
    }
    return true;
}

/* Called only when the block is complete, because block->texts may move while it grows. */
static void set_text_addresses(struct block *block)
{
    char *at = block->texts;

    for (size_t i = 0; i < block->rows * block->columns; i++) {
        block->fields[i].text = at;
        at += block->fields[i].length;
    }
}

/* Connects, executes the query, and keeps the names of its columns as a row. */
static int begin(struct fetching *fetching, struct camp_error *error)
{
    struct block *block = &fetching->block;
    struct row row;
    int r = odbc_connection_open(fetching->connect, &fetching->connection, error);

    if (r == CAMP_OK)
        r = odbc_statement_open(fetching->connection, fetching->query, 0, &fetching->statement,
                                error);
    if (r == CAMP_OK)
        r = odbc_statement_execute(fetching->statement, error);
    if (r == CAMP_OK)
        r = odbc_statement_names(fetching->statement, &row, error);
    if (r != CAMP_OK)
        return r;
    block->columns = row.count;
    block->fields = calloc(BLOCK_ROWS * row.count, sizeof *block->fields);
    return block->fields != NULL && keep_row(block, &row)
               ? CAMP_OK
               : camp_fail(error, CAMP_E_NOMEM, 0, "no memory for rows");
}

static int fetch(void *context, struct camp_error *error)
{
    struct fetching *fetching = context;
    struct block *block = &fetching->block;
    struct row row;
    int r = CAMP_OK;

    block->rows = block->used = 0;
    if (fetching->statement == NULL) {
        r = begin(fetching, error);
    } else {
        while (r == CAMP_OK && block->rows < BLOCK_ROWS && block->used < BLOCK_BYTES) {
            r = odbc_statement_next(fetching->statement, &row, error);
            if (r == CAMP_OK && !keep_row(block, &row))
                r = camp_fail(error, CAMP_E_NOMEM, 0, "no memory for rows");
        }
    }
    set_text_addresses(block);
    fetching->is_at_end = r == SOURCE_END;
    return r == SOURCE_END ? CAMP_OK : r;
}

static void release(void *context)
{
    struct fetching *fetching = context;

    odbc_statement_close(fetching->statement);
    odbc_connection_close(fetching->connection);
    free(fetching->block.fields);
    free(fetching->block.texts);
    if (fetching->connect != NULL)
        explicit_bzero(fetching->connect, strlen(fetching->connect));
    free(fetching->connect);
    free(fetching->query);
    free(fetching);
}

/* Reads the next block. The wait has no time limit, because a query may take long; *stop ends the
 * wait. */
static int fetch_block(struct query *query, struct camp_error *error)
{
    const int r = remote_thread_run(query->thread, UINT64_MAX, error);

    query->at = 0;
    return r == REMOTE_PENDING
               ? camp_fail(error, CAMP_E_IO, 0, "interrupted before the query's end")
               : r;
}

static int next(struct rows *rows, struct row *ret, struct camp_error *error)
{
    struct query *query = (struct query *)rows;
    const struct block *block = &query->fetching->block;
    int r;

    if (query->at == block->rows) {
        if (query->fetching->is_at_end)
            return SOURCE_END;
        r = fetch_block(query, error);
        if (r != CAMP_OK)
            return r;
        if (block->rows == 0)
            return SOURCE_END;
    }
    *ret = (struct row){ .count = block->columns,
                         .fields = block->fields + query->at++ * block->columns };
    if (query->is_begun)
        ret->number = ++query->read;
    query->is_begun = true;
    return CAMP_OK;
}

static void close_query(struct rows *rows)
{
    struct query *query = (struct query *)rows;

    remote_thread_close(query->thread);
    free(query);
}

int odbc_query_open(const char *text, const struct from *from, struct rows **ret,
                    struct camp_error *error)
{
    struct query *query = calloc(1, sizeof *query);
    struct fetching *fetching = calloc(1, sizeof *fetching);
    int r;

    if (query == NULL || fetching == NULL) {
        free(query);
        free(fetching);
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the query");
    }
    *query =
        (struct query){ .rows = { next, close_query, "row", BYTES_MOST }, .fetching = fetching };
    fetching->connect = strdup(text);
    fetching->query = strdup(from->query);
    if (fetching->connect != NULL && fetching->query != NULL)
        query->thread = remote_thread_open(fetch, release, fetching, from->stop);
    if (query->thread == NULL) {
        release(fetching);
        free(query);
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the query");
    }
    r = fetch_block(query, error);
    if (r != CAMP_OK) {
        close_query(&query->rows);
        return r;
    }
    *ret = &query->rows;
    return CAMP_OK;
}
