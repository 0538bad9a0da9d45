/*
 * The driver for remote.h that uses libmariadb. Its steps (enum step) are:
 *
 *     CONNECTING -> SETTING -> ready <-> ASKING -> READING
 */
#include "mariadb_client.h"

#include "counters/error.h"
#include "libraries/libmariadb.h"
#include "mariadb_guard.h"
#include "mysql_dialect.h"
#include "sources/remote/remote.h"
#include "sources/remote/remote_text.h"

#include <errno.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define CONNECT_S 5
#define ANSWER_NS (2 * (uint64_t)NS_PER_S)

/* Settings of camp's own session. The server enforces the limits (in s) even if camp is stopped or
 * has ended. join_cache_level=4 makes joins use hashes, because the tables of performance_schema
 * have no index: reading 500 sessions takes 93 ms instead of 330 ms. */
static const struct mariadb_statement settings = {
    .sql = "set session max_statement_time=2, lock_wait_timeout=1, sql_mode='', join_cache_level=4",
};

static const struct mariadb_statement settings_of_mysql = {
    .sql = "set session max_execution_time=2000, lock_wait_timeout=1, sql_mode=''",
};

enum step { CONNECTING, SETTING, ASKING, READING };

struct mariadb_client {
    struct remote remote;
    struct mariadb_options options;
    MYSQL *mysql;
    struct mariadb_guard guard;
    enum step step;
    /* events that the libmariadb call waits for (MYSQL_WAIT_READ, ...); 0 if the call is done */
    int waits_for;
    MYSQL *connected;
    int failed; /* result of the libmariadb call that sends a query; not 0 after a failure */
    const struct mariadb_statement *wanted; /* the caller's; NULL if the caller only connects */
    const struct mariadb_statement *asked;  /* pending or answered; NULL if there is none */
    MYSQL_RES *result;                      /* whose rows are being read */
    MYSQL_ROW row;
    struct mariadb_answer answer;
    struct mariadb_client_facts facts;
};

/* Without its handle, mysql_free_result() does not read the rows that the server still sends. */
static void drop_result(struct mariadb_client *client)
{
    if (client->result != NULL) {
        client->result->handle = NULL;
        libmariadb.mysql_free_result(client->result);
    }
    client->result = NULL;
}

static void close_connection(struct mariadb_client *client, bool may_pass)
{
    client->facts.connection = 0;
    client->asked = NULL;
    drop_result(client);
    /* mysql_close() says good-bye, and waits while the server does not read. */
    if (client->mysql != NULL && client->remote.state == REMOTE_BUSY)
        shutdown((int)libmariadb.mysql_get_socket(client->mysql), SHUT_RDWR);
    if (client->mysql != NULL)
        libmariadb.mysql_close(client->mysql);
    client->mysql = NULL;
    remote_down(&client->remote, may_pass);
}

/* Reports a failure and only then closes the connection, because `text` may belong to the
 * connection. */
static int drop(struct mariadb_client *client, unsigned number, const char *text,
                struct camp_error *error)
{
    bool may_pass;
    const int r = mariadb_failure_report(number, text, &may_pass, error);

    close_connection(client, may_pass);
    return r;
}

static int fail_late(void *context, struct camp_error *error)
{
    struct mariadb_client *client = context;

    return drop(client, 0,
                client->step == CONNECTING ? "no answer to connecting" : "no answer for 2 s",
                error);
}

/* Drops the connection to a server that does not answer as MariaDB does. */
static int drop_wrong(struct mariadb_client *client, int r)
{
    close_connection(client, false);
    return r;
}

static int fail_without_memory(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a connection");
}

static int drop_lost(struct mariadb_client *client, struct camp_error *error)
{
    if (client->guard.lacks_memory)
        return drop_wrong(client, fail_without_memory(error));
    if (client->guard.is_exceeded)
        return drop_wrong(client, camp_fail(error, CAMP_E_FORMAT, 0,
                                            "MariaDB: the server sent more than %zu bytes at once",
                                            MARIADB_GUARD_BYTES));
    return drop(client, libmariadb.mysql_errno(client->mysql),
                libmariadb.mysql_error(client->mysql), error);
}

