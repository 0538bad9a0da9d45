#include "load_tools.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "program/command.h"

#include <errno.h>
#include <sys/prctl.h>

int load_last_cpu(void)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -1;
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
        if (CPU_ISSET((size_t)cpu, &allowed))
            return cpu;
    return -1;
}

static int stay_on(int cpu, struct camp_error *error)
{
    cpu_set_t only;

    CPU_ZERO(&only);
    if (cpu < CPU_SETSIZE)
        CPU_SET((size_t)cpu, &only);
    if (sched_setaffinity(0, sizeof only, &only) == 0)
        return CAMP_OK;
    return camp_fail(error, errno == EINVAL ? CAMP_E_GONE : CAMP_E_PERM, errno,
                     "CPU %d is unavailable: it is offline, absent or not allowed; "
                     "see /sys/devices/system/cpu/online",
                     cpu);
}

int load_place_set(struct load_place *saved, int cpu, struct camp_error *error)
{
    saved->policy = sched_getscheduler(0);
    saved->slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    saved->known = sched_getaffinity(0, sizeof saved->cpus, &saved->cpus) == 0 &&
                   sched_getparam(0, &saved->parameter) == 0;
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    return cpu >= 0 ? stay_on(cpu, error) : CAMP_OK;
}

void load_place_restore(const struct load_place *saved)
{
    if (!saved->known)
        return;
    sched_setscheduler(0, saved->policy, &saved->parameter);
    sched_setaffinity(0, sizeof saved->cpus, &saved->cpus);
    prctl(PR_SET_TIMERSLACK, saved->slack, 0, 0, 0);
}

/* Reading a CPU clock needs a system call, and so uses system time. The inner loop therefore reads
 * CLOCK_MONOTONIC, which needs none, until the missing time has passed. The CPU clock is then read
 * again, because the thread may have been preempted. */
void load_burn(clockid_t clock, uint64_t own_target, uint64_t least, uint64_t limit)
{
    for (;;) {
        uint64_t own = now_ns(clock), now = now_ns(CLOCK_MONOTONIC);
        uint64_t end = own < own_target ? now + (own_target - own) : now;

        end = end > least ? end : least;
        end = end < limit ? end : limit;
        if (now >= end || stop_requested)
            return;
        while (now_ns(CLOCK_MONOTONIC) < end)
            continue;
    }
}

struct rusage load_usage(int who)
{
    struct rusage usage = { .ru_nivcsw = 0 };

    getrusage(who, &usage);
    return usage;
}
