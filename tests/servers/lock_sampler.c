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
#include "sampler.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdlib.h>

#define SQL                                                                                        \
    "select pid, query_id, regexp_replace(left(query, 60), '\\s+', ' ', 'g') from "                \
    "pg_stat_activity where wait_event_type = 'Lock' and wait_event in ('transactionid', "         \
    "'tuple')"

static bool sample(void *connection)
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
    const long hz = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
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
    is_good = is_good && sample_each(hz, sample, connection);
    PQfinish(connection);
    return is_good && fflush(stdout) == 0 ? 0 : 1;
}
