/*
 * Reads comma-separated values as in RFC 4180: fields may be quoted, a quote within a quoted field
 * is doubled, and lines end in LF or CRLF. A UTF-8 byte order mark and empty lines are skipped.
 *
 * The separator is the comma, the semicolon or the tab: the one that occurs in the header outside
 * of quotes. If none or several of them occur there, reading fails with CAMP_E_FORMAT.
 *
 * The apostrophe before a text that looks like a formula is not a part of the text.
 *
 * If a quote is not closed within 1 MiB, or before the end of the file, its row ends at the end of
 * the line. So one wrong quote does not swallow the following rows.
 */
#include "rows.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "ledger/words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)256 << 10)
#define LONGEST_ROW ((size_t)1 << 20)

struct csv {
    struct rows rows; /* must be the first member */
    const struct from *from;
    char *name;
    int descriptor;
    bool at_end;  /* the file has been read to its end */
    char *buffer; /* [capacity]; the bytes from `begin` to `end` are not yet divided into rows */
    size_t capacity, begin, end;
    uint64_t line;        /* number of the line at `begin`, from 1 */
    char separator;       /* '\0' until the header is read */
    uint64_t done, total; /* in bytes */
    struct field *fields; /* [field_capacity] the fields of the current row */
    size_t field_capacity;
};

static int fill(struct csv *csv, struct camp_error *error)
{
    ssize_t length;

    if (csv->end - csv->begin >= LONGEST_ROW)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s, line %" PRIu64 ": more than 1 MiB in a row; is this a table?",
                         csv->name, csv->line);
    if (csv->begin > 0) {
        memmove(csv->buffer, csv->buffer + csv->begin, csv->end - csv->begin);
        csv->end -= csv->begin;
        csv->begin = 0;
    }
    if (!ARRAY_RESERVE(csv->buffer, csv->capacity, csv->end + 1))
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for a row", csv->name);
    do {
        if (csv->from->stop != NULL && *csv->from->stop)
            return camp_fail(error, CAMP_E_IO, EINTR, "%s: stopped before it was read", csv->name);
        length = read(csv->descriptor, csv->buffer + csv->end, csv->capacity - csv->end);
    } while (length < 0 && errno == EINTR);
    if (length < 0)
        return camp_fail(error, CAMP_E_IO, errno, "%s: %s", csv->name, strerror(errno));
    csv->at_end = length == 0;
    csv->end += (size_t)length;
    csv->done += (uint64_t)length;
    if (csv->from->progress != NULL)
        csv->from->progress(csv->from->context, csv->done, csv->total);
    return CAMP_OK;
}

/* How much of a row is in the buffer. EXTENT_OPEN: a quote of the row is not closed. */
enum extent { EXTENT_WHOLE, EXTENT_MORE /* the row continues beyond the buffer */, EXTENT_OPEN };

static const char separators[] = { ',', ';', '\t' };

/* Returns whether a character separates fields. Before the separator is chosen, each of
 * separators[] separates fields. */
static bool is_separator(const struct csv *csv, char character)
{
    return csv->separator != '\0' ? character == csv->separator
                                  : memchr(separators, character, sizeof separators) != NULL;
}

/* Finds the end of a row with quotes: its LF, or `end`. Counts each of separators[] outside of
 * quotes in counts[], which may be NULL. */
static enum extent quoted_extent(const struct csv *csv, const char *at, const char *end,
                                 const char **ret_end, size_t *counts)
{
    enum { BEGIN, PLAIN, QUOTED, CLOSED } state = BEGIN;

    for (; at < end; at++) {
        if (state == QUOTED) {
            if (*at == '"')
                state = CLOSED;
        } else if (*at == '\n') {
            *ret_end = at;
            return EXTENT_WHOLE;
        } else if (*at == '"' && state != PLAIN) {
            state = QUOTED; /* the quote starts a field, or is the second of a doubled quote */
        } else {
            state = is_separator(csv, *at) ? BEGIN : PLAIN;
            for (size_t i = 0; counts != NULL && i < sizeof separators; i++)
                counts[i] += *at == separators[i];
        }
    }
    *ret_end = end;
    return state == QUOTED ? EXTENT_OPEN : EXTENT_MORE;
}

