/*
 * The life of a connection, one step after the other; each step ends by an answer, a failure or its
 * deadline, and any failure leads back to DOWN:
 *
 *     DOWN -> CONNECTING -> SETTING -> READY <-> ASKING -> STORING -> READY
 */
#include "mariadb_client.h"

#include "counters/error.h"
#include "mariadb_failure.h"
#include "sources/remote/retry.h"

#include <arpa/inet.h>
#include <errno.h>
#include <mysqld_error.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define CONNECT_S 5
#define ANSWER_NS (2 * (uint64_t)NS_PER_S)
#define SLICE_NS                                                                                   \
    (100 * (uint64_t)NS_PER_MS) /* a signal may come between a take_snapshot at *stop and poll */

/* What a session of ours is held to by the server, should camp be stopped or gone: in s. And joins
 * by hash: the tables of performance_schema have no index (500 sessions: 93 ms, not 330). */
#define SETTINGS                                                                                   \
    "set session max_statement_time=2, lock_wait_timeout=1, sql_mode='', join_cache_level=4"

enum step { DOWN, CONNECTING, SETTING, READY, ASKING, STORING };

struct mariadb_client {
    struct mariadb_options options;
    const volatile sig_atomic_t *stop;
    MYSQL *mysql;
    enum step step;
    int waits_for; /* MYSQL_WAIT_READ ...; 0: the step is done */
    MYSQL *connected;
    int failed;            /* of a query: what it returned */
    uint64_t step_ends_ns; /* of DOWN: when to try again; otherwise: when to give up */
    unsigned failed_in_a_row;
    const char *asked; /* the statement on its way, or answered; NULL: none */
    MYSQL_RES *result; /* of what was asked */
    struct mariadb_client_facts facts;
};

static void drop_result(struct mariadb_client *client)
{
    if (client->result != NULL)
        libmariadb.mysql_free_result(client->result);
    client->result = NULL;
    client->asked = NULL;
}

static void enter(struct mariadb_client *client, enum step step, uint64_t limit_ns)
{
    client->step = step;
    client->step_ends_ns = now_ns(CLOCK_MONOTONIC) + limit_ns;
}

/* ---------------------------------------------------------------------------- Failures -- */

/* `text` may be of the connection, which is closed here. */
static int drop(struct mariadb_client *client, unsigned number, const char *text,
                struct camp_error *error)
{
    const int r = mariadb_failure_report(number, text, error);

    client->failed_in_a_row++;
    client->facts.failures++;
    client->facts.connection = 0;
    if (client->mysql != NULL)
        libmariadb.mysql_close(client->mysql);
    client->mysql = NULL;
    drop_result(client);
    enter(client, DOWN, retry_pause_ns(client->failed_in_a_row, mariadb_failure_may_pass(number)));
    return r;
}

static int drop_late(struct mariadb_client *client, struct camp_error *error)
{
    return drop(client, 0,
                client->step == CONNECTING ? "no answer to connecting" : "no answer for 2 s",
                error);
}

static int drop_lost(struct mariadb_client *client, struct camp_error *error)
{
    return drop(client, libmariadb.mysql_errno(client->mysql),
                libmariadb.mysql_error(client->mysql), error);
}

/* ------------------------------------------------------------------------------- Steps -- */

static const char *option(const struct mariadb_client *client, enum mariadb_option which)
{
    return client->options.values[which][0] != '\0' ? client->options.values[which] : NULL;
}

