/*
 * blocker_sampler CONNINFO HZ: asks pg_blocking_pids() for each session that waits for a lock,
 * until its standard input ends, as a witness of who blocks whom. Prints a line for each waiting
 * session of each sample: number of the sample, pid, 1 if it was asleep (state S in /proc), and the
 * pids that block it, such as {7,9}. The last line has the number of samples.
 */
#include "sampler.h"

#include <libpq-fe.h>
#include <stdlib.h>

#define SQL "select pid, pg_blocking_pids(pid) from pg_stat_activity where wait_event_type = 'Lock'"

static char output[1 << 20]; /* Writing must not delay a sample. */

struct samples {
    PGconn *connection;
    unsigned long count;
};

static bool sample(void *context)
{
    struct samples *samples = context;
    PGresult *result = PQexec(samples->connection, SQL);
    const bool is_good = PQresultStatus(result) == PGRES_TUPLES_OK;

    for (int i = 0; i < PQntuples(result); i++)
        printf("%lu %s %d %s\n", samples->count, PQgetvalue(result, i, 0),
               is_asleep(PQgetvalue(result, i, 0)), PQgetvalue(result, i, 1));
    if (!is_good)
        fprintf(stderr, "blocker_sampler: %s", PQerrorMessage(samples->connection));
    PQclear(result);
    samples->count++;
    return is_good;
}

int main(int argc, char **argv)
{
    const long hz = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    struct samples samples = { 0 };
    bool is_good;

    if (hz <= 0) {
        fprintf(stderr, "blocker_sampler CONNINFO HZ: which server, and how often a second?\n");
        return 2;
    }
    setvbuf(stdout, output, _IOFBF, sizeof output);
    samples.connection = PQconnectdb(argv[1]);
    is_good = PQstatus(samples.connection) == CONNECTION_OK;
    if (!is_good)
        fprintf(stderr, "blocker_sampler: %s", PQerrorMessage(samples.connection));
    is_good = is_good && sample_each(hz, sample, &samples);
    PQfinish(samples.connection);
    printf("%lu samples\n", samples.count);
    return is_good ? 0 : 1;
}
