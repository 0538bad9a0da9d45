#include "postgres_layout.h"

#include "counters/error.h"
#include "counters/units.h"
#include "libraries/libpq.h"
#include "sources/source.h"

#include <poll.h>
#include <string.h>

#define LIMIT_NS (2 * (uint64_t)NS_PER_S)

/* Each statement puts camp's connection into the next activity. The server does not tell when it
 * has started pg_sleep(), so camp pauses before it reads the activity. */
static const struct {
    const char *sql;
    enum postgres_activity activity;
} round_of[] = {
    { "rollback", POSTGRES_IDLE },
    { "select pg_catalog.pg_sleep(0.4)", POSTGRES_ACTIVE },
    { "begin", POSTGRES_IN_TRANSACTION },
    { "select 1/0", POSTGRES_IN_TRANSACTION_ABORTED },
};

#define STEPS (sizeof round_of / sizeof round_of[0])
#define READINGS (2 * STEPS)

struct probe {
    PGconn *connection;
    const volatile sig_atomic_t *stop;
    uint64_t until_ns;
    struct postgres_known known[READINGS];
    unsigned char entries[READINGS][POSTGRES_ENTRY_SIZE];
};

static bool wait_for(const struct probe *probe, short events)
{
    struct pollfd descriptor = { libpq.PQsocket(probe->connection), events, 0 };

    while (!*probe->stop && source_clock_ns(CLOCK_MONOTONIC) < probe->until_ns) {
        if (poll(&descriptor, 1, 50) > 0)
            return true;
    }
    return false;
}

/* Ignores the warning of the server that the first "rollback" ends no transaction. */
static void ignore_notice(void *context, const PGresult *notice)
{
    (void)context;
    (void)notice;
}

static bool connect(struct probe *probe, const char *conninfo)
{
    const char *const keywords[] = { "dbname", "application_name", NULL };
    const char *const values[] = { conninfo, "camp", NULL };
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;

    probe->connection = libpq.PQconnectStartParams(keywords, values, 1);
    if (probe->connection == NULL || libpq.PQstatus(probe->connection) == CONNECTION_BAD)
        return false;
    while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED) {
        if (!wait_for(probe, status == PGRES_POLLING_READING ? POLLIN : POLLOUT))
            return false;
        status = libpq.PQconnectPoll(probe->connection);
    }
    libpq.PQsetNoticeReceiver(probe->connection, ignore_notice, NULL);
    return status == PGRES_POLLING_OK;
}

static bool finish(const struct probe *probe)
{
    PGresult *result;

    for (;;) {
        while (libpq.PQisBusy(probe->connection) != 0) {
            if (!wait_for(probe, POLLIN) || libpq.PQconsumeInput(probe->connection) == 0)
                return false;
        }
        result = libpq.PQgetResult(probe->connection);
        if (result == NULL)
            return true;
        libpq.PQclear(result);
    }
}

static void cancel(const struct probe *probe)
{
    PGcancel *asked = libpq.PQgetCancel(probe->connection);
    char message[256];

    if (asked != NULL)
        libpq.PQcancel(asked, message, sizeof message);
    libpq.PQfreeCancel(asked);
}

static int read_activity(struct probe *probe, const struct postgres_layout *layout, size_t at,
                         uint64_t pause_ns, struct camp_error *error)
{
    const enum postgres_activity activity = round_of[at % STEPS].activity;
    const bool lasts = activity == POSTGRES_ACTIVE;
    int r;

    probe->known[at] = (struct postgres_known){ libpq.PQbackendPID(probe->connection), activity };
    if (libpq.PQsendQuery(probe->connection, round_of[at % STEPS].sql) == 0 ||
        (!lasts && !finish(probe)))
        return camp_fail(error, CAMP_E_IO, 0, "the server did not answer in time");
    if (lasts)
        source_wait(source_clock_ns(CLOCK_MONOTONIC) + pause_ns, pause_ns, probe->stop);
    r = postgres_layout_read_entry(layout, probe->known[at].pid, probe->entries[at], error);
    if (lasts)
        cancel(probe);
    if (r == CAMP_OK && lasts && !finish(probe))
        return camp_fail(error, CAMP_E_IO, 0, "the server did not answer in time");
    return r;
}

static int probe_all(struct probe *probe, struct postgres_layout *layout, uint64_t pause_ns,
                     struct camp_error *error)
{
    int r = CAMP_OK;

    for (size_t i = 0; r == CAMP_OK && i < READINGS; i++)
        r = read_activity(probe, layout, i, pause_ns, error);
    return r == CAMP_OK
               ? postgres_layout_resolve(layout, probe->known, probe->entries[0], READINGS, error)
               : r;
}

int postgres_layout_probe(struct postgres_layout *layout, const char *conninfo,
                          const volatile sig_atomic_t *stop, struct camp_error *error)
{
    struct probe probe = { .stop = stop, .until_ns = source_clock_ns(CLOCK_MONOTONIC) + LIMIT_NS };
    uint64_t pause_ns = 20 * (uint64_t)NS_PER_MS;
    int r = CAMP_E_FORMAT;

    if (!connect(&probe, conninfo))
        r = camp_fail(error, CAMP_E_IO, 0,
                      "a second connection, which resolves the states of sessions, failed");
    /* On a busy machine the server may start a statement only after the pause, so longer pauses are
     * tried. */
    for (int i = 0; r == CAMP_E_FORMAT && i < 3; i++, pause_ns *= 5)
        r = probe_all(&probe, layout, pause_ns < 350 * NS_PER_MS ? pause_ns : 350 * NS_PER_MS,
                      error);
    libpq.PQfinish(probe.connection);
    return r;
}
