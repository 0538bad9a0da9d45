/* The findings of camp verify, and the record that shows them. The trials include only verify.h. */
#pragma once

#include "verify.h"
#include "views/record.h"

#define ROWS_MAX 128
#define DISTORTIONS_MAX 128
#define ROW_FIELDS 18
#define SUMMARY_FIELDS 6
#define NOTE_SIZE 480

enum verdict { VERDICT_OPEN, VERDICT_PASS, VERDICT_FAIL, VERDICT_NOT_TESTED, VERDICT_COUNT };

struct finding {
    const struct trial *trial;
    const struct row_spec *spec;
    enum verdict verdict;
    bool wanted;        /* The row matches the option --only. */
    bool trying;        /* The current try may set the verdict. */
    bool interfered;    /* A disturbance prevented a verdict in this try. */
    bool was_disturbed; /* Not tested, because each try was disturbed. */
    unsigned tries;
    double expected, reported;
    /* The row passes if `reported` is between expected - below and expected + above. */
    double below, above;
    double confidence; /* half the width of the 95 % interval of a mean; NAN if `reported` is not a
                          mean */
    char reason[CAMP_ERROR_SIZE];
};

/* A factor for the reported numbers of some rows, from the environment variable
 * CAMP_VERIFY_DISTORT. Tests use it to make rows fail. */
struct distortion {
    char row[48]; /* pattern of row names for fnmatch(3) */
    double factor;
};

struct verification {
    struct finding findings[ROWS_MAX];
    size_t count;
    struct finding *running; /* [running_count] findings of the current trial */
    size_t running_count;
    struct distortion distortions[DISTORTIONS_MAX];
    size_t distortion_count;
};

/* Replaces all findings by undecided ones. The rows that match the pattern `only` are wanted; with
 * NULL, all rows are wanted. */
void findings_open(struct verification *verification, const char *only);

struct summary {
    double elapsed_s;
    const char *time;
    bool distorted;
};

/* A record, and the memory to which its cells point. */
struct verify_record {
    struct record record;
    struct table tables[2];
    struct cell cells[ROWS_MAX * ROW_FIELDS];
    struct cell summary[SUMMARY_FIELDS];
    char numbers[ROWS_MAX][4][32];
    char headline[NOTE_SIZE];
    char notes[ROWS_MAX + 1][NOTE_SIZE];
    const char *note_list[ROWS_MAX + 2];
};

void verify_record_fill(struct verify_record *ret, const struct finding *findings, size_t count,
                        const struct summary *summary);

/* Fills the record of the option --list. */
void verify_record_list(struct verify_record *ret, const struct finding *findings, size_t count);

size_t findings_count(const struct finding *findings, size_t count, enum verdict verdict);
