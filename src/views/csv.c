/*
 * CSV (RFC 4180) with one table of a record. The header line comes before the first record. Each
 * row starts with the inline fields (TABLE_INLINE), which have the same values in all rows of a
 * record. The columns of the table follow. A column with the name of an inline field is named
 * "TABLE.NAME".
 */
#include "format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A spreadsheet takes a text that starts like a formula for one, and would compute what a process,
 * a server or a file chose as a name (OWASP, "CSV injection"). Such a text gets an apostrophe. So
 * does a text that starts with apostrophes before such a text, so that a reader can remove one. */
static bool looks_like_formula(const char *text)
{
    text += strspn(text, "'");
    return *text != '\0' && strchr("=+-@\t\r\n", *text) != NULL;
}

/* Writes a text, in quotes if the text has special characters; a semicolon and a tab separate cells
 * in some spreadsheets. Line feeds and tabs are part of the text. An invalid byte, or any other
 * unprintable character, becomes U+FFFD. */
static void write_text(FILE *stream, const char *text)
{
    const bool is_formula = looks_like_formula(text);
    const bool quoted = text[strcspn(text, ",;\t\"\r\n")] != '\0';

    if (quoted)
        putc('"', stream);
    if (is_formula)
        putc('\'', stream);
    while (*text != '\0') {
        const size_t length = utf8_length(text);

        if (*text == '"')
            putc('"', stream);
        if (*text == '\n' || *text == '\t' || is_printable(text, length))
            fwrite(text, 1, length, stream);
        else
            fputs("\xef\xbf\xbd", stream);
        text += length > 0 ? length : 1;
    }
    if (quoted)
        putc('"', stream);
}

static void write_cell(FILE *stream, const struct cell *cell)
{
    if (cell->kind == CELL_TEXT || cell->kind == CELL_LIST)
        write_text(stream, cell->text);
    else
        write_plain(stream, cell);
}

static bool is_inline_field(const struct record *record, const char *name)
{
    for (size_t i = 0; i < record->table_count; i++) {
        const struct table *table = &record->tables[i];

        for (size_t j = 0; table->shape == TABLE_INLINE && j < table->field_count; j++) {
            if (table->fields[j].name != NULL && strcmp(table->fields[j].name, name) == 0)
                return true;
        }
    }
    return false;
}

static void write_name(FILE *stream, const struct record *record, const struct table *table,
                       const char *name)
{
    char *whole = NULL;

    if (table->shape != TABLE_INLINE && is_inline_field(record, name) &&
        asprintf(&whole, "%s.%s", table->name, name) >= 0)
        name = whole;
    write_text(stream, name);
    free(whole);
}

/* Writes the cells of one row of a table. If `row` is NULL, writes the names of the columns. */
static void write_cells(const struct view_options *options, const struct record *record,
                        size_t table, const struct cell *row, bool *first)
{
    const struct table *shown = &record->tables[table];

    for (size_t i = 0; i < shown->field_count; i++) {
        if (shown->fields[i].name == NULL ||
            !column_wanted(options, record, table, shown->fields[i].name))
            continue;
        if (!*first)
            putc(',', options->stream);
        *first = false;
        if (row == NULL)
            write_name(options->stream, record, shown, shown->fields[i].name);
        else
            write_cell(options->stream, &row[i]);
    }
}

static void write_line(const struct view_options *options, const struct record *record,
                       size_t table, const struct cell *row)
{
    bool first = true;

    for (size_t i = 0; i < record->table_count; i++) {
        const struct table *inlined = &record->tables[i];

        if (inlined->shape == TABLE_INLINE && i != table)
            write_cells(options, record, i, row != NULL ? inlined->cells : NULL, &first);
    }
    write_cells(options, record, table, row, &first);
    putc('\n', options->stream);
}

static int csv_record(const struct view_options *options, const struct record *record,
                      uint64_t number)
{
    size_t table =
        options->table != NULL ? table_by_name(record, options->table) : record->main_table;
    const struct table *shown;

    if (table >= record->table_count)
        return EINVAL; /* cannot happen, because commands check options->table */
    shown = &record->tables[table];
    if (number == 0)
        write_line(options, record, table, NULL);
    for (size_t row = 0; row < shown->row_count; row++)
        write_line(options, record, table, &shown->cells[row * shown->field_count]);
    return view_flush(options);
}

const struct view csv_view = {
    .name = "csv",
    .help = "RFC 4180, one table, a header line first",
    .record = csv_record,
};
