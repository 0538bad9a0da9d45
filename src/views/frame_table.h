/*
 * A frame as a record for views (schema camp.frame/1). For every source, the record has the same
 * parts: headline, CPUs, rows, exited rows, notes and losses. ledger/selection.h selects and sorts
 * the rows, and frame_columns.h selects the columns.
 */
#pragma once

#include "frame_columns.h"
#include "frame_cpus.h"
#include "frame_notes.h"
#include "summary_text.h"

#define FRAME_LINE_SIZE 160
#define FRAME_NAME_SIZE 128
#define FRAME_LINES 7
#define FRAME_SUMMARY_FIELDS (7 + CLASS_COUNT - CLASS_CPU)

struct frame_texts {
    char name[FRAME_NAME_SIZE], line[FRAME_LINE_SIZE];
    char percents[FRAME_STATES_SHOWN + 2][PERCENT_SIZE];
};

struct frame_table {
    struct record record;
    struct table tables[6];
    struct selected selected; /* filled by selection_pick() before frame_table_fill() */
    struct frame_columns columns;
    struct frame_cpus cpus;
    struct frame_notes notes;
    struct field *exited_fields; /* columns.fields with the heading for exited rows, owned */
    struct cell *cells;          /* [selected.count x columns.field_count], owned */
    struct frame_texts *texts;   /* [selected.count], only for text, owned */
    size_t cell_capacity, text_capacity, field_capacity;
    char time[48], headline[FRAME_NOTE_TEXT_SIZE + 160 + SUMMARY_TEXT_SIZE];
    char sentence[SUMMARY_TEXT_SIZE];
    struct cell facts[7], summary[FRAME_SUMMARY_FIELDS], losses[4];
};

/* Initialises a table. Returns CAMP_OK or CAMP_E_NOMEM; the caller calls frame_table_release() in
 * either case. A table that is all zero is empty. */
int frame_table_init(struct frame_table *ret, const struct schema *schema);
void frame_table_release(struct frame_table *table);

/* Fills table->record with the interval that selection_pick() has put into table->selected. `cpus`
 * is the frame of the CPUs in the same interval, or NULL. `time` is the end of the interval as text
 * for readers. Returns CAMP_OK or CAMP_E_NOMEM. */
int frame_table_fill(struct frame_table *table, const struct frame *cpus, const char *time,
                     const struct selection *selection, const struct frame_style *style,
                     const struct frame_facts *facts);
