#include "servers_inside.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "ledger/session_rules.h"

#include <stdlib.h>
#include <string.h>

/* Ranks provenances by how much they can be trusted. What is unknown of one server is in no state
 * there, so it says nothing of the others. */
static int trust_in(enum camp_provenance provenance)
{
    static const int ranks[] = {
        [CAMP_DERIVED] = 1,  [CAMP_SAMPLED] = 2, [CAMP_SCALED] = 3,
        [CAMP_MEASURED] = 4, [CAMP_UNKNOWN] = 5,
    };

    return ranks[provenance];
}

/* Returns whether a counter is a part of a state, by the rules of a database, or the measured part
 * of a counter: it is 0 of a server that does not have it. */
static bool is_of_rules(const struct column *column)
{
    if (strcmp(column->name, "blocked_measured_ns") == 0)
        return true;
    for (int i = 0; i < SESSION_STATE_COUNT; i++) {
        const size_t length = strlen(session_state_names[i]);

        if (strncmp(column->name, session_state_names[i], length) == 0 &&
            column->name[length] == '_' && strcmp(column->name + length, "_ns") != 0)
            return true;
    }
    return false;
}

static size_t find_column(const struct schema *schema, const struct column *wanted)
{
    for (size_t i = 0; i < schema->column_count; i++) {
        if (strcmp(schema->columns[i].name, wanted->name) == 0 &&
            (schema->columns[i].kind == COLUMN_STATE) == (wanted->kind == COLUMN_STATE))
            return i;
    }
    return SIZE_MAX;
}

static bool has_throttled(const struct schema *schema)
{
    const struct column throttled = { .name = COLUMN_THROTTLED, .kind = COLUMN_STATE };

    return find_column(schema, &throttled) != SIZE_MAX;
}

static void release_column(struct column *column)
{
    free((char *)column->name);
    free((char *)column->title);
    free((char *)column->help);
}

/* Inserts a copy of a column: a state after the other states, any other column at the end. */
static bool insert_column(struct servers_columns *columns, const struct column *column)
{
    struct schema *schema = &columns->schema;
    const size_t at = column->kind == COLUMN_STATE ? schema->state_count : schema->column_count;
    struct column copy = *column;
    struct column *grown =
        realloc(columns->columns, (schema->column_count + 1) * sizeof *columns->columns);

    if (grown == NULL)
        return false;
    schema->columns = columns->columns = grown;
    copy.name = strdup(column->name);
    copy.title = strdup(column->title);
    copy.help = strdup(column->help != NULL ? column->help : "");
    if (copy.name == NULL || copy.title == NULL || copy.help == NULL) {
        release_column(&copy);
        return false;
    }
    memmove(grown + at + 1, grown + at, (schema->column_count - at) * sizeof *grown);
    grown[at] = copy;
    schema->column_count++;
    schema->state_count += column->kind == COLUMN_STATE;
    return true;
}

static void remove_column(struct servers_columns *columns, size_t at)
{
    struct schema *schema = &columns->schema;

    release_column(&columns->columns[at]);
    schema->column_count--;
    memmove(columns->columns + at, columns->columns + at + 1,
            (schema->column_count - at) * sizeof *columns->columns);
}

/* Removes the counters that a server lacks, unless they are parts of states. */
static void remove_unknown(struct servers_columns *columns, const struct schema *of_server)
{
    for (size_t i = columns->schema.column_count; i-- > columns->schema.state_count;) {
        if (!is_of_rules(&columns->columns[i]) &&
            find_column(of_server, &columns->columns[i]) == SIZE_MAX)
            remove_column(columns, i);
    }
}

static bool add_label(struct servers_columns *columns, const char *name)
{
    struct schema *schema = &columns->schema;
    char **grown, *copy;

    if (schema_find_label(schema, name) != SIZE_MAX || schema->label_count == LABELS_MOST)
        return true;
    grown = realloc(columns->label_names, (schema->label_count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    columns->label_names = grown;
    schema->label_names = (const char *const *)grown;
    copy = strdup(name);
    if (copy == NULL)
        return false;
    grown[schema->label_count++] = copy;
    return true;
}

int servers_columns_add(struct servers_columns *columns, const struct schema *schema,
                        bool are_first)
{
    bool good = !are_first || add_label(columns, LABEL_SERVER);

    if (are_first)
        columns->schema.name = schema->name;
    else if (strcmp(columns->schema.name, schema->name) != 0)
        columns->schema.name = "sessions";
    if (!are_first)
        remove_unknown(columns, schema);
    for (size_t i = 0; i < schema->column_count && good; i++) {
        const struct column *column = &schema->columns[i];
        const size_t at = find_column(&columns->schema, column);

        if (at == SIZE_MAX && (are_first || column->kind == COLUMN_STATE || is_of_rules(column)))
            good = insert_column(columns, column);
        else if (at != SIZE_MAX &&
                 trust_in(column->provenance) < trust_in(columns->columns[at].provenance))
            columns->columns[at].provenance = column->provenance;
    }
    for (size_t i = 0; i < schema->label_count && good; i++)
        good = add_label(columns, schema->label_names[i]);
    schema_find_maxima(&columns->schema);
    return good ? CAMP_OK : CAMP_E_NOMEM;
}

void servers_columns_release(struct servers_columns *columns)
{
    for (size_t i = 0; i < columns->schema.column_count; i++)
        release_column(&columns->columns[i]);
    for (size_t i = 0; i < columns->schema.label_count; i++)
        free(columns->label_names[i]);
    free(columns->columns);
    free(columns->label_names);
    *columns = (struct servers_columns){ 0 };
}

static int fail_to_fit(const struct column *column, const char *verb, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "it came later, and %s the column %s, unlike the others: start camp again",
                     verb, column->name);
}

int server_places_find(struct server_places *ret, const struct schema *of_server,
                       const struct servers_columns *columns, struct camp_error *error)
{
    const struct schema *all = &columns->schema;

    for (size_t i = 0; i < of_server->state_count; i++) {
        if (find_column(all, &of_server->columns[i]) == SIZE_MAX)
            return fail_to_fit(&of_server->columns[i], "has", error);
    }
    for (size_t i = all->state_count; i < all->column_count; i++) {
        if (!is_of_rules(&all->columns[i]) && find_column(of_server, &all->columns[i]) == SIZE_MAX)
            return fail_to_fit(&all->columns[i], "lacks", error);
    }
    server_places_release(ret);
    ret->columns = calloc(of_server->column_count + 1, sizeof *ret->columns);
    ret->labels = calloc(of_server->label_count + 1, sizeof *ret->labels);
    if (ret->columns == NULL || ret->labels == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the columns of a server");
    for (size_t i = 0; i < of_server->column_count; i++)
        ret->columns[i] = find_column(all, &of_server->columns[i]);
    ret->lacks_throttled = has_throttled(all) && !has_throttled(of_server);
    for (size_t i = 0; i < of_server->label_count; i++)
        ret->labels[i] = schema_find_label(all, of_server->label_names[i]);
    return CAMP_OK;
}

void server_places_release(struct server_places *places)
{
    free(places->columns);
    free(places->labels);
    *places = (struct server_places){ 0 };
}
