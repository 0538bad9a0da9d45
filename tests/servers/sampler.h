/* What the samplers share that are witnesses of what sessions wait for: their clock, and whether a
 * process sleeps. */
#pragma once

#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Calls `sample` `hz` times a second until standard input ends or `sample` fails. Returns false if
 * it failed. */
static inline bool sample_each(long hz, bool (*sample)(void *context), void *context)
{
    struct pollfd input = { 0, POLLIN, 0 };
    struct timespec next;

    /* With this right a sample does not wait until another task falls asleep. */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (poll(&input, 1, 0) == 0) {
        if (!sample(context))
            return false;
        next.tv_nsec += 1000000000 / hz;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    return true;
}

/* Returns true if the state of the process in /proc/PID/stat is S. */
static inline bool is_asleep(const char *pid)
{
    char path[64], line[512] = "";
    const char *end;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    fclose(file);
    end = strrchr(line, ')'); /* The name before it may have any character. */
    return end != NULL && strncmp(end, ") S", 3) == 0;
}
