/*
 * blocker_sampler CONNINFO HZ: asks pg_blocking_pids() for each session that waits for a lock,
 * until its standard input ends, as a witness of who blocks whom. Prints a line for each waiting
 * session of each sample: number of the sample, pid, 1 if it was asleep (state S in /proc), and the
 * pids that block it, such as {7,9}. The last line has the number of samples.
 */
#include "asleep.h"

#include <libpq-fe.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SQL "select pid, pg_blocking_pids(pid) from pg_stat_activity where wait_event_type = 'Lock'"

static char output[1 << 20]; /* Writing must not delay a sample. */

static bool sample(PGconn *connection, unsigned long number)
{
    PGresult *result = PQexec(connection, SQL);
    const bool is_good = PQresultStatus(result) == PGRES_TUPLES_OK;

    for (int i = 0; i < PQntuples(result); i++)
        printf("%lu %s %d %s\n", number, PQgetvalue(result, i, 0),
               is_asleep(PQgetvalue(result, i, 0)), PQgetvalue(result, i, 1));
    if (!is_good)
        fprintf(stderr, "blocker_sampler: %s", PQerrorMessage(connection));
    PQclear(result);
    return is_good;
}

int main(int argc, char **argv)
{
    struct pollfd input = { 0, POLLIN, 0 };
    const long hz = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    unsigned long number = 0;
    struct timespec next;
    PGconn *connection;
    bool is_good;

    if (hz <= 0) {
        fprintf(stderr, "blocker_sampler CONNINFO HZ: which server, and how often a second?\n");
        return 2;
    }
    setvbuf(stdout, output, _IOFBF, sizeof output);
    connection = PQconnectdb(argv[1]);
    is_good = PQstatus(connection) == CONNECTION_OK;
    if (!is_good)
        fprintf(stderr, "blocker_sampler: %s", PQerrorMessage(connection));
    /* With this right a sample does not wait until another task falls asleep. */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (is_good && poll(&input, 1, 0) == 0) {
        is_good = sample(connection, number++);
        next.tv_nsec += 1000000000 / hz;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    PQfinish(connection);
    printf("%lu samples\n", number);
    return is_good ? 0 : 1;
}
