/* Shared by the tiers of the source "tasks": its columns, and how a row is made. */
#pragma once

#include "ledger/accuracy.h"
#include "sources/source.h"

#include <stdbool.h>

extern const struct schema tasks_schema;
extern const struct schema tasks_measured_schema; /* the first column, measured time, alone */

/* The first member of each tier's source. */
struct tasks_common {
    struct source source;
    const int32_t *kept; /* [kept_count] */
    size_t kept_count;
    size_t living;            /* processes at the end of the last interval */
    const struct frame *cpus; /* measured in the same snapshot; NULL: not by this tier */
};

/* Whether tasks_source_keep() has this pid. */
bool tasks_is_kept(const struct tasks_common *source, int32_t pid);

/* Adds a row of `count` processes; the sum is in ns. CAMP_OK or CAMP_E_NOMEM. */
int tasks_add_row(struct frame *frame, int64_t id, uint32_t flags, uint32_t count, const char *name,
                  const struct accuracy *sum);

/* The tier of microstates. */
int tasks_states_open(const volatile sig_atomic_t *stop, struct source **ret,
                      struct camp_error *error);