static const char *option(const struct mariadb_client *client, enum mariadb_option which)
{
    return client->options.values[which][0] != '\0' ? client->options.values[which] : NULL;
}

/* camp reads MARIADB_PWD, because libmariadb reads only MYSQL_PWD. A password in an option file
 * overrides MARIADB_PWD. Returns false without memory for an option: libmariadb would connect
 * without it, and send the password as the server wishes. libmariadb reports this failure only by
 * errno. */
static bool set_options(struct mariadb_client *client)
{
    const unsigned seconds = CONNECT_S;
    const char *password = getenv("MARIADB_PWD");

    errno = 0;
    libmariadb.mysql_options(client->mysql, MYSQL_OPT_NONBLOCK, 0);
    libmariadb.mysql_options(client->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    libmariadb.mysql_options(client->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    libmariadb.mysql_optionsv(client->mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "camp");
    if (password != NULL)
        libmariadb.mysql_optionsv(client->mysql, MARIADB_OPT_PASSWORD, password);
    if (option(client, MARIADB_OPTION_DEFAULTS_FILE) != NULL)
        libmariadb.mysql_options(client->mysql, MYSQL_READ_DEFAULT_FILE,
                                 option(client, MARIADB_OPTION_DEFAULTS_FILE));
    /* libmariadb reads the group [client], too */
    libmariadb.mysql_options(client->mysql, MYSQL_READ_DEFAULT_GROUP, "camp");
    mariadb_guard_begin(&client->guard);
    return errno != ENOMEM;
}

static void read_address(struct mariadb_client *client)
{
    const int fd = (int)libmariadb.mysql_get_socket(client->mysql);
    struct ucred owner = { 0 };
    socklen_t size = sizeof owner;

    client->facts.server_pid = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &size) == 0)
        client->facts.server_pid = owner.pid > 0 ? owner.pid : 0;
    client->facts.is_loopback = remote_is_local(fd);
}

static void start_asking(struct mariadb_client *client, const struct mariadb_statement *statement,
                         enum step step)
{
    drop_result(client);
    client->asked = statement;
    client->step = step;
    remote_busy(&client->remote, ANSWER_NS);
    mariadb_guard_expect(&client->guard);
    client->waits_for = libmariadb.mysql_real_query_start(
        &client->failed, client->mysql, statement->sql, (unsigned long)strlen(statement->sql));
}

static int refuse_mysql(struct mariadb_client *client, struct camp_error *error)
{
    char version[64];

    remote_text_line(libmariadb.mysql_get_server_info(client->mysql), version, sizeof version);
    return drop_wrong(client, camp_fail(error, CAMP_E_NOTSUP, 0,
                                        "this is MySQL %s: give --from mysql:CONNINFO", version));
}

static int after_connecting(struct mariadb_client *client, struct camp_error *error)
{
    if (client->connected == NULL)
        return drop_lost(client, error);
    client->facts.connections++;
    client->facts.connection = (int64_t)libmariadb.mysql_thread_id(client->mysql);
    read_address(client);
    client->facts.is_mysql = !libmariadb.mariadb_connection(client->mysql);
    if (client->facts.is_mysql && !client->options.is_mysql)
        return refuse_mysql(client, error);
    if (client->mysql->net.compress)
        return drop(client, 0, "the connection is compressed", error);
    start_asking(client, client->facts.is_mysql ? &settings_of_mysql : &settings, SETTING);
    return CAMP_OK;
}

