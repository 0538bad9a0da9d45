#include "table_columns.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "ledger/vertex.h"
#include "ledger/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of a column of times, in order of preference. */
static const char *const time_names[] = { "time",       "timestamp",  "datetime",    "date",
                                          "ts",         "snap_time",  "sample_time", "end_time",
                                          "begin_time", "start_time", "snap_id",     "snap",
                                          "sample",     "tick",       NULL };
static const char *const entity_names[] = {
    "entity",   "name",   "session", "session_id", "sid",      "serial", "process", "pid",
    "tgid",     "thread", "tid",     "command",    "username", "uid",    "id",      "host",
    "hostname", "node",   "machine", "instance",   "server",   NULL
};
/* A column with one of these names may be part of the entity, or may be a state. */
static const char *const doubtful_names[] = { "cpu", "core", "user", NULL };
static const char *const elapsed_names[] = { "elapsed",   "elapsed_time", "wall",
                                             "wall_time", "duration",     NULL };
static const char *const other_ends[] = { "_count", "_bytes" };

/* Returns the index of a name in `names`, or the index of the final NULL. */
static size_t rank_in(const char *const *names, const char *name)
{
    size_t i = 0;

    while (names[i] != NULL && strcmp(names[i], name) != 0)
        i++;
    return i;
}

static bool is_in(const char *const *names, const char *name)
{
    return names[rank_in(names, name)] != NULL;
}

/* Returns whether the name of a column leaves open what the column is: part of the entity, or a
 * state. */
static bool is_doubtful(const struct table_column *column)
{
    return column->unit == UNIT_NONE && is_in(doubtful_names, column->stem);
}

static bool is_letter(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static enum unit cut_unit(char *stem)
{
    char *last = strrchr(stem, '_');
    enum unit unit = last != NULL ? unit_of_name(last + 1, strlen(last + 1)) : UNIT_NONE;

    if (unit != UNIT_NONE)
        *last = '\0';
    return unit;
}

void table_column_name(struct table_column *column, struct field name, size_t number)
{
    char *write = column->stem;
    bool is_percent = false;

    name = field_trimmed(name);
    field_copy(name, column->title, sizeof column->title);
    for (const char *at = column->title; *at != '\0'; at++) {
        is_percent = is_percent || *at == '%';
        if (is_letter(*at) || is_digit(*at))
            *write++ = is_letter(*at) ? (char)(*at | 0x20) : *at;
        else if (write > column->stem && write[-1] != '_')
            *write++ = '_';
    }
    while (write > column->stem && write[-1] == '_')
        write--;
    *write = '\0';
    column->unit = cut_unit(column->stem);
    if (is_percent)
        column->unit = UNIT_PERCENT;
    if (*column->stem == '\0')
        snprintf(column->stem, sizeof column->stem, "column_%zu", number);
    if (*column->title == '\0')
        snprintf(column->title, sizeof column->title, "column %zu", number);
}

struct sample {
    const struct row *rows;
    size_t count;
};

/* Returns whether at least half of the fields that are not empty are numbers. Invalid numbers, such
 * as -1 and NaN, count as numbers here. */
static bool is_numeric(const struct sample *sample, size_t column)
{
    size_t numbers = 0, filled = 0;
    double value;

    for (size_t i = 0; i < sample->count; i++) {
        const enum field_fault fault = field_number(sample->rows[i].fields[column], &value);

        filled += fault != FIELD_EMPTY;
        numbers += fault != FIELD_EMPTY && fault != FIELD_NO_NUMBER && fault != FIELD_COMMA;
    }
    return numbers > 0 && 2 * numbers >= filled;
}

static bool is_same_field(struct field a, struct field b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* Returns whether two rows have the same time and entity, and the same field in the column
 * `also`. */
static bool is_repeated(const struct table_columns *columns, const struct row *a,
                        const struct row *b, size_t also)
{
    for (size_t i = 0; i < columns->count; i++) {
        const enum table_use use = columns->columns[i].use;

        if ((use == USE_TIME || use == USE_ENTITY || i == also) &&
            !is_same_field(a->fields[i], b->fields[i]))
            return false;
    }
    return true;
}

static size_t count_repeated(const struct table_columns *columns, const struct sample *sample,
                             size_t also)
{
    size_t repeated = 0;

    for (size_t i = 1; i < sample->count; i++) {
        size_t j = 0;

        while (j < i && !is_repeated(columns, &sample->rows[i], &sample->rows[j], also))
            j++;
        repeated += j < i;
    }
    return repeated;
}

/* Returns whether this column is needed to distinguish rows: many rows have the same time and
 * entity as an earlier row, but few of them also have the same field in this column. A few rows may
 * be repeated by mistake. */
static bool distinguishes(const struct table_columns *columns, const struct sample *sample,
                          size_t column)
{
    const size_t without = count_repeated(columns, sample, SIZE_MAX);

    return 2 * without >= sample->count && 3 * count_repeated(columns, sample, column) < without;
}

static void choose_time(struct table_columns *columns)
{
    size_t best = ARRAY_COUNT(time_names) - 1;

    for (size_t i = 0; i < columns->count; i++) {
        const size_t place = rank_in(time_names, columns->columns[i].stem);

        if (place < best) {
            best = place;
            columns->time = i;
        }
    }
    columns->columns[columns->time].use = USE_TIME;
}

static void use_for_entity(struct table_columns *columns, size_t column)
{
    columns->columns[column].use = USE_ENTITY;
    columns->entity_count++;
}

/* Chooses the use of each column by its name and by whether it has numbers. choose_entity(), which
 * is called later, may make more columns part of the entity. */
static void choose_plain(struct table_columns *columns, const struct sample *sample)
{
    for (size_t i = 0; i < columns->count; i++) {
        struct table_column *column = &columns->columns[i];
        const bool is_text = !is_numeric(sample, i);

        if (column->use == USE_TIME)
            continue;
        if (is_in(entity_names, column->stem) || (is_text && is_doubtful(column))) {
            use_for_entity(columns, i);
        } else if (is_text || is_in(time_names, column->stem) ||
                   ends_with(column->stem, other_ends[0]) ||
                   ends_with(column->stem, other_ends[1])) {
            column->use = USE_IGNORED;
        } else if (is_in(elapsed_names, column->stem)) {
            column->use = columns->has_elapsed ? USE_IGNORED : USE_ELAPSED;
            columns->elapsed = columns->has_elapsed ? columns->elapsed : i;
            columns->has_elapsed = true;
        } else {
            column->use = USE_STATE;
        }
    }
}

/* If no column has been chosen as entity, chooses the first column of text. Then makes each column
 * with a doubtful name part of the entity if distinguishes() returns true for it. */
static void choose_entity(struct table_columns *columns, const struct sample *sample)
{
    for (size_t i = 0; columns->entity_count == 0 && i < columns->count; i++) {
        if (columns->columns[i].use == USE_IGNORED && !is_numeric(sample, i) &&
            !is_in(time_names, columns->columns[i].stem))
            use_for_entity(columns, i);
    }
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->columns[i].use == USE_STATE && is_doubtful(&columns->columns[i]) &&
            distinguishes(columns, sample, i))
            use_for_entity(columns, i);
    }
}

