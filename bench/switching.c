#include "switching.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int pin(size_t cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

static int pass(int from, int to)
{
    char byte = 0;

    return read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1 ? 0 : -1;
}

void answer(int from, int to)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (pass(from, to) == 0)
        continue;
    _exit(0);
}

int round_trips(int to, int from, size_t count)
{
    char byte = 0;

    if (write(to, &byte, 1) != 1)
        return -1;
    for (size_t i = 1; i < count; i++) {
        if (pass(from, to) != 0)
            return -1;
    }
    return read(from, &byte, 1) == 1 ? 0 : -1;
}
