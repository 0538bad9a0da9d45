/*
 * A record that owns its cells, texts and notes. A command declares the tables once, and fills them
 * row by row in each interval.
 *
 * Only document_finish() returns an error. Earlier calls leave out rows and texts for which there
 * is no memory.
 */
#pragma once

#include "record.h"

#define DOCUMENT_TABLES 8

/* Initialisers of a table: DOCUMENT_ROWS for any number of rows, DOCUMENT_ONE for one row, which
 * the text view does not show. */
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
    struct cell *cells[DOCUMENT_TABLES]; /* the cells of each table; owned */
    size_t capacities[DOCUMENT_TABLES];
    const char **notes; /* [note_count + 1], with NULL at the end; the array is owned */
    size_t note_count, note_capacity;
    char **texts; /* [text_count]; the array and the texts are owned */
    size_t text_count, text_capacity;
    bool failed;
};

/* Removes all rows, texts and notes, and starts a record with the tables of `layout`. */
void document_start(struct document *document, const struct record *layout);

/* Adds a row to a table. `cells` are in the order of the table's fields. Cells missing at the end
 * are unknown. */
#define DOCUMENT_ADD(document, table, cells)                                                       \
    document_add(document, table, cells, ARRAY_COUNT(cells))
void document_add(struct document *document, size_t table, const struct cell *cells, size_t count);

/* Returns a formatted text, which lives until the next document_start(). Never returns NULL. */
const char *document_text(struct document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a note, which is a line below the tables. */
void document_note(struct document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns CAMP_OK, or CAMP_E_NOMEM if an allocation failed and the record is incomplete. */
int document_finish(const struct document *document);

void document_release(struct document *document);

/* `rows` has `count` row numbers. Selects the `most` rows with the largest keys[row], or all rows
 * if `most` is 0. Moves the selected numbers to the start of `rows`, in ascending order. Returns
 * how many rows are selected. */
size_t rows_with_most(size_t *rows, size_t count, size_t most, uint64_t *keys);