/* MYSQL_PWD is libmariadb's own; an option file has the last word. */
static void set_options(struct mariadb_client *client)
{
    const unsigned seconds = CONNECT_S;
    const char *password = getenv("MARIADB_PWD");

    libmariadb.mysql_options(client->mysql, MYSQL_OPT_NONBLOCK, 0);
    libmariadb.mysql_options(client->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    libmariadb.mysql_options(client->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    libmariadb.mysql_optionsv(client->mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "camp");
    if (password != NULL)
        libmariadb.mysql_optionsv(client->mysql, MARIADB_OPT_PASSWORD, password);
    if (option(client, MARIADB_OPTION_DEFAULTS_FILE) != NULL)
        libmariadb.mysql_options(client->mysql, MYSQL_READ_DEFAULT_FILE,
                                 option(client, MARIADB_OPTION_DEFAULTS_FILE));
    libmariadb.mysql_options(client->mysql, MYSQL_READ_DEFAULT_GROUP, "camp"); /* and [client] */
}

static int start_connecting(struct mariadb_client *client, struct camp_error *error)
{
    client->mysql = libmariadb.mysql_init(NULL);
    if (client->mysql == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a connection");
    set_options(client);
    enter(client, CONNECTING, (CONNECT_S + 1) * (uint64_t)NS_PER_S);
    client->waits_for = libmariadb.mysql_real_connect_start(
        &client->connected, client->mysql, option(client, MARIADB_OPTION_HOST),
        option(client, MARIADB_OPTION_USER), NULL, option(client, MARIADB_OPTION_DATABASE),
        (unsigned)strtoul(client->options.values[MARIADB_OPTION_PORT], NULL, 10),
        option(client, MARIADB_OPTION_SOCKET), 0);
    return CAMP_OK;
}

static void read_address(struct mariadb_client *client)
{
    const int fd = (int)libmariadb.mysql_get_socket(client->mysql);
    struct sockaddr_storage peer = { 0 };
    struct ucred owner = { 0 };
    socklen_t size = sizeof owner;
    struct mariadb_client_facts *facts = &client->facts;

    facts->server_pid = 0;
    facts->is_loopback = false;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &size) == 0)
        facts->server_pid = owner.pid > 0 ? owner.pid : 0;
    size = sizeof peer;
    if (getpeername(fd, (struct sockaddr *)&peer, &size) != 0)
        return;
    if (peer.ss_family == AF_UNIX)
        facts->is_loopback = true;
    else if (peer.ss_family == AF_INET)
        facts->is_loopback =
            ntohl(((struct sockaddr_in *)&peer)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    else if (peer.ss_family == AF_INET6)
        facts->is_loopback = IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)&peer)->sin6_addr) != 0;
}

static int start_asking(struct mariadb_client *client, const char *statement, enum step step)
{
    drop_result(client);
    client->asked = statement;
    enter(client, step, ANSWER_NS);
    client->waits_for = libmariadb.mysql_real_query_start(&client->failed, client->mysql, statement,
                                                          (unsigned long)strlen(statement));
    return CAMP_OK;
}

static int after_connecting(struct mariadb_client *client, struct camp_error *error)
{
    if (client->connected == NULL)
        return drop_lost(client, error);
    snprintf(client->facts.version, sizeof client->facts.version, "%s",
             libmariadb.mysql_get_server_info(client->mysql));
    client->facts.connections++;
    client->facts.connection = (int64_t)libmariadb.mysql_thread_id(client->mysql);
    read_address(client);
    if (!libmariadb.mariadb_connection(client->mysql)) {
        drop(client, 0, "not MariaDB", NULL);
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "this is MySQL %s: camp reads sessions of MariaDB (10.2 or later)",
                         client->facts.version);
    }
    return start_asking(client, SETTINGS, SETTING);
}

static int after_storing(struct mariadb_client *client, struct camp_error *error)
{
    if (client->result == NULL && libmariadb.mysql_errno(client->mysql) != 0)
        return drop_lost(client, error);
    client->step = READY;
    client->facts.answers++;
    client->failed_in_a_row = 0;
    return CAMP_OK;
}

/* A right that is missing: the connection is as good as before. */
static bool is_refusal(unsigned number)
{
    return number == ER_DBACCESS_DENIED_ERROR || number == ER_TABLEACCESS_DENIED_ERROR ||
           number == ER_SPECIFIC_ACCESS_DENIED_ERROR;
}

static int refuse(struct mariadb_client *client, struct camp_error *error)
{
    client->step = READY;
    client->asked = NULL;
    return mariadb_failure_report(libmariadb.mysql_errno(client->mysql),
                                  libmariadb.mysql_error(client->mysql), error);
}

/* What comes once a step is done: its call has returned. */
static int after_step(struct mariadb_client *client, struct camp_error *error)
{
    if (client->step == CONNECTING)
        return after_connecting(client, error);
    if (client->step == STORING)
        return after_storing(client, error);
    if (client->failed != 0)
        return is_refusal(libmariadb.mysql_errno(client->mysql)) ? refuse(client, error)
                                                                 : drop_lost(client, error);
    if (client->step == SETTING) {
        client->step = READY;
        client->asked = NULL;
        return CAMP_OK;
    }
    client->step = STORING;
    client->waits_for = libmariadb.mysql_store_result_start(&client->result, client->mysql);
    return CAMP_OK;
}

static void go_on(struct mariadb_client *client, int ready)
{
    if (client->step == CONNECTING)
        client->waits_for =
            libmariadb.mysql_real_connect_cont(&client->connected, client->mysql, ready);
    else if (client->step == STORING)
        client->waits_for =
            libmariadb.mysql_store_result_cont(&client->result, client->mysql, ready);
    else
        client->waits_for = libmariadb.mysql_real_query_cont(&client->failed, client->mysql, ready);
}

