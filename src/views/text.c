/*
 * Text for readers: a headline, tables with headings, and notes. Without a limit of the width
 * everything is shown. With a limit, columns that are marked as spare are left out, with a note,
 * text columns without a stated width are wrapped, and what still does not fit is cut, with a mark
 * at its end. Names may be any bytes. Unprintable characters are shown as "?", so that no process
 * name can move the cursor.
 */
#include "format.h"
#include "text_columns.h"

#include <inttypes.h>
#include <string.h>

#define GAP TEXT_GAP

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
static size_t bytes_that_fit(const struct text_cell *cell, size_t most, size_t *ret_columns)
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
static void cut(struct text_cell *cell, size_t most)
{
    size_t mark_columns;
    const char *mark = view_cut_mark(&mark_columns);

    if (cell->columns <= most)
        return;
    cell->length =
        bytes_that_fit(cell, most > mark_columns ? most - mark_columns : 0, &cell->columns);
    if (mark_columns <= most)
        text_cell_append_bytes(cell, mark, strlen(mark), mark_columns);
}

/* Moves the first line of the cell, of at most `most` columns, to `ret`, after `indent` blanks. The
 * line ends before a blank if possible. */
static void take_line(struct text_cell *cell, size_t most, size_t indent, struct text_cell *ret)
{
    size_t columns, length = bytes_that_fit(cell, most - indent, &columns), end = length;
    const size_t blanks = cell->length > 0 ? strspn(cell->bytes, " ") : 0;

    while (length < cell->length && end > blanks && cell->bytes[end] != ' ')
        end--;
    end = end > blanks ? end : length > 0 ? length : cell->length;
    *ret = (struct text_cell){ .length = 0 };
    memset(ret->bytes, ' ', end > 0 ? indent : 0);
    memcpy(ret->bytes + (end > 0 ? indent : 0), cell->bytes, end);
    ret->length = end > 0 ? indent + end : 0;
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
    bool started;  /* a cell was written, so the next one gets a gap, even if the first is empty */
    /* Blanks before the next cell. They are written with the cell, so that no line ends with
     * blanks. */
    size_t blanks;
};

static void write_shown(struct line *line, struct text_cell *cell, size_t width, bool left,
                        const char *colour)
{
    FILE *stream = line->options->stream;
    const size_t taken = left && cell->columns < width ? cell->columns : width;
    size_t padding;

    line->blanks += line->started ? GAP : 0;
    line->started = true;
    if (cell->columns == 0) {
        line->blanks += width;
        return;
    }
    if (line->room > 0 && line->column + line->blanks + taken > line->room) {
        const size_t begin = line->column + line->blanks;
        const size_t space = begin < line->room ? line->room - begin : 0;

        /* A part of a number would be read as another number, so only the mark is shown. */
        if (!left)
            *cell = (struct text_cell){ .columns = SIZE_MAX };
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
}

/* Returns the blanks before the second and later lines of a cell that is indented. */
static size_t continuation_of(const struct text_cell *cell, size_t width)
{
    const size_t blanks = cell->length > 0 ? strspn(cell->bytes, " ") : 0;

    return blanks > 0 && blanks + 2 < width / 2 ? blanks + 2 : 0;
}

/* Writes line `number`, from 0, of a row whose cells may be wrapped, or of the titles if `row` is
 * NULL. If no cell has this line, writes nothing and returns false. */
static bool write_line(const struct view_options *options, const struct table *table,
                       const struct text_layout *layout, const struct cell *row, size_t number)
{
    struct line line = { .options = options, .room = options->width };
    struct text_cell parts[TEXT_COLUMNS_MOST];
    bool any = number == 0;

    for (size_t i = 0; i < table->field_count; i++) {
        struct text_cell rest = { .length = 0 };

        parts[i] = rest;
        if (layout->widths[i] == 0)
            continue;
        if (row != NULL)
            text_cell_show(&rest, &row[i], &table->fields[i]);
        else
            text_cell_append(&rest, table->fields[i].title);
        if (layout->wrapped[i]) {
            const size_t indent = continuation_of(&rest, layout->widths[i]);

            for (size_t j = 0; j <= number; j++)
                take_line(&rest, layout->widths[i], j > 0 ? indent : 0, &parts[i]);
        } else if (number == 0) {
            if (row != NULL && table->fields[i].width < 0 && options->width > 0)
                text_cell_tell_apart(&rest, table, i, layout->widths[i]);
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
                      const struct text_layout *layout, const struct cell *row)
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

static void write_left_out(const struct view_options *options, const struct table *table,
                           const struct text_layout *layout)
{
    const char *between = "(too narrow for ";

    for (size_t i = 0; i < table->field_count; i++) {
        if (!layout->left_out[i])
            continue;
        fprintf(options->stream, "%s%s", between, table->fields[i].title);
        between = ", ";
    }
    if (between[0] == ',')
        fputs(")\n", options->stream);
}

static void write_rows(const struct view_options *options, const struct record *record,
                       size_t table)
{
    const struct table *shown = &record->tables[table];
    struct text_layout layout;

    if (shown->row_count == 0 || shown->field_count > TEXT_COLUMNS_MOST)
        return;
    text_layout_fill(&layout, options, record, table);
    if (has_heading(shown))
        write_row(options, shown, &layout, NULL);
    for (size_t row = 0; row < shown->row_count; row++)
        write_row(options, shown, &layout, &shown->cells[row * shown->field_count]);
    write_left_out(options, shown, &layout);
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
