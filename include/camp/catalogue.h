/*
 * catalogue.h - what each number of camp.h is: its unit, how it is obtained, and where it comes
 * from.
 *
 * One row describes each field of the structs that camp.h fills, except `known`, `reserved` and
 * `result`. Further rows describe the percentages that `camp get` derives from two readings. `camp
 * get`, `camp list`, docs/counters.md and the named tuples of the Python module are made from these
 * rows. The contract of results, errors, sizes and arrays is that of camp.h.
 */
#ifndef CAMP_CATALOGUE_H
#define CAMP_CATALOGUE_H

#include <camp/camp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is counted. The values are bits, because a counter can belong to several kinds. */
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

/* Returns the name of one kind, such as "cpu" or "memory". NULL if there is no such kind. */
CAMP_PUBLIC const char *camp_kind_name(uint32_t kind);

/* The struct that holds a field. */
enum camp_record {
    CAMP_RECORD_NONE = 0, /* in no struct: calculated, or returned by a function of its own */
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
    CAMP_TYPE_FLAG = 3,       /* 32 bits, 1 or 0 */
    CAMP_TYPE_REAL = 4,       /* double */
    CAMP_TYPE_CHARACTER = 5,  /* char */
    CAMP_TYPE_TEXT = 6,       /* char[CAMP_NAME_SIZE] */
    CAMP_TYPE_CPU = 7,        /* int32_t, an id or CAMP_CPU_TOTAL */
    CAMP_TYPE_DISK_KIND = 8,  /* int32_t, enum camp_disk_kind */
    CAMP_TYPE_PROVENANCE = 9, /* int32_t, enum camp_provenance */
    CAMP_TYPE_ACCOUNTING = 10 /* int32_t, enum camp_accounting */
};

enum camp_nature {
    CAMP_NATURE_COUNTER = 0, /* it only grows, so it has a rate */
    CAMP_NATURE_LEVEL = 1,   /* it goes up and down */
    CAMP_NATURE_FACT = 2,    /* a name, a state, a setting or a moment */
    /* A percentage of an interval, calculated from two readings. Outside of struct camp_utilisation
     * it is the growth of a counter of the same kind, whose name ends in _ns instead of
     * _percent. */
    CAMP_NATURE_SHARE = 3
};

/* What decides the provenance of a number. camp_counter_provenance() applies the rule. */
enum camp_rule {
    CAMP_RULE_NONE = 0,    /* a fact, which is not measured */
    CAMP_RULE_COUNTED = 1, /* always measured */
    CAMP_RULE_TICK = 2,    /* sampled, unless this kernel measures user and system time */
    CAMP_RULE_IDLE = 3,    /* measured if the tick stops on idle CPUs, else like CAMP_RULE_TICK */
    CAMP_RULE_IRQ = 4,     /* measured with IRQ_TIME_ACCOUNTING, else like CAMP_RULE_TICK */
    CAMP_RULE_SAMPLED = 5, /* always sampled */
    CAMP_RULE_CPU = 6,     /* cpu_provenance of the reading */
    CAMP_RULE_SPLIT = 7,   /* split_provenance of the reading */
    CAMP_RULE_DERIVED = 8
};

struct camp_counter {
    uint32_t kinds;  /* enum camp_kind: the kinds that have this counter; 0 if it is no counter */
    int32_t record;  /* enum camp_record */
    int32_t type;    /* enum camp_type */
    int32_t nature;  /* enum camp_nature */
    int32_t rule;    /* enum camp_rule */
    uint32_t offset; /* offset of the field in the struct */
    /* The bit of the field in `known` of the struct; 0 if the field is always known. */
    uint32_t known;
    uint32_t wrap_unit_ns; /* unit of the kernel's counter if it has 32 bits; 0 if it has 64 bits */
    /* Name in the struct, such as "measured_busy_percent"; "" if it is in no struct. */
    const char *field;
    const char *name; /* name for `camp get`, such as "busy_percent"; mostly equal to `field` */
    const char *unit; /* "ns", "bytes", "percent", "hz", "count", "number", "yes/no", "text" */
    const char *resolution; /* the smallest step of the value, such as "1/100 s" */
    const char *source;     /* where the value comes from on Linux */
    const char *help;       /* one sentence of ASCII, without '|' */
    /* One or two capabilities, without which the value may be unknown; NULL if it needs none. */
    const char *capability;
    /* What else the value needs and the system may lack; NULL if there is nothing. */
    const char *needs;
};

/* Fills counters[capacity], `size` bytes apart, with all rows, in the order in which they are
 * shown. The rows of a struct are in the order of its named tuple. The texts of a row are constants
 * of the library. */
CAMP_PUBLIC int camp_catalogue_read(struct camp_counter *counters, size_t size, size_t capacity,
                                    size_t *ret_count, struct camp_error *error);

/* Returns how this kernel obtains a number (enum camp_provenance). `cpu` is the id of the CPU to
 * which the number belongs, or CAMP_CPU_TOTAL. `task` is the reading to which the number belongs,
 * or NULL for a general answer. */
CAMP_PUBLIC int camp_counter_provenance(const struct camp_counter *counter,
                                        const struct camp_kernel *kernel, int32_t cpu,
                                        const struct camp_task *task);

/* Returns the name of an enum camp_accounting: "tick", "gen", "native" or "microstates". NULL if it
 * is unknown. */
CAMP_PUBLIC const char *camp_accounting_name(int accounting);

#ifdef __cplusplus
}
#endif

#endif
