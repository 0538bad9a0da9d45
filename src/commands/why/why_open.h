/* The chain of `camp why` from a sleep that has not ended (sources/causes/open_chain.h). */
#pragma once

#include "why_record.h"

/* Adds the rows of the chain to the table with this index, and writes its sentence, such as "cat
 * (8218) has waited 100.0 % in pipe, in read of pipe:[4242] for batch (4711), which waits in
 * clock_nanosleep." `open` is the longest sleep of the subject, as of cause_open_wait(). */
void why_open_chain(struct document *document, size_t table, struct cause_objects *objects,
                    const struct why_interval *interval, const struct cause *open,
                    char ret[WHY_SENTENCE_SIZE]);
