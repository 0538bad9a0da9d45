#include "extension_counts.h"

#include "counters/error.h"
#include "counters/units.h"
#include "ledger/array.h"
#include "sources/sessions/postgres/postgres_failure.h"

#include <stdio.h>
#include <string.h>

/* Types by their number in pg_type. */
enum { BOOLEAN = 16, INT8 = 20, TEXT = 25, FLOAT8 = 701 };

#define TEXT_CHARACTERS "128" /* a label has no more (ledger/labels.h) */
#define LONGEST_MS 1e12       /* 30 years; longer times are impossible */

/* A function counts only if the extension has created it, because anyone might create another one
 * in the same schema. */
#define HAS_FUNCTION                                                                               \
    "from pg_catalog.pg_depend d join pg_catalog.pg_proc p on p.oid = d.objid "                    \
    "where d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass and d.refobjid = e.oid "  \
    "and d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.deptype = 'e' "
#define MAIN_FUNCTION                                                                              \
    HAS_FUNCTION "and p.proname = 'pg_stat_statements' and p.pronargs = 1 and "                    \
                 "p.proargtypes[0] = 'pg_catalog.bool'::pg_catalog.regtype"
#define HAS_COLUMN(name) "exists (select " MAIN_FUNCTION " and '" name "' = any (p.proargnames)), "
#define HAS_SETTING(name, condition)                                                               \
    "exists (select from pg_catalog.pg_settings s where s.name = 'pg_stat_statements." name        \
    "'" condition ")"

/* the id of the statement that asks */
#define OWN_ID                                                                                     \
    "(select a.query_id from "                                                                     \
    "pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) a)"

enum { SCHEMA, OWN, PLANNING, TOPLEVEL, SINCE, INFO, TRACKS_PLANNING, LOADED, MAY_USE, FIND_COUNT };
static const unsigned find_types[FIND_COUNT] = { TEXT,    INT8,    BOOLEAN, BOOLEAN, BOOLEAN,
                                                 BOOLEAN, BOOLEAN, BOOLEAN, BOOLEAN };

const struct postgres_query extension_query = {
    .text = "select pg_catalog.quote_ident(n.nspname), " OWN_ID ", " HAS_COLUMN("total_plan_time")
        HAS_COLUMN("toplevel") HAS_COLUMN(
            "stats_since") "exists (select " HAS_FUNCTION
                           "and p.proname = 'pg_stat_statements_info' and p.pronargs = "
                           "0), " HAS_SETTING(
                               "track_planning",
                               " and s.setting = 'on'") ", " HAS_SETTING("max",
                                                                         "") ", "
                                                                             "pg_catalog.has_"
                                                                             "schema_privilege(n."
                                                                             "oid, 'USAGE') and "
                                                                             "not exists "
                                                                             "(select " HAS_FUNCTION
                                                                             "and p.proname in "
                                                                             "('pg_stat_statements'"
                                                                             ", "
                                                                             "'pg_stat_statements_"
                                                                             "info') and "
                                                                             "not "
                                                                             "pg_catalog.has_"
                                                                             "function_privilege(p."
                                                                             "oid, 'EXECUTE')) "
                                                                             "from "
                                                                             "pg_catalog.pg_"
                                                                             "extension e join "
                                                                             "pg_catalog.pg_"
                                                                             "namespace n on n.oid "
                                                                             "= e.extnamespace "
                                                                             "where e.extname = "
                                                                             "'pg_stat_statements' "
                                                                             "and exists "
                                                                             "(select"
                                                                             " " MAIN_FUNCTION ")",
    .types = find_types,
    .columns = FIND_COUNT,
    .table = "pg_extension",
};

static int fail_impossible(struct camp_error *error)
{
    return postgres_failure_wrong("pg_stat_statements has an impossible value", error);
}

static bool has_length(const struct postgres_field *field, size_t length)
{
    return field->bytes != NULL && field->length == length;
}

static uint64_t bits_of(const struct postgres_field *field)
{
    uint64_t number = 0;

    for (size_t i = 0; i < field->length; i++)
        number = number << 8 | (unsigned char)field->bytes[i];
    return number;
}

/* Reads the id of a statement, which is 0 for NULL. */
static bool read_id(const struct postgres_field *field, int64_t *ret)
{
    *ret = field->bytes != NULL ? (int64_t)bits_of(field) : 0;
    return field->bytes == NULL || field->length == 8;
}

