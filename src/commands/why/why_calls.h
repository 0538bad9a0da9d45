/* The sleeps of the subject by system call, as a table of `camp why`. */
#pragma once

#include "why_record.h"

#define WHY_CALL_FIELDS 13

/* The fields for one process, and the same ones for several processes, where text also shows which
 * of them slept. */
extern const struct field why_call_fields[WHY_CALL_FIELDS];
extern const struct field why_call_fields_of_many[WHY_CALL_FIELDS];

/* Adds the rows of the table with this index: the sleeps that have ended, and those that nothing
 * has ended yet, the longest first. Of all threads (WHY_ALL) only a recording has some of the
 * latter: those for locks, and those of the process or name that it watched. */
void why_call_rows(struct document *document, size_t table, struct cause_objects *objects,
                   const struct why_interval *interval, uint64_t total_ns);

/* Returns the time of the shown sleeps of one subject that have not ended, in futex(2), for one
 * whose owner is unknown. `objects` are those of why_call_rows(). */
uint64_t why_unowned_ns(const struct cause_objects *objects, const struct why_interval *interval);
