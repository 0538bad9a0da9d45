/*
 * The life of a connection, one step after the other; each step ends by an answer, a failure or its
 * deadline, and any failure leads back to DOWN:
 *
 *     DOWN -> CONNECTING -> SETTING -> PREPARING -> READY <-> ASKING
 */
#include "postgres_client.h"

#include "conninfo.h"
#include "counters/error.h"
#include "counters/units.h"
#include "postgres_failure.h"
#include "sources/remote/retry.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_S 5
#define ANSWER_NS (2 * (uint64_t)NS_PER_S)
#define SLICE_NS                                                                                   \
    (100 * (uint64_t)NS_PER_MS) /* a signal may come between a look at *stop and poll */

/* What a session of ours is held to by the server, should camp be stopped or gone: settings that
 * this version does not have are left out. Times are in ms. */
#define SETTINGS                                                                                   \
    "select pg_catalog.set_config(s.name, v.value, false) from pg_catalog.pg_settings s join "     \
    "(values ('statement_timeout', '2000'), ('lock_timeout', '1000'), ('jit', 'off'), "            \
    "('idle_in_transaction_session_timeout', '10000'), ('idle_session_timeout', '600000'), "       \
    "('default_transaction_read_only', 'on'), ('client_min_messages', 'warning'), "                \
    "('max_parallel_workers_per_gather', '0')) v(name, value) on v.name = s.name"

enum step { DOWN, CONNECTING, SETTING, PREPARING, READY, ASKING };

struct postgres_client {
    char *conninfo;
    struct postgres_statements statements;
    unsigned prepared; /* how many statements are */
    unsigned wanted;   /* the statement to ask */
    const volatile sig_atomic_t *stop;
    PGconn *connection;
    enum step step;
    PostgresPollingStatusType wants; /* while connecting */
    uint64_t step_ends_ns;           /* of DOWN: when to try again; otherwise: when to give up */
    unsigned failed_in_a_row;
    PGresult *result; /* of the step; the first failure wins */
    char noticed[SQLSTATE_SIZE];
    struct postgres_client_facts facts;
};

static void drop_result(struct postgres_client *client)
{
    libpq.PQclear(client->result);
    client->result = NULL;
}

static void enter(struct postgres_client *client, enum step step, uint64_t limit_ns)
{
    client->step = step;
    client->step_ends_ns = now_ns(CLOCK_MONOTONIC) + limit_ns;
}

/* ---------------------------------------------------------------------------- Failures -- */

static int drop(struct postgres_client *client, const struct postgres_failure *failure,
                struct camp_error *error)
{
    client->failed_in_a_row++;
    client->facts.failures++;
    client->facts.backend_pid = 0;
    drop_result(client);
    libpq.PQfinish(client->connection);
    client->connection = NULL;
    enter(client, DOWN,
          retry_pause_ns(client->failed_in_a_row, postgres_failure_may_pass(failure)));
    return postgres_failure_report(failure, error);
}

static int drop_late(struct postgres_client *client, struct camp_error *error)
{
    struct postgres_failure failure = { 0 };

    snprintf(failure.what, sizeof failure.what,
             client->step == CONNECTING ? "no answer to connecting"
                                        : "no answer for %u s: it is stopped, or overloaded",
             (unsigned)(ANSWER_NS / NS_PER_S));
    return drop(client, &failure, error);
}

/* By what the server said last, libpq's own words otherwise. */
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

/* ------------------------------------------------------------------------------- Steps -- */

/* A crash of another backend is a warning (57P02), then the connection ends without a word. */
static void take_notice(void *context, const PGresult *notice)
{
    struct postgres_client *client = context;
    const char *state = libpq.PQresultErrorField(notice, PG_DIAG_SQLSTATE);

    snprintf(client->noticed, sizeof client->noticed, "%.5s", state != NULL ? state : "");
}

/* connect_timeout is of the calls that block: here it is for us to keep. */
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