int extension_read(struct extension *ret, struct postgres_answer *answer, struct camp_error *error)
{
    struct postgres_field row[POSTGRES_COLUMNS_MOST];
    struct extension found = { 0 };
    bool values[FIND_COUNT] = { false };

    if (!postgres_answer_next(answer, row)) {
        *ret = found;
        return CAMP_OK;
    }
    if (row[SCHEMA].bytes == NULL || row[SCHEMA].length == 0 ||
        row[SCHEMA].length >= sizeof found.schema ||
        strlen(row[SCHEMA].bytes) != row[SCHEMA].length)
        return fail_impossible(error);
    strcpy(found.schema, row[SCHEMA].bytes);
    if (!read_id(&row[OWN], &found.own_query_id))
        return fail_impossible(error);
    for (size_t i = PLANNING; i < FIND_COUNT; i++) {
        if (!has_length(&row[i], 1))
            return fail_impossible(error);
        values[i] = row[i].bytes[0] != 0;
    }
    found.has_planning = values[PLANNING];
    found.counts_planning = values[PLANNING] && values[TRACKS_PLANNING];
    found.has_toplevel = values[TOPLEVEL];
    found.has_since = values[SINCE];
    found.has_info = values[INFO];
    found.is_loaded = values[LOADED];
    found.may_use = values[MAY_USE];
    *ret = found;
    return CAMP_OK;
}

const char *extension_why_not(const struct extension *extension)
{
    if (extension->schema[0] == '\0')
        return "the extension pg_stat_statements is not in this database: create extension "
               "pg_stat_statements";
    if (!extension->is_loaded)
        return "pg_stat_statements is not loaded: add it to shared_preload_libraries, and restart "
               "the server";
    if (!extension->may_use)
        return "this role may not use pg_stat_statements: grant usage on its schema, and execute "
               "on its functions";
    return NULL;
}

/* The columns of an answer with counts. The first row has the information about all entries: the id
 * of the statement that asked, and in CALLS the number of evictions. */
enum { IS_HEAD, OWNER, STATEMENT, CALLS, ROWS, PLAN_TIME, EXEC_TIME, BEGAN, COUNTS_COUNT };
static const unsigned counts_types[COUNTS_COUNT] = { BOOLEAN, INT8,   INT8,   INT8,
                                                     INT8,    FLOAT8, FLOAT8, INT8 };

struct postgres_query extension_counts_query(const struct extension *extension,
                                             char text[EXTENSION_QUERY_SIZE])
{
    const char *schema = extension->schema;
    char evictions[EXTENSION_SCHEMA_SIZE + 80] = "0::pg_catalog.int8";

    if (extension->has_info)
        snprintf(evictions, sizeof evictions,
                 "(select i.dealloc from %s.pg_stat_statements_info() i)", schema);
    snprintf(text, EXTENSION_QUERY_SIZE,
             "select true, 0::pg_catalog.int8, " OWN_ID ", %s, "
             "0::pg_catalog.int8, 0::pg_catalog.float8, 0::pg_catalog.float8, 0::pg_catalog.int8 "
             "union all (select false, s.userid::pg_catalog.int8 << 32 | "
             "s.dbid::pg_catalog.int8, s.queryid, s.calls, s.rows, %s, %s, %s "
             "from %s.pg_stat_statements(false) s%s limit %zu)",
             evictions, extension->has_planning ? "s.total_plan_time" : "0",
             extension->has_planning ? "s.total_exec_time" : "s.total_time",
             extension->has_since ? "(extract(epoch from s.stats_since) * 1000000)::pg_catalog.int8"
                                  : "0",
             schema, extension->has_toplevel ? " where s.toplevel" : "",
             POSTGRES_QUERY_ROWS_MOST - 1);
    return (struct postgres_query){
        .text = text, .types = counts_types, .columns = COUNTS_COUNT, .table = "pg_stat_statements"
    };
}

/* Reads a count, which is not negative. */
static bool read_count(const struct postgres_field *field, uint64_t *ret)
{
    if (!has_length(field, 8))
        return false;
    *ret = bits_of(field);
    return *ret <= INT64_MAX;
}

