#include "measure.h"

#include "ledger/words.h"

#include <string.h>

size_t column_find(const struct schema *schema, const char *name)
{
    return schema != NULL ? schema_find_column(schema, name) : SIZE_MAX;
}

/* Copies the next word of a list. Returns the rest of the list, or NULL at its end. */
static const char *next_name(const char *list, char ret[COLUMN_NAME_SIZE])
{
    size_t length;

    list += strspn(list, " ");
    length = strcspn(list, " ");
    if (length == 0)
        return NULL;
    copy_text(ret, COLUMN_NAME_SIZE, list, length);
    return list + length;
}

/* Returns whether a column has this name. "contention_*" stands for contention_row_lock_ns, but not
 * for contention_ns, the state as a whole. */
static bool is_named(const struct column *column, const char *name)
{
    const size_t length = strlen(name) - 1;

    if (name[length] != '*')
        return strcmp(column->name, name) == 0;
    return strncmp(column->name, name, length) == 0 && strcmp(column->name + length, "ns") != 0;
}

bool columns_known(const struct schema *schema, const char *names)
{
    char name[COLUMN_NAME_SIZE];

    for (const char *rest = names; (rest = next_name(rest, name)) != NULL;) {
        const size_t at = column_find(schema, name);

        if (at == SIZE_MAX || schema->columns[at].provenance == CAMP_UNKNOWN)
            return false;
    }
    return true;
}

bool columns_has(const struct schema *schema, const char *names, char ret_missing[COLUMN_NAME_SIZE])
{
    char name[COLUMN_NAME_SIZE];

    for (const char *rest = names; (rest = next_name(rest, name)) != NULL;) {
        bool found = false;

        for (size_t i = 0; schema != NULL && i < schema->column_count; i++)
            found |= is_named(&schema->columns[i], name);
        if (!found) {
            if (ret_missing != NULL)
                strcpy(ret_missing, name);
            return false;
        }
    }
    return true;
}

static void add_column(struct measure *measure, size_t at)
{
    const char *name = measure->frame->schema->columns[at].name;
    const size_t length = strlen(name);
    const bool is_time = length > 3 && strcmp(name + length - 3, "_ns") == 0;

    if (measure->count == MEASURE_COLUMNS)
        return;
    measure->columns[measure->count].at = at;
    measure->columns[measure->count++].scale = is_time ? 1e-9 : 1;
}

struct measure measure_columns(const struct frame *frame, double seconds, const char *names)
{
    struct measure ret = { .frame = frame, .seconds = seconds };
    char name[COLUMN_NAME_SIZE];

    for (const char *rest = names; (rest = next_name(rest, name)) != NULL;) {
        for (size_t i = 0; frame->schema != NULL && i < frame->schema->column_count; i++) {
            if (is_named(&frame->schema->columns[i], name))
                add_column(&ret, i);
        }
    }
    return ret;
}

struct measure measure_class(const struct frame *frame, double seconds, enum column_class class)
{
    struct measure ret = { .frame = frame, .seconds = seconds };

    for (size_t i = 0; frame->schema != NULL && i < frame->schema->state_count; i++) {
        if (frame->schema->columns[i].class == class)
            add_column(&ret, i);
    }
    return ret;
}

double measure_row(const struct measure *measure, size_t row)
{
    const uint64_t *values = frame_values(measure->frame, row);
    double sum = 0;

    if (measure->seconds <= 0)
        return 0;
    for (size_t i = 0; i < measure->count; i++)
        sum += (double)values[measure->columns[i].at] * measure->columns[i].scale;
    return sum / measure->seconds;
}

double measure_share(const struct measure *measure, size_t row)
{
    const double elapsed_ns = (double)measure->frame->elapsed_ns[row];

    return elapsed_ns > 0 ? measure_row(measure, row) * measure->seconds * 1e9 / elapsed_ns : 0;
}

double measure_all(const struct measure *measure)
{
    double sum = 0;

    for (size_t i = 0; i < measure->frame->entity_count; i++)
        sum += measure_row(measure, i);
    return sum;
}

size_t measure_most(const struct measure *measure)
{
    size_t found = SIZE_MAX;
    double most = 0;

    for (size_t i = 0; i < measure->frame->entity_count; i++) {
        const double value = measure_row(measure, i);

        if (value > most) {
            most = value;
            found = i;
        }
    }
    return found;
}

size_t measure_most_column(const struct measure *measure)
{
    size_t found = SIZE_MAX;
    double most = 0;

    for (size_t i = 0; i < measure->count; i++) {
        double sum = 0;

        for (size_t row = 0; row < measure->frame->entity_count; row++)
            sum += (double)frame_values(measure->frame, row)[measure->columns[i].at];
        if (sum > most) {
            most = sum;
            found = measure->columns[i].at;
        }
    }
    return found;
}

enum camp_provenance measure_provenance(const struct measure *measure)
{
    enum camp_provenance ret = CAMP_MEASURED;

    for (size_t i = 0; i < measure->count; i++) {
        const enum camp_provenance of =
            measure->frame->schema->columns[measure->columns[i].at].provenance;

        if (of != CAMP_MEASURED && ret != CAMP_SAMPLED)
            ret = of;
    }
    return ret;
}
