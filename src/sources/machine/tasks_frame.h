/* Shared by the tiers of the source "tasks": the columns, and a function that adds a row. */
#pragma once

#include "ledger/accuracy.h"
#include "sources/source.h"

#include <stdbool.h>

extern const struct schema tasks_schema;
/* the schema with only the first column, measured time */
extern const struct schema tasks_measured_schema;

/* The first member of each tier's source. */
struct tasks_common {
    struct source source;
    const int32_t *kept; /* [kept_count] */
    size_t kept_count;
    size_t living; /* number of processes at the end of the last interval */
    /* the CPUs in the same snapshot; NULL: this tier does not measure them */
    const struct frame *cpus;
};

/* Whether the pid is one of those given to tasks_source_keep(). */
bool tasks_is_kept(const struct tasks_common *source, int32_t pid);

/* Adds a row for `count` processes, whose times are summed up in ns. CAMP_OK or CAMP_E_NOMEM. */
int tasks_add_row(struct frame *frame, int64_t id, uint32_t flags, uint32_t count, const char *name,
                  const struct accuracy *sum);

/* The tier of microstates. */
int tasks_states_open(const volatile sig_atomic_t *stop, struct source **ret,
                      struct camp_error *error);
