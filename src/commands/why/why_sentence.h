/* The causes of a subject in one sentence, and its chain of causes in another. */
#pragma once

#include "sources/causes/cause_chain.h"
#include "sources/causes/cause_names.h"
#include "why_tree.h"

#define WHY_SENTENCE_SIZE 1024

/* Writes such as "db-7 was on a CPU 29.0 % of 1.00 s, ready 31.0 %: 22.0 % its own quota, 9.0 %
 * behind batch-3; asleep 40.0 %, 95 % of it in pipe, 88 % of it woken by walwriter." `name` is that
 * of the subject. All names are made printable. The percentages of the subject's time are rounded
 * so that their sum is right. Returns false if there is no memory. */
bool why_sentence(char ret[WHY_SENTENCE_SIZE], const struct causes *causes, uint32_t subject,
                  const char *name, const struct why_tree *tree);

/* Writes such as "db-7 waited 63.1 % in pipe for walwriter, which waited 80.0 % in disk for
 * virtio1-req.0 (irq 36)." */
void why_chain_sentence(char ret[WHY_SENTENCE_SIZE], const struct causes *causes,
                        const struct chain *chain);

/* Appends to a sentence; what has no space is left out. */
__attribute__((format(printf, 2, 3))) void why_append(char ret[WHY_SENTENCE_SIZE],
                                                      const char *format, ...);

/* Writes the name of a cause for a sentence, such as "walwriter" or "a timer", printable. */
void why_cause_name(char ret[CAUSE_NAME_SIZE], const struct causes *causes, uint32_t kind,
                    uint32_t id);
