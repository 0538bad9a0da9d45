#include "cause_words.h"

#include "cause_tables.h"
#include "recording_inside.h"
#include "sources/causes/cause_names.h"

#include <string.h>

void recording_copy_text(char *ret, size_t size, sqlite3_stmt *row, int column)
{
    const char *text = sqlite3_value_type(sqlite3_column_value(row, column)) == SQLITE_TEXT
                           ? (const char *)sqlite3_column_text(row, column)
                           : NULL;

    memset(ret, 0, size);
    if (text != NULL)
        strncpy(ret, text, size - 1);
}

static uint32_t state_find(const char *name)
{
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        if (strcmp(name, camp_state_name(i)) == 0)
            return (uint32_t)i;
    }
    return CAUSE_UNKNOWN_WORD;
}

static uint32_t kind_find(const char *name)
{
    const uint32_t kind = cause_kind_find(name);

    return strcmp(name, "on_cpu") == 0 ? CAUSE_ON_CPU_KIND
           : kind < CAUSE_KIND_COUNT   ? kind
                                       : CAUSE_UNKNOWN_WORD;
}

int cause_words_read(sqlite3 *database, const char *path, uint32_t ret_states[CAUSE_WORDS_MOST],
                     uint32_t ret_kinds[CAUSE_WORDS_MOST], struct camp_error *error)
{
    sqlite3_stmt *statement = NULL;
    int stepped = SQLITE_DONE;
    int r = recording_prepare(database, path, &statement, error,
                              "SELECT word, number, name FROM cause_word WHERE number >= 0"
                              " AND number < %d",
                              CAUSE_WORDS_MOST);

    memset(ret_states, 0xff, CAUSE_WORDS_MOST * sizeof *ret_states);
    memset(ret_kinds, 0xff, CAUSE_WORDS_MOST * sizeof *ret_kinds);
    while (r == CAMP_OK && (stepped = sqlite3_step(statement)) == SQLITE_ROW) {
        char word[16], name[CAUSE_NAME_SIZE];
        const sqlite3_int64 number = sqlite3_column_int64(statement, 1);

        recording_copy_text(word, sizeof word, statement, 0);
        recording_copy_text(name, sizeof name, statement, 2);
        if (strcmp(word, CAUSE_STATE) == 0)
            ret_states[number] = state_find(name);
        else if (strcmp(word, CAUSE_KIND) == 0)
            ret_kinds[number] = kind_find(name);
    }
    if (r == CAMP_OK && stepped != SQLITE_DONE)
        r = recording_failed(database, path, error);
    sqlite3_finalize(statement);
    return r;
}
