/* JSON with one object per line (NDJSON). */
#include "format.h"

#include <string.h>

/* A character above U+FFFF is two surrogates of UTF-16. */
static void write_escape(FILE *stream, uint32_t code)
{
    if (code > 0xffff) {
        code -= 0x10000;
        fprintf(stream, "\\u%04x", (unsigned)(0xd800 + (code >> 10)));
        code = 0xdc00 + (code & 0x3ff);
    }
    fprintf(stream, "\\u%04x", (unsigned)code);
}

static void write_string(FILE *stream, const char *text, const char *end)
{
    putc('"', stream);
    while (text < end) {
        const size_t length = utf8_length(text);

        if (*text == '"' || *text == '\\')
            fprintf(stream, "\\%c", *text);
        else if (is_printable(text, length))
            fwrite(text, 1, length, stream);
        else
            write_escape(stream, length > 0 ? utf8_code_point(text, length) : 0xfffd);
        text += length > 0 ? length : 1;
    }
    putc('"', stream);
}

void json_text(FILE *stream, const char *text)
{
    write_string(stream, text, text + strlen(text));
}

static void write_list(FILE *stream, const char *text)
{
    const char *end = strchr(text, LIST_SEPARATOR);

    putc('[', stream);
    for (; end != NULL; end = strchr(text, LIST_SEPARATOR)) {
        write_string(stream, text, end);
        putc(',', stream);
        text = end + 1;
    }
    json_text(stream, text);
    putc(']', stream);
}

static void write_key(FILE *stream, const char *name)
{
    json_text(stream, name);
    putc(':', stream);
}

static void write_cell(FILE *stream, const struct cell *cell)
{
    if (cell->kind == CELL_TEXT)
        json_text(stream, cell->text);
    else if (cell->kind == CELL_LIST)
        write_list(stream, cell->text);
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
        if (field->group != NULL && field->group != group) {
            write_key(options->stream, field->group);
            putc('{', options->stream);
        }
        group = field->group;
        write_key(options->stream, field->name);
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
    putc(',', stream);
    write_key(stream, shown->name);
    fputs(shown->shape == TABLE_ROWS ? "[" : "", stream);
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
    fputs("{\"schema\":", options->stream);
    json_text(options->stream, record->schema);
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
