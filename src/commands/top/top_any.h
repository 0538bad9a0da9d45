/*
 * One interval of camp top of any source that has states, as a record (schema camp.frame/1):
 * database sessions, processes, CPUs, tables, and recordings of them. In percent of each row's own
 * wall time.
 */
#ifndef CAMP_COMMANDS_TOP_TOP_ANY_H
#define CAMP_COMMANDS_TOP_TOP_ANY_H

#include "sources/from.h"
#include "top_any_columns.h"
#include "top_fields.h"

#define TOP_ANY_NOTE_SIZE 512
#define TOP_ANY_LINES 6 /* headings and notes, beside the rows */

/* The texts of a row that its cells point to. */
struct top_any_texts {
    char percents[TOP_ANY_STATES_SHOWN + 1][TOP_PERCENT_SIZE];
    char unaccounted[TOP_PERCENT_SIZE + 2];
};

struct top_any {
    const struct from_facts *facts;
    struct record record;
    struct table tables[3];
    struct top_any_rows rows;
    struct top_any_columns columns;
    struct cell *cells;          /* [rows.count x columns.field_count]; owned */
    struct top_any_texts *texts; /* [rows.count]; owned */
    size_t cell_capacity, text_capacity;
    char time[48], headline[FROM_NAME_SIZE + 160];
    char sums[TOP_ANY_NOTE_SIZE], looks[TOP_ANY_NOTE_SIZE], over[TOP_ANY_NOTE_SIZE],
        lost[TOP_ANY_NOTE_SIZE], sampled[TOP_ANY_NOTE_SIZE];
    const char *unmatched; /* TOP_UNMATCHED, or NULL */
    const char *notes[9];
    struct cell summary[6], losses[4];
};

/* All zero is empty. CAMP_OK or CAMP_E_NOMEM; top_any_release() in any case. *facts stays the
 * caller's. */
int top_any_init(struct top_any *ret, const struct schema *schema, const struct from_facts *facts);
void top_any_release(struct top_any *any);

/* Fills any->record with an interval. `time`: its end, for a person. CAMP_OK or CAMP_E_NOMEM. */
int top_any_fill(struct top_any *any, const struct frame *frame, const char *time,
                 const struct top_any_selection *selection);

/* What one row, or several, are called: "session", "sessions". */
const char *top_any_noun(const struct top_any *any, uint64_t count);

#endif
