/*
 * lock_sampler CONNINFO HZ: samples pg_stat_activity until its standard input ends, as a witness
 * of which statements wait for the lock of a row. Prints a line for each session of a sample that
 * waits: the time of the sample (s since 1970), 1 if the session was asleep (state S in /proc) or
 * 0, the id of its statement, and its text. Standard output must be a file, because a full pipe
 * would stop the samples.
 *
 * A backend that got the lock keeps the wait event until it has a CPU. So a sample that is not
 * asleep waits for a CPU, and only the asleep ones wait for the lock.
 */
#include "asleep.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SQL                                                                                        \
    "select pid, query_id, regexp_replace(left(query, 60), '\\s+', ' ', 'g') from "                \
    "pg_stat_activity where wait_event_type = 'Lock' and wait_event in ('transactionid', "         \
    "'tuple')"

static bool sample(PGconn *connection)
{
    PGresult *result = PQexec(connection, SQL);
    const bool is_good = PQresultStatus(result) == PGRES_TUPLES_OK;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    for (int i = 0; i < PQntuples(result); i++)
        printf("%lld.%09ld %d %s %s\n", (long long)now.tv_sec, now.tv_nsec,
               is_asleep(PQgetvalue(result, i, 0)), PQgetvalue(result, i, 1),
               PQgetvalue(result, i, 2));
    if (!is_good)
        fprintf(stderr, "lock_sampler: %s", PQerrorMessage(connection));
    PQclear(result);
    return is_good;
}

int main(int argc, char **argv)
{
    struct pollfd input = { 0, POLLIN, 0 };
    const long hz = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    struct timespec next;
    PGconn *connection;
    bool is_good;

    if (hz <= 0) {
        fprintf(stderr, "lock_sampler CONNINFO HZ: which server, and how often a second?\n");
        return 2;
    }
    connection = PQconnectdb(argv[1]);
    is_good = PQstatus(connection) == CONNECTION_OK;
    if (!is_good)
        fprintf(stderr, "lock_sampler: %s", PQerrorMessage(connection));
    /* With this right a sample does not wait until another task falls asleep. */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (is_good && poll(&input, 1, 0) == 0) {
        is_good = sample(connection);
        next.tv_nsec += 1000000000 / hz;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    PQfinish(connection);
    return is_good && fflush(stdout) == 0 ? 0 : 1;
}
