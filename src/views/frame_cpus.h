/* The CPUs of a frame as a table. Text has a line for each CPU. If there are many CPUs, text has a
 * line for their total and a line for each of the busiest CPUs. JSON has all CPUs with all
 * columns. */
#pragma once

#include "ledger/selection.h"
#include "percent.h"

#define FRAME_CPU_LINES 4 /* lines of text if there are many CPUs: total, and busiest CPUs */
#define FRAME_CPU_COLUMNS_MOST 48

struct frame_cpus {
    const struct schema *schema;
    struct field fields[FRAME_CPU_COLUMNS_MOST]; /* [field_count] */
    char names[FRAME_CPU_COLUMNS_MOST][ORDER_NAME_SIZE];
    size_t field_count;
    struct selected selected;
    struct cell *cells; /* [selected.count x field_count] */
    size_t capacity;
    char all[24], percents[FRAME_CPU_LINES][FRAME_CPU_COLUMNS_MOST][PERCENT_SIZE];
};

/* Fills *ret_table with the rows of `cpus`, or with no rows if `cpus` is NULL. *ret is all zero
 * before the first call. Returns CAMP_OK or CAMP_E_NOMEM. */
int frame_cpus_fill(struct frame_cpus *ret, const struct frame *cpus, bool for_text,
                    struct table *ret_table);
void frame_cpus_release(struct frame_cpus *cpus);
