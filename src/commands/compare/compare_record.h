/* The result of `camp compare` as a record of the schema "camp.compare/1". */
#pragma once

#include "compare_rows.h"
#include "views/document.h"

struct compare_facts {
    const struct compare_side *sides; /* [2] */
    double least;                     /* the smallest difference of interest: 0.01 is 1 point */
    uint64_t seed;
    size_t rows;                     /* how many rows are shown; 0 means all */
    const struct comparison *causes; /* of waits; without states if they are not compared */
    bool is_text;                    /* the causes that differ are lines below their states */
};

#define COMPARE_FIELDS 25

/* An all-zero record is empty. document_release() of its document frees it. */
struct compare_record {
    struct document document;
    struct field fields[COMPARE_FIELDS]; /* those of a row: text has labels only if there are any */
};

/* Returns "both", "a" or "b". */
const char *compare_place_name(const struct compared_entity *entity);

/* Returns "more", "less", "none" or "unknown". */
const char *compare_verdict_name(enum difference_verdict verdict);

/* Returns a cell with a time in ns. The cell is unknown if the time, which is from a foreign
 * recording, is too long for an integer. */
struct cell compare_ns_cell(double ns);

/* Returns CAMP_OK or CAMP_E_NOMEM. */
int compare_record_fill(struct compare_record *ret, const struct comparison *comparison,
                        const struct compare_facts *facts);
