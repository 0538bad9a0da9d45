/*
 * Text for readers: a headline, tables with headings, and notes. A row that is too long is cut,
 * never wrapped. Names may be any bytes. Unprintable characters are shown as "?", so that no
 * process name can move the cursor.
 */
#include "format.h"

#include <inttypes.h>
#include <string.h>

#define CELL_SIZE 256
#define FIELDS_MAXIMUM 64
#define GAP 2

struct shown {
    char bytes[CELL_SIZE];
    size_t length;
    size_t columns;
};

static void show_text(struct shown *ret, const char *text)
{
    while (*text != '\0' && ret->length + 8 < CELL_SIZE) {
        size_t columns;
        const size_t length = character_length(text, &columns);

        memcpy(ret->bytes + ret->length, columns > 0 ? text : "?", columns > 0 ? length : 1);
        ret->length += columns > 0 ? length : 1;
        ret->columns += columns > 0 ? columns : 1;
        text += length;
    }
}

static void show_cell(struct shown *ret, const struct cell *cell, const struct field *field)
{
    char number[48] = "";

    *ret = (struct shown){ .length = 0 };
    switch (cell->kind) {
    case CELL_UNKNOWN:
        show_text(ret, "-");
        return;
    case CELL_TEXT:
        show_text(ret, cell->text);
        return;
    case CELL_INTEGER:
        snprintf(number, sizeof number, "%" PRId64, cell->integer);
        break;
    case CELL_NATURAL:
        snprintf(number, sizeof number, "%" PRIu64, cell->natural);
        break;
    case CELL_REAL:
        snprintf(number, sizeof number, "%.*f", field->decimals, cell->real);
        break;
    case CELL_BOOLEAN:
        snprintf(number, sizeof number, "%s", cell->boolean ? "yes" : "");
        break;
    }
    show_text(ret, number);
}

/* Sets the width of each column: field->width or, if that is 0, the width of the widest cell. The
 * width is at least that of the title. A hidden column has the width 0. */
static void measure_columns(const struct view_options *options, const struct record *record,
                            size_t table, size_t *ret_widths)
{
    const struct table *shown = &record->tables[table];

    for (size_t i = 0; i < shown->field_count; i++) {
        const struct field *field = &shown->fields[i];
        struct shown cell = { .length = 0 };

        ret_widths[i] = 0;
        if (field->title == NULL || (field->on_request && options->columns == NULL) ||
            !column_wanted(options, record, table, field->name))
            continue;
        show_text(&cell, field->title);
        ret_widths[i] = cell.columns;
        if (field->width != 0) {
            size_t stated = (size_t)(field->width < 0 ? -field->width : field->width);

            ret_widths[i] = stated > cell.columns ? stated : cell.columns;
            continue;
        }
        for (size_t row = 0; row < shown->row_count; row++) {
            show_cell(&cell, &shown->cells[row * shown->field_count + i], field);
            if (cell.columns > ret_widths[i])
                ret_widths[i] = cell.columns;
        }
    }
}

static const char *colour_of(enum emphasis emphasis)
{
    switch (emphasis) {
    case GOOD:
        return "\033[32m";
    case NOTABLE:
        return "\033[33m";
    case BAD:
        return "\033[31m";
    case FAINT:
        return "\033[2m";
    case PLAIN:
        break;
    }
    return NULL;
}

static bool aligned_left(const struct field *field, const struct cell *cell)
{
    return field->width < 0 || (field->width == 0 && cell != NULL && cell->kind == CELL_TEXT);
}

/* Shortens the cell to at most `most` columns, without splitting a character. */
static void cut(struct shown *cell, size_t most)
{
    const size_t whole = cell->length;
    size_t length, columns;

    cell->length = 0;
    cell->columns = 0;
    for (; cell->length < whole; cell->length += length, cell->columns += columns) {
        length = character_length(cell->bytes + cell->length, &columns);
        if (cell->columns + columns > most)
            return;
    }
}

struct line {
    const struct view_options *options;
    size_t column; /* columns written so far */
    /* Blanks before the next cell. They are written with the cell, so that no line ends with
     * blanks. */
    size_t blanks;
};

