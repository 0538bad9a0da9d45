/* Synthetic causes of waits, for tests of their arithmetic and of what camp why prints. */
#pragma once

#include "sources/causes/cause_fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DB = 3, BATCH, WRITER };

static inline void add_group(struct causes *causes, uint32_t number, uint32_t kind, int32_t pid,
                             const char *name)
{
    struct camp_states_group *group = &causes->groups[causes->group_count++];

    *group = (struct camp_states_group){ .number = number, .kind = kind, .pid = pid };
    snprintf(group->name, sizeof group->name, "%s", name);
}

static inline void add_row(struct causes *causes, uint32_t group, uint32_t state, uint32_t kind,
                           uint32_t id, uint64_t ns)
{
    assert_true(cause_add(&causes->rows, &(struct cause){ group, state, kind, id, ns }));
    causes->state_ns[group][state] += ns;
}

/* db ran 300 ms, was throttled 100, waited 200 for CPUs and slept 400. */
static inline struct causes *make_causes(void)
{
    struct causes *causes = calloc(1, sizeof *causes);

    assert_non_null(causes);
    causes->end_ns = 1000000000;
    add_group(causes, 0, CAMP_GROUP_OTHER, 0, "");
    add_group(causes, 1, CAMP_GROUP_KERNEL, 0, "");
    add_group(causes, DB, CAMP_GROUP_PROCESS, 7, "db");
    add_group(causes, BATCH, CAMP_GROUP_NAME, 0, "batch");
    add_group(causes, WRITER, CAMP_GROUP_NAME, 0, "writer");
    causes->threads[DB] = 1;
    causes->state_ns[DB][CAMP_STATE_USER] = 200000000;
    causes->state_ns[DB][CAMP_STATE_SYSTEM] = 100000000;
    add_row(causes, DB, CAMP_STATE_THROTTLED, CAUSE_QUOTA, 0, 100000000);
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 90000000);
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 1, 60000000);
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_IDLE, 0, 33333333);
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_UNKNOWN, 0, 16666667);
    add_row(causes, DB, CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, WRITER, 350000000);
    add_row(causes, DB, CAMP_STATE_PIPE, CAUSE_NOT_ENDED, 0, 50000000);
    causes->state_ns[WRITER][CAMP_STATE_USER] = 100000000;
    add_row(causes, WRITER, CAMP_STATE_DISK, CAMP_CAUSE_DEVICE, 36, 800000000);
    causes->state_ns[BATCH][CAMP_STATE_USER] = 900000000;
    add_row(causes, BATCH, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, DB, 100000000);
    cause_sort(&causes->rows);
    return causes;
}

static inline void release_causes(struct causes *causes)
{
    free(causes->rows.items);
    free(causes->calls.items);
    free(causes->open_calls.items);
    free(causes->open_facts);
    free(causes);
}
