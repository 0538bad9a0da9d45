/*
 * The extension pg_stat_statements of a PostgreSQL server: whether camp can ask it without an error
 * of the server, what camp asks, and its answers. An answer that PostgreSQL would not give is
 * CAMP_E_FORMAT, with a message.
 */
#pragma once

#include "sources/sessions/postgres/postgres_results.h"
#include "sources/sessions/statement_counts.h"

#define EXTENSION_SCHEMA_SIZE 160 /* a name of 63 bytes, in which each may be a quote */
#define EXTENSION_QUERY_SIZE 1200
/* A server with more entries than this has no counts. */
#define EXTENSION_ENTRIES_MOST (POSTGRES_QUERY_ROWS_MOST - 1)

struct extension {
    char schema[EXTENSION_SCHEMA_SIZE]; /* quoted for SQL; "" if it is not in this database */
    int64_t own_query_id;               /* of the statement that asked for it */
    bool has_planning;                  /* total_plan_time: version 1.8 and later */
    bool counts_planning;               /* has_planning, and track_planning is on */
    bool has_toplevel;                  /* version 1.9 and later */
    bool has_info;                      /* pg_stat_statements_info: version 1.9 and later */
    bool has_since;                     /* stats_since: version 1.11 and later */
    bool is_loaded;                     /* by shared_preload_libraries */
    bool may_use;                       /* this role may call its functions */
};

/* Asks for the extension in the server's catalogue, and reads the answer. */
extern const struct postgres_query extension_query;
int extension_read(struct extension *ret, struct postgres_answer *answer, struct camp_error *error);

/* Returns why camp has no counts and what to do, or NULL if it can ask for them. */
const char *extension_why_not(const struct extension *extension);

/* What else an answer with counts has. */
struct extension_reading {
    int64_t own_query_id; /* of the statement that asked */
    uint64_t evictions;   /* how often the extension dropped entries for lack of space */
    size_t hidden;        /* entries of other roles, which this role may not see */
    bool is_too_large;    /* there are more than EXTENSION_ENTRIES_MOST entries */
};

/* Asks for the counts of all statements that clients sent: a statement within a function belongs to
 * the one that called it, which pg_stat_activity shows. `text` is kept for the query. */
struct postgres_query extension_counts_query(const struct extension *extension,
                                             char text[EXTENSION_QUERY_SIZE]);

/* Adds the entries of an answer to a reading, after statement_counts_start(). The id of a statement
 * is statement_id_of(). */
int extension_counts_read(struct statement_counts *counts, struct extension_reading *ret,
                          struct postgres_answer *answer, struct camp_error *error);

static inline struct statement_id statement_id_of(int64_t id)
{
    return (struct statement_id){ 0, (uint64_t)id };
}

struct extension_text {
    int64_t id;
    const char *sql; /* the start of the text, or "" if it is unknown */
    int64_t own_query_id;
};

/* Asks for the normalised texts of statements. `ids` is an array of SQL, such as {1,-2}. */
struct postgres_query extension_texts_query(const struct extension *extension, const char *ids,
                                            char text[EXTENSION_QUERY_SIZE]);

/* Sets *ret to the next row, or *ret_has_row to false after the last one. */
int extension_texts_next(struct postgres_answer *answer, struct extension_text *ret,
                         bool *ret_has_row, struct camp_error *error);
