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
};

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
        attempt->thread = remote_thread_open(connect, release, work, stop);
        if (attempt->thread != NULL)
            return attempt;
    }
    free(copy);
    free(work);
    free(attempt);
    return NULL;
}

bool postgres_attempt_wait(struct postgres_attempt *attempt, uint64_t until_ns)
{
    struct camp_error ignored;

    return remote_thread_run(attempt->thread, until_ns, &ignored) != REMOTE_PENDING;
}

void postgres_attempt_is_late(struct postgres_attempt *attempt)
{
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
    remote_thread_close(attempt->thread);
    free(attempt);
}
