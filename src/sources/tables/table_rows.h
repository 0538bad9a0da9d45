/*
 * Keeps the rows of a table as compact arrays, in the order of reading.
 *
 * An invalid row (too few fields, text in a number, NaN, a negative value, no time, no entity) is
 * kept as skipped: it counts in the frame of its time, or without a time in that of the row before
 * it.
 */
#pragma once

#include "ledger/index.h"
#include "ledger/vertex.h"
#include "table_columns.h"

#define TABLE_PROBLEM_SIZE 192
/* The largest value, so that the sum of all states fits into 63 bits. */
#define TABLE_LARGEST_NS ((double)(INT64_MAX / VERTICES_STATES_MAXIMUM))

/* A value as read, in the unit of its column; once the unit is known, a time. */
union amount {
    double read;
    uint64_t ns;
};

struct table_names {
    struct field *names; /* [count], at index id - 1; not cut, owned */
    size_t count, capacity;
    struct index index;
};

struct table_rows {
    size_t count, capacity, state_count;
    int64_t *times;        /* [count] ns */
    uint32_t *entities;    /* [count]: ids, from 1; 0: unknown */
    uint32_t *numbers;     /* [count] line numbers */
    union amount *elapsed; /* [count]; as read; NaN: the row is skipped. Without a column of elapsed
                            * times 0, later the time since the entity's last row */
    union amount *values;  /* [count x state_count] */
    struct table_names names;
    struct field only; /* the name of the only entity, if there is no column of entities */
    char *name_buffer; /* [name_capacity]: an entity's texts, joined */
    size_t name_capacity;
    bool is_in_order; /* all rows so far are in the order of their times */
    bool has_time;    /* any row has a time */
    uint64_t skipped;
    uint64_t problem_number; /* the line of the first problem */
    char problem[TABLE_PROBLEM_SIZE];
};

/* Reads a table: chooses its columns by the first rows, then reads all rows. `name` is the name of
 * the table; without its ending it is the name of the entity if there is no column of entities.
 * *rows and *columns are all zero; the caller releases both, also after a failure. CAMP_E_FORMAT:
 * it is no table; otherwise as input->next(). */
int table_rows_read(struct table_rows *rows, struct table_columns *columns, struct rows *input,
                    const char *name, struct camp_error *error);
void table_rows_release(struct table_rows *rows);

/* Skips a row; the first problem of the table is kept. */
void table_rows_skip(struct table_rows *rows, size_t row, const char *problem);

/* Whether a row is skipped. Valid only before elapsed times are converted to ns. */
bool table_rows_is_skipped(const struct table_rows *rows, size_t row);

/* What the rows have in common once their numbers are times: order, length of intervals, units. */
struct table_times {
    uint32_t *order; /* [number of rows] by time, otherwise as read; the caller frees it, also after
                      * a failure */
    uint64_t interval_ns;   /* usual time between frames */
    uint64_t spacing_ns;    /* usual time between two rows of an entity */
    enum unit unit;         /* unit of values without one in the name of their column */
    enum unit elapsed_unit; /* unit of the column of elapsed times, if there is one */
    bool is_guessed;        /* the unit is guessed */
    double sum;             /* sum of the median row's values in a guessed unit */
};

/* Converts the values and elapsed times of `rows` to ns; times that only count (0, 1, 2, ...) are
 * stretched to the column of elapsed times. Skipped rows get an elapsed time of 0. `wanted`: the
 * requested unit, or UNIT_NONE. CAMP_OK or CAMP_E_NOMEM. */
int table_times_find(struct table_times *ret, struct table_rows *rows,
                     const struct table_columns *columns, enum unit wanted);
