/* The output of camp time, as a record (schema camp.time/1). */
#pragma once

#include "time_family.h"
#include "views/frame_states.h"

#define TIME_NOTES (9 + (CAMP_STATE_COUNT + 1) / 2)
#define TIME_NOTE_SIZE 120
/* The maximum number of fields of an executable. */
#define TIME_SUM_FIELDS (14 + 2 * CAMP_STATE_COUNT)

struct time_facts {
    const char *time; /* wall clock time at the end */
    const char *command;
    uint64_t real_ns;
    /* The exit status of the command. -1 if the command still runs, or for a process that is not
     * a child of camp. */
    int status;
    struct camp_states_losses losses;
    /* The time that a hypervisor took from all CPUs, as the kernel counted it. */
    uint64_t stolen_ns;
    bool as_figure; /* the text has the microstate summary of Figure 4 of the CAMP paper */
};

struct time_record {
    struct record record;
    struct table tables[5];
    struct cell *cells;                   /* owned */
    struct frame_columns columns;         /* owned */
    struct field fields[TIME_SUM_FIELDS]; /* [field_count] the fields of an executable */
    size_t field_count;
    struct field state_fields[3];
    char percent_title[48];
    char headline[256];
    char notes[TIME_NOTES][TIME_NOTE_SIZE];
    const char *note_list[TIME_NOTES + 1];
};

/* Makes the record. Text has the columns of states that fit into `width`; 0 means all. The record
 * points to names of `family` and texts of `facts`, which must outlive the record. Returns CAMP_OK
 * or CAMP_E_NOMEM. */
int time_record_fill(struct time_record *ret, const struct family *family,
                     const struct time_facts *facts, size_t width);
void time_record_release(struct time_record *record);

/* Fills the cells of the table "summary", and returns the table. */
#define TIME_SUMMARY_FIELDS 4
struct table time_summary(const struct time_facts *facts, struct cell cells[TIME_SUMMARY_FIELDS]);

extern const char *const time_table_names[]; /* NULL-terminated */
