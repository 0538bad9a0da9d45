/* The findings as a record for the views. */
#pragma once

#include "verify_findings.h"
#include "views/record.h"

#define ROW_FIELDS 16
#define SUMMARY_FIELDS 6
#define NOTE_SIZE 240

struct summary {
    size_t passed, failed, not_tested;
    double elapsed_s;
    const char *time; /* RFC 3339 */
    bool distorted;   /* CAMP_VERIFY_DISTORT */
};

/* Memory for one record; its cells point into it. */
struct verify_record {
    struct record record;
    struct table tables[2];
    struct cell cells[ROWS_MAX * ROW_FIELDS];
    struct cell summary[SUMMARY_FIELDS];
    char numbers[ROWS_MAX][3][32];
    char headline[NOTE_SIZE];
    char notes[ROWS_MAX + 1][NOTE_SIZE];
    const char *note_list[ROWS_MAX + 2];
};

/* The wanted ones. */
void verify_record_fill(struct verify_record *ret, const struct finding *findings, size_t count,
                        const struct summary *summary);

/* --list. */
void verify_record_list(struct verify_record *ret, const struct finding *findings, size_t count);
