/*
 * Measures the cost of a sample of PostgreSQL sessions. The sessions are idle connections of this
 * program.
 *
 *   sessions CONNINFO CONNINFO-OF-OTHERS SESSIONS LOOKS brief|whole
 *
 * LOOKS is the number of samples. Prints one JSON object. The exit status is 1 if a connection
 * fails.
 */
#include "counters/clock.h"
#include "sources/sessions/postgres/postgres_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t never;

static int compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

static PGconn **connect_all(const char *conninfo, int count)
{
    PGconn **connections = calloc((size_t)count, sizeof(PGconn *));

    for (int i = 0; connections != NULL && i < count; i++) {
        connections[i] = PQconnectdb(conninfo);
        if (PQstatus(connections[i]) != CONNECTION_OK) {
            fprintf(stderr, "%s", PQerrorMessage(connections[i]));
            return NULL;
        }
    }
    return connections;
}

static size_t count_clients(const struct postgres_snapshot *snapshot)
{
    size_t count = 0;

    for (size_t i = 0; i < snapshot->count; i++)
        count += strcmp(snapshot->sessions[i].type, "client_backend") == 0;
    return count;
}

static int look_often(struct postgres_client *client, int count, bool whole)
{
    uint64_t *took_ns = calloc((size_t)count, sizeof *took_ns);
    uint64_t own_ns = 0, backend_ns[2] = { 0 };
    const struct postgres_snapshot *snapshot = NULL;

    for (int i = -10; took_ns != NULL && i < count; i++) {
        const uint64_t wall_ns = now_ns(CLOCK_MONOTONIC), cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
        struct camp_error error;

        if (postgres_client_ask(client, whole, UINT64_MAX, &snapshot, &error) != CAMP_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        /* The first runs are not measured, because the server plans the statement in them. */
        if (i < 0) {
            camp_pid_cpu_ns(snapshot->own_pid, &backend_ns[0]);
            continue;
        }
        took_ns[i] = now_ns(CLOCK_MONOTONIC) - wall_ns;
        own_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    }
    if (took_ns == NULL)
        return 1;
    camp_pid_cpu_ns(snapshot->own_pid, &backend_ns[1]);
    qsort(took_ns, (size_t)count, sizeof *took_ns, compare);
    printf("{\"sessions\": %zu, \"ms\": %.4f, \"own_ms\": %.4f, \"backend_ms\": %.4f}\n",
           count_clients(snapshot), (double)took_ns[count / 2] / NS_PER_MS,
           (double)own_ns / count / NS_PER_MS,
           (double)(backend_ns[1] - backend_ns[0]) / count / NS_PER_MS);
    free(took_ns);
    return 0;
}

int main(int count, char **words)
{
    struct postgres_client *client;
    struct camp_error error;

    if (count != 6 || connect_all(words[2], atoi(words[3])) == NULL)
        return 1;
    if (library_load(&libpq_library, &error) != CAMP_OK ||
        postgres_client_open(words[1], false, &never, &client, &error) != CAMP_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    return look_often(client, atoi(words[4]), strcmp(words[5], "whole") == 0);
}
