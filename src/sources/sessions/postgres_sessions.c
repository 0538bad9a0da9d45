#include "postgres_sessions.h"

#include "counters/error.h"
#include "counters/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HAS_LEADER 130000
#define HAS_QUERY_ID 140000
#define NONE "none"

enum {
    PID,
    IS_OWN,
    START,
    STATE,
    CLASS,
    EVENT,
    TYPE,
    LEADER,
    USER,
    DATABASE,
    APPLICATION,
    CLIENT,
    QUERY_ID,
    CHANGED,
    QUERY,
    SERVER,
    COLUMN_COUNT
};

/* The columns above. Of who is hidden backend_start is NULL, as is backend_type, so that processes
 * of the server itself (checkpointer ...) are told from sessions by having no database. */
#define TEXT                                                                                       \
    "select a.pid, a.pid = pg_catalog.pg_backend_pid(), %s, a.state, a.wait_event_type, "          \
    "a.wait_event, pg_catalog.replace(a.backend_type, ' ', '_'), %s, a.usename, a.datname, "       \
    "a.application_name, case when a.client_addr is not null then "                                \
    "pg_catalog.host(a.client_addr) when a.client_port = -1 then 'local' end, %s, %s, %s, %s "     \
    "from pg_catalog.pg_stat_activity a %s order by 1"
#define MICROSECONDS(time) "(extract(epoch from " time ") * 1000000)::pg_catalog.int8"
#define CLIENTS_ONLY                                                                               \
    "where a.backend_type in ('client backend', 'parallel worker') "                               \
    "or (a.backend_type is null and a.datid is not null)"

struct postgres_sessions {
    struct postgres_options options;
    char text[1400];
    struct postgres_client *client;
    struct postgres_look look;
};

static const char *statement_text(void *context, int version)
{
    struct postgres_sessions *sessions = context;

    snprintf(sessions->text, sizeof sessions->text, TEXT, MICROSECONDS("a.backend_start"),
             version >= HAS_LEADER ? "a.leader_pid" : "0",
             version >= HAS_QUERY_ID ? "a.query_id" : "0", MICROSECONDS("a.state_change"),
             sessions->options.queries ? "a.query" : "''",
             MICROSECONDS("pg_catalog.clock_timestamp()"),
             sessions->options.background ? "" : CLIENTS_ONLY);
    return sessions->text;
}

/* ----------------------------------------------------------------------------- Reading -- */

static int64_t number_at(const PGresult *rows, int row, int column)
{
    return strtoll(PQgetvalue(rows, row, column), NULL, 10);
}

static const char *text_or(const PGresult *rows, int row, int column, const char *otherwise)
{
    const char *text = PQgetvalue(rows, row, column);

    return text[0] != '\0' ? text : otherwise;
}

/* pg_stat_activity.state, as rules have it. */
static const char *activity_of(const char *state)
{
    static const struct {
        const char *state, *activity;
    } activities[] = {
        { "", NONE },
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

static struct postgres_session session_of(const PGresult *rows, int row)
{
    return (struct postgres_session){
        .pid = (int32_t)number_at(rows, row, PID),
        .leader_pid = (int32_t)number_at(rows, row, LEADER),
        .start_us = number_at(rows, row, START),
        .changed_us = number_at(rows, row, CHANGED),
        .query_id = number_at(rows, row, QUERY_ID),
        .kind = { { [SESSION_CLASS] = text_or(rows, row, CLASS, NONE),
                    [SESSION_EVENT] = text_or(rows, row, EVENT, NONE),
                    [SESSION_ACTIVITY] = activity_of(PQgetvalue(rows, row, STATE)),
                    [SESSION_TYPE] = text_or(rows, row, TYPE, NONE) } },
        .user = PQgetvalue(rows, row, USER),
        .database = PQgetvalue(rows, row, DATABASE),
        .application = PQgetvalue(rows, row, APPLICATION),
        .client = PQgetvalue(rows, row, CLIENT),
        .query = PQgetvalue(rows, row, QUERY),
    };
}

static void read_row(struct postgres_look *look, int row)
{
    look->server_us = number_at(look->rows, row, SERVER);
    if (PQgetvalue(look->rows, row, IS_OWN)[0] == 't') {
        look->own_pid = (int32_t)number_at(look->rows, row, PID);
        look->own_start_us = number_at(look->rows, row, START);
    } else if (PQgetisnull(look->rows, row, START)) {
        look->hidden += !PQgetisnull(look->rows, row, DATABASE);
    } else {
        look->sessions[look->count++] = session_of(look->rows, row);
    }
}

static int read_rows(struct postgres_look *look, PGresult *rows, struct camp_error *error)
{
    const int count = PQntuples(rows);

    PQclear(look->rows);
    look->rows = rows;
    look->count = look->hidden = 0;
    if (PQnfields(rows) != COLUMN_COUNT)
        return camp_fail(error, CAMP_E_FORMAT, 0, "PostgreSQL: pg_stat_activity has other columns");
    if ((size_t)count > look->capacity) {
        struct postgres_session *grown = reallocarray(look->sessions, (size_t)count, sizeof *grown);

        if (grown == NULL)
            return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for %d sessions", count);
        look->sessions = grown;
        look->capacity = (size_t)count;
    }
    for (int i = 0; i < count; i++)
        read_row(look, i);
    return CAMP_OK;
}

/* --------------------------------------------------------------------------- In public -- */

int postgres_sessions_open(const char *conninfo, const struct postgres_options *options,
                           const volatile sig_atomic_t *stop, struct postgres_sessions **ret,
                           struct camp_error *error)
{
    struct postgres_sessions *sessions = calloc(1, sizeof *sessions);
    int r;

    if (sessions == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the sessions");
    sessions->options = *options;
    r = postgres_client_open(conninfo, &(struct postgres_statement){ statement_text, sessions },
                             stop, &sessions->client, error);
    if (r != CAMP_OK) {
        postgres_sessions_close(sessions);
        return r;
    }
    *ret = sessions;
    return CAMP_OK;
}

void postgres_sessions_close(struct postgres_sessions *sessions)
{
    if (sessions == NULL)
        return;
    postgres_client_close(sessions->client);
    PQclear(sessions->look.rows);
    free(sessions->look.sessions);
    free(sessions);
}

int postgres_sessions_look(struct postgres_sessions *sessions, uint64_t until_ns,
                           const struct postgres_look **ret_look, struct camp_error *error)
{
    struct postgres_look *look = &sessions->look;
    struct postgres_client_facts facts;
    PGresult *rows;
    int r = postgres_client_ask(sessions->client, until_ns, &rows, error);

    if (r != CAMP_OK)
        return r;
    postgres_client_facts(sessions->client, &facts);
    look->asked_ns = facts.asked_ns;
    look->answered_ns = now_ns(CLOCK_MONOTONIC);
    r = read_rows(look, rows, error);
    *ret_look = look;
    return r;
}

void postgres_sessions_facts(const struct postgres_sessions *sessions,
                             struct postgres_client_facts *ret)
{
    postgres_client_facts(sessions->client, ret);
}
