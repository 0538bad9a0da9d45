/*
 * Keeps the rows of a table as compact arrays, in the order of the input.
 *
 * A row is invalid if it has the wrong number of fields, text in a column of numbers, NaN, a
 * negative value, no time or no entity. An invalid row is kept, but marked as skipped, because its
 * frame counts it. If it has no time, it belongs to the frame of the preceding row.
 */
#pragma once

#include "ledger/vertex.h"
#include "table_columns.h"
#include "table_names.h"

#define TABLE_PROBLEM_SIZE 192
/* The largest value of a state: the sum of all states must fit in 63 bits. */
#define TABLE_LARGEST_NS ((double)(INT64_MAX / VERTICES_STATES_MAXIMUM))

/* `read` is in the unit of the column, and is valid until table_times_find() sets `ns`. */
union amount {
    double read;
    uint64_t ns;
};

struct table_rows {
    size_t count, capacity, state_count;
    int64_t *times;     /* [count] ns */
    uint32_t *entities; /* [count] id of the entity of each row, from 1; 0 means unknown */
    uint32_t *numbers;  /* [count] `number` (struct row) of each row */
    /* [count] elapsed time of each row; NaN in `read` means that the row is skipped */
    union amount *elapsed;
    union amount *values; /* [count x state_count] */
    struct table_names names;
    struct field only; /* the name of the only entity if no column has entities */
    char *name_buffer; /* [name_capacity] for joining the texts of an entity */
    size_t name_capacity;
    bool is_in_order; /* the times of the rows read so far are ascending */
    bool has_time;
    uint64_t skipped;
    uint64_t problem_number; /* `number` of the row with the first problem */
    char problem[TABLE_PROBLEM_SIZE];
};

/* Chooses the columns of a table by its first rows, and reads all rows. `name` is the name of the
 * table. Without a column of entities, the only entity has this name without its ending, such as
 * ".csv". *rows and *columns must be all zero; the caller releases them, also after a failure.
 * Returns CAMP_E_FORMAT if the input is not a table, or an error of input->next(). */
int table_rows_read(struct table_rows *rows, struct table_columns *columns, struct rows *input,
                    const char *name, struct camp_error *error);
void table_rows_release(struct table_rows *rows);

/* Marks a row as skipped. Only the first problem of the table is kept. */
void table_rows_skip(struct table_rows *rows, size_t row, const char *problem);

/* Must not be called after table_times_find(). */
bool table_rows_is_skipped(const struct table_rows *rows, size_t row);

/* Facts that need all rows: their order, the usual intervals and the units. */
struct table_times {
    /* [number of rows] indices of rows, by time; rows of the same time stay in their order. The
     * caller frees it, also after a failure. */
    uint32_t *order;
    uint64_t interval_ns;   /* usual time between two frames */
    uint64_t spacing_ns;    /* usual time between two rows of an entity */
    enum unit unit;         /* unit of values if the name of their column has no unit */
    enum unit elapsed_unit; /* unit of the column of elapsed times, if there is one */
    bool is_guessed;        /* `unit` is guessed */
    double sum; /* if is_guessed: median over the rows of the sum of a row's values, in `unit` */
};

/* Converts the values and elapsed times of `rows` to ns. Skipped rows get an elapsed time of 0. If
 * there is a column of elapsed times, plain times (field.h), which may only number the intervals,
 * are scaled to fit this column. `wanted` is the requested unit, or UNIT_NONE. Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int table_times_find(struct table_times *ret, struct table_rows *rows,
                     const struct table_columns *columns, enum unit wanted);
