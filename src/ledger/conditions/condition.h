/*
 * Conditions on frames, as text:
 *
 *     run_queue > 20ms
 *     run_queue.sum >= 50% and involuntary_switches > 1000
 *     disk > 5% of postgres or disk > 50% of "my server"
 *
 * A condition is one comparison or several. A comparison has a column, an operator (> >= < <=), a
 * limit, and perhaps "of" and a row. "and" binds more tightly than "or".
 *
 * The columns are the orders of selection.h, without texts. A column stands for its largest value
 * in all rows, and COLUMN.sum for the sum of all rows. "of NAME" leaves only rows with this name,
 * or with this id. A name with blanks is written in quotes. Two rows count only if they are named:
 * the total of all CPUs ("all"), and that of the threads outside of a PID namespace ("outside").
 *
 * COLUMN.max, COLUMN.p99 and COLUMN.p50 are columns of a second frame, if there is one: how long
 * the waits lasted of which the column of the first frame is the sum. Their rows are groups.
 *
 * The limit of a time has a unit (ns, us, ms, s, m), or is a share of the interval's length (%). A
 * limit of another number has no unit. A frame without rows has the value 0.
 */
#pragma once

#include "ledger/selection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONDITION_MOST 8 /* comparisons */
#define CONDITION_COLUMN_SIZE (ORDER_NAME_SIZE + 4)

enum condition_relation { CONDITION_ABOVE, CONDITION_AT_LEAST, CONDITION_BELOW, CONDITION_AT_MOST };

struct comparison {
    size_t order;    /* of the schema (selection.h) */
    bool of_lengths; /* `order` is of the second schema */
    bool is_sum;     /* of all rows; otherwise the largest */
    bool is_share;   /* `limit` is a share of the interval; otherwise it is in the column's unit */
    bool starts_or;  /* the comparison comes after "or" */
    enum condition_relation relation;
    double limit;
    char row[CAMP_NAME_SIZE]; /* "" means all rows */
    bool has_row_id;          /* `row` is a number, which is row_id */
    int64_t row_id;
};

struct condition {
    size_t count;
    struct comparison comparisons[CONDITION_MOST];
};

/* What is wrong with a text. */
struct condition_fault {
    const char *problem; /* such as "a time has a unit" */
    const char *advice;  /* what to write; NULL if a column does not exist */
    char rest[64];       /* the start of the text after the problem, or the name of the column */
};

/* Parses `text`, which may contain any characters, for frames of these schemas. `lengths` is that
 * of the second frame, or NULL. If the text is wrong, returns false with the reason in *fault. If
 * `schema` is NULL, checks only the syntax: any name is a column, and its limit may have a unit or
 * not. *ret is then of no use. */
bool condition_parse(struct condition *ret, const struct schema *schema,
                     const struct schema *lengths, const char *text, struct condition_fault *fault);

/* Returns whether the name of a column ends in .max, .p99 or .p50. */
bool condition_is_of_lengths(const char *name);

/* Returns whether the condition needs the rows that IDLE_OMITTED leaves out. */
bool condition_counts_idle(const struct condition *condition, const struct schema *schema);

/* The value of a comparison in a frame, and the row that has it. */
struct condition_value {
    uint64_t value;
    size_t row; /* entity_count for a sum, or if there is no row */
    bool holds;
};

/* Sets values[condition->count], and returns whether the condition holds. `lengths` is the second
 * frame, or NULL if it was parsed without one. If it holds, *ret_reason
 * becomes the first comparison of the first fulfilled term: of the comparisons that "and" joins,
 * all of which hold. Otherwise *ret_reason is unchanged. */
bool condition_holds(const struct condition *condition, const struct frame *frame,
                     const struct frame *lengths, struct condition_value values[CONDITION_MOST],
                     size_t *ret_reason);

/* Returns whether a frame has a row that the comparison names, or true if it names none. */
bool condition_has_row(const struct comparison *comparison, const struct frame *frame);

/* Writes the column of a comparison as in a condition: "run_queue", "run_queue.sum" or
 * "run_queue.max". `schema` is the first or the second one (comparison->of_lengths). */
void condition_column(const struct comparison *comparison, const struct schema *schema,
                      char ret[CONDITION_COLUMN_SIZE]);
