/* The chain of causes of the subject of `camp why`. */
#pragma once

#include "why_record.h"

/*
 * Adds the rows of the chain to the record, and writes it as a sentence.
 *
 * The chain starts with the cause that has the largest share of the subject's time. Open sleeps,
 * which nothing has ended yet, count as a cause if all threads do almost nothing else, or if they
 * wait for one object whose other end is a known process: several processes with one name may wait
 * for one lock, while another process runs. All other open sleeps may be idle threads, which wait
 * for work.
 */
void why_chain_add(struct why_record *ret, const struct why_interval *interval,
                   char text[WHY_SENTENCE_SIZE]);
