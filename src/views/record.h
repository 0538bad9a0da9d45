/*
 * The output of a command, independent of the format: a record is one object (one interval of
 * `camp check`, one answer of `camp get`), made of tables. An array of struct field states each
 * column once: its heading, JSON key, CSV header and documentation.
 *
 * Ownership: the fields are static. Cells and texts belong to the command, and stay valid until the
 * record is written.
 */
#pragma once

#include "ledger/array.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cell_kind {
    CELL_UNKNOWN, /* null in JSON, empty in CSV, "-" in text */
    CELL_TEXT,
    CELL_INTEGER,
    CELL_NATURAL, /* unsigned */
    CELL_REAL,
    CELL_BOOLEAN
};

/* The emphasis of a cell, on a terminal and in HTML. */
enum emphasis { PLAIN, GOOD, NOTABLE, BAD, FAINT };

struct cell {
    enum cell_kind kind;
    enum emphasis emphasis;
    union {
        const char *text; /* any bytes: formats escape them */
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
static inline struct cell cell_integer(int64_t value)
{
    return (struct cell){ .kind = CELL_INTEGER, .integer = value };
}
static inline struct cell cell_natural(uint64_t value)
{
    return (struct cell){ .kind = CELL_NATURAL, .natural = value };
}
/* NaN and infinities are unknown. */
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

/* A column: its key in JSON and CSV (unit last, as everywhere), its heading in text. */
struct field {
    const char *name;  /* "measured_percent". NULL: only in text */
    const char *title; /* "measured %". NULL: not shown in text */
    const char *help;  /* one sentence: the meaning and source of the values */
    int width;         /* of the column in text; negative: aligned left; 0: as wide as needed */
    int decimals;      /* of a real number in text */
    bool on_request;   /* text shows the column only if it is requested by name */
    const char *group; /* JSON: adjacent fields with the same group form an object of this name */
};

enum table_shape {
    TABLE_INLINE, /* one row: its fields are members of the record itself */
    TABLE_OBJECT, /* one row: "name": {...} */
    TABLE_ROWS    /* "name": [{...}, ...] */
};

struct table {
    const char *name; /* "processes" */
    enum table_shape shape;
    const struct field *fields;
    size_t field_count;
    const struct cell *cells; /* [row_count x field_count] */
    size_t row_count;
    bool hidden_in_text; /* the headline or the notes contain the values already */
};

/* Make a table from an array of fields: with any number of rows; with one row, hidden in text. */
#define TABLE_OF_ROWS(name, fields, cells, rows)                                                   \
    ((struct table){ name, TABLE_ROWS, fields, ARRAY_COUNT(fields), cells, rows, false })
#define TABLE_OF_ONE(name, shape, fields, cells)                                                   \
    ((struct table){ name, shape, fields, ARRAY_COUNT(fields), cells, 1, true })

struct record {
    const char *schema;   /* "camp.check/1" */
    const char *headline; /* first line of the text; NULL: none */
    const struct table *tables;
    size_t table_count;
    size_t main_table;        /* index of the table that CSV writes by default */
    const char *const *notes; /* lines below the tables of the text; NULL-terminated, or NULL */
};
