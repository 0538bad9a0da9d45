#include "table_read.h"

#include "counters/error.h"
#include "sources/source.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLE_ROWS 100 /* rows that determine the columns */

/* The start of the table, kept until its columns are known. */
struct sample {
    struct row header;
    struct row rows[SAMPLE_ROWS];
    size_t count;
};

static void release_sample(struct sample *sample)
{
    free((void *)sample->header.fields);
    for (size_t i = 0; i < sample->count; i++)
        free((void *)sample->rows[i].fields);
}

/* Copies a row with its texts in one allocation; a short one gets empty fields. */
static bool copy_row(struct row *ret, const struct row *row, size_t least)
{
    const size_t count = row->count > least ? row->count : least;
    size_t length = 0;
    struct field *fields;
    char *write;

    for (size_t i = 0; i < row->count; i++)
        length += row->fields[i].length;
    fields = malloc(count * sizeof *fields + length + 1);
    if (fields == NULL)
        return false;
    write = (char *)(fields + count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = (struct field){ write, i < row->count ? row->fields[i].length : 0 };
        if (fields[i].length > 0)
            memcpy(write, row->fields[i].text, fields[i].length);
        write += fields[i].length;
    }
    *ret = *row;
    ret->fields = fields;
    return true;
}

static int read_header(struct rows *rows, const char *name, struct row *ret,
                       struct camp_error *error)
{
    struct row row;
    const int r = rows->next(rows, &row, error);

    if (r == SOURCE_END)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s is empty; a table has a header and columns of time, entity and "
                         "numbers",
                         name);
    if (r == CAMP_OK && row.problem != NULL)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s, the header: %s", name, row.problem);
    if (r == CAMP_OK && !copy_row(ret, &row, 0))
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for its rows", name);
    return r;
}

/* CAMP_OK: there may be more rows. SOURCE_END: these are all. */
static int read_sample(struct rows *rows, const char *name, struct sample *sample,
                       struct camp_error *error)
{
    struct row row;
    int r = read_header(rows, name, &sample->header, error);

    while (r == CAMP_OK && sample->count < SAMPLE_ROWS) {
        r = rows->next(rows, &row, error);
        if (r != CAMP_OK)
            break;
        if (!copy_row(&sample->rows[sample->count], &row, sample->header.count))
            return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for its rows", name);
        sample->count++;
    }
    if (r == SOURCE_END && sample->count == 0)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s has no rows after its header", name);
    return r;
}

static int add_row(struct table_columns *columns, struct table_rows *table, const struct row *row,
                   const char *name, struct camp_error *error)
{
    const char *end = strrchr(name, '.');
    const struct field only = { name, end != NULL ? (size_t)(end - name) : strlen(name) };

    if (table_rows_add(table, columns, row, only) != CAMP_OK)
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for more than %zu rows", name,
                         table->count);
    return CAMP_OK;
}

static int read_with(struct sample *sample, struct table_columns *columns, struct table_rows *table,
                     struct rows *rows, const char *name, struct camp_error *error)
{
    int more = read_sample(rows, name, sample, error);
    int r = more < 0 ? more
                     : table_columns_choose(columns, name, &sample->header, sample->rows,
                                            sample->count, error);
    struct row row;

    if (r != CAMP_OK)
        return r;
    table_rows_init(table, columns->state_count);
    for (size_t i = 0; r == CAMP_OK && i < sample->count; i++)
        r = add_row(columns, table, &sample->rows[i], name, error);
    while (r == CAMP_OK && more == CAMP_OK) {
        more = rows->next(rows, &row, error);
        if (more == CAMP_OK)
            r = add_row(columns, table, &row, name, error);
    }
    return more < 0 ? more : r;
}

int table_read(struct table_columns *columns, struct table_rows *table, struct rows *rows,
               const char *name, struct camp_error *error)
{
    struct sample sample = { 0 };
    const int r = read_with(&sample, columns, table, rows, name, error);

    release_sample(&sample);
    return r;
}
