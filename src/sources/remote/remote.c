#include "remote.h"

#include <arpa/inet.h>
#include <sys/socket.h>

/* Longest wait between two checks of *stop. It is short, because a signal that sets *stop just
 * before the wait does not interrupt the wait. */
#define SLICE_NS (50 * (uint64_t)NS_PER_MS)

/* Pauses before camp connects again. After failures that may pass, the pauses are 0, 10 ms, 20 ms,
 * 40 ms and so on, up to 1 s. After any other failure the pause is 10 s. */
#define FIRST_PAUSE_NS (10 * (uint64_t)NS_PER_MS)
#define LONGEST_PAUSE_NS (uint64_t) NS_PER_S
#define LASTING_PAUSE_NS (10 * (uint64_t)NS_PER_S)

void remote_busy(struct remote *remote, uint64_t limit_ns)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC);

    remote->state = REMOTE_BUSY;
    remote->step_ends_ns = limit_ns < UINT64_MAX - now ? now + limit_ns : UINT64_MAX;
}

void remote_ready(struct remote *remote)
{
    remote->state = REMOTE_READY;
}

void remote_down(struct remote *remote, bool may_pass)
{
    const unsigned before = remote->failed_in_a_row++;
    uint64_t pause_ns = 0;

    if (!may_pass)
        pause_ns = LASTING_PAUSE_NS;
    else if (before > 0)
        pause_ns = before < 8 ? FIRST_PAUSE_NS << (before - 1) : LONGEST_PAUSE_NS;
    remote->state = REMOTE_DOWN;
    remote->not_before_ns = now_ns(CLOCK_MONOTONIC) + pause_ns;
}

void remote_postpone(struct remote *remote, uint64_t pause_ns)
{
    const uint64_t earliest_ns = now_ns(CLOCK_MONOTONIC) + pause_ns;

    remote->state = REMOTE_DOWN;
    if (remote->not_before_ns < earliest_ns)
        remote->not_before_ns = earliest_ns;
}

short remote_poll(int fd, short events, uint64_t until_ns)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC), left_ns = until_ns > now ? until_ns - now : 0;
    const struct timespec timeout = { (time_t)(left_ns / NS_PER_S), (long)(left_ns % NS_PER_S) };
    struct pollfd awaited = { fd, events, 0 };

    return ppoll(&awaited, 1, &timeout, NULL) > 0 ? awaited.revents : 0;
}

bool remote_is_local(int fd)
{
    struct sockaddr_storage here = { 0 };
    socklen_t size = sizeof here;

    if (getsockname(fd, (struct sockaddr *)&here, &size) != 0)
        return false;
    if (here.ss_family == AF_INET)
        return ntohl(((struct sockaddr_in *)&here)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    if (here.ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)&here)->sin6_addr) != 0;
    return here.ss_family == AF_UNIX;
}

static uint64_t earliest(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

static int step(struct remote *remote, uint64_t until_ns, struct camp_error *error)
{
    const struct remote_driver *driver = remote->driver;
    const bool is_busy = remote->state == REMOTE_BUSY;
    const uint64_t now = now_ns(CLOCK_MONOTONIC);
    const uint64_t ends_ns = is_busy ? remote->step_ends_ns : remote->not_before_ns;
    const uint64_t slice_ends_ns = earliest(now + SLICE_NS, earliest(ends_ns, until_ns));
    short events;
    int r = CAMP_OK;

    if (!is_busy && now >= ends_ns)
        return driver->connect(remote->context, error);
    events =
        is_busy ? driver->wait(remote->context, slice_ends_ns) : remote_poll(-1, 0, slice_ends_ns);
    if (events != 0)
        r = driver->go_on(remote->context, events, error);
    if (r != CAMP_OK || remote->state != (is_busy ? REMOTE_BUSY : REMOTE_DOWN))
        return r;
    /* Events do not extend a deadline, because a server may send a byte now and then. */
    if (is_busy && now >= ends_ns && remote->step_ends_ns == ends_ns)
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
        remote->failed_in_a_row = 0;
    return r;
}
