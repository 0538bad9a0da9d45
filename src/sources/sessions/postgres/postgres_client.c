/*
 * The driver for remote.h that uses libpq. Its steps (enum step) are:
 *
 *     CONNECTING -> SETTING -> PREPARING (each statement) -> ready <-> ASKING
 */
#include "postgres_client.h"

#include "conninfo.h"
#include "counters/error.h"
#include "counters/units.h"
#include "ledger/array.h"
#include "postgres_failure.h"
#include "sources/remote/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Version 10 is the first with pg_stat_activity.backend_type. */
#define VERSION_MIN 100000
#define CONNECT_S 5
#define ANSWER_NS (2 * (uint64_t)NS_PER_S)

/* Limits for camp's own session. The server enforces them even if camp is stopped or gone. Settings
 * that the server's version does not know are left out. Times are in ms. */
#define SETTINGS                                                                                   \
    "select pg_catalog.set_config(s.name, v.value, false) from pg_catalog.pg_settings s join "     \
    "(values ('statement_timeout', '2000'), ('lock_timeout', '1000'), ('jit', 'off'), "            \
    "('idle_in_transaction_session_timeout', '10000'), ('idle_session_timeout', '600000'), "       \
    "('default_transaction_read_only', 'on'), ('client_min_messages', 'warning'), "                \
    "('max_parallel_workers_per_gather', '0')) v(name, value) on v.name = s.name"

enum step { CONNECTING, SETTING, PREPARING, ASKING };

struct postgres_client {
    struct remote remote;
    char *conninfo;
    bool queries;
    size_t prepared;
    int wanted; /* index in statement_names, or -1 to connect only */
    PGconn *connection;
    enum step step;
    PostgresPollingStatusType wants;
    PGresult *result; /* result of the step; the first result if there are several */
    char noticed[SQLSTATE_SIZE];
    struct postgres_snapshot snapshot;
    uint64_t connections;
    uint64_t asked_ns;
};

static void drop_result(struct postgres_client *client)
{
    libpq.PQclear(client->result);
    client->result = NULL;
}

static int drop(struct postgres_client *client, const struct postgres_failure *failure,
                struct camp_error *error)
{
    drop_result(client);
    libpq.PQfinish(client->connection);
    client->connection = NULL;
    remote_down(&client->remote, postgres_failure_may_pass(failure));
    return postgres_failure_report(failure, error);
}

static int fail_late(void *context, struct camp_error *error)
{
    struct postgres_client *client = context;
    struct postgres_failure failure = { 0 };

    snprintf(failure.what, sizeof failure.what,
             client->step == CONNECTING ? "no answer to connecting"
                                        : "no answer for %u s: it is stopped, or overloaded",
             (unsigned)(ANSWER_NS / NS_PER_S));
    return drop(client, &failure, error);
}

static int drop_lost(struct postgres_client *client, struct camp_error *error)
{
    struct postgres_failure failure;
    const char *state =
        client->result != NULL ? libpq.PQresultErrorField(client->result, PG_DIAG_SQLSTATE) : NULL;

    postgres_failure_of_text(libpq.PQerrorMessage(client->connection), &failure);
    if (libpq.PQconnectionNeedsPassword(client->connection)) {
        failure = (struct postgres_failure){ "28P01", "it asks for a password" };
    } else if (state != NULL) {
        snprintf(failure.sqlstate, sizeof failure.sqlstate, "%.5s", state);
        snprintf(failure.what, sizeof failure.what, "%s",
                 libpq.PQresultErrorField(client->result, PG_DIAG_MESSAGE_PRIMARY));
    } else if (strcmp(client->noticed, "57P02") == 0) {
        failure = (struct postgres_failure){ "57P02", "the server crashed and starts again" };
    }
    return drop(client, &failure, error);
}

/* Keeps the SQLSTATE of a notice. When another backend has crashed, the server sends the warning
 * 57P02 before it closes the connection. */
