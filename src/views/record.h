/*
 * The output of a command, independent of the format. A record is one object, such as one interval
 * of `camp check` or one answer of `camp get`. A record consists of tables. An array of struct
 * field declares the columns of a table: heading, JSON key, CSV header and documentation.
 *
 * Fields, cells and texts belong to the command, and stay valid until the record is written.
 */
#pragma once

#include "ledger/array.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cell_kind {
    CELL_UNKNOWN, /* null in JSON, empty in CSV, "-" in text */
    CELL_TEXT,
    CELL_LIST, /* a text of which LIST_SEPARATOR parts the elements: an array in JSON */
    CELL_INTEGER,
    CELL_NATURAL,
    CELL_REAL,
    CELL_BOOLEAN
};

enum emphasis { PLAIN, GOOD, NOTABLE, BAD, FAINT };

#define LIST_SEPARATOR ';'

struct cell {
    enum cell_kind kind;
    enum emphasis emphasis;
    union {
        const char *text; /* any bytes, which each view escapes */
        int64_t integer;
        uint64_t natural;
        double real;
        bool boolean;
    };
};

static inline struct cell cell_unknown(void)
{
    return (struct cell){ .kind = CELL_UNKNOWN };
}
static inline struct cell cell_text(const char *text)
{
    return (struct cell){ .kind = text != NULL ? CELL_TEXT : CELL_UNKNOWN, .text = text };
}
static inline struct cell cell_text_or_unknown(const char *text)
{
    return cell_text(text[0] != '\0' ? text : NULL);
}
static inline struct cell cell_list(const char *text)
{
    return (struct cell){ .kind = text != NULL ? CELL_LIST : CELL_UNKNOWN, .text = text };
}
static inline struct cell cell_integer(int64_t value)
{
    return (struct cell){ .kind = CELL_INTEGER, .integer = value };
}
static inline struct cell cell_natural(uint64_t value)
{
    return (struct cell){ .kind = CELL_NATURAL, .natural = value };
}
/* Returns an unknown cell if the value is NaN or infinite. */
struct cell cell_real(double value);
static inline struct cell cell_boolean(bool value)
{
    return (struct cell){ .kind = CELL_BOOLEAN, .boolean = value };
}
static inline struct cell emphasised(struct cell cell, enum emphasis emphasis)
{
    cell.emphasis = emphasis;
    return cell;
}

struct field {
    /* Key in JSON and CSV, with the unit at its end; NULL if only text has the column. */
    const char *name;
    const char *title; /* heading in text; NULL if text does not have the column */
    const char *help;  /* one sentence with the meaning and source of the values */
    int width;         /* width in text; below 0: aligned left; 0: as wide as the widest cell */
    int decimals;      /* digits after the point of a real number in text */
    bool on_request;   /* text has the column only if --columns names it */
    int spare; /* where rows are too wide, text leaves out the columns with the largest number
                * first; 0: none */
    /* In JSON, adjacent fields with the same group form an object of this name. */
    const char *group;
};

enum table_shape {
    TABLE_INLINE, /* one row; its fields are members of the record's own object */
    TABLE_OBJECT, /* one row as an object: "name": {...} */
    TABLE_ROWS    /* any number of rows as an array: "name": [{...}, ...] */
};

struct table {
    const char *name;
    enum table_shape shape;
    const struct field *fields;
    size_t field_count;
    const struct cell *cells; /* [row_count x field_count] */
    size_t row_count;
    bool hidden_in_text; /* for example if the headline has the values */
};

/* TABLE_OF_ROWS makes a table with any number of rows from an array of fields, TABLE_OF_ONE a table
 * with one row, which the text view does not show. */
#define TABLE_OF_ROWS(name, fields, cells, rows)                                                   \
    ((struct table){ name, TABLE_ROWS, fields, ARRAY_COUNT(fields), cells, rows, false })
#define TABLE_OF_ONE(name, shape, fields, cells)                                                   \
    ((struct table){ name, shape, fields, ARRAY_COUNT(fields), cells, 1, true })

struct record {
    const char *schema;
    /* First line or lines of the text, or NULL. A name in it is made printable by the command, so
     * that it has no line feed. */
    const char *headline;
    const struct table *tables;
    size_t table_count;
    size_t main_table; /* index of the table that CSV writes by default */
    /* NULL-terminated lines below the tables in text; NULL if there are none. */
    const char *const *notes;
};

/* Returns the part after the date of a time such as "2026-11-21T12:00:00.000+00:00", or "-" if
 * there is no date. A headline shows the first 8 characters of that part. */
const char *time_of_day(const char *time);
