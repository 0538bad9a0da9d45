/*
 * The rows of a table, as compact arrays in the order of reading.
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
/* Limit of a value: the sum of all states fits 63 bits. */
#define TABLE_LARGEST_NS ((double)(INT64_MAX / VERTICES_STATES_MAXIMUM))

/* As read, in the unit of its column; later, once the unit is known, a time. */
union amount {
    double read;
    uint64_t ns;
};

struct table_names {
    char **names;    /* [count] by id - 1: not cut, owned */
    size_t *lengths; /* [count] */
    size_t count, capacity;
    struct index index;
};

struct table_rows {
    size_t count, capacity, state_count;
    int64_t *times;        /* [count] ns */
    uint32_t *entities;    /* [count] id, from 1; 0: unknown */
    uint32_t *numbers;     /* [count] numbers of the lines */
    union amount *elapsed; /* [count]; as read: 0 without such a column, NaN: skipped */
    union amount *values;  /* [count x state_count] */
    struct table_names names;
    char *name_buffer; /* [name_capacity]: an entity's texts, joined */
    size_t name_capacity;
    bool is_in_order; /* by time, so far */
    bool has_time;    /* any row has a time */
    uint64_t passed_over;
    uint64_t problem_number; /* the line of the first problem */
    char problem[TABLE_PROBLEM_SIZE];
};

/* table_rows_release() frees its arrays. */
void table_rows_init(struct table_rows *rows, size_t state_count);
void table_rows_release(struct table_rows *rows);

/* Adds a row. `only`: the entity's name in a table without a column of entities. CAMP_OK or
 * CAMP_E_NOMEM. */
int table_rows_add(struct table_rows *rows, struct table_columns *columns, const struct row *row,
                   struct field only);

/* Skips a row; the first problem of the table is kept. */
void table_rows_pass_over(struct table_rows *rows, uint64_t number, const char *problem);

/* Valid before elapsed times are in ns. */
bool table_rows_is_passed_over(const struct table_rows *rows, size_t row);