static enum extent extent_of(const struct csv *csv, const char **ret_end)
{
    const char *begin = csv->buffer + csv->begin;
    const char *end = csv->buffer + csv->end;
    const char *newline = memchr(begin, '\n', (size_t)(end - begin));
    const char *line_end = newline != NULL ? newline : end;
    enum extent extent;

    *ret_end = line_end;
    if (memchr(begin, '"', (size_t)(line_end - begin)) == NULL)
        return newline != NULL || csv->at_end ? EXTENT_WHOLE : EXTENT_MORE;
    extent = quoted_extent(csv, begin, end, ret_end, NULL);
    if (extent == EXTENT_WHOLE || (extent == EXTENT_MORE && csv->at_end))
        return EXTENT_WHOLE;
    if (!csv->at_end && ((size_t)(end - begin) < LONGEST_ROW || newline == NULL))
        return EXTENT_MORE;
    *ret_end = line_end;
    return EXTENT_OPEN;
}

/* Finds the separator in the header, which ends at `end`. Does nothing if the line is empty. Fails
 * if the header has more than one possible separator, because a file that is divided at the wrong
 * separator may still look like a table. */
static int choose_separator(struct csv *csv, const char *end, struct camp_error *error)
{
    const char *begin = csv->buffer + csv->begin, *row_end;
    size_t counts[sizeof separators] = { 0 }, kinds = 0;

    if (end > begin && end[-1] == '\r')
        end--;
    if (end == begin)
        return CAMP_OK;
    quoted_extent(csv, begin, end, &row_end, counts);
    for (size_t i = 0; i < sizeof separators; i++) {
        if (counts[i] == 0)
            continue;
        csv->separator = separators[i];
        kinds++;
    }
    if (kinds == 1)
        return CAMP_OK;
    csv->separator = '\0';
    if (kinds == 0)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s, line %" PRIu64 ": the header has no comma, semicolon or tab, so "
                         "there is one column; a table has columns of time, entity and numbers",
                         csv->name, csv->line);
    return camp_fail(error, CAMP_E_FORMAT, 0,
                     "%s, line %" PRIu64 ": the header has %zu %s, %zu %s and %zu %s: put names "
                     "with what divides no columns in quotes",
                     csv->name, csv->line, counts[0], noun_of(counts[0], "comma", "commas"),
                     counts[1], noun_of(counts[1], "semicolon", "semicolons"), counts[2],
                     noun_of(counts[2], "tab", "tabs"));
}

/* Removes the quotes of the field at `at`, in place. Returns the position after the closing
 * quote. */
static char *unquote(char *at, const char *end, struct field *field)
{
    char *write = at;

    for (at++; at < end; at++) {
        if (*at == '"') {
            if (at + 1 == end || at[1] != '"') {
                at++;
                break;
            }
            at++;
        }
        *write++ = *at;
    }
    field->length = (size_t)(write - field->text);
    return at;
}

/* Removes the apostrophe that camp, the page and others write before a text that a spreadsheet
 * would take for a formula (views/csv.c). */
static void remove_apostrophe(struct field *field)
{
    size_t first = 0;

    while (first < field->length && field->text[first] == '\'')
        first++;
    if (first > 0 && first < field->length && memchr("=+-@\t\r\n", field->text[first], 7) != NULL) {
        field->text++;
        field->length--;
    }
}

/* Divides a row from `at` to `end`, without its line end, into fields. Returns false if there is no
 * memory. */
static bool divide(struct csv *csv, char *at, const char *end, struct row *row)
{
    for (;;) {
        struct field *field;
        char *behind;

        if (!ARRAY_RESERVE(csv->fields, csv->field_capacity, row->count + 1))
            return false;
        field = &csv->fields[row->count++];
        *field = (struct field){ .text = at };
        if (at < end && *at == '"') {
            at = unquote(at, end, field);
            if (at < end && *at != csv->separator)
                row->problem = "there is text behind a closing quote";
        }
        behind = at < end ? memchr(at, csv->separator, (size_t)(end - at)) : NULL;
        if (field->text == at)
            field->length = (size_t)((behind != NULL ? behind : end) - at);
        remove_apostrophe(field);
        if (behind == NULL)
            return true;
        at = behind + 1;
    }
}