static void write_shown(struct line *line, struct shown *cell, size_t width, bool left,
                        const char *colour)
{
    FILE *stream = line->options->stream;
    size_t room = line->options->width;
    size_t taken = left && cell->columns < width ? cell->columns : width;
    size_t padding;

    line->blanks += line->column > 0 ? GAP : 0;
    if (room > 0 && line->column + line->blanks + taken > room) {
        size_t begin = line->column + line->blanks;

        cut(cell, begin < room ? room - begin : 0);
        width = cell->columns;
    } else {
        cut(cell, width);
    }
    padding = width - cell->columns;
    if (!left)
        line->blanks += padding;
    if (cell->columns > 0) {
        fprintf(stream, "%*s%s%.*s%s", (int)line->blanks, "", colour != NULL ? colour : "",
                (int)cell->length, cell->bytes, colour != NULL ? "\033[0m" : "");
        line->column += line->blanks + cell->columns;
        line->blanks = left ? padding : 0;
    } else if (left) {
        line->blanks += padding;
    }
    if (line->column == 0)
        /* Not 0, so that the next cell gets a gap even if the first cell is empty. */
        line->column = 1;
}

static void write_line(const struct view_options *options, const struct table *table,
                       const size_t *widths, const struct cell *row)
{
    struct line line = { .options = options };

    for (size_t i = 0; i < table->field_count; i++) {
        const struct field *field = &table->fields[i];
        const struct cell *cell = row != NULL ? &row[i] : NULL;
        const struct cell *sample = cell != NULL || table->row_count == 0 ? cell : &table->cells[i];
        struct shown shown = { .length = 0 };

        if (widths[i] == 0)
            continue;
        if (cell != NULL)
            show_cell(&shown, cell, field);
        else
            show_text(&shown, field->title);
        write_shown(&line, &shown, widths[i], aligned_left(field, sample),
                    !options->colour ? NULL
                    : cell != NULL   ? colour_of(cell->emphasis)
                                     : "\033[1m");
    }
    putc('\n', options->stream);
}

/* A table whose titles are all "" is for scripts, and gets no heading. */
static bool has_heading(const struct table *table)
{
    for (size_t i = 0; i < table->field_count; i++) {
        if (table->fields[i].title != NULL && table->fields[i].title[0] != '\0')
            return true;
    }
    return false;
}

static void write_rows(const struct view_options *options, const struct record *record,
                       size_t table)
{
    const struct table *shown = &record->tables[table];
    size_t widths[FIELDS_MAXIMUM];

    if (shown->row_count == 0 || shown->field_count > FIELDS_MAXIMUM)
        return;
    measure_columns(options, record, table, widths);
    if (has_heading(shown))
        write_line(options, shown, widths, NULL);
    for (size_t row = 0; row < shown->row_count; row++)
        write_line(options, shown, widths, &shown->cells[row * shown->field_count]);
}

/* The headline and the notes are sentences, so they are not cut at the width of the terminal. */
static void write_sentence(const struct view_options *options, const char *text, const char *colour)
{
    bool coloured = options->colour && colour != NULL;

    fprintf(options->stream, "%s%s%s\n", coloured ? colour : "", text, coloured ? "\033[0m" : "");
}

static int text_record(const struct view_options *options, const struct record *record,
                       uint64_t number)
{
    bool gap = false;

    if (number > 0)
        putc('\n', options->stream);
    if (record->headline != NULL)
        write_sentence(options, record->headline, "\033[1m");
    for (size_t i = 0; i < record->table_count; i++) {
        if (record->tables[i].hidden_in_text || record->tables[i].row_count == 0)
            continue;
        if (gap)
            putc('\n', options->stream);
        write_rows(options, record, i);
        gap = true;
    }
    for (size_t i = 0; record->notes != NULL && record->notes[i] != NULL; i++)
        write_sentence(options, record->notes[i], NULL);
    return view_flush(options);
}

const struct view text_view = {
    .name = "text",
    .help = "for a person, 80 columns",
    .record = text_record,
};
