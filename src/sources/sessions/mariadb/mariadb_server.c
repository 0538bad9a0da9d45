#include "mariadb_server.h"

#include "mariadb_sessions.h"
#include "mariadb_waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char place_statement[] =
    "select TID, @@thread_handling, @@hostname from information_schema.PROCESSLIST"
    " where ID = connection_id()";

/* At the other end of 127.0.0.1 may be a tunnel, whose server's threads have numbers as well. */
static bool has_our_name(const char *server)
{
    char ours[256] = "";

    gethostname(ours, sizeof ours - 1);
    return server != NULL && strcmp(server, ours) == 0;
}

/* A thread is a session's only where each has one. */
static void learn_place(struct mariadb_server *server, MYSQL_ROW row,
                        const struct mariadb_client_facts *facts)
{
    const int32_t tid = row[0] != NULL ? (int32_t)strtol(row[0], NULL, 10) : 0;
    const char *handling = row[1] != NULL ? row[1] : "";
    const char *why = "";

    if (!facts->is_loopback || (facts->server_pid == 0 && !has_our_name(row[2])))
        why = "the server is on another machine";
    else if (strcmp(handling, "one-thread-per-connection") != 0)
        why = "its sessions share threads (thread_handling)";
    else if (tid > 0)
        server->pid = mariadb_threads_server(tid, facts->server_pid);
    if (why[0] == '\0' && server->pid == 0)
        why = "its threads are not to be seen here (a container?)";
    server->own_tid = tid;
    snprintf(server->without_pid, sizeof server->without_pid, "%s", why);
}

/* CAMP_E_PERM where the right is missing is an answer, too. */
static int learn_rights(struct mariadb_client *client, uint64_t until_ns,
                        struct mariadb_server *server, struct camp_error *error)
{
    MYSQL_RES *rows;
    int r =
        mariadb_client_ask(client, mariadb_sessions_statement(true, false), until_ns, &rows, error);

    server->has_process = r == CAMP_OK;
    if (r == CAMP_OK)
        libmariadb.mysql_free_result(rows);
    return r == CAMP_E_PERM ? CAMP_OK : r;
}

static int learn_instruments(struct mariadb_client *client, uint64_t until_ns,
                             struct mariadb_server *server, struct camp_error *error)
{
    MYSQL_RES *rows;
    MYSQL_ROW row;
    int r = mariadb_client_ask(client, mariadb_instruments_statement, until_ns, &rows, error);

    if (r != CAMP_OK)
        return r == CAMP_E_PERM ? CAMP_OK : r;
    row = libmariadb.mysql_fetch_row(rows);
    if (row != NULL && row[0] != NULL)
        server->instruments = (unsigned)strtoul(row[0], NULL, 10);
    if (row != NULL && row[1] != NULL)
        server->lost = strtoull(row[1], NULL, 10);
    libmariadb.mysql_free_result(rows);
    return CAMP_OK;
}

int mariadb_server_learn(struct mariadb_client *client, uint64_t until_ns,
                         struct mariadb_server *ret, struct camp_error *error)
{
    struct mariadb_server server = { 0 };
    struct mariadb_client_facts facts;
    MYSQL_RES *rows;
    MYSQL_ROW row;
    int r = mariadb_client_ask(client, place_statement, until_ns, &rows, error);

    if (r != CAMP_OK)
        return r;
    mariadb_client_facts(client, &facts);
    row = libmariadb.mysql_fetch_row(rows);
    if (row != NULL)
        learn_place(&server, row, &facts);
    libmariadb.mysql_free_result(rows);
    r = learn_rights(client, until_ns, &server, error);
    if (r == CAMP_OK)
        r = learn_instruments(client, until_ns, &server, error);
    if (r == CAMP_OK)
        *ret = server;
    return r;
}
