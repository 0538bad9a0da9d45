/*
 * The driver for remote.h that uses libpq. Its steps (enum step) are:
 *
 *     CONNECTING -> SETTING -> PREPARING (each statement) -> ready <-> ASKING
 */
#include "postgres_client.h"

#include "conninfo.h"
#include "counters/clock.h"
#include "counters/error.h"
#include "ledger/array.h"
#include "postgres_attempt.h"
#include "postgres_failure.h"
#include "postgres_guard.h"
#include "postgres_results.h"
#include "sources/remote/remote.h"
#include "sources/remote/remote_text.h"
#include "sources/sessions/postgres/server/postgres_postmaster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Version 10 is the first with pg_stat_activity.backend_type. */
#define VERSION_MIN 100000
#define ANSWER_NS (2 * (uint64_t)NS_PER_S)
/* An attempt to connect ends by itself. After this further time, camp stops waiting for it, but
 * makes no other attempt until it has ended. */
#define LEFT_NS (500 * (uint64_t)NS_PER_MS)
/* At the end camp waits for this time for an answer in progress. */
#define END_NS (500 * (uint64_t)NS_PER_MS)
/* Pauses after a refusal are 1, 2, 4 and then 8 s. */
#define REFUSED_PAUSE_NS ((uint64_t)NS_PER_S)
#define REFUSED_DOUBLINGS 3

/* libpq keeps some of what a server sends as long as the connection, such as parameters with new
 * names. So camp connects again after so many bytes that are neither rows nor columns. An honest
 * server sends none, but TLS adds 22 bytes to each answer. */
#define RENEWAL_BYTES ((uint64_t)512 * 1024)

/* Limits for camp's own session. The server enforces them even if camp is stopped or gone. Settings
 * that the server's version does not know are left out. Times are in ms. The last row is whether
 * camp may ask who blocks whom. */
#define SETTINGS                                                                                   \
    "select pg_catalog.set_config(s.name, v.value, false) from pg_catalog.pg_settings s join "     \
    "(values ('statement_timeout', '2000'), ('lock_timeout', '1000'), ('jit', 'off'), "            \
    "('idle_in_transaction_session_timeout', '10000'), ('idle_session_timeout', '600000'), "       \
    "('default_transaction_read_only', 'on'), ('client_min_messages', 'warning'), "                \
    "('max_parallel_workers_per_gather', '0')) v(name, value) on v.name = s.name union all "       \
    "select pg_catalog.has_function_privilege('pg_catalog.pg_blocking_pids(int4)', "               \
    "'execute')::pg_catalog.text"

enum step { CONNECTING, SETTING, PREPARING, ASKING };

#define QUERY 2

struct postgres_client {
    struct remote remote;
    char *conninfo;
    struct postgres_contents contents;
    size_t prepared;
    int wanted;                         /* index in statement_names, -1 to connect only, or QUERY */
    const struct postgres_query *query; /* during postgres_client_query() */
    /* in the step CONNECTING, or after it if the attempt has not ended in time; otherwise NULL */
    struct postgres_attempt *attempt;
    struct postgres_guard guard;
    struct postgres_postmaster postmaster; /* of the last connection */
    unsigned refused_in_a_row;
    enum step step;
    struct postgres_results results; /* of the step */
    /* postgres_results_other_bytes() of all answers of this connection */
    uint64_t other_bytes;
    char noticed[SQLSTATE_SIZE];
    struct postgres_snapshot snapshot;
    uint64_t connections;
    uint64_t asked_ns;
};

static void close_attempt(struct postgres_client *client)
{
    postgres_attempt_close(client->attempt);
    client->attempt = NULL;
}

static void close_for(struct postgres_client *client, bool may_pass)
{
    postgres_results_clear(&client->results);
    postgres_guard_finish(&client->guard);
    remote_down(&client->remote, may_pass);
}

