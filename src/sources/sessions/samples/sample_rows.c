#include "sample_rows.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "sources/field.h"
#include "sources/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROWS 100 /* the form of times is guessed from so many rows */

void sample_rows_release(struct sample_rows *rows)
{
    table_names_release(&rows->texts);
    table_names_release(&rows->identities);
    free(rows->rows);
    free(rows->sessions);
    free(rows->buffer);
    *rows = (struct sample_rows){ 0 };
}

void sample_rows_skip(struct sample_rows *rows, size_t row, const char *problem)
{
    struct sample_row *skipped = &rows->rows[row];

    if (rows->skipped == 0 || skipped->number < rows->problem_number) {
        rows->problem_number = skipped->number;
        snprintf(rows->problem, sizeof rows->problem, "%s", problem);
    }
    skipped->session = UINT32_MAX;
    rows->skipped++;
}

void sample_text(const struct sample_rows *rows, size_t row, enum sample_role role, char *ret,
                 size_t size)
{
    const uint32_t id = rows->rows[row].texts[role - SAMPLE_FIRST_TEXT];

    if (id == 0)
        snprintf(ret, size, "%s", "");
    else
        field_copy(rows->texts.names[id - 1], ret, size);
}

static struct field field_of(const struct sample_columns *columns, const struct row *row,
                             enum sample_role role)
{
    return columns->at[role] != SAMPLE_ABSENT ? field_trimmed(row->fields[columns->at[role]])
                                              : (struct field){ "", 0 };
}

static bool read_load(struct field field, double *ret, char *problem)
{
    const enum field_fault fault = field_number(field, ret);

    if (fault != FIELD_OK)
        field_complaint(field, fault, problem, SAMPLE_PROBLEM_SIZE);
    else if (*ret > SAMPLE_LOAD_MOST)
        snprintf(problem, SAMPLE_PROBLEM_SIZE, "a load of %g sessions", *ret);
    return *problem == '\0';
}

/* Appends a text and its length: a text may have any byte. Returns false if there is no memory. */
static bool join(struct sample_rows *rows, size_t *length, struct field text)
{
    const size_t size = text.length + sizeof text.length;

    if (!ARRAY_RESERVE(rows->buffer, rows->buffer_capacity, *length + size))
        return false;
    memcpy(rows->buffer + *length, text.text, text.length);
    memcpy(rows->buffer + *length + text.length, &text.length, sizeof text.length);
    *length += size;
    return true;
}

/* Finds the session of a row: by its instance, id and serial number, or by all its labels if the
 * table has no ids of sessions. Returns false if there is no memory. */
static bool find_session(struct sample_rows *rows, const struct row *row, uint32_t *ret)
{
    const bool has_id = rows->columns.at[SAMPLE_SESSION] != SAMPLE_ABSENT;
    const enum sample_role first = has_id ? SAMPLE_INSTANCE : SAMPLE_USER;
    const enum sample_role end = has_id ? SAMPLE_USER : SAMPLE_LABEL_END;
    size_t length = 0, known;
    uint32_t id;

    for (int role = (int)first; role < (int)end; role++) {
        if (!join(rows, &length, field_of(&rows->columns, row, (enum sample_role)role)))
            return false;
    }
    known = rows->identities.count;
    if (!ARRAY_RESERVE(rows->sessions, rows->session_capacity, known + 1))
        return false;
    id = table_names_id(&rows->identities, rows->buffer, length);
    if (id == 0)
        return false;
    if (id > known)
        rows->sessions[known] = (struct sample_session){ UINT32_MAX, UINT32_MAX, UINT32_MAX };
    *ret = id - 1;
    return true;
}

static bool find_texts(struct sample_rows *rows, const struct row *row, struct sample_row *ret)
{
    for (int role = SAMPLE_FIRST_TEXT; role < SAMPLE_ROLES; role++) {
        const struct field field = field_of(&rows->columns, row, (enum sample_role)role);
        uint32_t *text = &ret->texts[role - SAMPLE_FIRST_TEXT];

        *text = field.length > 0 ? table_names_id(&rows->texts, field.text, field.length) : 0;
        if (field.length > 0 && *text == 0)
            return false;
    }
    return true;
}

/* Fills the sample of a row. Sets *problem if the row is not a sample. Returns false if there is no
 * memory. */
static bool read_row(struct sample_rows *rows, struct time_form *form, const struct row *row,
                     struct sample_row *ret, char *problem)
{
    const struct sample_columns *columns = &rows->columns;
    double sample = 0;
    struct field time;
    enum field_fault fault;

