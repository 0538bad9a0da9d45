/*
 * Puts the same question to several participants in turn, block by block, so that what changes
 * during the benchmark (the clock of the machine, its other load) changes for all.
 *
 * A block is as many calls as fill 60 us. In a round each participant has one block; the order is
 * reversed in every second round. The result is the median over the rounds of the *ratio* within
 * one round. The times in microseconds are medians too, but less reliable: compare ratios.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PARTICIPANTS_MAX 8

/* A participant. Either `call` (in this process) or `remote` (a loop of psutil_calls.py). */
struct participant {
    const char *who;    /* "camp", "floor", "libproc2" ... */
    const char *what;   /* what the participant does, in a few words */
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
    const char *title; /* the question, for a person */
    enum target target;
    double limit;
    size_t units; /* answers in one call (1, or the size of a batch): times are for one answer */
    struct participant participants[PARTICIPANTS_MAX];
};

/* CPU time of this thread. Unlike wall time, it excludes the time of other tasks. */
uint64_t thread_ns(void);

/* Returns the median; sorts values[count]. */
double median(double *values, size_t count);

/* Runs a comparison for a number of rounds and prints one line of JSON. A participant that fails is
 * printed with "failed", and left out of the rounds. 0, or -1 when camp or its floor failed. */
int compare(const struct comparison *comparison, size_t rounds, FILE *output);

/* Returns the CPU time of `repetitions` of a psutil loop, or 0 when psutil is missing or failed. */
uint64_t psutil_block_ns(const char *loop, size_t repetitions);

/* Starts Python with psutil, which asks about the process `pid`. Returns 0, or -1: psutil is not
 * installed. */
int psutil_start(const char *script, int32_t pid);
void psutil_stop(void);
