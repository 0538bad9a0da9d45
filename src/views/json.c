/* JSON with one object per line (NDJSON). */
#include "format.h"

void json_text(FILE *stream, const char *text)
{
    putc('"', stream);
    while (*text != '\0') {
        size_t length = utf8_length(text);

        if (*text == '"' || *text == '\\')
            fprintf(stream, "\\%c", *text);
        else if ((unsigned char)*text < ' ' || *text == 0x7f)
            fprintf(stream, "\\u%04x", (unsigned char)*text);
        else if (length > 0)
            fwrite(text, 1, length, stream);
        else
            fputs("\\ufffd", stream);
        text += length > 0 ? length : 1;
    }
    putc('"', stream);
}

static void write_cell(FILE *stream, const struct cell *cell)
{
    if (cell->kind == CELL_TEXT)
        json_text(stream, cell->text);
    else if (!write_plain(stream, cell))
        fputs("null", stream);
}

static void write_row(const struct view_options *options, const struct record *record, size_t table,
                      size_t row, bool *first)
{
    const struct table *shown = &record->tables[table];
    const char *group = NULL;

    for (size_t i = 0; i < shown->field_count; i++) {
        const struct field *field = &shown->fields[i];

        if (field->name == NULL || !column_wanted(options, record, table, field->name))
            continue;
        if (group != NULL && field->group != group)
            putc('}', options->stream);
        if (!*first)
            putc(',', options->stream);
        if (field->group != NULL && field->group != group)
            fprintf(options->stream, "\"%s\":{", field->group);
        group = field->group;
        fprintf(options->stream, "\"%s\":", field->name);
        write_cell(options->stream, &shown->cells[row * shown->field_count + i]);
        *first = false;
    }
    if (group != NULL)
        putc('}', options->stream);
}

static void write_table(const struct view_options *options, const struct record *record,
                        size_t table)
{
    const struct table *shown = &record->tables[table];
    FILE *stream = options->stream;
    bool first = false; /* false, because "schema" is the first member */

    if (shown->shape == TABLE_INLINE) {
        write_row(options, record, table, 0, &first);
        return;
    }
    fprintf(stream, ",\"%s\":%s", shown->name, shown->shape == TABLE_ROWS ? "[" : "");
    for (size_t row = 0; row < shown->row_count; row++) {
        fputs(row > 0 ? ",{" : "{", stream);
        first = true;
        write_row(options, record, table, row, &first);
        putc('}', stream);
    }
    if (shown->shape == TABLE_ROWS)
        putc(']', stream);
}

static int json_record(const struct view_options *options, const struct record *record,
                       uint64_t number)
{
    (void)number;
    fprintf(options->stream, "{\"schema\":\"%s\"", record->schema);
    for (size_t i = 0; i < record->table_count; i++)
        write_table(options, record, i);
    fputs("}\n", options->stream);
    return view_flush(options);
}

const struct view json_view = {
    .name = "json",
    .help = "one object a line",
    .record = json_record,
};
