/*
 * A record that a command fills row by row, and that owns its cells, texts and notes. A command
 * declares its tables once, and fills them again for each interval.
 *
 * Only document_finish() returns an error. Before that call, rows and texts for which there is no
 * memory are silently left out.
 */
#pragma once

#include "record.h"

#define DOCUMENT_TABLES 8
#define DOCUMENT_NOTES 16

/* Initialisers of a table: DOCUMENT_ROWS for any number of rows, DOCUMENT_ONE for a single row,
 * which is hidden in text. */
#define DOCUMENT_ROWS(name, fields)                                                                \
    {                                                                                              \
        name, TABLE_ROWS, fields, ARRAY_COUNT(fields), NULL, 0, false                              \
    }
#define DOCUMENT_ONE(name, shape, fields)                                                          \
    {                                                                                              \
        name, shape, fields, ARRAY_COUNT(fields), NULL, 0, true                                    \
    }

/* Initialiser of a record. `main` is the index of the table that CSV writes by default. */
#define DOCUMENT_LAYOUT(schema, tables, main)                                                      \
    {                                                                                              \
        schema, NULL, tables, ARRAY_COUNT(tables), main, NULL                                      \
    }

/* A document that is all zero is empty. The caller releases it with document_release(). */
struct document {
    struct record record;
    struct table tables[DOCUMENT_TABLES];
    struct cell *cells[DOCUMENT_TABLES]; /* the cells of each table, owned */
    size_t capacities[DOCUMENT_TABLES];
    const char *notes[DOCUMENT_NOTES + 1];
    size_t note_count;
    char **texts; /* [text_count], owned */
    size_t text_count, text_capacity;
    bool failed;
};

/* Removes all rows, texts and notes, and starts a record with the tables of `layout`. */
void document_start(struct document *document, const struct record *layout);

/* Adds a row to a table. `cells` is an array in the order of the table's fields; missing cells are
 * unknown. */
#define DOCUMENT_ADD(document, table, cells)                                                       \
    document_add(document, table, cells, ARRAY_COUNT(cells))
void document_add(struct document *document, size_t table, const struct cell *cells, size_t count);

/* Returns a formatted text, which lives until document_start() is called again. Never returns
 * NULL. */
const char *document_text(struct document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a note, which is a line below the tables. Notes beyond DOCUMENT_NOTES are dropped. */
void document_note(struct document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns CAMP_OK, or CAMP_E_NOMEM if an allocation failed and the record is incomplete. */
int document_finish(const struct document *document);

void document_release(struct document *document);

/* Selects the `most` rows with the largest keys[row], or all rows if `most` is 0. The selected rows
 * are moved to the start of rows[count], in ascending order of their numbers. Returns the number of
 * selected rows. */
size_t rows_with_most(size_t *rows, size_t count, size_t most, uint64_t *keys);