/* Starts to read the rows of an answer, if it has the columns of the statement. */
static int after_asking(struct mariadb_client *client, struct camp_error *error)
{
    const unsigned columns = libmariadb.mysql_field_count(client->mysql);

    if (client->asked == NULL) /* Not reached, because an answer belongs to a statement. */
        return drop_lost(client, error);
    if (columns != client->asked->columns)
        return drop_wrong(client, camp_fail(error, CAMP_E_FORMAT, 0,
                                            "MariaDB: an answer has %u columns instead of %zu",
                                            columns, client->asked->columns));
    client->result = libmariadb.mysql_use_result(client->mysql);
    if (client->result == NULL)
        return drop_lost(client, error);
    mariadb_answer_begin(&client->answer, client->asked);
    mariadb_guard_expect(&client->guard);
    client->step = READING;
    client->waits_for = libmariadb.mysql_fetch_row_start(&client->row, client->result);
    return CAMP_OK;
}

static int after_row(struct mariadb_client *client, struct camp_error *error)
{
    int r;

    if (client->row == NULL && libmariadb.mysql_errno(client->mysql) != 0)
        return drop_lost(client, error);
    if (client->row == NULL) {
        drop_result(client);
        remote_ready(&client->remote);
        return CAMP_OK;
    }
    r = mariadb_answer_add(&client->answer, client->asked, (const char *const *)client->row, error);
    if (r != CAMP_OK)
        return drop_wrong(client, r);
    mariadb_guard_expect(&client->guard);
    client->waits_for = libmariadb.mysql_fetch_row_start(&client->row, client->result);
    return CAMP_OK;
}

/* Returns true if `number` means that camp lacks a right. The connection is still good then. */
static bool is_refusal(unsigned number)
{
    return number == ER_DBACCESS_DENIED_ERROR || number == ER_TABLEACCESS_DENIED_ERROR ||
           number == ER_SPECIFIC_ACCESS_DENIED_ERROR;
}

static int refuse(struct mariadb_client *client, struct camp_error *error)
{
    bool may_pass;

    remote_ready(&client->remote);
    client->asked = NULL;
    return mariadb_failure_report(libmariadb.mysql_errno(client->mysql),
                                  libmariadb.mysql_error(client->mysql), &may_pass, error);
}

static int after_step(struct mariadb_client *client, struct camp_error *error)
{
    if (client->step == CONNECTING)
        return after_connecting(client, error);
    if (client->step == READING)
        return after_row(client, error);
    if (client->failed != 0)
        return is_refusal(libmariadb.mysql_errno(client->mysql)) ? refuse(client, error)
                                                                 : drop_lost(client, error);
    if (client->step == SETTING && libmariadb.mysql_field_count(client->mysql) == 0) {
        remote_ready(&client->remote);
        client->asked = NULL;
        return CAMP_OK;
    }
    return after_asking(client, error);
}

static int finish_steps(struct mariadb_client *client, struct camp_error *error)
{
    int r = CAMP_OK;

    while (r == CAMP_OK && client->remote.state == REMOTE_BUSY && client->waits_for == 0)
        r = after_step(client, error);
    if (r == CAMP_OK && client->remote.state == REMOTE_BUSY && client->step == CONNECTING)
        mariadb_guard_connecting(&client->guard);
    return r;
}

static int start_connecting(void *context, struct camp_error *error)
{
    struct mariadb_client *client = context;

    client->mysql = libmariadb.mysql_init(NULL);
    if (client->mysql == NULL)
        return fail_without_memory(error);
    client->guard.mysql = client->mysql;
    if (!set_options(client))
        return drop_wrong(client, fail_without_memory(error));
    client->step = CONNECTING;
    remote_busy(&client->remote, (CONNECT_S + 1) * (uint64_t)NS_PER_S);
    client->waits_for = libmariadb.mysql_real_connect_start(
        &client->connected, client->mysql, option(client, MARIADB_OPTION_HOST),
        option(client, MARIADB_OPTION_USER), NULL, option(client, MARIADB_OPTION_DATABASE),
        (unsigned)strtoul(client->options.values[MARIADB_OPTION_PORT], NULL, 10),
        option(client, MARIADB_OPTION_SOCKET), 0);
    return finish_steps(client, error);
}

