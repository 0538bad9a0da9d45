/*
 * A record that a command fills row by row, and that owns its cells, texts and notes. A command
 * states its tables once, and fills them anew for each interval.
 *
 * Nothing returns an error until document_finish(): what had no memory is left out until then.
 */
#pragma once

#include "record.h"

#define DOCUMENT_TABLES 8
#define DOCUMENT_NOTES 16

/* A table of rows, and one of one row that the headline or the notes show in text. */
#define DOCUMENT_ROWS(name, fields)                                                                \
    {                                                                                              \
        name, TABLE_ROWS, fields, ARRAY_COUNT(fields), NULL, 0, false                              \
    }
#define DOCUMENT_ONE(name, shape, fields)                                                          \
    {                                                                                              \
        name, shape, fields, ARRAY_COUNT(fields), NULL, 0, true                                    \
    }

/* Its schema, tables, and the table that CSV writes by default. */
#define DOCUMENT_LAYOUT(schema, tables, main)                                                      \
    {                                                                                              \
        schema, NULL, tables, ARRAY_COUNT(tables), main, NULL                                      \
    }

/* All zero is empty; document_release(). */
struct document {
    struct record record;
    struct table tables[DOCUMENT_TABLES];
    struct cell *cells[DOCUMENT_TABLES]; /* of each table; owned */
    size_t capacities[DOCUMENT_TABLES];  /* in cells */
    const char *notes[DOCUMENT_NOTES + 1];
    size_t note_count;
    char **texts; /* [text_count]; owned, as each of them is */
    size_t text_count, text_capacity;
    bool failed; /* there was no memory */
};

/* Empties it. */
void document_start(struct document *document, const struct record *layout);

/* Adds a row to a table: an array with a cell for each field. Cells that lack are unknown. */
#define DOCUMENT_ADD(document, table, cells)                                                       \
    document_add(document, table, cells, ARRAY_COUNT(cells))
void document_add(struct document *document, size_t table, const struct cell *cells, size_t count);

/* A text that lives until the document is started again. Never NULL. */
const char *document_text(struct document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a line below the tables. */
void document_note(struct document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* CAMP_OK or CAMP_E_NOMEM: then the record is not whole. */
int document_finish(const struct document *document);

void document_release(struct document *document);

/* The `most` of rows[count] with the largest keys[row], in ascending order of row; 0: all.
 * Returns how many. */
size_t rows_with_most(size_t *rows, size_t count, size_t most, uint64_t *keys);
