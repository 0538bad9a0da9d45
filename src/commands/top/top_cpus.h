/* The CPUs of an interval of camp top: a line each, or where they are many all and the busiest. */
#ifndef CAMP_COMMANDS_TOP_TOP_CPUS_H
#define CAMP_COMMANDS_TOP_TOP_CPUS_H

#include "top_fields.h"

#define TOP_CPU_LINES 4 /* of text at most */
#define TOP_CPU_PERCENTS 7

struct top_cpus {
    struct top_fields fields;
    struct cell *cells; /* owned: top_cpus_release() */
    size_t *order;      /* owned */
    size_t capacity;    /* in CPUs */
    char name[32];      /* of the line of all */
    char percents[TOP_CPU_LINES][TOP_CPU_PERCENTS][TOP_PERCENT_SIZE];
};

/* `cpus`: threads_source_cpus(). Text has TOP_CPU_LINES rows at most. CAMP_OK or CAMP_E_NOMEM. */
int top_cpus_fill(struct top_cpus *ret, const struct frame *cpus, bool for_text,
                  struct table *ret_table);
void top_cpus_release(struct top_cpus *cpus);

#endif
