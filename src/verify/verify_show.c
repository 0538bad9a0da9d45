/* Shows the findings as a table, with notes on rows that failed or were not tested. */
#include "verify_findings.h"

#include <math.h>
#include <stdio.h>

static const char *const verdict_names[VERDICT_COUNT] = { "open", "pass", "FAIL", "not tested" };

/* The text format has its own columns for the numbers and the verdict. 80 columns have space for
 * only one bound: the lower one for a negative error, otherwise the upper one. The note of a failed
 * row has both. */
static const struct field row_fields[ROW_FIELDS] = {
    { "row", "row", "name of the row, for --only", -22, 0 },
    { NULL, "verdict", "as text", 0, 0 },
    { NULL, "expected", "as text", 8, 0 },
    { NULL, "reported", "as text", 8, 0 },
    { NULL, "error", "as text", 6, 0 },
    { NULL, "allowed", "as text: the error may be as large as this", 7, 0 },
    { NULL, "unit", "of the four before it", -10, 0 },
    { "expected", NULL, "the truth, of the load or of another count of the kernel", 0, 3 },
    { "reported", NULL, "what libcamp says", 0, 3 },
    { "error", NULL, "reported - expected", 0, 3 },
    { "allowed_below", NULL, "how much too low it may be, by its resolution", 0, 3 },
    { "allowed_above", NULL, "how much too high it may be; null: any", 0, 3 },
    { "confidence", NULL, "half the width of the mean's 95 % interval, where one is a mean", 0, 3 },
    { "verdict", NULL, "pass, FAIL, or not tested", 0, 0 },
    { "unit", NULL, "of the numbers", 0, 0 },
    { "tries", NULL, "tries, repeated because of disturbances", 0, 0 },
    { "reason", NULL, "why it was not tested, or failed without a number", 0, 0 },
    { "help", NULL, "what is compared with what", 0, 0 },
};
static const struct field summary_fields[SUMMARY_FIELDS] = {
    { "time", NULL, "wall clock of the end", 0, 0 },
    { "elapsed_s", NULL, "how long it took", 0, 1 },
    { "passed", NULL, "rows", 0, 0 },
    { "failed", NULL, "rows", 0, 0 },
    { "not_tested", NULL, "rows", 0, 0 },
    { "distorted", NULL, "whether CAMP_VERIFY_DISTORT changed reported numbers", 0, 0 },
};

/* Writes whole numbers and numbers from 10000 without decimals. Numbers below 1 have 3 decimals,
 * all others 2. */
static const char *number_text(char ret[32], double value)
{
    double size = fabs(value);

    if (isnan(value))
        return NULL;
    if (isinf(value))
        return "any";
    snprintf(ret, 32, "%.*f", size == floor(size) || size >= 10000 ? 0 : size < 1 ? 3 : 2, value);
    return ret;
}

static void error_text(char ret[32], double error)
{
    char digits[32];

    snprintf(ret, 32, "%s%s", error > 0 ? "+" : "", number_text(digits, error));
}

/* Writes the lower bound if the error is negative, otherwise the upper bound. */
static void allowed_text(char ret[32], const struct finding *finding, double error)
{
    const double bound = error < 0 ? finding->below : finding->above;
    char digits[32];

    snprintf(ret, 32, "%s%s", bound == 0 ? "" : error < 0 ? "-" : "+", number_text(digits, bound));
}

static bool has_numbers(const struct finding *finding)
{
    return finding->verdict == VERDICT_PASS || finding->verdict == VERDICT_FAIL;
}

static void fill_numbers(struct cell *cells, const struct finding *finding, char texts[4][32])
{
    double error = finding->reported - finding->expected;

    if (!has_numbers(finding) || isnan(error))
        return;
    error_text(texts[2], error);
    allowed_text(texts[3], finding, error);
    cells[2] = cell_text(number_text(texts[0], finding->expected));
    cells[3] = cell_text(number_text(texts[1], finding->reported));
    cells[4] = cell_text(texts[2]);
    cells[5] = cell_text(texts[3]);
    cells[7] = cell_real(finding->expected);
    cells[8] = cell_real(finding->reported);
    cells[9] = cell_real(error);
    cells[10] = cell_real(finding->below);
    cells[11] = cell_real(finding->above);
    cells[12] = cell_real(finding->confidence);
}

static enum emphasis emphasis_of(enum verdict verdict)
{
    return verdict == VERDICT_PASS ? GOOD : verdict == VERDICT_FAIL ? BAD : NOTABLE;
}

