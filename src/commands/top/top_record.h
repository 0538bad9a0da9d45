/* One interval of camp top as a record (schema camp.frame/1). */
#ifndef CAMP_COMMANDS_TOP_TOP_RECORD_H
#define CAMP_COMMANDS_TOP_TOP_RECORD_H

#include "top_cpus.h"
#include "top_fields.h"
#include "top_rows.h"

#include <camp/states.h>

#define TOP_NOTE_SIZE 160
#define TOP_NAME_SIZE 128
#define TOP_PERCENTS 8

/* What is read of one look. */
struct top_interval {
    const struct frame *threads, *cpus;
    struct camp_states_losses losses; /* since the session began */
    const char *tier, *time;
};

/* The texts of a row that its cells point to. */
struct top_texts {
    char name[TOP_NAME_SIZE];
    char percents[TOP_PERCENTS][TOP_PERCENT_SIZE];
    char prstat[TOP_NOTE_SIZE];
};

struct top_record {
    struct record record;
    struct table tables[5];
    struct top_rows rows;            /* owned: top_record_release() */
    struct top_cpus cpus;            /* owned */
    struct top_fields fields, ended; /* of living rows (or all), and of those that ended */
    struct cell *cells;              /* [rows.count x fields.count]; owned */
    struct top_texts *texts;         /* [rows.count]; owned */
    size_t capacity;                 /* of both, in rows */
    char time[48], headline[TOP_NOTE_SIZE], note[TOP_NOTE_SIZE];
    const char *note_list[3];
    struct cell summary[5], losses[3];
};

/* CAMP_OK or CAMP_E_NOMEM. */
int top_record_fill(struct top_record *ret, const struct top_interval *interval,
                    const struct top_selection *selection);
void top_record_release(struct top_record *record);

#endif
