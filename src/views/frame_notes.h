/* The notes below a frame's rows: sums over all entities, including those without a row; entities
 * with more time in their states than wall time; losses. */
#pragma once

#include "frame_columns.h"

#define FRAME_NOTE_TEXT_SIZE 512

/* Facts about the source, for titles and notes. */
struct frame_facts {
    const char *source, *tier;
    const char *kind;  /* kind of the entities: "sessions"; "": that of the schema */
    const char *group; /* the key that rows are grouped by; NULL: none */
    const char *note;  /* a remark about the source; "": none */
};

struct frame_notes {
    char sums[FRAME_NOTE_TEXT_SIZE], sampled[FRAME_NOTE_TEXT_SIZE], samples[FRAME_NOTE_TEXT_SIZE],
        over[FRAME_NOTE_TEXT_SIZE], lost[FRAME_NOTE_TEXT_SIZE];
    const char *list[9]; /* the notes that are not empty; NULL-terminated */
};

/* Returns the kind of the entities: "sessions". */
const char *frame_kind(const struct frame_facts *facts, const struct schema *schema);

/* Returns the noun for this number of entities: "session", "sessions". */
const char *kind_noun(const char *kind, uint64_t count);

/* Writes the notes of a frame before grouping. `cpus`: the frame of the CPUs in the same interval,
 * or NULL. `is_unmatched`: the filter selects no row. */
void frame_notes_fill(struct frame_notes *ret, const struct frame *frame, const struct frame *cpus,
                      const struct frame_columns *columns, const struct frame_facts *facts,
                      bool is_unmatched);
