#include "digest_counts.h"

#include "counters/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_NS 1000

#define IS_ON " and ENABLED = 'YES')"
#define CONSUMERS "(select count(*) from performance_schema.setup_consumers where NAME"
const struct mariadb_statement digest_facts_statement = {
    .columns = 4,
    .rows_most = 1,
    .sql =
        "select @@performance_schema as " MARIADB_OWN ", " CONSUMERS " = 'statements_digest'" IS_ON
        ", " CONSUMERS " in ('events_statements_current', 'events_statements_history')" IS_ON
        ", (select count(*) from performance_schema.setup_instruments"
        " where NAME like 'statement/sql/%' and TIMED = 'YES'" IS_ON,
};

static bool is_more_than_none(const char *text)
{
    return text != NULL && strtoul(text, NULL, 10) > 0;
}

void digest_facts_read(struct digest_facts *ret, struct mariadb_answer *rows)
{
    const char *row[MARIADB_COLUMNS_MOST];

    *ret = (struct digest_facts){ 0 };
    if (!mariadb_answer_next(rows, row))
        return;
    ret->is_readable = true;
    ret->is_on = is_more_than_none(row[0]);
    ret->counts = is_more_than_none(row[1]);
    ret->reports = is_more_than_none(row[2]);
    ret->has_instruments = is_more_than_none(row[3]);
}

#define SWITCH_ON(name)                                                                            \
    "update performance_schema.setup_consumers set ENABLED = 'YES' where NAME = '" name "'"

const char *digest_facts_why_not(const struct digest_facts *facts)
{
    if (!facts->is_readable)
        return "this user may not read performance_schema: grant select on performance_schema.*";
    if (!facts->is_on)
        return "performance_schema is off: start the server with performance_schema = ON";
    if (!facts->reports)
        return "the consumer events_statements_current is off: " SWITCH_ON(
            "events_statements_current");
    if (!facts->counts)
        return "the consumer statements_digest is off: " SWITCH_ON("statements_digest");
    if (!facts->has_instruments)
        return "the instruments of statements are off: update performance_schema.setup_instruments "
               "set ENABLED = 'YES', TIMED = 'YES' where NAME like 'statement/%'";
    return NULL;
}

enum { SCHEMA, DIGEST, DIGEST_TEXT, CALLS, TIME, LOCK_TIME, ROWS, FIRST_SEEN, COUNTS_COUNT };

#define TEXT_OF(number) TEXT(number)
#define TEXT(number) #number
#define ROWS_MOST 20001 /* DIGEST_ENTRIES_MOST + 1 */

const struct mariadb_statement digest_counts_statement = {
    .columns = COUNTS_COUNT,
    .rows_most = ROWS_MOST,
    .sql = "select SCHEMA_NAME as " MARIADB_OWN ", DIGEST, left(DIGEST_TEXT, 300), COUNT_STAR,"
           " SUM_TIMER_WAIT, SUM_LOCK_TIME, SUM_ROWS_AFFECTED + SUM_ROWS_SENT,"
           " unix_timestamp(FIRST_SEEN)"
           " from performance_schema.events_statements_summary_by_digest"
           " limit " TEXT_OF(ROWS_MOST),
};

/* Reads a count. A fraction, as unix_timestamp() may have, is left out. */
static bool read_count(const char *text, uint64_t *ret)
{
    char *end;

    if (text == NULL || text[0] < '0' || text[0] > '9')
        return false;
    *ret = strtoull(text, &end, 10);
    return (*end == '\0' || *end == '.') && *ret <= INT64_MAX;
}

/* Two schemas with the same number would be added up, which only matters if one of them is reset.
 */
static uint64_t owner_of(const char *schema)
{
    return schema != NULL ? (uint64_t)mariadb_statement_number(schema) : 0;
}

static int read_entry(struct statement_counts *counts, struct mariadb_statements *statements,
                      const char *const *row, struct camp_error *error)
{
    struct statement_entry entry = { .statement = DIGEST_WITHOUT_SPACE,
                                     .owner = owner_of(row[SCHEMA]) };
    uint64_t since = 0;
    int r = CAMP_OK;

    if ((row[DIGEST] != NULL && !mariadb_digest_read(row[DIGEST], &entry.statement)) ||
        !read_count(row[CALLS], &entry.calls) || !read_count(row[TIME], &entry.execution_ns) ||
        !read_count(row[LOCK_TIME], &entry.lock_ns) || !read_count(row[ROWS], &entry.rows) ||
        (row[FIRST_SEEN] != NULL && !read_count(row[FIRST_SEEN], &since)))
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "MariaDB: events_statements_summary_by_digest has an impossible value");
    entry.since = since;
    entry.execution_ns /= PS_PER_NS;
    entry.lock_ns /= PS_PER_NS;
    if (row[DIGEST] != NULL)
        r = mariadb_statements_add_digest(statements, &entry.statement, row[DIGEST_TEXT]);
    if (r == CAMP_OK)
        r = statement_counts_add(counts, &entry);
    return r == CAMP_OK ? r : camp_fail(error, r, 0, "no memory for the counts of statements");
}

int digest_counts_read(struct statement_counts *counts, struct mariadb_statements *statements,
                       bool *ret_is_too_large, struct mariadb_answer *rows,
                       struct camp_error *error)
{
    const char *row[MARIADB_COLUMNS_MOST];
    int r = CAMP_OK;

    *ret_is_too_large = rows->rows > DIGEST_ENTRIES_MOST;
    while (r == CAMP_OK && !*ret_is_too_large && mariadb_answer_next(rows, row))
        r = read_entry(counts, statements, row, error);
    return r;
}
