/* The labels of a recording (views/recorder_labels.c), of which older files have none. */
#include "recording_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_labels(sqlite3 *database)
{
    return sqlite3_table_column_metadata(database, NULL, "label_name", "name", NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

static int read_names(struct recording_table *table, struct camp_error *error)
{
    sqlite3_stmt *statement = NULL;
    int stepped = SQLITE_DONE;
    int r = recording_prepare(table->database, table->path, &statement, error,
                              "SELECT name FROM label_name WHERE table_name = %Q "
                              "ORDER BY position LIMIT %d",
                              table->name, LABELS_MOST);

    while (r == CAMP_OK && (stepped = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        char *name = strdup(text != NULL ? text : "");

        if (name != NULL)
            table->label_names[table->schema.label_count++] = name;
        else
            r = CAMP_E_NOMEM;
    }
    if (r == CAMP_OK && stepped != SQLITE_DONE)
        r = recording_failed(table->database, table->path, error);
    sqlite3_finalize(statement);
    return r;
}

int recording_labels_open(struct recording_table *table, struct camp_error *error)
{
    int r;

    if (!has_labels(table->database))
        return CAMP_OK;
    table->schema.label_names = (const char *const *)table->label_names;
    r = read_names(table, error);
    if (r != CAMP_OK || table->schema.label_count == 0)
        return r;
    /* Of each label the last one; SQLite takes the row that max() is of for the other columns. */
    return recording_prepare(table->database, table->path, &table->label, error,
                             "SELECT name, value, max(since_tick) FROM label "
                             "WHERE entity = ? AND since_tick <= ? GROUP BY name");
}

/* Where a label's value goes; NULL: the schema does not name it. */
static char *value_of(const struct recording_table *table, const char *name,
                      char values[][LABELS_VALUE_SIZE + 1])
{
    for (size_t i = 0; i < table->schema.label_count; i++) {
        if (name != NULL && strcmp(table->label_names[i], name) == 0)
            return values[i];
    }
    return NULL;
}

int recording_labels_read(struct recording_table *table, int64_t tick, uint32_t number,
                          const struct labels **ret, struct camp_error *error)
{
    char texts[LABELS_MOST][LABELS_VALUE_SIZE + 1] = { "" }; /* too long: labels_intern() cuts */
    const char *values[LABELS_MOST];
    int stepped;

    *ret = NULL;
    if (table->label == NULL)
        return CAMP_OK;
    sqlite3_bind_int64(table->label, 1, number);
    sqlite3_bind_int64(table->label, 2, tick);
    while ((stepped = sqlite3_step(table->label)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(table->label, 0);
        char *to = value_of(table, name, texts);
        const char *text = (const char *)sqlite3_column_text(table->label, 1);

        if (to != NULL && text != NULL)
            snprintf(to, sizeof texts[0], "%s", text);
    }
    sqlite3_reset(table->label);
    if (stepped != SQLITE_DONE)
        return recording_failed(table->database, table->path, error);
    for (size_t i = 0; i < LABELS_MOST; i++)
        values[i] = texts[i];
    *ret = labels_intern(values, table->schema.label_count);
    return CAMP_OK;
}

void recording_labels_release(struct recording_table *table)
{
    sqlite3_finalize(table->label);
    for (size_t i = 0; i < LABELS_MOST; i++)
        free(table->label_names[i]);
}