/* Returns whether a row can be a header: no field is a number or a time. */
static bool is_header(const struct row *header)
{
    struct time_form text = { 0 };
    enum field_fault fault;
    double number;
    int64_t time;

    for (size_t i = 0; i < header->count; i++) {
        fault = field_number(header->fields[i], &number);
        if (fault == FIELD_OK || fault == FIELD_NEGATIVE ||
            field_time(header->fields[i], &text, &time) == FIELD_OK)
            return false;
    }
    return true;
}

static void guess_time_form(struct table_columns *columns, const struct sample *sample,
                            struct field *scratch)
{
    for (size_t i = 0; i < sample->count; i++)
        scratch[i] = sample->rows[i].fields[columns->time];
    time_form_guess(&columns->time_form, scratch, sample->count,
                    columns->columns[columns->time].unit);
}

/* Refuses numbers with a comma, because "1,500" may be 1500 or 1.5. Allows them in a column whose
 * name is in entity_names. */
static int refuse_commas(const struct table_columns *columns, const char *name,
                         const struct sample *sample, struct camp_error *error)
{
    double value;

    for (size_t i = 0; i < columns->count; i++) {
        for (size_t j = 0; j < sample->count; j++) {
            const struct field field = sample->rows[j].fields[i];
            char text[120];

            if (is_in(entity_names, columns->columns[i].stem) ||
                field_number(field, &value) != FIELD_COMMA)
                continue;
            field_complaint(field, FIELD_COMMA, text, sizeof text);
            return camp_fail(error, CAMP_E_FORMAT, 0, "%s, column %s: %s", name,
                             columns->columns[i].title, text);
        }
    }
    return CAMP_OK;
}

static int choose(struct table_columns *columns, const char *name, const struct row *header,
                  const struct sample *sample, struct camp_error *error)
{
    int r;

    for (size_t i = 0; i < columns->count; i++)
        table_column_name(&columns->columns[i], header->fields[i], i + 1);
    r = refuse_commas(columns, name, sample, error);
    if (r != CAMP_OK)
        return r;
    choose_time(columns);
    choose_plain(columns, sample);
    choose_entity(columns, sample);
    for (size_t i = 0; i < columns->count; i++) {
        columns->state_count += columns->columns[i].use == USE_STATE;
        columns->ignored_count += columns->columns[i].use == USE_IGNORED;
    }
    if (columns->state_count == 0)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s has no column of numbers; a table has a header and columns of time, "
                         "entity and numbers",
                         name);
    if (columns->state_count > VERTICES_STATES_MAXIMUM)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s has %zu columns of numbers, and camp reads at most %d: leave some out",
                         name, columns->state_count, VERTICES_STATES_MAXIMUM);
    return CAMP_OK;
}

int table_columns_choose(struct table_columns *ret, const char *name, const struct row *header,
                         const struct row *rows, size_t row_count, struct camp_error *error)
{
    const struct sample sample = { rows, row_count };
    struct field *scratch;
    int r;

    if (!is_header(header))
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s: the first row is not a header; a header names the columns: time, "
                         "entity and numbers",
                         name);
    *ret = (struct table_columns){ .count = header->count };
    ret->columns = calloc(header->count, sizeof *ret->columns);
    scratch = calloc(row_count + 1, sizeof *scratch);
    if (ret->columns == NULL || scratch == NULL) {
        r = camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for its columns", name);
    } else {
        r = choose(ret, name, header, &sample, error);
        guess_time_form(ret, &sample, scratch);
    }
    free(scratch);
    return r;
}

void table_columns_release(struct table_columns *columns)
{
    free(columns->columns);
    *columns = (struct table_columns){ 0 };
}
