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

/* 127.0.0.1 may be a tunnel to another server, whose threads have numbers too. */
static bool has_our_name(const char *server)
{
    char ours[256] = "";

    gethostname(ours, sizeof ours - 1);
    return server != NULL && strcmp(server, ours) == 0;
}

/* A thread belongs to a session only if each session has its own thread. */
static void read_address(struct mariadb_server *server, MYSQL_ROW row,
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
        server->pid = mariadb_server_of_thread(tid, facts->server_pid);
    if (why[0] == '\0' && server->pid == 0)
        why = "its threads are not visible here (a container?)";
    server->own_tid = tid;
    snprintf(server->without_pid, sizeof server->without_pid, "%s", why);
}

/* A missing right (CAMP_E_PERM) is an answer, too. */
static int read_rights(struct mariadb_client *client, uint64_t until_ns,
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

static int read_instruments(struct mariadb_client *client, uint64_t until_ns,
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

int mariadb_server_read(struct mariadb_client *client, uint64_t until_ns,
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
        read_address(&server, row, &facts);
    libmariadb.mysql_free_result(rows);
    r = read_rights(client, until_ns, &server, error);
    if (r == CAMP_OK)
        r = read_instruments(client, until_ns, &server, error);
    if (r == CAMP_OK)
        *ret = server;
    return r;
}