static void keep_notice(void *context, const PGresult *notice)
{
    struct postgres_client *client = context;
    const char *state = libpq.PQresultErrorField(notice, PG_DIAG_SQLSTATE);

    snprintf(client->noticed, sizeof client->noticed, "%.5s", state != NULL ? state : "");
}

/* Returns the time limit of connecting. camp enforces it, because libpq enforces connect_timeout
 * only in blocking calls. */
static uint64_t connect_limit_ns(PGconn *connection)
{
    PQconninfoOption *options = libpq.PQconninfo(connection);
    unsigned long seconds = 0;

    for (const PQconninfoOption *option = options; option != NULL && option->keyword != NULL;
         option++) {
        if (strcmp(option->keyword, "connect_timeout") == 0 && option->val != NULL)
            seconds = strtoul(option->val, NULL, 10);
    }
    libpq.PQconninfoFree(options);
    return (seconds > 0 && seconds < 3600 ? seconds : CONNECT_S) * (uint64_t)NS_PER_S;
}

static int start_connecting(void *context, struct camp_error *error)
{
    struct postgres_client *client = context;
    const char *const keywords[] = { "dbname", "application_name", "client_encoding", NULL };
    const char *const values[] = { client->conninfo, "camp", "UTF8", NULL };

    client->connection = libpq.PQconnectStartParams(keywords, values, 1);
    if (client->connection == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a connection");
    libpq.PQsetErrorVerbosity(client->connection, PQERRORS_VERBOSE);
    libpq.PQsetNoticeReceiver(client->connection, keep_notice, client);
    client->noticed[0] = '\0';
    client->wants = PGRES_POLLING_WRITING;
    client->step = CONNECTING;
    remote_busy(&client->remote, connect_limit_ns(client->connection));
    return libpq.PQstatus(client->connection) == CONNECTION_BAD ? drop_lost(client, error)
                                                                : CAMP_OK;
}

static int sent(struct postgres_client *client, int was_sent, enum step step,
                struct camp_error *error)
{
    drop_result(client);
    client->step = step;
    remote_busy(&client->remote, ANSWER_NS);
    return was_sent ? CAMP_OK : drop_lost(client, error);
}

static int go_on_connecting(struct postgres_client *client, struct camp_error *error)
{
    client->wants = libpq.PQconnectPoll(client->connection);
    if (client->wants == PGRES_POLLING_FAILED)
        return drop_lost(client, error);
    if (client->wants != PGRES_POLLING_OK)
        return CAMP_OK;
    libpq.PQsetnonblocking(client->connection, 1);
    if (libpq.PQserverVersion(client->connection) < VERSION_MIN)
        return drop(client, &(struct postgres_failure){ "0A000", "it is older than version 10" },
                    error);
    client->connections++;
    return sent(client, libpq.PQsendQuery(client->connection, SETTINGS), SETTING, error);
}

static bool read_answer(struct postgres_client *client)
{
    while (!libpq.PQisBusy(client->connection)) {
        PGresult *result = libpq.PQgetResult(client->connection);

        if (result == NULL)
            return true;
        if (client->result == NULL)
            client->result = result;
        else
            libpq.PQclear(result);
    }
    return false;
}

static bool is_good(const struct postgres_client *client)
{
    const ExecStatusType status = libpq.PQresultStatus(client->result);

    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

static const char *const statement_names[] = { "camp_0", "camp_1" };

static int prepare_next(struct postgres_client *client, struct camp_error *error)
{
    const size_t next = client->prepared++;
    char text[POSTGRES_STATEMENT_SIZE];

    postgres_snapshot_statement(next == 1, client->queries,
                                libpq.PQserverVersion(client->connection), text);
    return sent(client,
                libpq.PQsendPrepare(client->connection, statement_names[next], text, 0, NULL),
                PREPARING, error);
}

static bool is_answered(const void *context)
{
    const struct postgres_client *client = context;

    return client->wanted < 0 || client->result != NULL;
}

static int ask_wanted(void *context, struct camp_error *error)
{
    struct postgres_client *client = context;
    const char *name = statement_names[client->wanted];

    client->asked_ns = now_ns(CLOCK_MONOTONIC);
    return sent(client, libpq.PQsendQueryPrepared(client->connection, name, 0, NULL, NULL, NULL, 1),
                ASKING, error);
}

static int after_answer(struct postgres_client *client, struct camp_error *error)
{
    if (client->step == SETTING)
        client->prepared = 0;
    if (client->step != ASKING && client->prepared < ARRAY_COUNT(statement_names))
        return prepare_next(client, error);
    if (client->step == PREPARING)
        drop_result(client);
    remote_ready(&client->remote);
    return CAMP_OK;
}

static int go_on_answering(struct postgres_client *client, struct camp_error *error)
{
    const bool is_alive =
        libpq.PQconsumeInput(client->connection) && libpq.PQflush(client->connection) >= 0;
    const bool is_whole = read_answer(client);

    if (!is_whole)
        return is_alive ? CAMP_OK : drop_lost(client, error);
    /* A statement that failed would fail again on this connection, so a new one is needed. */
    if (!is_good(client))
        return drop_lost(client, error);
    return after_answer(client, error);
}

static int go_on(void *context, short events, struct camp_error *error)
{
    struct postgres_client *client = context;

    (void)events; /* libpq finds out by itself which events occurred. */
    return client->step == CONNECTING ? go_on_connecting(client, error)
                                      : go_on_answering(client, error);
}

static short wait_for_server(void *context, uint64_t until_ns)
{
    struct postgres_client *client = context;
    short events = POLLIN;

    if (client->step == CONNECTING)
        events = client->wants == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    else if (libpq.PQflush(client->connection) == 1)
        events = POLLIN | POLLOUT;
    return remote_poll(libpq.PQsocket(client->connection), events, until_ns);
}

static const struct remote_driver driver = {
    .connect = start_connecting,
    .is_answered = is_answered,
    .ask = ask_wanted,
    .wait = wait_for_server,
    .go_on = go_on,
    .fail_late = fail_late,
};

int postgres_client_open(const char *conninfo, bool queries, const volatile sig_atomic_t *stop,
                         struct postgres_client **ret, struct camp_error *error)
{
    struct postgres_client *client;
    int r = conninfo_check(conninfo, error);

    if (r != CAMP_OK)
        return r;
    client = calloc(1, sizeof *client);
    if (client == NULL || (client->conninfo = strdup(conninfo)) == NULL) {
        free(client);
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a connection");
    }
    client->queries = queries;
    client->remote = (struct remote){ .driver = &driver, .context = client, .stop = stop };
    client->wanted = -1;
    r = remote_run(&client->remote, UINT64_MAX, error);
    if (r == REMOTE_PENDING)
        r = camp_fail(error, CAMP_E_GONE, EINTR, "PostgreSQL: interrupted while connecting");
    if (r == CAMP_OK)
        *ret = client;
    else
        postgres_client_close(client);
    return r;
}

void postgres_client_close(struct postgres_client *client)
{
    if (client == NULL)
        return;
    drop_result(client);
    postgres_snapshot_release(&client->snapshot);
    libpq.PQfinish(client->connection);
    explicit_bzero(client->conninfo, strlen(client->conninfo));
    free(client->conninfo);
    free(client);
}

int postgres_client_ask(struct postgres_client *client, bool whole, uint64_t until_ns,
                        const struct postgres_snapshot **ret, struct camp_error *error)
{
    PGresult *rows;
    int r;

    client->wanted = whole;
    r = remote_run(&client->remote, until_ns, error);
    if (r != CAMP_OK)
        return r;
    rows = client->result;
    client->result = NULL;
    client->snapshot.connection = client->connections;
    client->snapshot.asked_ns = client->asked_ns;
    client->snapshot.answered_ns = now_ns(CLOCK_MONOTONIC);
    *ret = &client->snapshot;
    return postgres_snapshot_read(&client->snapshot, rows, error);
}
