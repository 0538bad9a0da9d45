#include "postgres_layout_probe.h"

#include "counters/error.h"
#include "counters/units.h"
#include "libraries/libpq.h"
#include "sources/source.h"

#include <poll.h>
#include <string.h>

#define LIMIT_NS (2 * (uint64_t)NS_PER_S)

/* A round goes through all activities; of the active one a moment is waited for, as nothing tells
 * when the server has begun. */
static const struct {
    const char *sql; /* NULL: as it is after connecting */
    enum postgres_activity activity;
} round_of[] = {
    { "rollback", POSTGRES_IDLE },
    { "select pg_catalog.pg_sleep(0.4)", POSTGRES_ACTIVE },
    { "begin", POSTGRES_IN_TRANSACTION },
    { "select 1/0", POSTGRES_IN_TRANSACTION_ABORTED },
};

#define STEPS (sizeof round_of / sizeof round_of[0])
#define LOOKS (2 * STEPS)

struct learner {
    PGconn *connection;
    const volatile sig_atomic_t *stop;
    uint64_t until_ns;
    struct postgres_known known[LOOKS];
    unsigned char entries[LOOKS][POSTGRES_ENTRY_SIZE];
};

/* ------------------------------------------------------------------------------ Connection -- */

static bool wait_for(const struct learner *learner, short events)
{
    struct pollfd descriptor = { libpq.PQsocket(learner->connection), events, 0 };

    while (!*learner->stop && source_clock_ns(CLOCK_MONOTONIC) < learner->until_ns) {
        if (poll(&descriptor, 1, 50) > 0)
            return true;
    }
    return false;
}

/* Its first statement ends a transaction that was never begun. */
static void pass_over(void *context, const PGresult *notice)
{
    (void)context;
    (void)notice;
}

static bool connect(struct learner *learner, const char *conninfo)
{
    const char *const keywords[] = { "dbname", "application_name", NULL };
    const char *const values[] = { conninfo, "camp", NULL };
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;

    learner->connection = libpq.PQconnectStartParams(keywords, values, 1);
    if (learner->connection == NULL || libpq.PQstatus(learner->connection) == CONNECTION_BAD)
        return false;
    while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED) {
        if (!wait_for(learner, status == PGRES_POLLING_READING ? POLLIN : POLLOUT))
            return false;
        status = libpq.PQconnectPoll(learner->connection);
    }
    libpq.PQsetNoticeReceiver(learner->connection, pass_over, NULL);
    return status == PGRES_POLLING_OK;
}

/* Until the server has answered all of a statement; what it answers is no matter. */
static bool finish(const struct learner *learner)
{
    PGresult *result;

    for (;;) {
        while (libpq.PQisBusy(learner->connection) != 0) {
            if (!wait_for(learner, POLLIN) || libpq.PQconsumeInput(learner->connection) == 0)
                return false;
        }
        result = libpq.PQgetResult(learner->connection);
        if (result == NULL)
            return true;
        libpq.PQclear(result);
    }
}

static void cancel(const struct learner *learner)
{
    PGcancel *asked = libpq.PQgetCancel(learner->connection);
    char message[256];

    if (asked != NULL)
        libpq.PQcancel(asked, message, sizeof message);
    libpq.PQfreeCancel(asked);
}

/* ----------------------------------------------------------------------------------- Looks -- */

static int look(struct learner *learner, const struct postgres_layout *layout, size_t at,
                uint64_t pause_ns, struct camp_error *error)
{
    const enum postgres_activity activity = round_of[at % STEPS].activity;
    const bool lasts = activity == POSTGRES_ACTIVE;
    int r;

    learner->known[at] =
        (struct postgres_known){ libpq.PQbackendPID(learner->connection), activity };
    if (libpq.PQsendQuery(learner->connection, round_of[at % STEPS].sql) == 0 ||
        (!lasts && !finish(learner)))
        return camp_fail(error, CAMP_E_IO, 0, "the server did not answer in time");
    if (lasts)
        source_wait(source_clock_ns(CLOCK_MONOTONIC) + pause_ns, pause_ns, learner->stop);
    r = postgres_layout_read_entry(layout, learner->known[at].pid, learner->entries[at], error);
    if (lasts)
        cancel(learner);
    if (r == CAMP_OK && lasts && !finish(learner))
        return camp_fail(error, CAMP_E_IO, 0, "the server did not answer in time");
    return r;
}

static int learn(struct learner *learner, struct postgres_layout *layout, uint64_t pause_ns,
                 struct camp_error *error)
{
    int r = CAMP_OK;

    for (size_t i = 0; r == CAMP_OK && i < LOOKS; i++)
        r = look(learner, layout, i, pause_ns, error);
    return r == CAMP_OK
               ? postgres_layout_resolve(layout, learner->known, learner->entries[0], LOOKS, error)
               : r;
}

int postgres_layout_probe(struct postgres_layout *layout, const char *conninfo,
                          const volatile sig_atomic_t *stop, struct camp_error *error)
{
    struct learner learner = { .stop = stop,
                               .until_ns = source_clock_ns(CLOCK_MONOTONIC) + LIMIT_NS };
    uint64_t pause_ns = 20 * (uint64_t)NS_PER_MS;
    int r = CAMP_E_FORMAT;

    if (!connect(&learner, conninfo))
        r = camp_fail(error, CAMP_E_IO, 0,
                      "a second connection, to learn the states of sessions, cannot be had");
    /* A busy machine may take longer to begin a statement than we waited. */
    for (int i = 0; r == CAMP_E_FORMAT && i < 3; i++, pause_ns *= 5)
        r = learn(&learner, layout, pause_ns < 350 * NS_PER_MS ? pause_ns : 350 * NS_PER_MS, error);
    libpq.PQfinish(learner.connection);
    return r;
}
