/*
 * What `camp get` can read: kinds of things, their counters (of the library's catalogue), and one
 * reading, in which each counter has its place.
 */
#pragma once

#include <camp/catalogue.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIND_COUNT 8
#define NO_TIME SIZE_MAX

/* How a kind is written on the command line; its name is camp_kind_name()'s. */
struct kind_words {
    enum camp_kind kind;
    const char *plural; /* "processes": of `camp list`; NULL: there is only one */
    const char *any;    /* "process.*": the operand for all of them */
    const char *one;    /* "process.PID": the operand for one of them */
    const char *help;   /* a few words */
    size_t size;        /* of the struct with its counters, a member of struct reading */
    size_t time_at;     /* offset of that struct's time_ns; NO_TIME: it has none */
    bool has_total;     /* an operand without a subject is the total */
    bool is_one;        /* there is only one: operands name no subject */
};

extern const struct kind_words kinds[KIND_COUNT];

const struct kind_words *kind_words(enum camp_kind kind);

/* Finds a kind by its name or its plural; NULL when there is none. */
const struct kind_words *kind_by_name(const char *name, size_t length);

/* A subject at one point in time, as the structs of the library. */
struct reading {
    int32_t result;          /* enum camp_result: below 0, nothing else is set */
    uint32_t taskstat_known; /* 1: taskstat was read */
    uint64_t time_ns;
    uint64_t cpu_count;
    union {
        struct camp_cpu cpu;
        struct camp_memory memory;
        struct camp_network network;
        struct camp_disk disk;
        struct camp_task task;
        struct camp_kernel kernel;
    };
    struct camp_taskstat taskstat;
    uint32_t utilisation_known;          /* the columns known in both readings; 0: not derived */
    struct camp_utilisation utilisation; /* of a CPU, since the reading before */
};

#define COUNTERS_MAX 128

struct counters {
    struct camp_counter items[COUNTERS_MAX];
    size_t count;
};

/* The rows of the catalogue that are counters of a kind. A share has the offset of the time from
 * whose growth it is computed. */
const struct counters *all_counters(void);

/* Is the share a member of struct camp_utilisation, not computed from the growth of one time? */
bool counter_is_utilisation(const struct camp_counter *counter);

/* The counter of that kind and name; NULL when there is none. */
const struct camp_counter *counter_by_name(enum camp_kind kind, const char *name);

/* Is it `count`, the number of CPUs, which has a call of its own in the library? */
bool counter_is_cpu_count(const struct camp_counter *counter);

const void *counter_place(const struct camp_counter *counter, const struct reading *reading);

bool counter_is_known(const struct camp_counter *counter, const struct reading *reading);

/* camp_rate() of a time or count, at the width at which the kernel counts it. */
int counter_rate(const struct camp_counter *counter, uint64_t before, uint64_t now,
                 uint64_t elapsed_ns, double *ret_per_second);