/* An answer to another statement than client->wanted does not count. */
static bool is_answered(const void *context)
{
    const struct mariadb_client *client = context;

    return client->wanted == NULL || client->asked == client->wanted;
}

static int ask_wanted(void *context, struct camp_error *error)
{
    struct mariadb_client *client = context;

    start_asking(client, client->wanted, ASKING);
    return finish_steps(client, error);
}

static short wait_for_server(void *context, uint64_t until_ns)
{
    const struct mariadb_client *client = context;
    const int events = ((client->waits_for & MYSQL_WAIT_READ) != 0 ? POLLIN : 0) |
                       ((client->waits_for & MYSQL_WAIT_WRITE) != 0 ? POLLOUT : 0) |
                       ((client->waits_for & MYSQL_WAIT_EXCEPT) != 0 ? POLLPRI : 0);

    return remote_poll((int)libmariadb.mysql_get_socket(client->mysql), (short)events, until_ns);
}

static int ready_of(short events)
{
    return ((events & (POLLIN | POLLHUP | POLLERR)) != 0 ? MYSQL_WAIT_READ : 0) |
           ((events & POLLOUT) != 0 ? MYSQL_WAIT_WRITE : 0) |
           ((events & POLLPRI) != 0 ? MYSQL_WAIT_EXCEPT : 0);
}

static int go_on(void *context, short events, struct camp_error *error)
{
    struct mariadb_client *client = context;
    const int ready = ready_of(events);

    if (client->step == CONNECTING)
        client->waits_for =
            libmariadb.mysql_real_connect_cont(&client->connected, client->mysql, ready);
    else if (client->step == READING)
        client->waits_for = libmariadb.mysql_fetch_row_cont(&client->row, client->result, ready);
    else
        client->waits_for = libmariadb.mysql_real_query_cont(&client->failed, client->mysql, ready);
    return finish_steps(client, error);
}

static const struct remote_driver driver = {
    .connect = start_connecting,
    .is_answered = is_answered,
    .ask = ask_wanted,
    .wait = wait_for_server,
    .go_on = go_on,
    .fail_late = fail_late,
};

static int run(struct mariadb_client *client, uint64_t until_ns, struct camp_error *error)
{
    int r;

    mariadb_guard_watch(&client->guard);
    r = remote_run(&client->remote, until_ns, error);
    mariadb_guard_watch(NULL);
    return r;
}

int mariadb_client_open(const struct mariadb_options *options, const volatile sig_atomic_t *stop,
                        struct mariadb_client **ret, struct camp_error *error)
{
    struct mariadb_client *client = calloc(1, sizeof *client);
    int r;

    if (client == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a connection");
    client->options = *options;
    client->guard.is_mysql = options->is_mysql;
    client->guard.verifies = strcmp(options->values[MARIADB_OPTION_VERIFY], "no") != 0;
    client->remote = (struct remote){ .driver = &driver, .context = client, .stop = stop };
    r = run(client, UINT64_MAX, error);
    if (r == REMOTE_PENDING)
        r = camp_fail(error, CAMP_E_GONE, EINTR, "MariaDB: interrupted while connecting");
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
    close_connection(client, false);
    mariadb_answer_release(&client->answer);
    free(client);
}

int mariadb_client_ask(struct mariadb_client *client, const struct mariadb_statement *statement,
                       uint64_t until_ns, struct mariadb_answer **ret, struct camp_error *error)
{
    int r;

    client->wanted = client->facts.is_mysql ? mysql_dialect_of(statement) : statement;
    r = run(client, until_ns, error);
    if (r != CAMP_OK)
        return r;
    client->asked = NULL;
    *ret = &client->answer;
    return CAMP_OK;
}

const struct mariadb_client_facts *mariadb_client_facts(const struct mariadb_client *client)
{
    return &client->facts;
}
