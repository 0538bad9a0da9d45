/* The chain of `camp why` from sleeps that have not ended (sources/causes/open_chain.h). */
#pragma once

#include "sources/causes/open_chain.h"
#include "why_record.h"

struct why_open {
    struct open_step steps[OPEN_CHAIN_MAX]; /* [count], from the subject on */
    size_t count;
    uint32_t state;   /* of the first step */
    uint64_t time_ns; /* of the sleeps that the chain starts with */
};

/* Finds the object for which a group sleeps longest, and whose other end is a known process, such
 * as one lock for which several of its processes wait. Fills *ret if these sleeps are longer than
 * `above_ns`, and returns whether they are. */
bool why_open_find(struct why_open *ret, struct cause_objects *objects,
                   const struct why_interval *interval, uint64_t above_ns);

/* Fills *ret with the chain from the longest open sleep of the subject in the state of `open`,
 * which is a result of cause_open_wait() and has the time of all these sleeps. */
void why_open_longest(struct why_open *ret, struct cause_objects *objects,
                      const struct why_interval *interval, const struct cause *open);

/* Adds the rows of the chain to the table with this index, and writes its sentence, such as "cat
 * (8218) waited in pipe 100.0 %, in read of pipe:[4242] for batch (4711), which waits in
 * clock_nanosleep." */
void why_open_show(struct document *document, size_t table, const struct why_interval *interval,
                   const struct why_open *chain, char ret[WHY_SENTENCE_SIZE]);