static void fill_row(struct cell *cells, const struct finding *finding, char texts[4][32])
{
    const struct cell verdict = cell_text(verdict_names[finding->verdict]);

    for (size_t i = 0; i < ROW_FIELDS; i++)
        cells[i] = cell_unknown();
    cells[0] = cell_text(finding->spec->name);
    fill_numbers(cells, finding, texts);
    cells[1] = emphasised(verdict, emphasis_of(finding->verdict));
    cells[6] = cell_text(finding->spec->unit);
    cells[13] = verdict;
    cells[14] = cell_text(finding->spec->unit);
    cells[15] = cell_natural(finding->tries);
    cells[16] = cell_text(finding->reason[0] != '\0' ? finding->reason : NULL);
    cells[17] = cell_text(finding->spec->help);
}

/* The note of a failed row says what was compared and which error was allowed. The note of an
 * untested row says why it was not tested, and what to do if each try was disturbed. */
static void note(char ret[NOTE_SIZE], const struct finding *finding)
{
    char low[32], high[32];

    if (finding->verdict == VERDICT_NOT_TESTED && finding->was_disturbed)
        snprintf(ret, NOTE_SIZE,
                 "%s: not tested: %s; try again on a quieter machine: camp verify --only %s",
                 finding->spec->name, finding->reason, finding->spec->name);
    else if (finding->verdict == VERDICT_NOT_TESTED || finding->reason[0] != '\0')
        snprintf(ret, NOTE_SIZE, "%s: %s: %s", finding->spec->name, verdict_names[finding->verdict],
                 finding->reason);
    else
        snprintf(ret, NOTE_SIZE, "%s: FAIL: %s (allowed: -%s to +%s %s)", finding->spec->name,
                 finding->spec->help, number_text(low, finding->below),
                 number_text(high, finding->above), finding->spec->unit);
}

static void fill_summary(struct verify_record *ret, const struct finding *findings, size_t count,
                         const struct summary *summary)
{
    const size_t passed = findings_count(findings, count, VERDICT_PASS);
    const size_t failed = findings_count(findings, count, VERDICT_FAIL);
    const size_t not_tested = findings_count(findings, count, VERDICT_NOT_TESTED);
    struct cell *cells = ret->summary;

    cells[0] = cell_text(summary->time);
    cells[1] = cell_real(summary->elapsed_s);
    cells[2] = cell_natural(passed);
    cells[3] = cell_natural(failed);
    cells[4] = cell_natural(not_tested);
    cells[5] = cell_boolean(summary->distorted);
    snprintf(ret->headline, sizeof ret->headline, "%s  %zu passed, %zu failed, %zu not tested%s",
             summary->time, passed, failed, not_tested,
             summary->distorted ? "  CAMP_VERIFY_DISTORT IS SET" : "");
}

void verify_record_fill(struct verify_record *ret, const struct finding *findings, size_t count,
                        const struct summary *summary)
{
    size_t rows = 0, notes = 0;

    for (size_t i = 0; i < count && rows < ROWS_MAX; i++) {
        const struct finding *finding = &findings[i];

        if (!finding->wanted)
            continue;
        fill_row(&ret->cells[rows * ROW_FIELDS], finding, ret->numbers[rows]);
        rows++;
        if (finding->verdict == VERDICT_PASS && finding->reason[0] == '\0')
            continue;
        note(ret->notes[notes], finding);
        ret->note_list[notes] = ret->notes[notes];
        notes++;
    }
    ret->note_list[notes] = NULL;
    fill_summary(ret, findings, count, summary);
    ret->tables[0] = TABLE_OF_ROWS("rows", row_fields, ret->cells, rows);
    ret->tables[1] = TABLE_OF_ONE("summary", TABLE_INLINE, summary_fields, ret->summary);
    ret->record =
        (struct record){ "camp.verify/1", ret->headline, ret->tables, 2, 0, ret->note_list };
}

static const struct field list_fields[] = {
    { "row", "row", "name of the row, for --only", 0, 0 },
    { "unit", NULL, "of its numbers", 0, 0 },
    { "help", "camp's number : the truth beside it",
      "camp's number : the truth, of the load or of another count of the kernel", 0, 0 },
};

void verify_record_list(struct verify_record *ret, const struct finding *findings, size_t count)
{
    size_t rows = 0;

    for (size_t i = 0; i < count && rows < ROWS_MAX; i++) {
        struct cell *cells = &ret->cells[3 * rows];

        if (!findings[i].wanted)
            continue;
        cells[0] = cell_text(findings[i].spec->name);
        cells[1] = cell_text(findings[i].spec->unit);
        cells[2] = cell_text(findings[i].spec->help);
        rows++;
    }
    ret->tables[0] = TABLE_OF_ROWS("rows", list_fields, ret->cells, rows);
    ret->record = (struct record){ "camp.verify/1", NULL, ret->tables, 1, 0, NULL };
}