static uint64_t lines_in(const char *at, const char *end)
{
    uint64_t lines = 0;

    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

/* Removes the first row from the buffer, and divides it into fields. `end` is the LF of the row, or
 * the end of the file. Returns false if there is no memory. */
static bool remove_row(struct csv *csv, enum extent extent, const char *end, struct row *row)
{
    char *begin = csv->buffer + csv->begin;
    const bool has_newline = end < csv->buffer + csv->end;
    const char *text_end = end > begin && end[-1] == '\r' ? end - 1 : end;

    *row = (struct row){ .number = csv->line };
    csv->line += lines_in(begin, end) + has_newline;
    csv->begin = (size_t)(end - csv->buffer) + has_newline;
    if (extent == EXTENT_OPEN)
        row->problem = "a quote is not closed";
    if (!divide(csv, begin, text_end, row))
        return false;
    row->fields = csv->fields;
    return true;
}

static int next(struct rows *rows, struct row *ret, struct camp_error *error)
{
    struct csv *csv = (struct csv *)rows;

    for (;;) {
        const char *end = NULL;
        enum extent extent;
        int r;

        if (csv->begin == csv->end && csv->at_end)
            return SOURCE_END;
        extent = csv->begin == csv->end ? EXTENT_MORE : extent_of(csv, &end);
        if (extent == EXTENT_MORE) {
            r = fill(csv, error);
            if (r != CAMP_OK)
                return r;
            continue;
        }
        r = csv->separator == '\0' ? choose_separator(csv, end, error) : CAMP_OK;
        if (r != CAMP_OK)
            return r;
        if (!remove_row(csv, extent, end, ret))
            return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for a row", csv->name);
        if (ret->count > 1 || ret->fields[0].length > 0)
            return CAMP_OK; /* otherwise the line was empty, and is skipped */
    }
}

static void close_csv(struct rows *rows)
{
    struct csv *csv = (struct csv *)rows;

    if (csv->descriptor > STDIN_FILENO)
        close(csv->descriptor);
    free(csv->buffer);
    free(csv->fields);
    free(csv->name);
    free(csv);
}

/* Skips a byte order mark at the start of the file. */
static int skip_mark(struct csv *csv, struct camp_error *error)
{
    int r = CAMP_OK;

    while (r == CAMP_OK && !csv->at_end && csv->end < 3)
        r = fill(csv, error);
    if (r != CAMP_OK)
        return r;
    if (csv->end >= 2 &&
        (memcmp(csv->buffer, "\xff\xfe", 2) == 0 || memcmp(csv->buffer, "\xfe\xff", 2) == 0))
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s is UTF-16: save it as UTF-8", csv->name);
    if (csv->end >= 3 && memcmp(csv->buffer, "\xef\xbb\xbf", 3) == 0)
        csv->begin = 3;
    return CAMP_OK;
}

int csv_rows_open(const char *path, const struct from *from, struct rows **ret,
                  struct camp_error *error)
{
    const bool is_input = strcmp(path, "-") == 0;
    struct csv *csv = calloc(1, sizeof *csv);
    struct stat status;
    int r;

    if (csv == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory to read it", path);
    csv->rows = (struct rows){ next, close_csv, "line" };
    csv->from = from;
    csv->line = 1;
    csv->name = strdup(is_input ? "standard input" : path);
    if (csv->name == NULL) {
        free(csv);
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory to read it", path);
    }
    csv->descriptor = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (csv->descriptor < 0) {
        r = camp_fail(error, CAMP_E_IO, errno, "%s: %s", csv->name, strerror(errno));
    } else {
        if (fstat(csv->descriptor, &status) == 0 && S_ISREG(status.st_mode))
            csv->total = (uint64_t)status.st_size;
        r = skip_mark(csv, error);
    }
    if (r != CAMP_OK) {
        close_csv(&csv->rows);
        return r;
    }
    *ret = &csv->rows;
    return CAMP_OK;
}