static int start_connecting(struct postgres_client *client, struct camp_error *error)
{
    const char *const keywords[] = { "dbname", "application_name", "client_encoding", NULL };
    const char *const values[] = { client->conninfo, "camp", "UTF8", NULL };

    client->connection = libpq.PQconnectStartParams(keywords, values, 1);
    if (client->connection == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a connection");
    libpq.PQsetErrorVerbosity(client->connection, PQERRORS_VERBOSE);
    libpq.PQsetNoticeReceiver(client->connection, take_notice, client);
    client->noticed[0] = '\0';
    client->wants = PGRES_POLLING_WRITING;
    enter(client, CONNECTING, connect_limit_ns(client->connection));
    return libpq.PQstatus(client->connection) == CONNECTION_BAD ? drop_lost(client, error)
                                                                : CAMP_OK;
}

/* A step that was sent waits for its answer. */
static int sent(struct postgres_client *client, int was_sent, enum step step,
                struct camp_error *error)
{
    drop_result(client);
    enter(client, step, ANSWER_NS);
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
    client->facts.version = libpq.PQserverVersion(client->connection);
    if (client->facts.version < POSTGRES_VERSION_MIN)
        return drop(client, &(struct postgres_failure){ "0A000", "it is older than version 10" },
                    error);
    client->facts.connections++;
    client->facts.backend_pid = libpq.PQbackendPID(client->connection);
    return sent(client, libpq.PQsendQuery(client->connection, SETTINGS), SETTING, error);
}

/* Takes what has come. True: all of the answer is there. */
static bool take_answer(struct postgres_client *client)
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

static const char *const statement_names[POSTGRES_STATEMENTS] = { "camp_0", "camp_1" };

static int prepare_next(struct postgres_client *client, struct camp_error *error)
{
    const char *texts[POSTGRES_STATEMENTS];
    const unsigned next = client->prepared++;

    client->statements.texts(client->statements.context, client->facts.version, texts);
    return sent(
        client,
        libpq.PQsendPrepare(client->connection, statement_names[next], texts[next], 0, NULL),
        PREPARING, error);
}

static int ask_wanted(struct postgres_client *client, struct camp_error *error)
{
    const char *name = statement_names[client->wanted];

    client->facts.asked_ns = now_ns(CLOCK_MONOTONIC);
    return sent(client, libpq.PQsendQueryPrepared(client->connection, name, 0, NULL, NULL, NULL, 1),
                ASKING, error);
}

/* What comes after a step whose answer is good. */
static int after_answer(struct postgres_client *client, struct camp_error *error)
{
    if (client->step == SETTING)
        client->prepared = 0;
    if (client->step != ASKING && client->prepared < POSTGRES_STATEMENTS)
        return prepare_next(client, error);
    if (client->step == PREPARING)
        drop_result(client);
    client->step = READY;
    return CAMP_OK;
}

static int go_on_answering(struct postgres_client *client, struct camp_error *error)
{
    const bool is_alive =
        libpq.PQconsumeInput(client->connection) && libpq.PQflush(client->connection) >= 0;
    const bool is_whole = take_answer(client);

    if (!is_whole)
        return is_alive ? CAMP_OK : drop_lost(client, error);
    if (!is_good(client)) /* a statement of ours that fails would fail again in this session */
        return drop_lost(client, error);
    return after_answer(client, error);
}

static int go_on(struct postgres_client *client, struct camp_error *error)
{
    switch (client->step) {
    case DOWN:
        return start_connecting(client, error);
    case CONNECTING:
        return go_on_connecting(client, error);
    case READY:
        return ask_wanted(client, error);
    default:
        return go_on_answering(client, error);
    }
}

/* ----------------------------------------------------------------------------- Waiting -- */

static short awaited_events(const struct postgres_client *client)
{
    if (client->step == CONNECTING)
        return client->wants == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    return libpq.PQflush(client->connection) == 1 ? POLLIN | POLLOUT : POLLIN;
}

/* For what the step waits for. True: go on with it. */
static bool await(struct postgres_client *client, uint64_t now, uint64_t until_ns)
{
    uint64_t limit_ns = client->step_ends_ns < until_ns ? client->step_ends_ns : until_ns;
    struct pollfd awaited = { .fd = -1 };
    struct timespec timeout;

    if (client->step == DOWN && now >= client->step_ends_ns)
        return true;
    if (client->step == READY)
        return true;
    if (client->step != DOWN)
        awaited = (struct pollfd){ libpq.PQsocket(client->connection), awaited_events(client), 0 };
    if (limit_ns > now + SLICE_NS)
        limit_ns = now + SLICE_NS;
    limit_ns = limit_ns > now ? limit_ns - now : 0;
    timeout = (struct timespec){ (time_t)(limit_ns / NS_PER_S), (long)(limit_ns % NS_PER_S) };
    return ppoll(&awaited, 1, &timeout, NULL) > 0;
}

/* Goes on until it is connected, or until an answer is there, or until_ns. */
static int run(struct postgres_client *client, uint64_t until_ns, bool wants_answer,
               struct camp_error *error)
{
    for (;;) {
        const uint64_t now = now_ns(CLOCK_MONOTONIC);
        int r = CAMP_OK;

        if (client->stop != NULL && *client->stop)
            return POSTGRES_PENDING;
        if (await(client, now, until_ns))
            r = go_on(client, error);
        else if (client->step != DOWN && now >= client->step_ends_ns)
            r = drop_late(client, error);
        else if (now >= until_ns)
            return POSTGRES_PENDING;
        if (r != CAMP_OK)
            return r;
        if (client->step == READY && (!wants_answer || client->result != NULL))
            return CAMP_OK;
    }
}

/* --------------------------------------------------------------------------- In public -- */

int postgres_client_open(const char *conninfo, const struct postgres_statements *statements,
                         const volatile sig_atomic_t *stop, struct postgres_client **ret,
                         struct camp_error *error)
{
    struct postgres_client *client = calloc(1, sizeof *client);
    int r = CAMP_E_NOMEM;

    if (!conninfo_is_good(conninfo)) {
        const char *key;
        const size_t length = conninfo_wrong_key(conninfo, &key);

        free(client);
        if (length > 0)
            return camp_fail(error, CAMP_E_INVALID, 0,
                             "PostgreSQL: a connection string has no key %.*s=; the usual keys are "
                             "host=, port=, dbname= and user=",
                             (int)length, key);
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "PostgreSQL: the connection string cannot be read: host=H password='a b', "
                         "or a URI with %%40 for @");
    }
    if (client == NULL || (client->conninfo = strdup(conninfo)) == NULL) {
        camp_fail(error, r, 0, "no memory for a connection");
        goto out;
    }
    client->statements = *statements;
    client->stop = stop;
    r = run(client, UINT64_MAX, false, error);
    if (r == POSTGRES_PENDING)
        r = camp_fail(error, CAMP_E_GONE, EINTR, "PostgreSQL: interrupted while connecting");
    if (r != CAMP_OK)
        goto out;
    *ret = client;
    return CAMP_OK;
out:
    postgres_client_close(client);
    return r;
}

void postgres_client_close(struct postgres_client *client)
{
    if (client == NULL)
        return;
    drop_result(client);
    libpq.PQfinish(client->connection);
    if (client->conninfo != NULL)
        explicit_bzero(client->conninfo, strlen(client->conninfo));
    free(client->conninfo);
    free(client);
}

int postgres_client_ask(struct postgres_client *client, unsigned statement, uint64_t until_ns,
                        PGresult **ret, struct camp_error *error)
{
    int r;

    client->wanted = statement;
    r = run(client, until_ns, true, error);
    if (r != CAMP_OK)
        return r;
    *ret = client->result;
    client->result = NULL;
    client->failed_in_a_row = 0;
    client->facts.answers++;
    return CAMP_OK;
}

void postgres_client_facts(const struct postgres_client *client, struct postgres_client_facts *ret)
{
    *ret = client->facts;
}
