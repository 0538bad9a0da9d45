/*
 * catalogue.h - what each number of camp.h is: its unit, how it is obtained, and where it comes
 * from.
 *
 * One row describes each field of the structs that camp.h fills (all but `known`, `reserved` and
 * `result`), and each percentage that `camp get` derives from two readings. `camp get`, `camp
 * list`, docs/counters.md and the named tuples of the Python module are made from it. The contract
 * is that of camp.h.
 */
#ifndef CAMP_CATALOGUE_H
#define CAMP_CATALOGUE_H

#include <camp/camp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is counted. A counter belongs to one or more kinds: hence bits. */
enum camp_kind {
    CAMP_KIND_CPU = 1u << 0,
    CAMP_KIND_MEMORY = 1u << 1,
    CAMP_KIND_NETWORK = 1u << 2,
    CAMP_KIND_DISK = 1u << 3,
    CAMP_KIND_PARTITION = 1u << 4,
    CAMP_KIND_PROCESS = 1u << 5,
    CAMP_KIND_THREAD = 1u << 6,
    CAMP_KIND_KERNEL = 1u << 7
};

/* Returns the name of one kind: "cpu", "memory", ... NULL: no such kind. */
CAMP_PUBLIC const char *camp_kind_name(uint32_t kind);

/* The struct that holds a field. */
enum camp_record {
    CAMP_RECORD_NONE = 0, /* none: calculated, or returned by a function of its own */
    CAMP_RECORD_CPU = 1,
    CAMP_RECORD_MEMORY = 2,
    CAMP_RECORD_NETWORK = 3,
    CAMP_RECORD_DISK = 4,
    CAMP_RECORD_TASK = 5,
    CAMP_RECORD_TASKSTAT = 6,
    CAMP_RECORD_TASK_EXIT = 7,
    CAMP_RECORD_KERNEL = 8,
    CAMP_RECORD_UTILISATION = 9,
    CAMP_RECORD_TASK_UTILISATION = 10
};

/* How a field is stored. */
enum camp_type {
    CAMP_TYPE_U64 = 0,
    CAMP_TYPE_U32 = 1,
    CAMP_TYPE_I32 = 2,
    CAMP_TYPE_FLAG = 3,       /* 32 bits: 1 or 0 */
    CAMP_TYPE_REAL = 4,       /* double */
    CAMP_TYPE_CHARACTER = 5,  /* char */
    CAMP_TYPE_TEXT = 6,       /* char[CAMP_NAME_SIZE] */
    CAMP_TYPE_CPU = 7,        /* int32_t: an id, or CAMP_CPU_TOTAL */
    CAMP_TYPE_DISK_KIND = 8,  /* int32_t: enum camp_disk_kind */
    CAMP_TYPE_PROVENANCE = 9, /* int32_t: enum camp_provenance */
    CAMP_TYPE_ACCOUNTING = 10 /* int32_t: enum camp_accounting */
};

enum camp_nature {
    CAMP_NATURE_COUNTER = 0, /* only grows, so it has a rate */
    CAMP_NATURE_LEVEL = 1,   /* goes up and down */
    CAMP_NATURE_FACT = 2,    /* a name, a state, a setting, a moment */
    CAMP_NATURE_SHARE = 3 /* percent of an interval, so it takes two readings. In no struct, or in
                           * struct camp_task_utilisation: the growth of the counter of the same
                           * kind whose name ends in _ns instead of _percent */
};

/* What decides the provenance of a number: camp_counter_provenance() applies it. */
enum camp_rule {
    CAMP_RULE_NONE = 0,    /* a fact: nothing was measured */
    CAMP_RULE_COUNTED = 1, /* measured, always */
    CAMP_RULE_TICK = 2,    /* sampled, unless this kernel measures user and system time */
    CAMP_RULE_IDLE = 3,    /* measured where the tick stops in idle, else as CAMP_RULE_TICK */
    CAMP_RULE_IRQ = 4,     /* measured with IRQ_TIME_ACCOUNTING, else as CAMP_RULE_TICK */
    CAMP_RULE_SAMPLED = 5, /* sampled, always */
    CAMP_RULE_CPU = 6,     /* the reading has it: cpu_provenance */
    CAMP_RULE_SPLIT = 7,   /* the reading has it: split_provenance */
    CAMP_RULE_DERIVED = 8
};

struct camp_counter {
    uint32_t kinds;        /* enum camp_kind: those that have this counter; 0: no counter */
    int32_t record;        /* enum camp_record */
    int32_t type;          /* enum camp_type */
    int32_t nature;        /* enum camp_nature */
    int32_t rule;          /* enum camp_rule */
    uint32_t offset;       /* offset of the field in the struct */
    uint32_t known;        /* the field's bit in `known` of the struct; 0: always known */
    uint32_t wrap_unit_ns; /* unit of the kernel's counter if that has 32 bits; 0: 64 bits */
    const char *field;     /* name in the struct: "measured_busy_percent"; "": it is in none */
    const char *name;      /* name for `camp get`: "busy_percent"; mostly the same */
    const char *unit;      /* "ns", "bytes", "percent", "hz", "count", "number", "yes/no", "text" */
    const char *resolution; /* the smallest step of the value: "1/100 s" */
    const char *source;     /* where it comes from on Linux */
    const char *help;       /* one sentence of ASCII, without '|' */
    const char *capability; /* one or two, without which the value may be unknown; NULL: none */
    const char *needs;      /* what else may be missing; NULL: nothing */
};

/* Fills counters[capacity], `size` bytes apart, with all rows, in the order in which they are
 * shown; the rows of a struct are in the order of its named tuple. Their texts are constants of the
 * library. */
CAMP_PUBLIC int camp_catalogue_read(struct camp_counter *counters, size_t size, size_t capacity,
                                    size_t *ret_count, struct camp_error *error);

/* Returns how this kernel obtains a number: enum camp_provenance. `cpu`: the id of the CPU to which
 * the number belongs, or CAMP_CPU_TOTAL. `task`: the reading to which it belongs; NULL: in general.
 */
CAMP_PUBLIC int camp_counter_provenance(const struct camp_counter *counter,
                                        const struct camp_kernel *kernel, int32_t cpu,
                                        const struct camp_task *task);

/* Returns the name of an enum camp_accounting: "tick", "gen", "native", "microstates". NULL:
 * unknown. */
CAMP_PUBLIC const char *camp_accounting_name(int accounting);

#ifdef __cplusplus
}
#endif

#endif
