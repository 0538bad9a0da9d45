/*
 * Measures several participants that answer the same question. Their blocks of calls alternate, so
 * that a change during the benchmark, such as the CPU frequency or other load, affects all of them.
 *
 * A block has as many calls as take 60 us. In a round each participant runs one block. The order of
 * the participants is reversed in every second round. The result is the median of the *ratio* of
 * two participants in the same round. The median times in microseconds are less reliable than the
 * ratios.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PARTICIPANTS_MAX 8

/* Either `call` is set, or `remote` for a participant in another process. */
struct participant {
    const char *who; /* "camp", "floor", "libproc2" ... */
    const char *what;
    int (*call)(void);  /* returns 0 on success */
    const char *remote; /* name of the loop in psutil_calls.py */
};

enum target {
    TARGET_NONE,
    TARGET_RATIO, /* camp's time is at most `limit` times the time of the floor */
    TARGET_US     /* a call of camp takes at most `limit` microseconds */
};

/* One question. participants[0] is camp, participants[1] is the floor, and the rest are
 * alternatives. The list ends where `who` is NULL. */
struct comparison {
    const char *name; /* key in the JSON */
    const char *title;
    enum target target;
    double limit;
    size_t units; /* number of answers in one call; the times are for one answer */
    struct participant participants[PARTICIPANTS_MAX];
};

/* CPU time of this thread. Unlike wall time, it excludes the time of other tasks. */
uint64_t thread_ns(void);

/* Sorts values[count] and returns the median. */
double median(double *values, size_t count);

/* Runs a comparison for a number of rounds and prints one line of JSON. A participant that fails is
 * printed as "failed". Returns 0, or -1 if camp or the floor failed. */
int compare(const struct comparison *comparison, size_t rounds, FILE *output);

/* Returns the CPU time of `repetitions` of a psutil loop, or 0 if psutil is missing or failed. */
uint64_t psutil_block_ns(const char *loop, size_t repetitions);

/* Starts Python with psutil, which reads the process `pid`. Returns -1 if psutil is missing. */
int psutil_start(const char *script, int32_t pid);
void psutil_stop(void);
