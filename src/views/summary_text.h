/* A summary of an interval as sentences for readers. web/src/summary.ts writes the same sentences;
 * tests/browser/summary_vectors.json has examples that both must give. */
#pragma once

#include "ledger/summary.h"

#define SUMMARY_TEXT_SIZE 512

/* Writes the sentences: how busy the CPUs are, how many entities wait and for what, what does not
 * add up, and who has most of that time. */
void summary_text(const struct summary *summary, char ret[SUMMARY_TEXT_SIZE]);

/* Breaks the text into lines of at most `width` characters, where its words allow that. */
void summary_wrap(char *text, size_t width);