/* ----------------------------------------------------------------------------- Waiting -- */

static int ready_of(short events)
{
    return ((events & (POLLIN | POLLHUP | POLLERR)) != 0 ? MYSQL_WAIT_READ : 0) |
           ((events & POLLOUT) != 0 ? MYSQL_WAIT_WRITE : 0) |
           ((events & POLLPRI) != 0 ? MYSQL_WAIT_EXCEPT : 0);
}

/* For what the step waits for, in a slice. What of it came: MYSQL_WAIT_READ ...; 0: nothing. */
static int await(const struct mariadb_client *client, uint64_t now, uint64_t until_ns)
{
    uint64_t limit_ns = client->step_ends_ns < until_ns ? client->step_ends_ns : until_ns;
    struct pollfd awaited = { .fd = -1 };
    struct timespec timeout;

    if (client->step != DOWN) {
        awaited.fd = (int)libmariadb.mysql_get_socket(client->mysql);
        awaited.events = (short)(((client->waits_for & MYSQL_WAIT_READ) != 0 ? POLLIN : 0) |
                                 ((client->waits_for & MYSQL_WAIT_WRITE) != 0 ? POLLOUT : 0) |
                                 ((client->waits_for & MYSQL_WAIT_EXCEPT) != 0 ? POLLPRI : 0));
    }
    if (limit_ns > now + SLICE_NS)
        limit_ns = now + SLICE_NS;
    limit_ns = limit_ns > now ? limit_ns - now : 0;
    timeout = (struct timespec){ (time_t)(limit_ns / NS_PER_S), (long)(limit_ns % NS_PER_S) };
    return ppoll(&awaited, 1, &timeout, NULL) > 0 ? ready_of(awaited.revents) : 0;
}

/* One move of a step that is not READY. CAMP_OK: something happened, or a slice has passed. */
static int move(struct mariadb_client *client, uint64_t until_ns, struct camp_error *error)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC);
    int ready;

    if (client->step == DOWN && now >= client->step_ends_ns)
        return start_connecting(client, error);
    if (client->step != DOWN && client->waits_for == 0)
        return after_step(client, error);
    ready = await(client, now, until_ns);
    if (ready != 0)
        go_on(client, ready);
    else if (client->step != DOWN && now >= client->step_ends_ns)
        return drop_late(client, error);
    return CAMP_OK;
}

static bool is_over(const struct mariadb_client *client, uint64_t until_ns)
{
    return (client->stop != NULL && *client->stop) || now_ns(CLOCK_MONOTONIC) >= until_ns;
}

/* --------------------------------------------------------------------------- In public -- */

int mariadb_client_open(const struct mariadb_options *options, const volatile sig_atomic_t *stop,
                        struct mariadb_client **ret, struct camp_error *error)
{
    struct mariadb_client *client = calloc(1, sizeof *client);
    int r = CAMP_OK;

    if (client == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a connection");
    client->options = *options;
    client->stop = stop;
    while (r == CAMP_OK && client->step != READY) {
        if (is_over(client, UINT64_MAX))
            r = camp_fail(error, CAMP_E_GONE, EINTR, "MariaDB: interrupted while connecting");
        else
            r = move(client, UINT64_MAX, error);
    }
    if (r != CAMP_OK) {
        mariadb_client_close(client);
        return r;
    }
    *ret = client;
    return CAMP_OK;
}

void mariadb_client_close(struct mariadb_client *client)
{
    if (client == NULL)
        return;
    drop_result(client);
    if (client->mysql != NULL)
        libmariadb.mysql_close(client->mysql);
    free(client);
}

int mariadb_client_ask(struct mariadb_client *client, const char *statement, uint64_t until_ns,
                       MYSQL_RES **ret, struct camp_error *error)
{
    for (;;) {
        int r = CAMP_OK;

        if (client->step == READY && client->asked == statement)
            break;
        if (client->step == READY)
            r = start_asking(client, statement, ASKING);
        else if (is_over(client, until_ns))
            return MARIADB_PENDING;
        else
            r = move(client, until_ns, error);
        if (r != CAMP_OK)
            return r;
    }
    *ret = client->result;
    client->result = NULL;
    client->asked = NULL;
    return CAMP_OK;
}

void mariadb_client_facts(const struct mariadb_client *client, struct mariadb_client_facts *ret)
{
    *ret = client->facts;
}
