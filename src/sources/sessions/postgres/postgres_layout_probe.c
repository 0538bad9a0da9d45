#include "postgres_layout.h"

#include "counters/error.h"
#include "counters/units.h"
#include "microstates/backends_layout.h"
#include "postgres_attempt.h"
#include "postgres_memory.h"
#include "postgres_names.h"
#include "sources/source.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define LIMIT_NS (2 * (uint64_t)NS_PER_S)
#define NAMES_NS ((uint64_t)NS_PER_S)
#define END_NS (2 * (uint64_t)NS_PER_S)
#define CHECK_NS (5 * (uint64_t)NS_PER_MS)
#define CONNECT_NS (1500 * (uint64_t)NS_PER_MS)

/* Each statement puts camp's connection into the next activity. None fails or warns, because the
 * server would log it. The server does not report when it has started pg_sleep(), so camp pauses
 * until the backend has a wait event of the class Timeout. The statement sleeps longer than the
 * longest pause, by LONGER_NS and a quarter of the pause, and ends by itself: PQcancel() would wait
 * for the server without a limit. */
#define CLASS_TIMEOUT 9
#define LOOK_NS ((uint64_t)NS_PER_MS)
#define LONGER_NS (60 * (uint64_t)NS_PER_MS)
#define SLEEP "select pg_catalog.pg_sleep(%.3f)"
static const struct {
    const char *sql;
    enum postgres_activity activity;
} round_of[] = {
    { NULL, POSTGRES_ACTIVE }, /* SLEEP */
    { "begin read only", POSTGRES_IN_TRANSACTION },
    { "commit", POSTGRES_IDLE },
};

#define STEPS (sizeof round_of / sizeof round_of[0])
#define READINGS (2 * STEPS)

/* The number and the name of each database and of each role, and whether it is that of this
 * connection. */
#define NAMES_BYTES ((uint64_t)4 * 1024 * 1024) /* most bytes of the answer */
#define NAMES                                                                                      \
    "(select 'd', d.oid, d.datname, d.datname = pg_catalog.current_database() "                    \
    "from pg_catalog.pg_database d limit 10000) union all "                                        \
    "(select 'r', r.oid, r.rolname, r.rolname = session_user from pg_catalog.pg_roles r "          \
    "limit 10000)"

struct probe {
    struct postgres_guard guard;
    uint64_t allowed;                         /* bytes of the rows of the current answer */
    struct postgres_numbers numbers;          /* of this connection, or 0 */
    struct postgres_names *databases, *roles; /* NULL if they are not wanted */
    const volatile sig_atomic_t *stop;
    uint64_t until_ns;
    uint64_t since; /* guard.limit.received when the statement started */
    struct postgres_known known[READINGS];
    unsigned char entries[READINGS][POSTGRES_ENTRY_SIZE];
};

static bool wait_for_answer(const struct probe *probe)
{
    struct pollfd descriptor = { libpq.PQsocket(probe->guard.connection), POLLIN, 0 };

    while (!*probe->stop && source_clock_ns(CLOCK_MONOTONIC) < probe->until_ns) {
        if (poll(&descriptor, 1, 50) > 0)
            return true;
    }
    return false;
}

static bool connect(struct probe *probe, const char *conninfo)
{
    struct postgres_attempt *attempt = postgres_attempt_start(conninfo, CONNECT_NS, probe->stop);
    struct postgres_failure ignored;
    bool is_connected;

    if (attempt == NULL)
        return false;
    is_connected = postgres_attempt_wait(attempt, probe->until_ns) &&
                   postgres_attempt_result(attempt, &probe->guard, &ignored);
    postgres_attempt_close(attempt);
    return is_connected;
}

/* Sends a statement, which is short enough for the socket's buffer. */
static bool start(struct probe *probe, const char *sql)
{
    probe->since = probe->guard.limit.received;
    return libpq.PQsendQuery(probe->guard.connection, sql) != 0 &&
           libpq.PQflush(probe->guard.connection) == 0;
}

static void keep_name(struct probe *probe, const PGresult *result, int row)
{
    const bool is_database = libpq.PQgetvalue(result, row, 0)[0] == 'd';
    const uint32_t number = (uint32_t)strtoul(libpq.PQgetvalue(result, row, 1), NULL, 10);
    struct postgres_names *names = is_database ? probe->databases : probe->roles;

    if (libpq.PQgetvalue(result, row, 3)[0] == 't')
        *(is_database ? &probe->numbers.database : &probe->numbers.user) = number;
    if (names != NULL && number != 0)
        postgres_names_add(names, number, libpq.PQgetvalue(result, row, 2));
}

/* Only the answer to NAMES has four columns. */
static void keep_names(struct probe *probe, const PGresult *result)
{
    if (libpq.PQresultStatus(result) != PGRES_TUPLES_OK || libpq.PQnfields(result) != 4)
        return;
    for (int row = 0; row < libpq.PQntuples(result); row++)
        keep_name(probe, result, row);
}

/* Reads the answer to its end, which a copy does not have. */
static bool finish(struct probe *probe)
{
    bool is_copy = false;

    while (!is_copy) {
        PGresult *result;

        if (!postgres_guard_allow(&probe->guard, probe->since, probe->allowed))
            return false;
        if (libpq.PQisBusy(probe->guard.connection) != 0) {
            if (!wait_for_answer(probe) || libpq.PQconsumeInput(probe->guard.connection) == 0)
                return false;
            continue;
        }
        result = libpq.PQgetResult(probe->guard.connection);
        if (result == NULL)
            return true;
        is_copy = postgres_guard_is_copy(result);
        keep_names(probe, result);
        libpq.PQclear(result);
    }
    return false;
}

