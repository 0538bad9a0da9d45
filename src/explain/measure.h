/*
 * A measure adds up some columns of a frame, as a rate: each value is divided by the time
 * that the frame covers. Columns of time in ns become seconds a second; other columns become counts
 * a second.
 */
#pragma once

#include "ledger/frame.h"

#define MEASURE_COLUMNS 64 /* the most columns of a measure; further ones are left out */

struct measure {
    const struct frame *frame;
    double seconds;
    size_t count;
    struct {
        size_t at;
        double scale; /* 1e-9 for a time, otherwise 1 */
    } columns[MEASURE_COLUMNS];
};

/* Returns the index of a column, or SIZE_MAX if the schema has none with this name. */
size_t column_find(const struct schema *schema, const char *name);

/* Returns whether the schema has all columns of a list, such as "disk_ns lock_ns". `ret_missing`
 * gets the first that it lacks; it may be NULL. */
#define COLUMN_NAME_SIZE 64
bool columns_has(const struct schema *schema, const char *names,
                 char ret_missing[COLUMN_NAME_SIZE]);

/* Returns whether the schema of CPUs has all columns of a list of full names, with values: a column
 * whose provenance is unknown has none. */
bool columns_known(const struct schema *schema, const char *names);

/* The sum of the columns in a list of names; columns that the frame lacks are left out. `seconds`
 * is the length of the time that the frame covers. "contention_*" stands for all columns
 * that start so, except for "contention_ns". */
struct measure measure_columns(const struct frame *frame, double seconds, const char *names);

/* The sum of the states of one class. */
struct measure measure_class(const struct frame *frame, double seconds, enum column_class class);

double measure_row(const struct measure *measure, size_t row);

/* Returns the measure as a share of the row's own elapsed time, or 0 if it has none. Only for a
 * measure of times. */
double measure_share(const struct measure *measure, size_t row);

double measure_all(const struct measure *measure);

/* Returns the row with the largest measure, or SIZE_MAX if no row has more than 0. */
size_t measure_most(const struct measure *measure);

/* Returns the index of the column of the measure that has the most in all rows, or SIZE_MAX. */
size_t measure_most_column(const struct measure *measure);

/* Returns the least certain provenance of the columns: derived or sampled before measured. */
enum camp_provenance measure_provenance(const struct measure *measure);
