/* Who waited for a CPU while threads of the subject had it, as a table of `camp why`. */
#pragma once

#include "why_record.h"
#include "why_sentence.h"

#define WHY_INFLICTED_FIELDS 4

extern const struct field why_inflicted_fields[WHY_INFLICTED_FIELDS];

/* Adds the rows of the table with this index, the longest waits first; none of all threads. */
void why_inflicted_rows(struct document *document, size_t table,
                        const struct why_interval *interval);

/* Returns what all others waited together, of which the table may not have all. */
uint64_t why_inflicted_sum_ns(const struct why_interval *interval);

/* Writes that sum as a sentence. Returns false if nobody waited. */
bool why_inflicted_text(char ret[WHY_SENTENCE_SIZE], const struct why_interval *interval);
