/*
 * catalogue.h - what each number of camp.h and system.h is: its unit, how it is obtained, and where
 * it comes from.
 *
 * The catalogue has a row for each field of the structs that they fill (except `known`,
 * `reserved` and `result`), and for each percentage that `camp get` derives from two readings.
 * `camp get`, `camp list`, docs/counters.md and the named tuples of the Python module are made from
 * these rows. For results, errors, sizes and arrays see camp.h.
 */
#ifndef CAMP_CATALOGUE_H
#define CAMP_CATALOGUE_H

#include <camp/camp.h>
#include <camp/linux.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a counter is about. The values are bits, because a counter can belong to several kinds. */
enum camp_kind {
    CAMP_KIND_CPU = 1u << 0,
    CAMP_KIND_MEMORY = 1u << 1,
    CAMP_KIND_NETWORK = 1u << 2,
    CAMP_KIND_DISK = 1u << 3,
    CAMP_KIND_PARTITION = 1u << 4,
    CAMP_KIND_PROCESS = 1u << 5,
    CAMP_KIND_THREAD = 1u << 6,
    CAMP_KIND_KERNEL = 1u << 7,
    CAMP_KIND_SYSTEM = 1u << 8
};

/* Returns the name of one kind, such as "cpu", or NULL if there is no such kind. */
CAMP_PUBLIC const char *camp_kind_name(uint32_t kind);

/* The struct that has a field: CAMP_RECORD_CPU is struct camp_cpu. */
enum camp_record {
    CAMP_RECORD_NONE =
        0, /* in no struct: calculated, or returned by a function such as camp_fork_count() */
    CAMP_RECORD_CPU = 1,
    CAMP_RECORD_MEMORY = 2,
    CAMP_RECORD_NETWORK = 3,
    CAMP_RECORD_DISK = 4,
    CAMP_RECORD_TASK = 5,
    CAMP_RECORD_TASKSTAT = 6,
    CAMP_RECORD_TASK_EXIT = 7,
    CAMP_RECORD_KERNEL = 8,
    CAMP_RECORD_UTILISATION = 9,
    CAMP_RECORD_TASK_UTILISATION = 10,
    CAMP_RECORD_LINUX = 11,
    CAMP_RECORD_SYSTEM = 12 /* struct camp_system of system.h */
};

/* How a field is stored. */
enum camp_type {
    CAMP_TYPE_U64 = 0,
    CAMP_TYPE_U32 = 1,
    CAMP_TYPE_I32 = 2,
    CAMP_TYPE_FLAG = 3,       /* 32 bits, 1 or 0 */
    CAMP_TYPE_REAL = 4,       /* double */
    CAMP_TYPE_CHARACTER = 5,  /* char */
    CAMP_TYPE_TEXT = 6,       /* an array of char that ends in NUL */
    CAMP_TYPE_CPU = 7,        /* int32_t, an id or CAMP_CPU_TOTAL */
    CAMP_TYPE_DISK_KIND = 8,  /* int32_t, enum camp_disk_kind */
    CAMP_TYPE_PROVENANCE = 9, /* int32_t, enum camp_provenance */
    CAMP_TYPE_ACCOUNTING = 10 /* int32_t, enum camp_accounting */
};

enum camp_nature {
    CAMP_NATURE_COUNTER = 0, /* only grows, so it has a rate */
    CAMP_NATURE_LEVEL = 1,   /* goes up and down */
    CAMP_NATURE_FACT = 2,    /* a name, a state, a setting or a moment */
    /* A percentage of an interval, calculated from two readings. Some are fields of struct
     * camp_utilisation. Any other, X_percent, is the growth of the counter X_ns as a percentage of
     * the interval. */
    CAMP_NATURE_SHARE = 3
};

/* How camp_counter_provenance() finds the provenance of a number. */
enum camp_rule {
    CAMP_RULE_NONE = 0,    /* always unknown: a fact is not measured */
    CAMP_RULE_COUNTED = 1, /* always measured */
    CAMP_RULE_TICK = 2,    /* sampled, unless this kernel measures user and system time */
    /* Measured if the tick stops on idle CPUs and short idle periods are measured, too. If the tick
     * never stops, or short idle periods are sampled, like CAMP_RULE_TICK; otherwise unknown. */
    CAMP_RULE_IDLE = 3,
    CAMP_RULE_IRQ = 4,     /* measured with IRQ_TIME_ACCOUNTING, else like CAMP_RULE_TICK */
    CAMP_RULE_SAMPLED = 5, /* always sampled */
    CAMP_RULE_CPU = 6,     /* cpu_provenance of struct camp_task */
    CAMP_RULE_SPLIT = 7,   /* split_provenance of struct camp_task */
    CAMP_RULE_DERIVED = 8,
    CAMP_RULE_CHILDREN = 9 /* children_ns: scaled on Linux, sampled on illumos */
};

struct camp_counter {
    uint32_t kinds;  /* enum camp_kind; 0 if `camp get` does not show it on this system */
    int32_t record;  /* enum camp_record */
    int32_t type;    /* enum camp_type */
    int32_t nature;  /* enum camp_nature */
    int32_t rule;    /* enum camp_rule */
    uint32_t offset; /* offset of the field in the struct */
    /* Bit of the field in the struct's `known`; 0 if the field is always known. */
    uint32_t known;
    uint32_t wrap_unit_ns; /* 1000000 if the kernel prints a 32-bit number of ms; 0 for 64 bits */
    /* Name of the field, such as "measured_busy_percent"; "" if it is in no struct. */
    const char *field;
    const char *name; /* name for `camp get`, such as "busy_percent"; usually equal to `field` */
    const char *unit; /* "ns", "bytes", "percent", "hz", "count", "number", "yes/no", "text" */
    const char *resolution; /* the smallest step of the value, such as "1/100 s" */
    /* Where the value comes from on the system of the library; "" if this system does not count it,
     * and for members that `camp get` does not show. */
    const char *source;
    const char *help; /* one sentence of ASCII, without '|' */
    /* Capabilities without which the value may be unknown; NULL if it needs none. */
    const char *capability;
    /* Anything else that the value needs and the system may lack, or NULL. */
    const char *needs;
};

/* Reads the catalogue. Fills counters[capacity] with all rows, in the order in which `camp list`
 * shows them. The texts are constants of the library.
 * Errors: CAMP_E_INVALID, CAMP_E_SPACE. */
CAMP_PUBLIC int camp_catalogue_read(struct camp_counter *counters, size_t size, size_t capacity,
                                    size_t *ret_count, struct camp_error *error);

/* Returns how `kernel` obtains the value of a counter (enum camp_provenance). For a counter of a
 * CPU, `cpu` is its id or CAMP_CPU_TOTAL. For a counter of a process or thread, `task` is the
 * reading with the value; if `task` is NULL, the usual provenance is returned. */
CAMP_PUBLIC int camp_counter_provenance(const struct camp_counter *counter,
                                        const struct camp_kernel *kernel, int32_t cpu,
                                        const struct camp_task *task);

/* Returns "tick", "gen", "native" or "microstates" for an enum camp_accounting, or NULL if it is
 * unknown. */
CAMP_PUBLIC const char *camp_accounting_name(int accounting);

#ifdef __cplusplus
}
#endif

#endif
