#include "postgres_snapshot.h"

#include "counters/error.h"
#include "counters/units.h"
#include "ledger/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HAS_LEADER 130000
#define HAS_QUERY_ID 140000
#define NONE "none"
#define EPOCH_US ((int64_t)946684800 * 1000000) /* PostgreSQL counts times from 2000-01-01. */

/* The columns of a brief snapshot, then the further columns of a whole snapshot. A whole snapshot
 * costs more, because the server joins the names from two tables. */
enum { PID, IS_OWN, START, STATE, CLASS, EVENT, TYPE, LEADER, HAS_DATABASE, SERVER, BRIEF_COUNT };
enum { USER = BRIEF_COUNT, DATABASE, APPLICATION, CLIENT, QUERY_ID, CHANGED, QUERY, WHOLE_COUNT };

/* Values are requested in binary form. Formatting times as text would cost the server as much as
 * the rest of the snapshot. */
#define BRIEF                                                                                      \
    "select a.pid, a.pid = pg_catalog.pg_backend_pid(), a.backend_start, a.state, "                \
    "a.wait_event_type, a.wait_event, a.backend_type, %s, a.datid is not null, "                   \
    "pg_catalog.clock_timestamp()"
#define WHOLE                                                                                      \
    ", a.usename, a.datname, a.application_name, case when a.client_addr is not null then "        \
    "pg_catalog.host(a.client_addr) when a.client_port = -1 then 'local' end, %s, "                \
    "a.state_change, %s"
#define FROM " from pg_catalog.pg_stat_activity a"

void postgres_snapshot_statement(bool is_whole, bool queries, int version,
                                 char ret[POSTGRES_STATEMENT_SIZE])
{
    const char *leader = version >= HAS_LEADER ? "a.leader_pid" : "0";
    const char *query_id = version >= HAS_QUERY_ID ? "a.query_id" : "0::pg_catalog.int8";

    if (is_whole)
        snprintf(ret, POSTGRES_STATEMENT_SIZE, BRIEF WHOLE FROM, leader, query_id,
                 queries ? "a.query" : "''");
    else
        snprintf(ret, POSTGRES_STATEMENT_SIZE, BRIEF FROM, leader);
}

uint64_t postgres_snapshot_ns(const struct postgres_snapshot *snapshot)
{
    return snapshot->asked_ns + (snapshot->answered_ns - snapshot->asked_ns) / 2;
}

uint64_t postgres_session_start_ns(const struct postgres_snapshot *snapshot,
                                   const struct postgres_session *session)
{
    const int64_t age_us = snapshot->server_us - session->start_us;
    const uint64_t at_ns = postgres_snapshot_ns(snapshot);

    if (age_us < 0)
        return at_ns;
    return (uint64_t)age_us * NS_PER_US < at_ns ? at_ns - (uint64_t)age_us * NS_PER_US : 0;
}

static int64_t number_at(const PGresult *rows, int row, int column)
{
    const char *bytes = libpq.PQgetvalue(rows, row, column);
    const int length = libpq.PQgetlength(rows, row, column);
    uint64_t number = 0;

    for (int i = 0; i < length; i++)
        number = number << 8 | (unsigned char)bytes[i];
    return length == 4 ? (int32_t)(uint32_t)number : (int64_t)number;
}

static int64_t time_at(const PGresult *rows, int row, int column)
{
    return libpq.PQgetisnull(rows, row, column) ? 0 : number_at(rows, row, column) + EPOCH_US;
}

static const char *text_or(const PGresult *rows, int row, int column, const char *otherwise)
{
    return libpq.PQgetisnull(rows, row, column) ? otherwise : libpq.PQgetvalue(rows, row, column);
}

