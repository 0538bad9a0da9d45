/* The result of `camp compare` as a record of the schema "camp.compare/1". */
#pragma once

#include "compare_rows.h"
#include "views/document.h"

struct compare_facts {
    const struct compare_side *sides; /* [2] */
    double least;                     /* the smallest difference of interest: 0.01 is 1 point */
    uint64_t seed;
    size_t rows; /* how many rows are shown; 0 means all */
};

#define COMPARE_FIELDS 25

/* An all-zero record is empty. document_release() of its document frees it. */
struct compare_record {
    struct document document;
    struct field fields[COMPARE_FIELDS]; /* those of a row: text has labels only if there are any */
};

/* Returns CAMP_OK or CAMP_E_NOMEM. */
int compare_record_fill(struct compare_record *ret, const struct comparison *comparison,
                        const struct compare_facts *facts);
