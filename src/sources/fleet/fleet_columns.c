#include "fleet_inside.h"

#include "ledger/array.h"
#include "microstates/table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATES_MOST (FLEET_COLUMNS_MOST - 10)
#define NAME_SIZE 48

/* The order in which states are shown. States that are not listed here come last. */
#define NAME(state, name, ...) name,
static const char *const known[] = {
    "user",  "nice",       "system", "irq",  "softirq",
    "guest", "guest_nice", "busy",   "cpu",  MICROSTATES(NAME) "contention",
    "wait",  "iowait",     "steal",  "idle",
};
#undef NAME

static size_t rank(const char *value)
{
    size_t at = 0;

    while (at < ARRAY_COUNT(known) && strcmp(known[at], value) != 0)
        at++;
    return at;
}

static int compare_values(const void *left, const void *right)
{
    const char *a = *(const char *const *)left, *b = *(const char *const *)right;
    const size_t first = rank(a), second = rank(b);

    return first != second ? (first < second ? -1 : 1) : strcmp(a, b);
}

void fleet_columns_release(struct fleet_columns *columns)
{
    for (size_t i = 0; i < columns->schema.column_count; i++) {
        free((char *)columns->columns[i].name);
        free((char *)columns->columns[i].title);
        free((char *)columns->columns[i].help);
    }
    for (size_t i = 0; i < columns->schema.state_count; i++)
        free(columns->values[i]);
    for (size_t i = 0; i < columns->schema.label_count; i++)
        free(columns->labels[i]);
    columns->schema = (struct schema){ 0 };
}

bool fleet_columns_add(struct fleet_columns *columns, enum column_kind kind,
                       enum camp_provenance provenance, const char *name, const char *title,
                       const char *help)
{
    struct column *column = &columns->columns[columns->schema.column_count];

    if (columns->schema.column_count == FLEET_COLUMNS_MOST)
        return false;
    columns->schema.column_count++;
    *column = (struct column){ strdup(name),
                               strdup(title),
                               strdup(help),
                               kind,
                               provenance,
                               kind == COLUMN_STATE ? column_class_of(name) : CLASS_NONE,
                               column_short_title_of(name) };
    return column->name != NULL && column->title != NULL && column->help != NULL;
}

/* Makes a column name that needs no quotes in SQL and JSON: "run queue" becomes "run_queue_ns", and
 * "I/O" becomes "i_o_ns". */
static void column_name(const char *value, char ret[NAME_SIZE])
{
    size_t length = 0;

    for (; *value != '\0' && length < NAME_SIZE - 10; value++)
        ret[length++] = isalnum((unsigned char)*value) ? (char)tolower((unsigned char)*value) : '_';
    snprintf(ret + length, NAME_SIZE - length, "%s_ns", length == 0 ? "none" : "");
}

static void make_unique(const struct fleet_columns *columns, char name[NAME_SIZE])
{
    const size_t stem = strlen(name) - strlen("_ns");

    for (size_t i = 0, tries = 2; i < columns->schema.column_count; i++) {
        if (strcmp(columns->columns[i].name, name) != 0)
            continue;
        snprintf(name + stem, NAME_SIZE - stem, "_%zu_ns", tries++);
        i = SIZE_MAX; /* start again: the new name must differ from all columns, too */
    }
}

static bool add_state(struct fleet_columns *columns, const char *metric,
                      enum camp_provenance provenance, const char *value)
{
    char name[NAME_SIZE], title[NAME_SIZE], help[160];
    const size_t at = columns->schema.state_count;

    column_name(value, name);
    make_unique(columns, name);
    fleet_name(value[0] != '\0' ? value : "none", title, sizeof title);
    for (char *blank = title; (blank = strchr(blank, '_')) != NULL;)
        *blank = ' ';
    snprintf(help, sizeof help, "%.80s, %s", metric, title);
    columns->values[at] = strdup(value);
    columns->schema.state_count++;
    return fleet_columns_add(columns, COLUMN_STATE, provenance, name, title, help) &&
           columns->values[at] != NULL;
}

int fleet_columns_init(struct fleet_columns *ret, const char *schema_name, const char *metric,
                       enum camp_provenance provenance, const char *const *values, size_t count)
{
    const char **sorted = calloc(count + 1, sizeof *sorted);
    int r = CAMP_OK;

    ret->schema = (struct schema){ .name = schema_name,
                                   .columns = ret->columns,
                                   .label_names = (const char *const *)ret->labels };
    if (sorted == NULL)
        return CAMP_E_NOMEM;
    if (count > 0)
        memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_values);
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        if (i > 0 && strcmp(sorted[i - 1], sorted[i]) == 0)
            continue;
        if (ret->schema.state_count == STATES_MOST)
            r = CAMP_E_INVALID;
        else if (!add_state(ret, metric, provenance, sorted[i]))
            r = CAMP_E_NOMEM;
    }
    free(sorted);
    return r;
}

bool fleet_columns_label(struct fleet_columns *columns, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count && i < LABELS_MOST; i++) {
        columns->labels[i] = strdup(names[i]);
        columns->schema.label_count++;
        if (columns->labels[i] == NULL)
            return false;
    }
    return true;
}

size_t fleet_columns_find(const struct fleet_columns *columns, const char *value)
{
    for (size_t i = 0; i < columns->schema.state_count; i++) {
        if (strcmp(columns->values[i], value) == 0)
            return i;
    }
    return SIZE_MAX;
}