    if (!row_is_complete(row, columns->count, problem, SAMPLE_PROBLEM_SIZE))
        return true;
    time = field_of(columns, row, SAMPLE_TIME);
    fault = field_time(time, form, &ret->time);
    if (fault != FIELD_OK) {
        field_complaint(time, fault, problem, SAMPLE_PROBLEM_SIZE);
        return true;
    }
    if (columns->at[SAMPLE_LOAD] != SAMPLE_ABSENT &&
        !read_load(field_of(columns, row, SAMPLE_LOAD), &ret->load, problem))
        return true;
    if (columns->at[SAMPLE_SESSION] != SAMPLE_ABSENT &&
        field_of(columns, row, SAMPLE_SESSION).length == 0) {
        snprintf(problem, SAMPLE_PROBLEM_SIZE, "the session is empty");
        return true;
    }
    if (field_number(field_of(columns, row, SAMPLE_NUMBER), &sample) == FIELD_OK && sample < 1e15)
        ret->sample = (uint64_t)sample;
    return find_texts(rows, row, ret) && find_session(rows, row, &ret->session);
}

static int add_row(struct sample_rows *rows, struct time_form *form, const struct row *row,
                   const char *name, struct camp_error *error)
{
    char problem[SAMPLE_PROBLEM_SIZE] = "";
    const size_t at = rows->count;
    struct sample_row read = {
        .time = at > 0 ? rows->rows[at - 1].time : 0, /* where a row without a time is counted */
        .load = 1,
        .session = UINT32_MAX,
        .number = row->number < UINT32_MAX ? (uint32_t)row->number : UINT32_MAX,
        .next = UINT32_MAX,
    };

    if (at >= UINT32_MAX - 1 || !ARRAY_RESERVE(rows->rows, rows->capacity, at + 1) ||
        !read_row(rows, form, row, &read, problem))
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for more than %zu rows", name, at);
    rows->rows[rows->count++] = read;
    if (*problem != '\0')
        sample_rows_skip(rows, at, problem);
    return CAMP_OK;
}

/* Returns the memory that the rows need. */
static size_t size_of(const struct sample_rows *rows)
{
    const size_t name = sizeof *rows->texts.names + sizeof(struct index_slot);

    return rows->count * sizeof *rows->rows +
           rows->identities.count * (name + sizeof *rows->sessions) + rows->identities.bytes +
           rows->texts.count * name + rows->texts.bytes;
}

/* Skipped rows count in the frame of the row before them. Those at the start have none, and get the
 * time of the first sample. */
static void date_first_skipped(struct sample_rows *rows)
{
    size_t first = 0;

    while (first < rows->count && rows->rows[first].session == UINT32_MAX)
        first++;
    for (size_t i = 0; i < first && first < rows->count; i++)
        rows->rows[i].time = rows->rows[first].time;
}

/* Keeps the first rows, and guesses the form of their times. Returns SOURCE_END if these are all.
 */
static int read_first(struct rows *input, struct row *first, size_t *ret_count,
                      const struct sample_columns *columns, struct time_form *form,
                      struct camp_error *error)
{
    struct field times[FIRST_ROWS];
    int r = CAMP_OK;

    while (r == CAMP_OK && *ret_count < FIRST_ROWS) {
        struct row row;

        r = input->next(input, &row, error);
        if (r != CAMP_OK)
            break;
        if (!row_copy(&first[*ret_count], &row, columns->count))
            return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the rows of a table");
        times[*ret_count] = first[*ret_count].fields[columns->at[SAMPLE_TIME]];
        (*ret_count)++;
    }
    time_form_guess(form, times, *ret_count, UNIT_NONE);
    return r;
}

static int read_all(struct sample_rows *rows, struct row *first, size_t *first_count,
                    struct rows *input, const char *name, struct camp_error *error)
{
    struct time_form form;
    int more = read_first(input, first, first_count, &rows->columns, &form, error);
    int r = more < 0 ? more : CAMP_OK;
    struct row row;

    for (size_t i = 0; r == CAMP_OK && i < *first_count; i++)
        r = add_row(rows, &form, &first[i], name, error);
    while (r == CAMP_OK && more == CAMP_OK) {
        more = input->next(input, &row, error);
        if (more == CAMP_OK)
            r = add_row(rows, &form, &row, name, error);
        if (r == CAMP_OK && input->bytes_most > 0 && size_of(rows) > input->bytes_most)
            r = camp_fail(error, CAMP_E_FORMAT, 0,
                          "the query has more than %zu samples, which is more than camp keeps: "
                          "select a shorter time",
                          rows->count - 1);
    }
    date_first_skipped(rows);
    return more < 0 ? more : r;
}

int sample_rows_read(struct sample_rows *rows, const struct row *header, struct rows *input,
                     const char *name, struct camp_error *error)
{
    struct row *first = calloc(FIRST_ROWS, sizeof *first);
    size_t first_count = 0;
    int r;

    sample_columns_find(&rows->columns, header);
    if (first == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for its rows", name);
    r = read_all(rows, first, &first_count, input, name, error);
    for (size_t i = 0; i < first_count; i++)
        free((void *)first[i].fields);
    free(first);
    if (r == CAMP_OK && rows->count == 0)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s has no rows after its header", name);
    if (r == CAMP_OK && rows->skipped == rows->count)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s has no samples; %s %" PRIu64 ": %s", name,
                         input->word, rows->problem_number, rows->problem);
    return r;
}
