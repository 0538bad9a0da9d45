/*
 * Measures the cost of a sample of MariaDB sessions. The sessions are idle connections of this
 * program.
 *
 *   sessions_mariadb SOCKET SESSIONS LOOKS processlist|instruments
 *
 * LOOKS is the number of samples. Prints one JSON object. The exit status is 1 if a connection
 * fails.
 */
#include "counters/clock.h"
#include "libraries/libmariadb.h"
#include "sources/sessions/mariadb/mariadb_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct look {
    struct mariadb_client *client;
    struct mariadb_server server;
    struct mariadb_threads *threads;
    struct camp_thread own; /* the server's thread for this connection */
    struct mariadb_sessions sessions;
    struct mariadb_waits waits;
    bool instruments;
};

static bool connect_all(const char *socket, int count)
{
    for (int i = 0; i < count; i++) {
        MYSQL *connection = mysql_init(NULL);

        if (mysql_real_connect(connection, NULL, "root", NULL, NULL, 0, socket, 0) == NULL) {
            fprintf(stderr, "%s\n", mysql_error(connection));
            return false;
        }
    }
    return true;
}

static bool start(struct look *look, const char *socket, struct camp_error *error)
{
    struct mariadb_options options = { 0 };

    snprintf(options.values[MARIADB_OPTION_SOCKET], MARIADB_VALUE_SIZE, "%s", socket);
    snprintf(options.values[MARIADB_OPTION_USER], MARIADB_VALUE_SIZE, "root");
    return library_load(&libmariadb_library, error) == CAMP_OK &&
           mariadb_client_open(&options, NULL, &look->client, error) == CAMP_OK &&
           mariadb_server_read(look->client, UINT64_MAX, &look->server, error) == CAMP_OK &&
           mariadb_threads_open(look->server.pid, NULL, &look->threads, error) == CAMP_OK &&
           mariadb_threads_find(look->threads, look->server.own_tid, &look->own) == CAMP_OK;
}

static bool ask(struct look *look, struct camp_error *error)
{
    struct mariadb_answer *rows;
    const struct mariadb_statement *statement =
        look->instruments ? &mariadb_waits_statement
                          : mariadb_sessions_statement(true, MARIADB_NO_TEXTS);
    int r = mariadb_client_ask(look->client, statement, UINT64_MAX, &rows, error);

    if (r != CAMP_OK)
        return false;
    if (look->instruments)
        r = mariadb_waits_read(&look->waits, rows, look->server.instruments, UINT64_MAX,
                               &look->sessions);
    else
        r = mariadb_sessions_sample(&look->sessions, rows, now_ns(CLOCK_MONOTONIC), true,
                                    look->threads, NULL);
    return r == CAMP_OK;
}

static uint64_t served_ns(const struct look *look)
{
    struct proc_clock clock = { 0 };

    proc_clock_read(&look->own, &clock, NULL);
    return clock.cpu_ns;
}

static int look_often(struct look *look, int sessions, int count, struct camp_error *error)
{
    uint64_t wall_ns = 0, own_ns = 0, before_ns = 0;

    for (int i = -10; i < count; i++) {
        if (i == 0) {
            before_ns = served_ns(look);
            own_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
            wall_ns = now_ns(CLOCK_MONOTONIC);
        }
        if (!ask(look, error))
            return 1;
    }
    wall_ns = now_ns(CLOCK_MONOTONIC) - wall_ns;
    own_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - own_ns;
    printf("{\"sessions\": %d, \"ms\": %.4f, \"own_ms\": %.4f, \"backend_ms\": %.4f}\n", sessions,
           (double)wall_ns / count / NS_PER_MS, (double)own_ns / count / NS_PER_MS,
           (double)(served_ns(look) - before_ns) / count / NS_PER_MS);
    return 0;
}

int main(int count, char **words)
{
    struct camp_error error = { .message = "usage" };
    struct look look = { 0 };

    if (count == 5 && connect_all(words[1], atoi(words[2])) && start(&look, words[1], &error)) {
        look.instruments = strcmp(words[4], "instruments") == 0;
        if (look_often(&look, atoi(words[2]), atoi(words[3]), &error) == 0)
            return 0;
    }
    fprintf(stderr, "%s\n", error.message);
    return 1;
}
