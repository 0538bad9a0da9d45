/* What stands below a frame's rows: sums over all, also those that no row shows, what is more than
 * there was time, what could not be seen. */
#pragma once

#include "frame_columns.h"

#define FRAME_NOTE_TEXT_SIZE 512

/* What is known of a source, for titles. */
struct frame_facts {
    const char *source, *tier;
    const char *kind;  /* what its entities are: "sessions"; "": as its schema says */
    const char *group; /* what they are added up by; NULL: by nothing */
    const char *note;  /* what a reader should know of the source; "": nothing */
};

struct frame_notes {
    char sums[FRAME_NOTE_TEXT_SIZE], sampled[FRAME_NOTE_TEXT_SIZE], samples[FRAME_NOTE_TEXT_SIZE],
        over[FRAME_NOTE_TEXT_SIZE], lost[FRAME_NOTE_TEXT_SIZE];
    const char *list[9]; /* those that say something; NULL-terminated */
};

/* "sessions": the kind, or what the schema says. */
const char *frame_kind(const struct frame_facts *facts, const struct schema *schema);

/* What one entity, or several, are called: "session", "sessions". */
const char *kind_noun(const char *kind, uint64_t count);

/* Of the frame, before it is grouped. `cpus`: those beside it, or NULL. `is_unmatched`: the filter
 * selects no row. */
void frame_notes_fill(struct frame_notes *ret, const struct frame *frame, const struct frame *cpus,
                      const struct frame_columns *columns, const struct frame_facts *facts,
                      bool is_unmatched);
