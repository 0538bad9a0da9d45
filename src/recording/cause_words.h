/* What the numbers of states and of kinds of causes in a recording mean: the table cause_word. */
#pragma once

#include "sources/causes/causes.h"

#include <sqlite3.h>

#define CAUSE_WORDS_MOST 128
#define CAUSE_UNKNOWN_WORD UINT32_MAX
#define CAUSE_ON_CPU_KIND (CAUSE_KIND_COUNT + 0u) /* of time on a CPU */

/* Fills ret_states with enum camp_state, and ret_kinds with kinds of causes, or
 * CAUSE_UNKNOWN_WORD. */
int cause_words_read(sqlite3 *database, const char *path, uint32_t ret_states[CAUSE_WORDS_MOST],
                     uint32_t ret_kinds[CAUSE_WORDS_MOST], struct camp_error *error);

/* Copies a text of a row, or "" if the column is no text. The rest of ret[size] is 0. */
void recording_copy_text(char *ret, size_t size, sqlite3_stmt *row, int column);
