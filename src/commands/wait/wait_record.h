/* One interval of `camp wait` as a record of the schema "camp.wait/1". */
#pragma once

#include "ledger/selection.h"
#include "views/document.h"
#include "wait_system.h"
#include "wait_tasks.h"

enum wait_tier {
    WAIT_AUTOMATIC, /* bpf if it is permitted and available, otherwise kernel */
    WAIT_BPF,
    WAIT_KERNEL /* only the iowait column of the kernel */
};

struct wait_interval {
    enum wait_tier tier;
    /* The columns are enum cpus_states_column; with tier kernel they are enum cpus_column. */
    const struct frame *cpus;
    const struct frame *waits;   /* its schema is waits_schema; NULL with tier kernel */
    const struct frame *threads; /* NULL with tier kernel */
    const struct wait_system *system;
    bool counts_calls; /* `threads` have their system calls */
    struct losses losses;
    uint64_t elapsed_ns;
    const char *time;
};

enum {
    WAIT_SUMMARY,
    WAIT_MACHINE,
    WAIT_CPUS,
    WAIT_TASKS,
    WAIT_SYSTEM,
    WAIT_DISKS,
    WAIT_LOSSES,
    WAIT_TABLE_COUNT
};
extern const char *const wait_table_names[]; /* the choices of --table, NULL-terminated */

/* An all-zero record is empty. wait_record_release() frees the members. */
struct wait_record {
    struct document document;
    struct selected selected;
    size_t cpu_count; /* without the row of the total */
    size_t *rows;     /* [capacity] indices of CPU rows */
    uint64_t *keys;   /* [capacity] the wait of each CPU row, in ns */
    size_t capacity;
};

/* Fills the record with the selected waits, the longest first. Adds the `top_cpus` CPUs that waited
 * most, where 0 means all CPUs. Returns CAMP_OK or CAMP_E_NOMEM. */
int wait_record_fill(struct wait_record *ret, const struct wait_interval *interval,
                     const struct selection *selection, size_t top_cpus);
void wait_record_release(struct wait_record *record);

const char *wait_tier_name(enum wait_tier tier);
