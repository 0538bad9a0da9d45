/*
 * Side by side: the same question put to several participants in turn, block by block, so that
 * what changes while the bench runs (the clock of the machine, its other load) changes for all.
 *
 * A block is as many calls as fill 60 us. A round is one block of each participant, forwards and
 * then backwards the next time. The figure is the median over the rounds of the *ratio* within one
 * round; the times in microseconds are medians too, and are worth less: compare ratios.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PARTICIPANTS_MAX 8

/* A participant. Either `call` (in this process) or `remote` (a loop of psutil_calls.py). */
struct participant {
    const char *who;    /* "camp", "floor", "libproc2" ... */
    const char *what;   /* what it does, in a few words */
    int (*call)(void);  /* 0, or anything else when it failed */
    const char *remote; /* name of the loop in psutil_calls.py */
};

enum target {
    TARGET_NONE,  /* shown, without a limit */
    TARGET_RATIO, /* the first participant <= limit x the second */
    TARGET_US     /* the first participant <= limit microseconds a call */
};

/* One question. participants[0] is camp, [1] its floor; then peers. Ends where `who` is NULL. */
struct comparison {
    const char *name;  /* key in the JSON */
    const char *title; /* for a person */
    enum target target;
    double limit;
    size_t units; /* answers in one call (a batch), or 1: times are for one of them */
    struct participant participants[PARTICIPANTS_MAX];
};

/* CPU time of this thread. Unlike wall time, it excludes the time of other tasks. */
uint64_t thread_ns(void);

/* The middle one; sorts values[count]. */
double median(double *values, size_t count);

/* Runs a comparison for a number of rounds and prints one line of JSON. A participant that fails is
 * printed with "failed", and left out of the rounds. 0, or -1 when camp or its floor failed. */
int compare(const struct comparison *comparison, size_t rounds, FILE *output);

/* CPU time of `repetitions` of a psutil loop, or 0 when psutil is missing or failed. */
uint64_t psutil_block_ns(const char *loop, size_t repetitions);

/* Starts Python with psutil for the process `pid`. 0, or -1: not installed. */
int psutil_start(const char *script, int32_t pid);
void psutil_stop(void);
