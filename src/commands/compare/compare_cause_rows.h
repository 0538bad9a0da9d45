/* The causes of waits in the record of `camp compare`: a table of their own, the lines below their
 * states in text, and notes. */
#pragma once

#include "compare_record.h"

extern const struct field compare_cause_fields[];
extern const size_t compare_cause_field_count;

/* Adds all causes that were compared to a table with these fields. */
void compare_cause_rows(struct document *document, size_t table, const struct compare_facts *facts,
                        const struct comparison *states);

/* Adds a line to a table of rows of states for each cause of `row` that differs. */
void compare_cause_lines(struct document *document, size_t table, const struct compare_facts *facts,
                         const struct compared_row *row);

/* Says which of the recordings have no causes that can be compared, if one has any. */
void compare_cause_notes(struct document *document, const struct compare_facts *facts);

/* Returns the line of the headline about causes, with a line feed before it, or "". */
const char *compare_cause_headline(struct document *document, const struct compare_facts *facts);
