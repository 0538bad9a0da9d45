#include "text_columns.h"

#include "terminal/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROWS_COMPARED 256
#define WRAPPED_LEAST 12 /* columns are not narrowed below this width */
#define WRAPPED_GOOD 28  /* nor below this one as long as other columns can be left out */

const char *view_cut_mark(size_t *ret_columns)
{
    const bool is_utf8 = terminal_has_utf8();

    *ret_columns = is_utf8 ? 1 : 2;
    return is_utf8 ? "\xe2\x80\xa6" : "..";
}

void text_cell_append_bytes(struct text_cell *ret, const char *bytes, size_t length, size_t columns)
{
    memcpy(ret->bytes + ret->length, bytes, length);
    ret->length += length;
    ret->columns += columns;
}

void text_cell_append(struct text_cell *ret, const char *text)
{
    size_t columns;

    while (*text != '\0' && ret->length + 8 < TEXT_CELL_SIZE) {
        const size_t length = character_length(text, &columns);

        text_cell_append_bytes(ret, columns > 0 ? text : "?", columns > 0 ? length : 1,
                               columns > 0 ? columns : 1);
        text += length;
    }
    if (*text != '\0') {
        const char *mark = view_cut_mark(&columns);

        text_cell_append_bytes(ret, mark, strlen(mark), columns);
    }
}

void text_cell_show(struct text_cell *ret, const struct cell *cell, const struct field *field)
{
    char number[48] = "";

    *ret = (struct text_cell){ .length = 0 };
    switch (cell->kind) {
    case CELL_UNKNOWN:
        text_cell_append(ret, "-");
        return;
    case CELL_TEXT:
    case CELL_LIST:
        text_cell_append(ret, cell->text);
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
    text_cell_append(ret, number);
}

static bool is_of_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

/* Returns how many bytes at the start of two cells are the same; SIZE_MAX if all are. */
static size_t common_of(const struct text_cell *a, const struct text_cell *b)
{
    size_t common = 0;

    while (common < a->length && common < b->length && a->bytes[common] == b->bytes[common])
        common++;
    return common == a->length && common == b->length ? SIZE_MAX : common;
}

static size_t columns_of(const struct text_cell *cell, size_t length)
{
    size_t sum = 0, columns;

    for (size_t at = 0; at < length; sum += columns)
        at += character_length(cell->bytes + at, &columns);
    return sum;
}

void text_cell_tell_apart(struct text_cell *cell, const struct table *table, size_t column,
                          size_t width)
{
    struct text_cell other, shown = { .length = 0 };
    size_t start = 0, mark_columns;
    const char *mark = view_cut_mark(&mark_columns);

    if (cell->columns <= width || width <= mark_columns)
        return;
    for (size_t row = 0; row < table->row_count && row < ROWS_COMPARED; row++) {
        size_t common;

        text_cell_show(&other, &table->cells[row * table->field_count + column],
                       &table->fields[column]);
        common = common_of(cell, &other);
        if (common != SIZE_MAX && common > start &&
            columns_of(cell, common) >= width - mark_columns)
            start = common;
    }
    while (start > 0 && is_of_word(cell->bytes[start - 1]))
        start--;
    if (start == 0)
        return;
    text_cell_append_bytes(&shown, mark, strlen(mark), mark_columns);
    text_cell_append_bytes(&shown, cell->bytes + start, cell->length - start,
                           cell->columns - columns_of(cell, start));
    *cell = shown;
}

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
        struct text_cell cell = { .length = 0 };

        ret_widths[i] = 0;
        if (field->title == NULL || (field->on_request && options->columns == NULL) ||
            !column_wanted(options, record, table, field->name))
            continue;
        text_cell_append(&cell, field->title);
        ret_widths[i] = cell.columns > stated ? cell.columns : stated;
        for (size_t row = 0; row < shown->row_count && !is_limited(options, field); row++) {
            text_cell_show(&cell, &shown->cells[row * shown->field_count + i], field);
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
        sum += widths[i] > 0 ? (sum > 0 ? TEXT_GAP : 0) + widths[i] : 0;
    return sum;
}

/* Returns the width of a row if the columns that can be wrapped are narrow. */
static size_t narrowest_row(const struct table *table, const struct text_layout *layout)
{
    size_t widths[TEXT_COLUMNS_MOST];

    for (size_t i = 0; i < table->field_count; i++) {
        widths[i] = layout->widths[i];
        if (widths[i] > WRAPPED_GOOD && can_wrap(table, i))
            widths[i] = WRAPPED_GOOD;
    }
    return width_of_row(table, widths);
}

/* Leaves out the spare columns with the largest number, until a row can be narrowed so that it
 * fits. */
static void leave_out(const struct table *table, struct text_layout *layout, size_t room)
{
    while (narrowest_row(table, layout) > room) {
        int most = 0;

        for (size_t i = 0; i < table->field_count; i++)
            most = layout->widths[i] > 0 && table->fields[i].spare > most ? table->fields[i].spare
                                                                          : most;
        for (size_t i = 0; i < table->field_count && most > 0; i++) {
            layout->left_out[i] |= layout->widths[i] > 0 && table->fields[i].spare == most;
            layout->widths[i] = layout->left_out[i] ? 0 : layout->widths[i];
        }
        if (most == 0)
            break;
    }
}

/* Narrows the widest columns that can be wrapped, until a row fits. */
static void narrow_columns(const struct table *table, struct text_layout *layout, size_t room)
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

void text_layout_fill(struct text_layout *ret, const struct view_options *options,
                      const struct record *record, size_t table)
{
    const struct table *shown = &record->tables[table];

    *ret = (struct text_layout){ .wrapped = { false } };
    measure_columns(options, record, table, ret->widths);
    if (options->width == 0)
        return;
    leave_out(shown, ret, options->width);
    narrow_columns(shown, ret, options->width);
}
