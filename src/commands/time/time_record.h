/* The output of camp time, as a record (schema camp.time/1). */
#pragma once

#include "time_family.h"
#include "views/frame_columns.h"

#define TIME_NOTES (8 + (CAMP_STATE_COUNT + 1) / 2)
#define TIME_NOTE_SIZE 120
#define TIME_SUM_FIELDS (14 + 2 * CAMP_STATE_COUNT) /* at most, of an executable */

struct time_facts {
    const char *time;    /* wall clock of the end */
    const char *command; /* the command that ran, or the watched process */
    uint64_t real_ns;
    int status; /* of the command; -1: still running, or another's child */
    struct camp_states_losses losses;
    uint64_t stolen_ns; /* of all CPUs in this time, by the kernel's count */
    bool as_figure;     /* text: the microstate summary of the paper (its Figure 4) */
};

struct time_record {
    struct record record;
    struct table tables[5];
    struct cell *cells;                   /* owned: time_record_release() */
    struct frame_columns columns;         /* likewise */
    struct field fields[TIME_SUM_FIELDS]; /* [field_count] of an executable */
    size_t field_count;
    char headings[CAMP_STATE_COUNT][FRAME_HEADING_SIZE];
    char headline[256];
    char notes[TIME_NOTES][TIME_NOTE_SIZE];
    const char *note_list[TIME_NOTES + 1];
};

/* CAMP_OK or CAMP_E_NOMEM. The record points to names and texts of the caller. */
int time_record_fill(struct time_record *ret, const struct family *family,
                     const struct time_facts *facts);
void time_record_release(struct time_record *record);

/* Returns the table "summary", and fills its cells. */
#define TIME_SUMMARY_FIELDS 4
struct table time_summary(const struct time_facts *facts, struct cell cells[TIME_SUMMARY_FIELDS]);

extern const char *const time_table_names[]; /* NULL-terminated */
