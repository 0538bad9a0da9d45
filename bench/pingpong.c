/*
 * Measures the cost of a context switch and of a system call. Two processes, pinned to one CPU,
 * pass a byte back and forth through two pipes. Then one of the processes calls getppid(2) many
 * times.
 *
 *   pingpong CPU ROUND_TRIPS CALLS
 *
 * Prints {"switch_ns", "call_ns"}, the medians of RUNS measurements of CPU time. switch_ns is the
 * CPU time of both processes, because the kernel charges a switch to only one of them. A round trip
 * has two switches, each with a wakeup, and four system calls.
 */
#include "switching.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS 7

static int there[2], back[2];

static double switch_ns(size_t count, clockid_t others_clock)
{
    uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + clock_ns(others_clock);

    if (round_trips(there[1], back[0], count) != 0)
        return -1;
    return (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) + clock_ns(others_clock) - before) /
           (2 * (double)count);
}

static double call_ns(size_t count)
{
    uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    for (size_t i = 0; i < count; i++)
        syscall(SYS_getppid);
    return (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before) / (double)count;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static double median(double *ns)
{
    qsort(ns, RUNS, sizeof *ns, ascending);
    return ns[RUNS / 2];
}

int main(int argc, char **argv)
{
    clockid_t others_clock;
    double switches_ns[RUNS], calls_ns[RUNS];
    size_t trips, calls;
    pid_t other;

    if (argc < 4) {
        fprintf(stderr, "pingpong: which CPU, how many round trips, how many calls?\n");
        return 2;
    }
    if (pin(strtoul(argv[1], NULL, 10)) != 0 || pipe(there) != 0 || pipe(back) != 0) {
        perror("pingpong");
        return 1;
    }
    other = fork();
    if (other == 0)
        answer(there[0], back[1]);
    if (other < 0 || clock_getcpuclockid(other, &others_clock) != 0) {
        perror("pingpong");
        return 1;
    }
    trips = strtoul(argv[2], NULL, 10);
    calls = strtoul(argv[3], NULL, 10);
    for (int i = 0; i < RUNS; i++) {
        switches_ns[i] = switch_ns(trips, others_clock);
        calls_ns[i] = call_ns(calls);
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    printf("{\"switch_ns\": %.2f, \"call_ns\": %.2f}\n", median(switches_ns), median(calls_ns));
    return switches_ns[0] > 0 ? 0 : 1;
}