/* Returns true if the server has refused a connection, or would refuse the next one for a while. */
static bool is_refusal(const struct postgres_client *client, const struct postgres_failure *failure)
{
    if (client->step == CONNECTING)
        return failure->sqlstate[0] != '\0';
    return strncmp(failure->sqlstate, "57P", 3) == 0 && !client->postmaster.is_known;
}

static int drop(struct postgres_client *client, const struct postgres_failure *failure,
                struct camp_error *error)
{
    close_for(client, postgres_failure_may_pass(failure));
    if (is_refusal(client, failure)) {
        remote_postpone(&client->remote, REFUSED_PAUSE_NS << client->refused_in_a_row);
        client->refused_in_a_row += client->refused_in_a_row < REFUSED_DOUBLINGS;
    }
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
    if (client->attempt != NULL)
        postgres_attempt_is_late(client->attempt);
    return drop(client, &failure, error);
}

/* Drops the connection after an answer that could not be read. Returns `code`. */
static int drop_unread(struct postgres_client *client, int code)
{
    close_for(client, code == CAMP_E_NOMEM);
    return code;
}

static int drop_lost(struct postgres_client *client, struct camp_error *error)
{
    struct postgres_failure failure = { 0 };

    snprintf(failure.sqlstate, sizeof failure.sqlstate, "%.5s",
             postgres_results_error(&client->results, PG_DIAG_SQLSTATE));
    if (failure.sqlstate[0] != '\0')
        remote_text_line(postgres_results_error(&client->results, PG_DIAG_MESSAGE_PRIMARY),
                         failure.what, sizeof failure.what);
    else if (strcmp(client->noticed, "57P02") == 0)
        failure = (struct postgres_failure){ "57P02", "the server crashed and starts again", "" };
    else
        postgres_guard_failure(&client->guard, &failure);
    return drop(client, &failure, error);
}

/* Keeps the SQLSTATE of a notice. When another backend has crashed, the server
 * sends the warning 57P02 before it closes the connection. */
static void keep_notice(void *context, const PGresult *notice)
{
    struct postgres_client *client = context;
    const char *state = libpq.PQresultErrorField(notice, PG_DIAG_SQLSTATE);

    snprintf(client->noticed, sizeof client->noticed, "%.5s", state != NULL ? state : "");
}

