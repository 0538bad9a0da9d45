/*
 * The table of everything that can be read: each counter's name, unit, provenance, resolution,
 * source and meaning, stated once. `camp get`, `camp list` and docs/counters.md are made from it.
 *
 * A counter is found in a struct reading by its offset, and is known when its bit is set.
 */
#ifndef CAMP_COMMANDS_GET_COUNTERS_H
#define CAMP_COMMANDS_GET_COUNTERS_H

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is read. A counter belongs to one or more kinds: hence bits. */
enum counter_kind {
    KIND_CPU = 1u << 0,
    KIND_MEMORY = 1u << 1,
    KIND_NETWORK = 1u << 2,
    KIND_DISK = 1u << 3,
    KIND_PARTITION = 1u << 4,
    KIND_PROCESS = 1u << 5,
    KIND_THREAD = 1u << 6,
    KIND_KERNEL = 1u << 7
};

#define KIND_COUNT 8

struct kind_name {
    enum counter_kind kind;
    const char *name;    /* "process": before the first dot of `camp get` */
    const char *plural;  /* "processes": of `camp list`; NULL: there is but one */
    const char *any;     /* "process.*": every one of them, as `camp get` takes it */
    const char *one;     /* "process.PID": how one is named */
    const char *help;    /* a few words */
    bool has_total;      /* without a name in between: all together */
    bool is_one;         /* never has a name in between */
    size_t known_offset; /* of the word of known bits in struct reading */
};

extern const struct kind_name kinds[KIND_COUNT];

const struct kind_name *kind_named(enum counter_kind kind);

/* By its name or its plural; NULL when there is none. */
const struct kind_name *kind_by_name(const char *name, size_t length);

/* One thing at one point in time: what the library filled, side by side. */
struct reading {
    int32_t result; /* enum camp_result: below 0, nothing else is set */
    uint32_t always_known;
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

enum value_type {
    VALUE_U64,
    VALUE_U32,
    VALUE_I32,
    VALUE_FLAG, /* int32_t: 1 or 0 */
    VALUE_REAL,
    VALUE_CHARACTER,
    VALUE_TEXT,
    VALUE_ACCOUNTING /* int32_t: enum camp_accounting, shown as a word */
};

enum counter_nature {
    NATURE_COUNTER,    /* grows: has a rate */
    NATURE_LEVEL,      /* goes up and down */
    NATURE_FACT,       /* a name, a state, a setting */
    NATURE_SHARE,      /* derived: growth of the time at `offset`, in percent of wall time */
    NATURE_UTILISATION /* derived: a field of struct camp_utilisation */
};

/* What decides a counter's provenance. */
enum provenance_rule {
    RULE_NONE,    /* a fact: nothing was measured */
    RULE_COUNTED, /* measured, always */
    RULE_TICK,    /* sampled, unless this kernel measures user and system */
    RULE_IDLE,    /* measured where the tick stops in idle */
    RULE_IRQ,     /* as RULE_TICK, and measured with IRQ_TIME_ACCOUNTING */
    RULE_SAMPLED, /* sampled, always */
    RULE_CPU,     /* the reading says it: cpu_provenance */
    RULE_SPLIT,   /* the reading says it: split_provenance */
    RULE_DERIVED
};

struct counter {
    uint32_t kinds; /* enum counter_kind */
    const char *name;
    enum value_type type;
    enum counter_nature nature;
    enum provenance_rule rule;
    size_t offset;       /* in struct reading */
    uint32_t bit;        /* of `known`; 0: always known */
    size_t known_offset; /* 0: that of the kind */
    const char *resolution;
    const char *source;     /* on Linux */
    const char *help;       /* one sentence, in plain ASCII, without a '|' */
    const char *capability; /* or two: without, the value may be unknown; NULL: none */
    const char *needs;      /* what else may be missing; NULL: nothing */
    uint64_t wraps_in;      /* the kernel counts 32 bits of so large a unit; 0: 64 bits */
};

extern const struct counter counters[];
extern const size_t counter_count;

/* The counter of that kind and name; NULL when there is none. */
const struct counter *counter_by_name(enum counter_kind kind, const char *name);

/* "ns", "bytes", "percent", "hz": the last word of the name; "count", "yes/no" or "text". */
const char *counter_unit(const struct counter *counter);

/* Whether it takes two readings and the time between them. */
bool counter_needs_interval(const struct counter *counter);

/* How the number was obtained: enum camp_provenance. `reading` may be NULL (in general, here);
 * `cpu` is the CPU's id or CAMP_CPU_TOTAL. */
int counter_provenance(const struct counter *counter, const struct camp_kernel *kernel, int32_t cpu,
                       const struct reading *reading);

/* The rule in words, of any kernel: for the documentation. */
const char *counter_rule(const struct counter *counter);

bool counter_is_known(const struct counter *counter, enum counter_kind kind,
                      const struct reading *reading);

/* camp_rate() of one that is VALUE_U64, at the width at which the kernel counts it. */
int counter_rate(const struct counter *counter, uint64_t before, uint64_t now, uint64_t elapsed_ns,
                 double *ret_per_second);

/* The word for enum camp_accounting: "tick"; NULL: unknown. */
const char *accounting_name(int accounting);

/* Whether `cpu` is in a list such as "1-3,5". */
bool cpu_list_holds(const char *list, int32_t cpu);

#endif
