/* The notes below the rows of a frame: sums over all entities (also entities without a row),
 * entities whose states add up to more than their time, and losses. */
#pragma once

#include "frame_columns.h"

#define FRAME_NOTE_TEXT_SIZE 512

struct frame_facts {
    const char *source, *tier;
    const char *kind;  /* plural such as "sessions"; "" means that the schema determines the kind */
    const char *group; /* the key that rows are grouped by, or NULL */
    const char *note;  /* a remark about the source, or "" */
    size_t cpus; /* the CPUs that all rows share, if there is no frame of CPUs; 0 if unknown */
};

struct frame_notes {
    char sums[FRAME_NOTE_TEXT_SIZE], sampled[FRAME_NOTE_TEXT_SIZE], samples[FRAME_NOTE_TEXT_SIZE],
        over[FRAME_NOTE_TEXT_SIZE], lost[FRAME_NOTE_TEXT_SIZE], unmatched[FRAME_NOTE_TEXT_SIZE];
    const char *list[9]; /* the notes that are not empty, NULL-terminated */
};

/* Returns the plural noun of the entities, such as "sessions". */
const char *frame_kind(const struct frame_facts *facts, const struct schema *schema);

/* Returns the noun for `count` entities: "session" for 1, "sessions" for other counts. */
const char *kind_noun(const char *kind, uint64_t count);

/* Writes the notes of `frame`, whose rows are not grouped. `cpus` is the frame of the CPUs in the
 * same interval, or NULL. `is_unmatched` means that the filter selects no row. */
void frame_notes_fill(struct frame_notes *ret, const struct frame *frame, const struct frame *cpus,
                      const struct frame_columns *columns, const struct frame_facts *facts,
                      bool is_unmatched);
