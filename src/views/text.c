/*
 * Text for readers: a headline, tables with headings, and notes. Without a limit of the width
 * everything is shown. With a limit, text columns without a stated width are wrapped, and whatever
 * still does not fit is cut, with a mark at its end. Names may be any bytes. Unprintable characters
 * are shown as "?", so that no process name can move the cursor.
 */
#include "format.h"
#include "terminal/terminal.h"

#include <inttypes.h>
#include <string.h>

#define CELL_SIZE 1024
#define FIELDS_MAXIMUM 64
#define GAP 2
#define WRAPPED_LEAST 12 /* columns are not narrowed below this width */

const char *view_cut_mark(size_t *ret_columns)
{
    const bool is_utf8 = terminal_has_utf8();

    *ret_columns = is_utf8 ? 1 : 2;
    return is_utf8 ? "\xe2\x80\xa6" : "..";
}

struct shown {
    char bytes[CELL_SIZE];
    size_t length;
    size_t columns;
};

static void append(struct shown *ret, const char *bytes, size_t length, size_t columns)
{
    memcpy(ret->bytes + ret->length, bytes, length);
    ret->length += length;
    ret->columns += columns;
}

static void show_text(struct shown *ret, const char *text)
{
    size_t columns;

    while (*text != '\0' && ret->length + 8 < CELL_SIZE) {
        const size_t length = character_length(text, &columns);

        append(ret, columns > 0 ? text : "?", columns > 0 ? length : 1, columns > 0 ? columns : 1);
        text += length;
    }
    if (*text != '\0') {
        const char *mark = view_cut_mark(&columns);

        append(ret, mark, strlen(mark), columns);
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
    case CELL_LIST:
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

struct layout {
    size_t widths[FIELDS_MAXIMUM];
    bool wrapped[FIELDS_MAXIMUM];
};

/* Returns whether the cells of a column are cut at its stated width. On a terminal, this is so for
 * names. */
static bool is_limited(const struct view_options *options, const struct field *field)
{
    return field->width < 0 && options->width > 0;
}

/* Sets the width of each column: at least that of the title and field->width, and at least that of
 * the widest cell unless the column is limited. A hidden column has the width 0. */
static void measure_columns(const struct view_options *options, const struct record *record,
                            size_t table, size_t *ret_widths)
{
    const struct table *shown = &record->tables[table];

    for (size_t i = 0; i < shown->field_count; i++) {
        const struct field *field = &shown->fields[i];
        const size_t stated = (size_t)(field->width < 0 ? -field->width : field->width);
        struct shown cell = { .length = 0 };

        ret_widths[i] = 0;
        if (field->title == NULL || (field->on_request && options->columns == NULL) ||
            !column_wanted(options, record, table, field->name))
            continue;
        show_text(&cell, field->title);
        ret_widths[i] = cell.columns > stated ? cell.columns : stated;
        for (size_t row = 0; row < shown->row_count && !is_limited(options, field); row++) {
            show_cell(&cell, &shown->cells[row * shown->field_count + i], field);
            if (cell.columns > ret_widths[i])
                ret_widths[i] = cell.columns;
        }
    }
}

static bool can_wrap(const struct table *table, size_t column)
{
    bool is_text = false;

    for (size_t row = 0; row < table->row_count && table->fields[column].width == 0; row++)
        is_text |= table->cells[row * table->field_count + column].kind == CELL_TEXT;
    return is_text;
}

static size_t width_of_row(const struct table *table, const size_t *widths)
{
    size_t sum = 0;

    for (size_t i = 0; i < table->field_count; i++)
        sum += widths[i] > 0 ? (sum > 0 ? GAP : 0) + widths[i] : 0;
    return sum;
}

/* Narrows the widest columns that can be wrapped, until a row fits. */
static void narrow_columns(const struct table *table, struct layout *layout, size_t room)
{
    size_t width = width_of_row(table, layout->widths);

    for (size_t i = 0; i < table->field_count && width > room; i++)
        layout->wrapped[i] = can_wrap(table, i);
    for (; width > room; width--) {
        size_t widest = SIZE_MAX;

        for (size_t i = 0; i < table->field_count; i++) {
            if (layout->wrapped[i] && layout->widths[i] > WRAPPED_LEAST &&
                (widest == SIZE_MAX || layout->widths[i] > layout->widths[widest]))
                widest = i;
        }
        if (widest == SIZE_MAX)
            return;
        layout->widths[widest]--;
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

/* Returns how many bytes of the cell are in its first `most` columns. */
static size_t bytes_that_fit(const struct shown *cell, size_t most, size_t *ret_columns)
{
    size_t at = 0, length, columns;

    *ret_columns = 0;
    for (; at < cell->length; at += length, *ret_columns += columns) {
        length = character_length(cell->bytes + at, &columns);
        if (*ret_columns + columns > most)
            break;
    }
    return at;
}

/* Shortens the cell to at most `most` columns, with a mark if there is space for it. */
static void cut(struct shown *cell, size_t most)
{
    size_t mark_columns;
    const char *mark = view_cut_mark(&mark_columns);

    if (cell->columns <= most)
        return;
    cell->length =
        bytes_that_fit(cell, most > mark_columns ? most - mark_columns : 0, &cell->columns);
    if (mark_columns <= most)
        append(cell, mark, strlen(mark), mark_columns);
}

/* Moves the first line of the cell, of at most `most` columns, to `ret`. The line ends before a
 * blank if possible. */
static void take_line(struct shown *cell, size_t most, struct shown *ret)
{
    size_t columns, length = bytes_that_fit(cell, most, &columns), end = length;

    while (length < cell->length && end > 0 && cell->bytes[end] != ' ')
        end--;
    end = end > 0 ? end : length > 0 ? length : cell->length;
    *ret = (struct shown){ .length = 0 };
    memcpy(ret->bytes, cell->bytes, end);
    ret->length = end;
    bytes_that_fit(ret, SIZE_MAX, &ret->columns);
    while (end < cell->length && cell->bytes[end] == ' ')
        end++;
    memmove(cell->bytes, cell->bytes + end, cell->length - end);
    cell->length -= end;
    cell->columns = 0;
    bytes_that_fit(cell, SIZE_MAX, &cell->columns);
}

struct line {
    const struct view_options *options;
    size_t room;   /* columns of the terminal; 0 means no limit */
    size_t column; /* columns written so far */
    /* Blanks before the next cell. They are written with the cell, so that no line ends with
     * blanks. */
    size_t blanks;
};

static void write_shown(struct line *line, struct shown *cell, size_t width, bool left,
                        const char *colour)
{
    FILE *stream = line->options->stream;
    const size_t taken = left && cell->columns < width ? cell->columns : width;
    size_t padding;

    line->blanks += line->column > 0 ? GAP : 0;
    if (line->room > 0 && line->column + line->blanks + taken > line->room) {
        const size_t begin = line->column + line->blanks;
        const size_t space = begin < line->room ? line->room - begin : 0;

        /* A part of a number would be read as another number, so only the mark is shown. */
        if (!left)
            *cell = (struct shown){ .columns = SIZE_MAX };
        cut(cell, space);
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

/* Writes line `number`, from 0, of a row whose cells may be wrapped, or of the titles if `row` is
 * NULL. If no cell has this line, writes nothing and returns false. */
static bool write_line(const struct view_options *options, const struct table *table,
                       const struct layout *layout, const struct cell *row, size_t number)
{
    struct line line = { .options = options, .room = options->width };
    struct shown parts[FIELDS_MAXIMUM];
    bool any = number == 0;

    for (size_t i = 0; i < table->field_count; i++) {
        struct shown rest = { .length = 0 };

        parts[i] = rest;
        if (layout->widths[i] == 0)
            continue;
        if (row != NULL)
            show_cell(&rest, &row[i], &table->fields[i]);
        else
            show_text(&rest, table->fields[i].title);
        if (layout->wrapped[i]) {
            for (size_t j = 0; j <= number; j++)
                take_line(&rest, layout->widths[i], &parts[i]);
        } else if (number == 0) {
            parts[i] = rest;
        }
        any |= parts[i].length > 0;
    }
    for (size_t i = 0; any && i < table->field_count; i++) {
        const struct cell *cell = row != NULL ? &row[i] : NULL;
        const struct cell *sample = cell != NULL || table->row_count == 0 ? cell : &table->cells[i];

        if (layout->widths[i] > 0)
            write_shown(&line, &parts[i], layout->widths[i],
                        aligned_left(&table->fields[i], sample),
                        !options->colour ? NULL
                        : cell != NULL   ? colour_of(cell->emphasis)
                                         : "\033[1m");
    }
    if (any)
        putc('\n', options->stream);
    return any;
}

static void write_row(const struct view_options *options, const struct table *table,
                      const struct layout *layout, const struct cell *row)
{
    size_t number = 0;

    while (write_line(options, table, layout, row, number))
        number++;
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
    struct layout layout = { .wrapped = { false } };

    if (shown->row_count == 0 || shown->field_count > FIELDS_MAXIMUM)
        return;
    measure_columns(options, record, table, layout.widths);
    if (options->width > 0)
        narrow_columns(shown, &layout, options->width);
    if (has_heading(shown))
        write_row(options, shown, &layout, NULL);
    for (size_t row = 0; row < shown->row_count; row++)
        write_row(options, shown, &layout, &shown->cells[row * shown->field_count]);
}

/* The headline and the notes are sentences, so they are not cut at the width of the terminal. They
 * may contain names. A line feed is between the lines of a headline. */
static void write_sentence(const struct view_options *options, const char *text, bool is_headline)
{
    const bool coloured = options->colour && is_headline;

    fputs(coloured ? "\033[1m" : "", options->stream);
    write_printable(options->stream, text, is_headline ? "\n" : "");
    fprintf(options->stream, "%s\n", coloured ? "\033[0m" : "");
}

static int text_record(const struct view_options *options, const struct record *record,
                       uint64_t number)
{
    bool gap = false;

    if (number > 0)
        putc('\n', options->stream);
    if (record->headline != NULL)
        write_sentence(options, record->headline, true);
    for (size_t i = 0; i < record->table_count; i++) {
        if (record->tables[i].hidden_in_text || record->tables[i].row_count == 0)
            continue;
        if (gap)
            putc('\n', options->stream);
        write_rows(options, record, i);
        gap = true;
    }
    for (size_t i = 0; record->notes != NULL && record->notes[i] != NULL; i++)
        write_sentence(options, record->notes[i], false);
    return view_flush(options);
}

const struct view text_view = {
    .name = "text",
    .help = "for a person",
    .record = text_record,
};