static const char *activity_of(const char *state)
{
    static const struct {
        const char *state, *activity;
    } activities[] = {
        { "idle in transaction", "idle_in_transaction" },
        { "idle in transaction (aborted)", "aborted" },
        { "fastpath function call", "fastpath" },
    };

    for (size_t i = 0; i < sizeof activities / sizeof activities[0]; i++) {
        if (strcmp(state, activities[i].state) == 0)
            return activities[i].activity;
    }
    return state;
}

static void read_type(struct postgres_session *ret, const char *type)
{
    snprintf(ret->type, sizeof ret->type, "%.39s", type);
    for (char *at = ret->type; (at = strchr(at, ' ')) != NULL;)
        *at = '_';
}

static void read_names(struct postgres_session *ret, const PGresult *rows, int row)
{
    ret->user = libpq.PQgetvalue(rows, row, USER);
    ret->database = libpq.PQgetvalue(rows, row, DATABASE);
    ret->application = libpq.PQgetvalue(rows, row, APPLICATION);
    ret->client = libpq.PQgetvalue(rows, row, CLIENT);
    ret->query_id = number_at(rows, row, QUERY_ID);
    ret->changed_us = time_at(rows, row, CHANGED);
    ret->query = libpq.PQgetvalue(rows, row, QUERY);
}

static void read_session(struct postgres_session *ret, const PGresult *rows, int row, bool is_whole)
{
    *ret = (struct postgres_session){
        .pid = (int32_t)number_at(rows, row, PID),
        .leader_pid = (int32_t)number_at(rows, row, LEADER),
        .start_us = time_at(rows, row, START),
        .kind = { { [SESSION_CLASS] = text_or(rows, row, CLASS, NONE),
                    [SESSION_EVENT] = text_or(rows, row, EVENT, NONE),
                    [SESSION_ACTIVITY] = activity_of(text_or(rows, row, STATE, NONE)),
                    [SESSION_TYPE] = ret->type } },
        .user = "",
        .database = "",
        .application = "",
        .client = "",
        .query = "",
    };
    read_type(ret, text_or(rows, row, TYPE, NONE));
    if (is_whole)
        read_names(ret, rows, row);
}

/* Adds a session or counts a hidden session. A hidden session has a database but no backend_start.
 * A process of the server itself, such as the checkpointer, has no database. */
static void read_row(struct postgres_snapshot *snapshot, int row)
{
    snapshot->server_us = time_at(snapshot->rows, row, SERVER);
    if (libpq.PQgetvalue(snapshot->rows, row, IS_OWN)[0] != 0) {
        snapshot->own_pid = (int32_t)number_at(snapshot->rows, row, PID);
        snapshot->own_start_us = time_at(snapshot->rows, row, START);
    } else if (libpq.PQgetisnull(snapshot->rows, row, START)) {
        snapshot->hidden += libpq.PQgetvalue(snapshot->rows, row, HAS_DATABASE)[0] != 0;
    } else {
        read_session(&snapshot->sessions[snapshot->count++], snapshot->rows, row,
                     snapshot->is_whole);
    }
}

int postgres_snapshot_read(struct postgres_snapshot *snapshot, PGresult *rows,
                           struct camp_error *error)
{
    const int count = libpq.PQntuples(rows);

    libpq.PQclear(snapshot->rows);
    snapshot->rows = rows;
    snapshot->count = snapshot->hidden = 0;
    snapshot->is_whole = libpq.PQnfields(rows) == WHOLE_COUNT;
    if (!snapshot->is_whole && libpq.PQnfields(rows) != BRIEF_COUNT)
        return camp_fail(error, CAMP_E_FORMAT, 0, "PostgreSQL: pg_stat_activity has other columns");
    if (!ARRAY_RESERVE(snapshot->sessions, snapshot->capacity, (size_t)count))
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for %d sessions", count);
    for (int i = 0; i < count; i++)
        read_row(snapshot, i);
    return CAMP_OK;
}

void postgres_snapshot_release(struct postgres_snapshot *snapshot)
{
    libpq.PQclear(snapshot->rows);
    free(snapshot->sessions);
}
