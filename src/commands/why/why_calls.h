/* The sleeps of the subject by system call, as a table of `camp why`. */
#pragma once

#include "why_record.h"

#define WHY_CALL_FIELDS 9

extern const struct field why_call_fields[WHY_CALL_FIELDS];

/* Adds the rows of the table with this index: the sleeps that have ended, and those that nothing
 * has ended yet, the longest first. */
void why_call_rows(struct document *document, size_t table, struct cause_objects *objects,
                   const struct why_interval *interval, uint64_t total_ns);
