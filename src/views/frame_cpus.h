/* The CPUs beside a frame. As text: a line for each; of many CPUs, their total and the busiest
 * ones. As JSON: each CPU with all columns. */
#pragma once

#include "ledger/selection.h"
#include "percent.h"

#define FRAME_CPU_LINES 4 /* of text */
#define FRAME_CPU_COLUMNS_MOST 48

struct frame_cpus {
    const struct schema *schema;
    struct field fields[FRAME_CPU_COLUMNS_MOST]; /* [field_count] */
    char names[FRAME_CPU_COLUMNS_MOST][ORDER_NAME_SIZE];
    size_t field_count;
    struct selected selected;
    struct cell *cells; /* [selected.count x field_count] */
    size_t capacity;    /* in rows */
    char all[24], percents[FRAME_CPU_LINES][FRAME_CPU_COLUMNS_MOST][PERCENT_SIZE];
};

/* *ret_table: the rows of `cpus`; empty if it is NULL. All zero is an empty *ret. CAMP_OK or
 * CAMP_E_NOMEM. */
int frame_cpus_fill(struct frame_cpus *ret, const struct frame *cpus, bool for_text,
                    struct table *ret_table);
void frame_cpus_release(struct frame_cpus *cpus);