static int start_connecting(void *context, struct camp_error *error)
{
    struct postgres_client *client = context;
    const uint64_t limit_ns = conninfo_limit_ns(client->conninfo);
    struct postgres_failure failure = { .what = "an earlier attempt to log in has not ended" };

    client->noticed[0] = '\0';
    client->other_bytes = 0;
    client->step = CONNECTING;
    if (client->attempt != NULL && !postgres_attempt_wait(client->attempt, 0))
        return drop(client, &failure, error);
    close_attempt(client);
    if (client->remote.failed_in_a_row > 0 &&
        !postgres_postmaster_may_accept(&client->postmaster)) {
        remote_postpone(&client->remote, POSTMASTER_PERIOD_NS);
        return CAMP_OK;
    }
    client->attempt = postgres_attempt_start(client->conninfo, limit_ns, client->remote.stop);
    if (client->attempt == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a connection");
    remote_busy(&client->remote, limit_ns + LEFT_NS);
    return CAMP_OK;
}

static int sent(struct postgres_client *client, int was_sent, enum step step,
                struct camp_error *error)
{
    static const enum postgres_question questions[] = { POSTGRES_BRIEF, POSTGRES_WHOLE,
                                                        POSTGRES_QUERY };

    client->step = step;
    postgres_results_begin(&client->results, &client->guard,
                           step == ASKING ? questions[client->wanted] : POSTGRES_OTHER,
                           client->query);
    remote_busy(&client->remote, ANSWER_NS);
    return was_sent ? CAMP_OK : drop_lost(client, error);
}

static int after_attempt(struct postgres_client *client, struct camp_error *error)
{
    struct postgres_failure failure;
    const bool is_connected = postgres_attempt_result(client->attempt, &client->guard, &failure);

    close_attempt(client);
    if (!is_connected)
        return drop(client, &failure, error);
    receive_limit_watch(&client->guard.limit);
    libpq.PQsetNoticeReceiver(client->guard.connection, keep_notice, client);
    if (libpq.PQserverVersion(client->guard.connection) < VERSION_MIN)
        return drop(client,
                    &(struct postgres_failure){ "0A000", "it is older than version 10", "" },
                    error);
    client->connections++;
    client->refused_in_a_row = 0;
    client->postmaster.is_known = false;
    return sent(client, libpq.PQsendQuery(client->guard.connection, SETTINGS), SETTING, error);
}

static const char *const statement_names[] = { "camp_0", "camp_1" };

static int prepare_next(struct postgres_client *client, struct camp_error *error)
{
    const size_t next = client->prepared++;
    char text[POSTGRES_STATEMENT_SIZE];

    postgres_snapshot_statement(next == 1, &client->contents,
                                libpq.PQserverVersion(client->guard.connection), text);
    return sent(client,
                libpq.PQsendPrepare(client->guard.connection, statement_names[next], text, 0, NULL),
                PREPARING, error);
}

static bool is_answered(const void *context)
{
    const struct postgres_client *client = context;

    return client->wanted < 0 || client->results.result != NULL;
}

static int send_wanted(const struct postgres_client *client)
{
    PGconn *connection = client->guard.connection;
    const struct postgres_query *query = client->query;

    if (client->wanted != QUERY)
        return libpq.PQsendQueryPrepared(connection, statement_names[client->wanted], 0, NULL, NULL,
                                         NULL, 1);
    return libpq.PQsendQueryParams(connection, query->text, query->parameter != NULL, NULL,
                                   &query->parameter, NULL, NULL, 1);
}

static int ask_wanted(void *context, struct camp_error *error)
{
    struct postgres_client *client = context;

    if (client->other_bytes > RENEWAL_BYTES) {
        postgres_guard_finish(&client->guard);
        return start_connecting(client, error);
    }
    client->asked_ns = now_ns(CLOCK_MONOTONIC);
    return sent(client, send_wanted(client) && libpq.PQsetSingleRowMode(client->guard.connection),
                ASKING, error);
}

static bool may_ask_for_blockers(const PGresult *settings)
{
    const int last = libpq.PQntuples(settings) - 1;

    return last >= 0 && libpq.PQnfields(settings) == 1 &&
           strcmp(libpq.PQgetvalue(settings, last, 0), "true") == 0;
}

static int after_answer(struct postgres_client *client, struct camp_error *error)
{
    client->other_bytes += postgres_results_other_bytes(&client->results, &client->guard);
    if (client->step == SETTING) {
        client->prepared = 0;
        client->contents.blockers = may_ask_for_blockers(client->results.result);
    }
    if (client->step != ASKING && client->prepared < ARRAY_COUNT(statement_names))
        return prepare_next(client, error);
    if (client->step == PREPARING)
        postgres_results_clear(&client->results);
    remote_ready(&client->remote);
    return CAMP_OK;
}

static int go_on_answering(struct postgres_client *client, struct camp_error *error)
{
    const bool is_alive = libpq.PQconsumeInput(client->guard.connection) &&
                          libpq.PQflush(client->guard.connection) >= 0;
    bool is_all;
    const int r = postgres_results_read(&client->results, &client->guard, &is_all, error);

    if (r != CAMP_OK)
        return drop_unread(client, r);
    if (!is_all)
        return is_alive ? CAMP_OK : drop_lost(client, error);
    /* A statement that failed would fail again on this connection, so a new one
     * is needed. */
    if (!postgres_results_are_good(&client->results))
        return drop_lost(client, error);
    return after_answer(client, error);
}

static int go_on(void *context, short events, struct camp_error *error)
{
    struct postgres_client *client = context;

    (void)events; /* libpq finds out by itself which events occurred. */
    return client->step == CONNECTING ? after_attempt(client, error)
                                      : go_on_answering(client, error);
}

static short wait_for_server(void *context, uint64_t until_ns)
{
    struct postgres_client *client = context;
    short events = POLLIN;

    if (client->step == CONNECTING)
        return postgres_attempt_wait(client->attempt, until_ns) ? POLLIN : 0;
    if (libpq.PQflush(client->guard.connection) == 1)
        events = POLLIN | POLLOUT;
    return remote_poll(libpq.PQsocket(client->guard.connection), events, until_ns);
}

static const struct remote_driver driver = {
    .connect = start_connecting,
    .is_answered = is_answered,
    .ask = ask_wanted,
    .wait = wait_for_server,
    .go_on = go_on,
    .fail_late = fail_late,
};

static int run(struct postgres_client *client, uint64_t until_ns, struct camp_error *error)
{
    int r;

    receive_limit_watch(&client->guard.limit);
    r = remote_run(&client->remote, until_ns, error);
    receive_limit_watch(NULL);
    return r;
}

int postgres_client_open(const char *conninfo, const struct postgres_contents *contents,
                         const volatile sig_atomic_t *stop, struct postgres_client **ret,
                         struct camp_error *error)
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
    client->contents = *contents;
    client->remote = (struct remote){ .driver = &driver, .context = client, .stop = stop };
    client->wanted = -1;
    r = run(client, UINT64_MAX, error);
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
    postgres_results_release(&client->results);
    postgres_snapshot_release(&client->snapshot);
    close_attempt(client);
    postgres_guard_finish_answered(&client->guard, now_ns(CLOCK_MONOTONIC) + END_NS);
    explicit_bzero(client->conninfo, strlen(client->conninfo));
    free(client->conninfo);
    free(client);
}

