/* The findings of camp verify, and the record that shows them, for verify.c. The trials use
 * verify.h only. */
#pragma once

#include "verify.h"
#include "views/record.h"

#define ROWS_MAX 128 /* every trial has up to TRIAL_ROWS_MAX */
#define DISTORTIONS_MAX 128
#define ROW_FIELDS 16
#define SUMMARY_FIELDS 6
#define NOTE_SIZE 240

enum verdict { VERDICT_OPEN, VERDICT_PASS, VERDICT_FAIL, VERDICT_NOT_TESTED, VERDICT_COUNT };

struct finding {
    const struct trial *trial;
    const struct row_spec *spec;
    enum verdict verdict;
    bool wanted;     /* --only */
    bool trying;     /* the running trial may decide it */
    bool interfered; /* undecided, because the trial was disturbed */
    unsigned tries;
    double expected, reported;
    double below, above; /* the reported number may be from expected - below to expected + above */
    double confidence;   /* half the width of the 95 % interval; NAN: the row is about no mean */
    char reason[CAMP_ERROR_SIZE];
};

/* A factor on the reported numbers, from CAMP_VERIFY_DISTORT: it tests camp verify itself. */
struct distortion {
    char row[48]; /* a pattern */
    double factor;
};

struct verification {
    struct finding findings[ROWS_MAX];
    size_t count;
    struct finding *running; /* [running_count]: the findings of the running trial */
    size_t running_count;
    struct distortion distortions[DISTORTIONS_MAX];
    size_t distortion_count;
};

/* Starts over with undecided findings. The rows that match `only` are wanted (NULL: all rows). */
void findings_open(struct verification *verification, const char *only);

struct summary {
    double elapsed_s;
    const char *time; /* RFC 3339 */
    bool distorted;   /* CAMP_VERIFY_DISTORT is set */
};

/* A record with the memory to which its cells point. */
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

/* Fills the record with the wanted findings. */
void verify_record_fill(struct verify_record *ret, const struct finding *findings, size_t count,
                        const struct summary *summary);

/* --list. */
void verify_record_list(struct verify_record *ret, const struct finding *findings, size_t count);

/* Returns the number of wanted findings that have this verdict. */
size_t findings_count(const struct finding *findings, size_t count, enum verdict verdict);
