/*
 * The kinds of things that `camp get` can read, such as CPUs and processes, and their counters from
 * the library's catalogue. A struct reading has the values of all counters of one thing.
 */
#pragma once

#include <camp/catalogue.h>
#include <camp/system.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIND_COUNT 9
#define NO_TIME SIZE_MAX

/* The words for a kind on the command line, in addition to camp_kind_name(). */
struct kind_words {
    enum camp_kind kind;
    /* "processes" in `camp list processes`. NULL if there is only one thing of this kind. */
    const char *plural;
    const char *any; /* "process.*", the operand for all processes */
    const char *one; /* "process.PID", the operand for one process */
    const char *help;
    size_t size; /* the size of the library's struct with the counters of this kind */
    /* The offset of time_ns in the library's struct. NO_TIME if the struct has no time. */
    size_t time_at;
    size_t name_at; /* the offset of the name of a device in the library's struct, otherwise 0 */
    bool has_total; /* without a subject, an operand means the total of this kind */
    bool is_one;    /* there is only one thing of this kind, so operands name no subject */
};

extern const struct kind_words kinds[KIND_COUNT];

const struct kind_words *kind_words(enum camp_kind kind);

/* Finds a kind by its name or plural. Returns NULL if there is none. */
const struct kind_words *kind_by_name(const char *name, size_t length);

/* The values of a subject at one point in time. */
struct reading {
    int32_t result; /* an enum camp_result; if it is below 0, no other member is set */
    uint32_t taskstat_known;
    uint64_t time_ns;
    uint64_t cpu_count;
    union {
        struct camp_cpu cpu;
        struct camp_memory memory;
        struct camp_network network;
        struct camp_disk disk;
        struct camp_task task;
        struct {
            struct camp_kernel kernel;
            struct camp_linux of_linux;
        };
        struct camp_system system;
    };
    struct camp_taskstat taskstat;
    struct camp_utilisation utilisation; /* without a previous reading, nothing is known */
};

#define COUNTERS_MAX 160

struct counters {
    struct camp_counter items[COUNTERS_MAX];
    size_t count;
};

/* Returns all counters of the catalogue that have a kind. A share (a counter in percent, such as
 * run_delay_percent) has the offset of the time from which it is computed, such as run_delay_ns. */
const struct counters *all_counters(void);

/* Returns whether a share is a member of struct camp_utilisation. Other shares are computed from
 * the growth of one time. */
bool counter_is_utilisation(const struct camp_counter *counter);

/* Finds a counter of a kind by its name. Returns NULL if there is none. */
const struct camp_counter *counter_by_name(enum camp_kind kind, const char *name);

/* Returns whether the counter is `count`, the number of CPUs, which is not a member of a struct
 * of the library. */
bool counter_is_cpu_count(const struct camp_counter *counter);

/* Returns whether each CPU has the counter, but not all CPUs together. */
bool counter_lacks_total(const struct camp_counter *counter);

const void *counter_place(const struct camp_counter *counter, const struct reading *reading);

bool counter_is_known(const struct camp_counter *counter, const struct reading *reading);

/* Calls camp_rate() with the width in bits of the kernel's counter. So a counter that wraps
 * still has a rate. */
int counter_rate(const struct camp_counter *counter, uint64_t before, uint64_t now,
                 uint64_t elapsed_ns, double *ret_per_second);
