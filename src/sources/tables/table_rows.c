#include "table_rows.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "sources/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_ROWS 100 /* number of rows from which the columns are chosen */

void table_rows_release(struct table_rows *rows)
{
    table_names_release(&rows->names);
    free(rows->times);
    free(rows->entities);
    free(rows->numbers);
    free(rows->elapsed);
    free(rows->values);
    free(rows->name_buffer);
    *rows = (struct table_rows){ 0 };
}

static bool reserve(struct table_rows *rows)
{
    return ARRAYS_RESERVE(rows->capacity, rows->count + 1, ARRAY(rows->times),
                          ARRAY(rows->entities), ARRAY(rows->numbers), ARRAY(rows->elapsed),
                          ARRAY_ROWS(rows->values, rows->state_count));
}

void table_rows_skip(struct table_rows *rows, size_t row, const char *problem)
{
    if (rows->skipped == 0 || rows->numbers[row] < rows->problem_number) {
        rows->problem_number = rows->numbers[row];
        snprintf(rows->problem, sizeof rows->problem, "%s", problem);
    }
    rows->elapsed[row].read = NAN;
    rows->skipped++;
}

bool table_rows_is_skipped(const struct table_rows *rows, size_t row)
{
    return isnan(rows->elapsed[row].read);
}

static bool join(struct table_rows *rows, size_t *length, struct field text)
{
    const size_t needed = *length + text.length + 1;

    if (!ARRAY_RESERVE(rows->name_buffer, rows->name_capacity, needed))
        return false;
    if (*length > 0)
        rows->name_buffer[(*length)++] = ' ';
    memcpy(rows->name_buffer + *length, text.text, text.length);
    *length += text.length;
    return true;
}

/* Returns the id of the entity of a row. Returns 0 and sets *problem if a text is empty. Returns 0
 * without a *problem if there is no memory. */
static uint32_t read_entity(struct table_rows *rows, const struct table_columns *columns,
                            const struct row *row, char *problem)
{
    size_t length = 0;

    if (columns->entity_count == 0)
        return table_names_id(&rows->names, rows->only.text, rows->only.length);
    for (size_t i = 0; i < columns->count; i++) {
        const struct field field = field_trimmed(row->fields[i]);

        if (columns->columns[i].use != USE_ENTITY)
            continue;
        if (field.length == 0) {
            snprintf(problem, TABLE_PROBLEM_SIZE, "%s is empty", columns->columns[i].title);
            return 0;
        }
        if (!join(rows, &length, field))
            return 0;
    }
    return table_names_id(&rows->names, rows->name_buffer, length);
}

static void complain_of_cell(const struct table_column *column, struct field field,
                             enum field_fault fault, char *problem)
{
    const size_t length = (size_t)snprintf(problem, TABLE_PROBLEM_SIZE, "%s: ", column->title);

    field_complaint(field, fault, problem + length, TABLE_PROBLEM_SIZE - length);
}

static bool read_number(const struct table_column *column, struct field field, double *ret,
                        char *problem)
{
    const enum field_fault fault = field_number(field, ret);

    if (fault == FIELD_EMPTY)
        snprintf(problem, TABLE_PROBLEM_SIZE, "%s is empty", column->title);
    else if (fault == FIELD_OK && *ret == 0 && column->use == USE_ELAPSED)
        snprintf(problem, TABLE_PROBLEM_SIZE, "%s is 0", column->title);
    else if (fault != FIELD_OK)
        complain_of_cell(column, field, fault, problem);
    return *problem == '\0';
}

/* Reads the numbers of the row. Returns false and sets *problem if a number is invalid. */
static bool read_numbers(struct table_rows *rows, const struct table_columns *columns,
                         const struct row *row, char *problem)
{
    union amount *value = &rows->values[rows->count * rows->state_count];

    for (size_t i = 0; i < columns->count; i++) {
        const struct table_column *column = &columns->columns[i];

        if (column->use == USE_STATE &&
            !read_number(column, row->fields[i], &(value++)->read, problem))
            return false;
        if (column->use == USE_ELAPSED &&
            !read_number(column, row->fields[i], &rows->elapsed[rows->count].read, problem))
            return false;
    }
    return true;
}

/* Fills the elements at index rows->count of all arrays. Sets *problem if the row is invalid.
 * Returns false if there is no memory. */
