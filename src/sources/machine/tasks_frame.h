/* What all measurement tiers of tasks_source_open() have in common. */
#pragma once

#include "ledger/accuracy.h"
#include "sources/source.h"

#include <stdbool.h>

extern const struct schema tasks_schema;
/* tasks_schema, but only with its first column, measured CPU time */
extern const struct schema tasks_measured_schema;

/* Each tier has a struct for its source, which begins with this struct. */
struct tasks_common {
    struct source source;
    const int32_t *kept; /* [kept_count] pids given to tasks_source_keep() */
    size_t kept_count;
    size_t living, unmeasured;
    bool has_final_clocks; /* the CPU time of an ended process is complete */
    /* frame of the CPUs in the same snapshot; NULL if this tier does not measure CPUs */
    const struct frame *cpus;
};

/* Returns whether tasks_source_keep() named the process: it has a row even if it did not run. */
bool tasks_is_kept(const struct tasks_common *source, int32_t pid);

/* Adds one row for `count` processes. `sum` has the sums of the processes' times in ns. Returns
 * CAMP_OK or CAMP_E_NOMEM. */
int tasks_add_row(struct frame *frame, int64_t id, uint32_t flags, uint32_t count, const char *name,
                  const struct accuracy *sum);

int tasks_states_open(const volatile sig_atomic_t *stop, struct source **ret,
                      struct camp_error *error);