/* Reads a time in ms as a float8 of PostgreSQL, which has the bits of a double. */
static bool read_time(const struct postgres_field *field, uint64_t *ret_ns)
{
    uint64_t bits;
    double ms;

    if (!has_length(field, 8))
        return false;
    bits = bits_of(field);
    memcpy(&ms, &bits, sizeof ms);
    if (!(ms >= 0 && ms <= LONGEST_MS)) /* also if it is no number */
        return false;
    *ret_ns = (uint64_t)(ms * NS_PER_MS + 0.5);
    return true;
}

static int read_entry(struct statement_counts *counts, struct extension_reading *reading,
                      const struct postgres_field *row, struct camp_error *error)
{
    struct statement_entry entry = { 0 }; /* PostgreSQL reports no lock time. */
    int64_t id;
    int r;

    if (!read_id(&row[STATEMENT], &id) || !has_length(&row[OWNER], 8) ||
        !has_length(&row[BEGAN], 8) || !read_count(&row[CALLS], &entry.calls) ||
        !read_count(&row[ROWS], &entry.rows) || !read_time(&row[PLAN_TIME], &entry.planning_ns) ||
        !read_time(&row[EXEC_TIME], &entry.execution_ns))
        return fail_impossible(error);
    if (row[STATEMENT].bytes == NULL) {
        reading->hidden++;
        return CAMP_OK;
    }
    entry.statement = statement_id_of(id);
    entry.owner = bits_of(&row[OWNER]);
    entry.since = bits_of(&row[BEGAN]);
    r = statement_counts_add(counts, &entry);
    return r == CAMP_OK ? r : camp_fail(error, r, 0, "no memory for the counts of statements");
}

int extension_counts_read(struct statement_counts *counts, struct extension_reading *ret,
                          struct postgres_answer *answer, struct camp_error *error)
{
    struct postgres_field row[POSTGRES_COLUMNS_MOST];
    bool has_head = false;
    int r = CAMP_OK;

    *ret = (struct extension_reading){ .is_too_large = answer->rows > EXTENSION_ENTRIES_MOST };
    while (r == CAMP_OK && postgres_answer_next(answer, row)) {
        if (!has_length(&row[IS_HEAD], 1))
            return fail_impossible(error);
        if (row[IS_HEAD].bytes[0] == 0) {
            r = read_entry(counts, ret, row, error);
            continue;
        }
        if (has_head || !read_count(&row[CALLS], &ret->evictions) ||
            !read_id(&row[STATEMENT], &ret->own_query_id))
            return fail_impossible(error);
        has_head = true;
    }
    return r == CAMP_OK && !has_head ? fail_impossible(error) : r;
}

enum { TEXT_ID, TEXT_TEXT, TEXT_OWN, TEXTS_COUNT };
static const unsigned texts_types[TEXTS_COUNT] = { INT8, TEXT, INT8 };

/* An id may have several texts, as literals and names in the default schema can be written in
 * several ways. The most frequent one is asked for. */
struct postgres_query extension_texts_query(const struct extension *extension, const char *ids,
                                            char text[EXTENSION_QUERY_SIZE])
{
    snprintf(text, EXTENSION_QUERY_SIZE,
             "select s.queryid, (pg_catalog.array_agg(pg_catalog.left(s.query, " TEXT_CHARACTERS
             ") order by s.calls desc))[1], " OWN_ID " from %s.pg_stat_statements(true) s "
             "where s.queryid = any ($1::pg_catalog.int8[]) group by 1 order by 1",
             extension->schema);
    return (struct postgres_query){ .text = text,
                                    .parameter = ids,
                                    .types = texts_types,
                                    .columns = TEXTS_COUNT,
                                    .table = "pg_stat_statements" };
}

int extension_texts_next(struct postgres_answer *answer, struct extension_text *ret,
                         bool *ret_has_row, struct camp_error *error)
{
    struct postgres_field row[POSTGRES_COLUMNS_MOST];
    struct extension_text text = { .sql = "" };

    *ret_has_row = postgres_answer_next(answer, row);
    if (!*ret_has_row)
        return CAMP_OK;
    if (!read_id(&row[TEXT_ID], &text.id) || !read_id(&row[TEXT_OWN], &text.own_query_id))
        return fail_impossible(error);
    if (row[TEXT_TEXT].bytes != NULL)
        text.sql = row[TEXT_TEXT].bytes;
    *ret = text;
    return CAMP_OK;
}
