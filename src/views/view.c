#include "format.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct view *const views[] = { &text_view,    &json_view,   &csv_view,
                                            &classic_view, &mpstat_view, &vmstat_view };

const struct view *view_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        if (strcmp(views[i]->name, name) == 0)
            return views[i];
    }
    return NULL;
}

size_t view_limit(FILE *stream)
{
    return isatty(fileno(stream)) ? view_width(stream) : 0;
}

struct view_options view_options_of(FILE *stream)
{
    return (struct view_options){ .stream = stream,
                                  .colour = view_wants_colour(stream),
                                  .width = view_limit(stream) };
}

const char *time_of_day(const char *time)
{
    const char *ret = time != NULL ? strchr(time, 'T') : NULL;

    return ret != NULL ? ret + 1 : "-";
}

struct cell cell_real(double value)
{
    if (!isfinite(value))
        return cell_unknown();
    return (struct cell){ .kind = CELL_REAL, .real = value };
}

void write_printable(FILE *stream, const char *text, const char *also)
{
    while (*text != '\0') {
        const size_t length = utf8_length(text);

        if (is_printable(text, length) || strchr(also, *text) != NULL)
            fwrite(text, 1, length, stream);
        else
            putc('?', stream);
        text += length > 0 ? length : 1;
    }
}

size_t character_length(const char *text, size_t *ret_columns)
{
    const size_t length = utf8_length(text);
    int columns = 0;

    if (length == 1)
        columns = *text >= ' ' && *text <= '~';
    else if (length > 1)
        columns = terminal_columns(text, length);
    *ret_columns = columns > 0 && is_printable(text, length) ? (size_t)columns : 0;
    return length > 0 ? length : 1;
}

bool write_plain(FILE *stream, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_INTEGER:
        fprintf(stream, "%" PRId64, cell->integer);
        return true;
    case CELL_NATURAL:
        fprintf(stream, "%" PRIu64, cell->natural);
        return true;
    case CELL_REAL:
        fprintf(stream, "%.9g", cell->real);
        return true;
    case CELL_BOOLEAN:
        fputs(cell->boolean ? "true" : "false", stream);
        return true;
    case CELL_UNKNOWN:
    case CELL_TEXT:
    case CELL_LIST:
        break;
    }
    return false;
}

bool column_wanted(const struct view_options *options, const struct record *record, size_t table,
                   const char *name)
{
    if (options->columns == NULL || (table != record->main_table && name != NULL))
        return true;
    if (name == NULL)
        return false;
    for (size_t i = 0; options->columns[i] != NULL; i++) {
        if (strcmp(options->columns[i], name) == 0)
            return true;
    }
    return false;
}

int view_flush(const struct view_options *options)
{
    errno = 0;
    if (fflush(options->stream) == 0 && !ferror(options->stream))
        return 0;
    return errno != 0 ? errno : EIO;
}

size_t table_by_name(const struct record *record, const char *name)
{
    size_t i = 0;

    while (i < record->table_count && strcmp(record->tables[i].name, name) != 0)
        i++;
    return i;
}

struct cell cell_of(const struct record *record, const char *table, size_t row, const char *column)
{
    size_t index = table_by_name(record, table);
    const struct table *found = &record->tables[index];

    for (size_t i = 0; index < record->table_count && i < found->field_count; i++) {
        if (found->fields[i].name != NULL && strcmp(found->fields[i].name, column) == 0 &&
            row < found->row_count)
            return found->cells[row * found->field_count + i];
    }
    return cell_unknown();
}
