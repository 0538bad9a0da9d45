/*
 * A record that a command fills row by row, and that owns its cells, texts and notes. A command
 * states its tables once, and fills them again for each interval.
 *
 * Only document_finish() returns an error: rows and texts for which there was no memory are
 * missing.
 */
#pragma once

#include "record.h"

#define DOCUMENT_TABLES 8
#define DOCUMENT_NOTES 16

/* A table of rows; a table of one row, which is hidden in text. */
#define DOCUMENT_ROWS(name, fields)                                                                \
    {                                                                                              \
        name, TABLE_ROWS, fields, ARRAY_COUNT(fields), NULL, 0, false                              \
    }
#define DOCUMENT_ONE(name, shape, fields)                                                          \
    {                                                                                              \
        name, shape, fields, ARRAY_COUNT(fields), NULL, 0, true                                    \
    }

/* The schema, the tables, and the table that CSV writes by default. */
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

/* Removes all rows, texts and notes, and starts a record with these tables. */
void document_start(struct document *document, const struct record *layout);

/* Adds a row to a table: an array with a cell for each field. Missing cells are unknown. */
#define DOCUMENT_ADD(document, table, cells)                                                       \
    document_add(document, table, cells, ARRAY_COUNT(cells))
void document_add(struct document *document, size_t table, const struct cell *cells, size_t count);

/* A text that lives until the document is started again. Never NULL. */
const char *document_text(struct document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a line below the tables; a line beyond DOCUMENT_NOTES is dropped. */
void document_note(struct document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* CAMP_OK; or CAMP_E_NOMEM, and the record is incomplete. */
int document_finish(const struct document *document);

void document_release(struct document *document);

/* Moves the `most` rows with the largest keys[row] to the start of rows[count], in ascending order.
 * `most` 0: all. Returns their number. */
size_t rows_with_most(size_t *rows, size_t count, size_t most, uint64_t *keys);
