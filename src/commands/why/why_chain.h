/* The chain of causes of the subject of `camp why`. */
#pragma once

#include "why_record.h"

/*
 * Adds the rows of the chain to the record, and writes it as a sentence.
 *
 * The chain starts with the largest share of the subject's time that has a cause. Sleeps that
 * nothing has ended yet are one if all threads do almost nothing else, or if they are for one
 * object of which the other end is a known process: several processes of a name may wait for one
 * lock, while another one runs. All other open sleeps may be idle threads, which wait for work.
 */
void why_chain_add(struct why_record *ret, const struct why_interval *interval,
                   char text[WHY_SENTENCE_SIZE]);