static bool is_in_sleep(const struct postgres_layout *layout, int32_t pid)
{
    uint64_t at = 0;
    uint32_t event = 0;

    return process_memory_read_pointer(pid, layout->event_pointer, &at, NULL) == CAMP_OK &&
           process_memory_read(pid, at, &event, sizeof event, NULL) == CAMP_OK &&
           BACKEND_EVENT_CLASS(event) == CLASS_TIMEOUT;
}

/* Reads the entry while the backend is in pg_sleep(). On a busy machine it may get a CPU only after
 * `pause_ns`; then the result is CAMP_E_FORMAT. */
static int read_in_sleep(struct probe *probe, const struct postgres_layout *layout, size_t at,
                         uint64_t pause_ns, struct camp_error *error)
{
    const int32_t pid = probe->known[at].pid;
    const uint64_t until_ns = source_clock_ns(CLOCK_MONOTONIC) + pause_ns;
    int r = CAMP_OK;

    while (!is_in_sleep(layout, pid) && source_wait(until_ns, LOOK_NS, probe->stop))
        ;
    r = postgres_layout_read_entry(layout, pid, probe->entries[at], error);
    if (r == CAMP_OK && !is_in_sleep(layout, pid))
        r = camp_fail(error, CAMP_E_FORMAT, 0, "the server does not start a statement in time");
    return finish(probe) || r != CAMP_OK
               ? r
               : camp_fail(error, CAMP_E_IO, 0, "the server did not answer in time");
}

static int read_activity(struct probe *probe, const struct postgres_layout *layout, size_t at,
                         uint64_t pause_ns, struct camp_error *error)
{
    const enum postgres_activity activity = round_of[at % STEPS].activity;
    const bool lasts = activity == POSTGRES_ACTIVE;
    const uint64_t sleep_ns = pause_ns + pause_ns / 4 + LONGER_NS;
    char sql[64];

    if (lasts)
        snprintf(sql, sizeof sql, SLEEP, (double)sleep_ns / NS_PER_S);
    else
        snprintf(sql, sizeof sql, "%s", round_of[at % STEPS].sql);
    probe->known[at] =
        (struct postgres_known){ libpq.PQbackendPID(probe->guard.connection), activity };
    if (!start(probe, sql) || (!lasts && !finish(probe)))
        return camp_fail(error, CAMP_E_IO, 0, "the server did not answer in time");
    return lasts ? read_in_sleep(probe, layout, at, pause_ns, error)
                 : postgres_layout_read_entry(layout, probe->known[at].pid, probe->entries[at],
                                              error);
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

/* Without names, only sessions that SQL did not see are without labels. */
static void probe_names(struct probe *probe, struct postgres_layout *layout)
{
    probe->until_ns = source_clock_ns(CLOCK_MONOTONIC) + NAMES_NS;
    probe->allowed = NAMES_BYTES;
    if (start(probe, NAMES) && finish(probe) && probe->numbers.user != 0)
        postgres_layout_resolve_names(layout, &probe->numbers, POSTGRES_APPLICATION,
                                      probe->entries[READINGS - 1]);
}

/* Closes the connection and waits for the end of its backend, because the server lists it as a
 * session until then. */
static void close_probe(struct probe *probe)
{
    const uint64_t until_ns = source_clock_ns(CLOCK_MONOTONIC) + END_NS;
    const int32_t pid = libpq.PQbackendPID(probe->guard.connection);
    struct camp_process backend;
    struct camp_task task;
    const bool is_found =
        pid > 0 && camp_process_identify(NULL, pid, &backend, sizeof backend, NULL) == CAMP_OK;

    /* camp may have been stopped during a statement. */
    postgres_guard_finish_answered(&probe->guard, until_ns);
    while (is_found &&
           camp_process_read(NULL, &backend, CAMP_TASK_START, &task, sizeof task, NULL) ==
               CAMP_OK &&
           source_wait(until_ns, CHECK_NS, probe->stop))
        ;
}

int postgres_layout_probe(struct postgres_layout *layout, struct postgres_names *databases,
                          struct postgres_names *roles, const char *conninfo,
                          const volatile sig_atomic_t *stop, struct camp_error *error)
{
    struct probe probe = { .stop = stop,
                           .until_ns = source_clock_ns(CLOCK_MONOTONIC) + LIMIT_NS,
                           .databases = databases,
                           .roles = roles };
    uint64_t pause_ns = 20 * (uint64_t)NS_PER_MS;
    int r = CAMP_E_FORMAT;

    if (!connect(&probe, conninfo))
        r = camp_fail(error, CAMP_E_IO, 0,
                      "a second connection, which resolves the states of sessions, failed");
    /* On a busy machine the server may start a statement only after the pause, so longer pauses are
     * tried. */
    receive_limit_watch(&probe.guard.limit);
    for (int i = 0; r == CAMP_E_FORMAT && i < 3; i++, pause_ns *= 5)
        r = probe_all(&probe, layout, pause_ns < 350 * NS_PER_MS ? pause_ns : 350 * NS_PER_MS,
                      error);
    if (r == CAMP_OK)
        probe_names(&probe, layout);
    close_probe(&probe);
    return r;
}