void postgres_client_set_local(struct postgres_client *client, bool is_local)
{
    postgres_postmaster_remember(&client->postmaster,
                                 is_local ? libpq.PQbackendPID(client->guard.connection) : 0);
}

/* Runs until there is an answer to a question of the kind that is wanted. An answer to an earlier
 * question of the other kind, which came too late, is dropped. */
static int run_wanted(struct postgres_client *client, uint64_t until_ns, struct camp_error *error)
{
    int r;

    while ((r = run(client, until_ns, error)) == CAMP_OK) {
        postgres_results_clear(&client->results);
        if ((client->results.question == POSTGRES_QUERY) == (client->wanted == QUERY))
            break;
    }
    return r;
}

int postgres_client_query(struct postgres_client *client, const struct postgres_query *query,
                          uint64_t until_ns, struct postgres_answer **ret, uint64_t *ret_connection,
                          struct camp_error *error)
{
    int r;

    client->wanted = QUERY;
    client->query = query;
    r = run_wanted(client, until_ns, error);
    client->query = NULL;
    if (r != CAMP_OK)
        return r;
    *ret = &client->results.answer;
    *ret_connection = client->connections;
    return CAMP_OK;
}

int postgres_client_ask(struct postgres_client *client, bool whole, uint64_t until_ns,
                        const struct postgres_snapshot **ret, struct camp_error *error)
{
    int r;

    client->wanted = whole;
    r = run_wanted(client, until_ns, error);
    if (r != CAMP_OK)
        return r;
    client->snapshot.connection = client->connections;
    client->snapshot.version = libpq.PQserverVersion(client->guard.connection);
    client->snapshot.asked_ns = client->asked_ns;
    client->snapshot.answered_ns = now_ns(CLOCK_MONOTONIC);
    *ret = &client->snapshot;
    r = postgres_snapshot_read(&client->snapshot, client->results.question == POSTGRES_WHOLE,
                               &client->results.answer, error);
    return r == CAMP_OK ? r : drop_unread(client, r);
}
