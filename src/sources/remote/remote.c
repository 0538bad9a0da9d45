#include "remote.h"

#define SLICE_NS                                                                                   \
    (100 * (uint64_t)NS_PER_MS) /* a signal may come between the check of *stop and poll */

void remote_busy(struct remote *remote, uint64_t limit_ns)
{
    remote->state = REMOTE_BUSY;
    remote->step_ends_ns = now_ns(CLOCK_MONOTONIC) + limit_ns;
}

void remote_ready(struct remote *remote)
{
    remote->state = REMOTE_READY;
}

void remote_down(struct remote *remote, bool may_pass)
{
    remote->state = REMOTE_DOWN;
    retry_failed(&remote->retry, may_pass);
}

/* What of `awaited` happened before `until_ns`, in one slice; 0: nothing. */
static short await(struct pollfd awaited, uint64_t now, uint64_t until_ns)
{
    const uint64_t end_ns = until_ns < now + SLICE_NS ? until_ns : now + SLICE_NS;
    const uint64_t left_ns = end_ns > now ? end_ns - now : 0;
    const struct timespec timeout = { (time_t)(left_ns / NS_PER_S), (long)(left_ns % NS_PER_S) };

    return ppoll(&awaited, 1, &timeout, NULL) > 0 ? awaited.revents : 0;
}

/* One step of a connection that is not READY. */
static int step(struct remote *remote, uint64_t until_ns, struct camp_error *error)
{
    const struct remote_driver *driver = remote->driver;
    const bool is_busy = remote->state == REMOTE_BUSY;
    const uint64_t now = now_ns(CLOCK_MONOTONIC);
    const uint64_t ends_ns = is_busy ? remote->step_ends_ns : remote->retry.not_before_ns;
    struct pollfd awaited = { .fd = -1 };
    short events;

    if (!is_busy && now >= ends_ns)
        return driver->connect(remote->context, error);
    if (is_busy)
        awaited = driver->awaited(remote->context);
    events = await(awaited, now, ends_ns < until_ns ? ends_ns : until_ns);
    if (events != 0)
        return driver->go_on(remote->context, events, error);
    if (is_busy && now >= ends_ns)
        return driver->fail_late(remote->context, error);
    return now >= until_ns ? REMOTE_PENDING : CAMP_OK;
}

int remote_run(struct remote *remote, uint64_t until_ns, struct camp_error *error)
{
    int r = CAMP_OK;

    while (r == CAMP_OK) {
        if (remote->stop != NULL && *remote->stop)
            return REMOTE_PENDING;
        if (remote->state != REMOTE_READY)
            r = step(remote, until_ns, error);
        else if (!remote->driver->is_answered(remote->context))
            r = remote->driver->ask(remote->context, error);
        else
            break;
    }
    if (r == CAMP_OK)
        remote->retry = (struct retry){ 0 };
    return r;
}
