#include "postgres_attempt.h"

#include "counters/error.h"
#include "sources/remote/remote_thread.h"

#include <stdlib.h>
#include <string.h>

/* What the thread uses: no other thread may use it while the thread is at work. */
struct work {
    char *conninfo;
    uint64_t until_ns;
    struct postgres_guard guard;
    struct postgres_failure failure;
};

struct postgres_attempt {
    struct remote_thread *thread;
    struct work *work; /* freed by the thread */
    const volatile sig_atomic_t *stop;
    bool is_begun, is_done, is_late;
};

#define SLICE_NS (50 * (uint64_t)NS_PER_MS)
/* A login usually takes a few ms. A server that cannot send its answer writes an error into its
 * log.
 */
#define END_NS (500 * (uint64_t)NS_PER_MS)

static PostgresPollingStatusType poll_until(struct postgres_guard *guard, uint64_t until_ns)
{
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;

    if (libpq.PQstatus(guard->connection) == CONNECTION_BAD)
        return PGRES_POLLING_FAILED;
    while (status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING) {
        const short events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;

        if (now_ns(CLOCK_MONOTONIC) >= until_ns)
            break;
        if (remote_poll(libpq.PQsocket(guard->connection), events, until_ns) != 0)
            status = postgres_guard_poll(guard);
    }
    return status;
}

static int connect(void *context, struct camp_error *error)
{
    struct work *work = context;
    PostgresPollingStatusType status = PGRES_POLLING_FAILED;

    if (postgres_guard_start(&work->guard, work->conninfo))
        status = poll_until(&work->guard, work->until_ns);
    receive_limit_watch(NULL);
    if (status == PGRES_POLLING_OK && libpq.PQsetnonblocking(work->guard.connection, 1) == 0)
        return CAMP_OK;
    if (status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING)
        work->failure = (struct postgres_failure){ .what = "no answer to connecting" };
    else
        postgres_guard_failure(&work->guard, &work->failure);
    postgres_guard_finish(&work->guard);
    return camp_fail(error, CAMP_E_IO, 0, "not connected");
}

static void release(void *context)
{
    struct work *work = context;

    postgres_guard_finish(&work->guard);
    explicit_bzero(work->conninfo, strlen(work->conninfo));
    free(work->conninfo);
    free(work);
}

struct postgres_attempt *postgres_attempt_start(const char *conninfo, uint64_t limit_ns,
                                                const volatile sig_atomic_t *stop)
{
    struct postgres_attempt *attempt = calloc(1, sizeof *attempt);
    struct work *work = calloc(1, sizeof *work);
    char *copy = strdup(conninfo);

    if (attempt != NULL && work != NULL && copy != NULL) {
        *work = (struct work){ .conninfo = copy, .until_ns = now_ns(CLOCK_MONOTONIC) + limit_ns };
        attempt->work = work;
        attempt->stop = stop;
        attempt->thread = remote_thread_open(connect, release, work, NULL);
        if (attempt->thread != NULL)
            return attempt;
    }
    free(copy);
    free(work);
    free(attempt);
    return NULL;
}

static void run_until(struct postgres_attempt *attempt, uint64_t until_ns)
{
    struct camp_error ignored;

    attempt->is_begun = true;
    attempt->is_done = remote_thread_run(attempt->thread, until_ns, &ignored) != REMOTE_PENDING;
}

static bool is_stopped(const struct postgres_attempt *attempt)
{
    return attempt->stop != NULL && *attempt->stop;
}

bool postgres_attempt_wait(struct postgres_attempt *attempt, uint64_t until_ns)
{
    uint64_t slice_ends_ns;

    do {
        if (attempt->is_done || is_stopped(attempt))
            break;
        slice_ends_ns = now_ns(CLOCK_MONOTONIC) + SLICE_NS;
        run_until(attempt, slice_ends_ns < until_ns ? slice_ends_ns : until_ns);
    } while (now_ns(CLOCK_MONOTONIC) < until_ns);
    return attempt->is_done;
}

void postgres_attempt_is_late(struct postgres_attempt *attempt)
{
    attempt->is_late = true;
    remote_thread_lower_priority(attempt->thread);
}

bool postgres_attempt_result(struct postgres_attempt *attempt, struct postgres_guard *ret,
                             struct postgres_failure *failure)
{
    struct work *work = attempt->work;
    const bool is_connected = work->guard.connection != NULL;

    *ret = work->guard;
    ret->conninfo = NULL;
    *failure = work->failure;
    work->guard = (struct postgres_guard){ 0 };
    return is_connected;
}

void postgres_attempt_close(struct postgres_attempt *attempt)
{
    if (attempt == NULL)
        return;
    if (attempt->is_begun && !attempt->is_done && !attempt->is_late)
        run_until(attempt, now_ns(CLOCK_MONOTONIC) + END_NS);
    remote_thread_close(attempt->thread);
    free(attempt);
}