static bool read_row(struct table_rows *rows, struct table_columns *columns, const struct row *row,
                     char *problem)
{
    const size_t at = rows->count;
    enum field_fault fault;

    rows->times[at] = at > 0 ? rows->times[at - 1] : 0;
    rows->entities[at] = 0;
    rows->elapsed[at].read = 0;
    if (!row_is_complete(row, columns->count, problem, TABLE_PROBLEM_SIZE))
        return true;
    fault = field_time(row->fields[columns->time], &columns->time_form, &rows->times[at]);
    if (fault != FIELD_OK) {
        field_complaint(row->fields[columns->time], fault, problem, TABLE_PROBLEM_SIZE);
        return true;
    }
    /* If this row is the first with a valid time, the invalid rows before it get the same time. */
    for (size_t i = 0; !rows->has_time && i < at; i++)
        rows->times[i] = rows->times[at];
    rows->has_time = true;
    rows->entities[at] = read_entity(rows, columns, row, problem);
    if (rows->entities[at] == 0)
        return *problem != '\0';
    read_numbers(rows, columns, row, problem);
    return true;
}

/* Returns the memory that the rows need. */
static size_t size_of(const struct table_rows *rows)
{
    const size_t row = sizeof *rows->times + sizeof *rows->entities + sizeof *rows->numbers +
                       sizeof *rows->elapsed + rows->state_count * sizeof *rows->values;
    const size_t name = sizeof *rows->names.names + sizeof(struct index_slot);

    return rows->count * row + rows->names.count * name + rows->names.bytes;
}

static int add_row(struct table_rows *rows, struct table_columns *columns, const struct row *row,
                   const char *name, struct camp_error *error)
{
    char problem[TABLE_PROBLEM_SIZE] = "";
    const size_t at = rows->count;

    if (at >= UINT32_MAX || !reserve(rows) || !read_row(rows, columns, row, problem))
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for more than %zu rows", name, at);
    rows->count++;
    rows->numbers[at] = row->number < UINT32_MAX ? (uint32_t)row->number : UINT32_MAX;
    rows->is_in_order = rows->is_in_order && (at == 0 || rows->times[at] >= rows->times[at - 1]);
    if (*problem != '\0')
        table_rows_skip(rows, at, problem);
    return CAMP_OK;
}

/* The header and the first rows, from which the columns are chosen. */
struct sample {
    struct row rows[1 + SAMPLE_ROWS];
    size_t count;
};

/* Returns SOURCE_END if the sample has all rows, and CAMP_OK if there may be more. */
static int read_sample(struct sample *sample, struct rows *input, const char *name,
                       struct camp_error *error)
{
    int r = CAMP_OK;

    while (r == CAMP_OK && sample->count <= SAMPLE_ROWS) {
        struct row row;

        r = input->next(input, &row, error);
        if (r != CAMP_OK)
            break;
        if (sample->count == 0 && row.problem != NULL)
            return camp_fail(error, CAMP_E_FORMAT, 0, "%s, the header: %s", name, row.problem);
        if (!row_copy(&sample->rows[sample->count], &row, sample->rows[0].count))
            return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for its rows", name);
        sample->count++;
    }
    if (r == SOURCE_END && sample->count == 0)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s is empty; a table has a header and columns of time, entity and "
                         "numbers",
                         name);
    if (r == SOURCE_END && sample->count == 1)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s has no rows after its header", name);
    return r;
}

static int read_with(struct sample *sample, struct table_rows *rows, struct table_columns *columns,
                     struct rows *input, const char *name, struct camp_error *error)
{
    const char *end = strrchr(name, '.');
    int more = read_sample(sample, input, name, error);
    int r = more < 0 ? more
                     : table_columns_choose(columns, name, &sample->rows[0], &sample->rows[1],
                                            sample->count - 1, error);
    struct row row;

    *rows = (struct table_rows){
        .state_count = columns->state_count,
        .is_in_order = true,
        .only = { name, end != NULL ? (size_t)(end - name) : strlen(name) },
    };
    for (size_t i = 1; r == CAMP_OK && i < sample->count; i++)
        r = add_row(rows, columns, &sample->rows[i], name, error);
    while (r == CAMP_OK && more == CAMP_OK) {
        more = input->next(input, &row, error);
        if (more == CAMP_OK)
            r = add_row(rows, columns, &row, name, error);
        if (r == CAMP_OK && input->bytes_most > 0 && size_of(rows) > input->bytes_most)
            r = camp_fail(error, CAMP_E_FORMAT, 0,
                          "the query has more than %zu rows, which is more than camp keeps: select "
                          "a shorter time, or let it add rows up",
                          rows->count - 1);
    }
    return more < 0 ? more : r;
}

int table_rows_read(struct table_rows *rows, struct table_columns *columns, struct rows *input,
                    const char *name, struct camp_error *error)
{
    struct sample sample = { 0 };
    int r = read_with(&sample, rows, columns, input, name, error);

    for (size_t i = 0; i < sample.count; i++)
        free((void *)sample.rows[i].fields);
    if (r == CAMP_OK && table_names_find_shared(&rows->names) != CAMP_OK)
        r = camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for its names", name);
    return r;
}
