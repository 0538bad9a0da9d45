/* What the two programs of the part many_cpus share: the CPU time of a call, and a line of JSON. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MANY_MOST_CPUS 2000
#define MANY_CALLS 10 /* in a block */

static const size_t many_counts[] = { 2, 64, 256, MANY_MOST_CPUS };
#define MANY_COUNTS (sizeof many_counts / sizeof many_counts[0])

static inline double many_thread_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static inline int many_compare(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;

    return (one > other) - (one < other);
}

/* Calls call() in `rounds` blocks, and prints the median of the CPU time of one call. Returns false
 * if a call failed. */
static inline bool many_measure(const char *what, size_t cpus, size_t rounds, bool (*call)(void))
{
    double *times = calloc(rounds, sizeof *times);
    bool succeeded = times != NULL && call(); /* The first fills caches. */

    for (size_t i = 0; succeeded && i < rounds; i++) {
        const double start = many_thread_us();

        for (int j = 0; j < MANY_CALLS; j++)
            succeeded &= call();
        times[i] = (many_thread_us() - start) / MANY_CALLS;
    }
    if (succeeded) {
        qsort(times, rounds, sizeof *times, many_compare);
        printf("{\"part\": \"many_cpus\", \"simulation\": true, \"what\": \"%s\", \"cpus\": %zu, "
               "\"us\": %.3f}\n",
               what, cpus, times[rounds / 2]);
        fflush(stdout);
    } else {
        fprintf(stderr, "many_cpus: %s of %zu CPUs failed\n", what, cpus);
    }
    free(times);
    return succeeded;
}
