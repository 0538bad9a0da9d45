/* Arithmetic on causes: differences of two readings, and causes that add up to their state. */
#pragma once

#include "causes.h"

/* Adds a row. Returns false if there is no memory. A row without time is left out. */
bool cause_add(struct cause_list *list, const struct cause *cause);

/* Fills *ret with the growth of each cause from before[before_count] to after[after_count], both in
 * the order of camp_states_causes(). A cause that fell is left out. Returns false if there is no
 * memory. */
bool cause_differences(struct cause_list *ret, const struct camp_wait_cause *before,
                       size_t before_count, const struct camp_wait_cause *after,
                       size_t after_count);

/* Makes the causes items[count] of one state of one group add up to at most `state_ns`. If they are
 * more, each is reduced in proportion, and the largest by the rest; what all are reduced by is
 * added to *reduced_ns. Returns what the state has more than its causes. */
uint64_t cause_fit(struct cause *items, size_t count, uint64_t state_ns, uint64_t *reduced_ns);

/* Fills causes->rows from what was caused in the interval, `from`, and from the times in *causes:
 * the rows of each state of each group add up to it. Returns false if there is no memory. */
bool cause_make_rows(struct causes *causes, const struct cause_list *from);

/* Sorts by group, then by state, then the longest first. */
void cause_sort(struct cause_list *list);
