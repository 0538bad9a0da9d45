/*
 * A frame as a record for views (schema camp.frame/1), the same for every source: headline, CPUs,
 * rows, exited rows, notes and losses. ledger/selection.h selects and sorts the rows,
 * frame_columns.h selects the columns.
 */
#pragma once

#include "frame_columns.h"
#include "frame_cpus.h"
#include "frame_notes.h"

#define FRAME_LINE_SIZE 160
#define FRAME_NAME_SIZE 128
#define FRAME_LINES 6 /* headings and notes, besides the rows */

/* The texts of a row that its cells point to. */
struct frame_texts {
    char name[FRAME_NAME_SIZE], line[FRAME_LINE_SIZE];
    char percents[FRAME_STATES_SHOWN + 2][PERCENT_SIZE];
};

struct frame_table {
    struct record record;
    struct table tables[5];
    struct selected selected; /* filled first, by selection_pick() */
    struct frame_columns columns;
    struct frame_cpus cpus;
    struct frame_notes notes;
    struct field *exited_fields; /* the same as columns.fields, with another heading; owned */
    struct cell *cells;          /* [selected.count x columns.field_count]; owned */
    struct frame_texts *texts;   /* [selected.count], for text; owned */
    size_t cell_capacity, text_capacity, field_capacity;
    char time[48], headline[FRAME_NOTE_TEXT_SIZE + 160];
    struct cell summary[7], losses[4];
};

/* A table that is all zero is empty. Returns CAMP_OK or CAMP_E_NOMEM; call frame_table_release() in
 * any case. */
int frame_table_init(struct frame_table *ret, const struct schema *schema);
void frame_table_release(struct frame_table *table);

/* Fills table->record with the interval that selection_pick() has put into table->selected. `cpus`:
 * the frame of the CPUs in the same interval, or NULL. `time`: the interval's end, as text for
 * readers. Returns CAMP_OK or CAMP_E_NOMEM. */
int frame_table_fill(struct frame_table *table, const struct frame *cpus, const char *time,
                     const struct selection *selection, const struct frame_style *style,
                     const struct frame_facts *facts);
