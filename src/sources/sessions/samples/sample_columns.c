#include "sample_columns.h"

#include "ledger/array.h"
#include "sources/tables/table_columns.h"

#include <string.h>

static const struct {
    const char *name;
    enum sample_role role;
} names[] = {
    /* V$ACTIVE_SESSION_HISTORY and DBA_HIST_ACTIVE_SESS_HISTORY. Both have numbers where names
     * are wanted (user_id, con_id): a join supplies the names. */
    { "sample_time", SAMPLE_TIME },
    { "sample_id", SAMPLE_NUMBER },
    { "inst_id", SAMPLE_INSTANCE },
    { "instance_number", SAMPLE_INSTANCE },
    { "session_id", SAMPLE_SESSION },
    { "sid", SAMPLE_SESSION },
    { "session_serial", SAMPLE_SERIAL },
    { "serial", SAMPLE_SERIAL },
    { "username", SAMPLE_USER },
    { "user_id", SAMPLE_USER },
    { "program", SAMPLE_APPLICATION },
    { "machine", SAMPLE_CLIENT },
    { "module", SAMPLE_MODULE },
    { "sql_id", SAMPLE_STATEMENT },
    { "event", SAMPLE_EVENT },
    { "blocking_session", SAMPLE_BLOCKER },
    { "wait_class", SAMPLE_CLASS },
    { "session_state", SAMPLE_ACTIVITY },
    { "session_type", SAMPLE_TYPE },
    /* pg_stat_activity with a time, pgsentinel's pg_active_session_history, pg_ash */
    { "ash_time", SAMPLE_TIME },
    { "sample_ts", SAMPLE_TIME },
    { "pid", SAMPLE_SESSION },
    { "backend_start", SAMPLE_SERIAL },
    { "usename", SAMPLE_USER },
    { "application_name", SAMPLE_APPLICATION },
    { "datname", SAMPLE_DATABASE },
    { "database_name", SAMPLE_DATABASE },
    { "client_addr", SAMPLE_CLIENT },
    { "queryid", SAMPLE_STATEMENT },
    { "query_id", SAMPLE_STATEMENT },
    { "wait_event", SAMPLE_EVENT },
    { "blockerpid", SAMPLE_BLOCKER },
    { "wait_event_type", SAMPLE_CLASS },
    { "state", SAMPLE_ACTIVITY },
    { "backend_type", SAMPLE_TYPE },
    /* the metric and the dimensions of Performance Insights */
    { "db_load_avg", SAMPLE_LOAD },
    { "db_user_name", SAMPLE_USER },
    { "db_application_name", SAMPLE_APPLICATION },
    { "db_name", SAMPLE_DATABASE },
    { "db_host_name", SAMPLE_CLIENT },
    { "db_sql_tokenized_id", SAMPLE_STATEMENT },
    { "db_sql_id", SAMPLE_STATEMENT },
    { "db_wait_event_name", SAMPLE_EVENT },
    { "db_wait_event_type", SAMPLE_CLASS },
    /* the times of any of them */
    { "timestamp", SAMPLE_TIME },
    { "time", SAMPLE_TIME },
    { "ts", SAMPLE_TIME },
    { "now", SAMPLE_TIME },
};

static const char *const label_names[] = { "user",   "application", "database",   "client",
                                           "module", "query",       "wait_event", "blocker" };

_Static_assert(ARRAY_COUNT(label_names) == SAMPLE_LABEL_END - SAMPLE_FIRST_LABEL,
               "each label has a name");

const char *sample_label_name(enum sample_role role)
{
    return label_names[role - SAMPLE_FIRST_LABEL];
}

static size_t find_name(const char *name)
{
    size_t i = 0;

    while (i < ARRAY_COUNT(names) && strcmp(names[i].name, name) != 0)
        i++;
    return i;
}

static bool has(const struct sample_columns *columns, enum sample_role role)
{
    return columns->at[role] != SAMPLE_ABSENT;
}

/* A row is a sample if it says what a session waited for, and its time is that of a sample. Of a
 * time with another name, it must be clear that the row is about one session, or about a number of
 * them. */
static bool is_complete(const struct sample_columns *columns, bool has_sample_time)
{
    const bool has_wait = has(columns, SAMPLE_EVENT) || has(columns, SAMPLE_CLASS);
    const bool is_clear =
        (has(columns, SAMPLE_SESSION) && has(columns, SAMPLE_CLASS)) || has(columns, SAMPLE_LOAD);

    return has(columns, SAMPLE_TIME) && has_wait && (has_sample_time || is_clear);
}

bool sample_columns_find(struct sample_columns *ret, const struct row *header)
{
    size_t ranks[SAMPLE_ROLES];
    bool has_sample_time = false, has_unit = false;

    *ret = (struct sample_columns){ .count = header->count };
    for (size_t i = 0; i < SAMPLE_ROLES; i++) {
        ret->at[i] = SAMPLE_ABSENT;
        ranks[i] = ARRAY_COUNT(names);
    }
    for (size_t i = 0; i < header->count; i++) {
        struct table_column column;
        size_t rank;

        table_column_name(&column, header->fields[i], i + 1);
        has_unit = has_unit || column.unit != UNIT_NONE;
        ret->is_history = ret->is_history || strcmp(column.stem, "snap_id") == 0;
        rank = find_name(column.stem);
        if (column.unit != UNIT_NONE || rank == ARRAY_COUNT(names))
            continue;
        if (rank < ranks[names[rank].role]) { /* of several columns for a role, the first name */
            ranks[names[rank].role] = rank;
            ret->at[names[rank].role] = i;
        }
    }
    if (has(ret, SAMPLE_TIME))
        has_sample_time = strcmp(names[ranks[SAMPLE_TIME]].name, "sample_time") == 0 ||
                          strcmp(names[ranks[SAMPLE_TIME]].name, "sample_ts") == 0 ||
                          strcmp(names[ranks[SAMPLE_TIME]].name, "ash_time") == 0;
    if (has(ret, SAMPLE_CLASS))
        ret->is_oracle = strcmp(names[ranks[SAMPLE_CLASS]].name, "wait_class") == 0;
    else if (has(ret, SAMPLE_EVENT))
        ret->is_oracle = strcmp(names[ranks[SAMPLE_EVENT]].name, "event") == 0;
    ret->is_history = ret->is_history && ret->is_oracle;
    /* A column with a unit, such as wait_ms, is a measured time. */
    return !has_unit && is_complete(ret, has_sample_time);
}
