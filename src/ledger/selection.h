/*
 * Selects the rows of a frame that are shown. Entities are picked, grouped, filtered, sorted, put
 * into a tree, and limited in number. The schema of the frame must have states.
 *
 * A number below order_count() stands for an order by which rows are sorted. The orders are:
 *
 * - "busy", the time that is not idle, including unaccounted time
 * - "cpu", the time on a CPU, only if several states add up to it
 * - each state, then "unaccounted", each label, and "name"
 * - "elapsed", then each column that is not a state
 */
#pragma once

#include "group.h"

#include <regex.h>

#define ORDER_NAME_SIZE 64

/* order_count() returns the number of all orders of a schema. order_count_of_states() returns the
 * number of orders before "elapsed". */
size_t order_count(const struct schema *schema);
size_t order_count_of_states(const struct schema *schema);
void order_name(const struct schema *schema, size_t order, char ret[ORDER_NAME_SIZE]);

/* Returns the order with this name, or order_count() if there is none. */
size_t order_find(const struct schema *schema, const char *name);

/* Returns the state by which the order sorts, or column_count if it does not sort by one state. */
size_t order_state(const struct schema *schema, size_t order);

enum order_unit { ORDER_OF_TIME, ORDER_OF_NUMBER, ORDER_OF_TEXT };

/* Returns what an order sorts by: a time in ns, another number, or a text. */
enum order_unit order_unit(const struct schema *schema, size_t order);

/* Returns the number by which an order sorts the row of a frame. For an order by a text it is the
 * busy time. */
uint64_t order_value(const struct frame *frame, size_t order, size_t row);

/* Returns whether the number may be above 0 in a row that IDLE_OMITTED leaves out. */
bool order_counts_idle(const struct schema *schema, size_t order);

/* Copies the name of a column without the unit _ns, such as "run_queue". */
void column_stem(const struct column *column, char ret[ORDER_NAME_SIZE]);

struct label_value {
    size_t label; /* index in the schema's label_names */
    char text[LABELS_VALUE_SIZE];
};

struct selection {
    /* [pid_count] only rows with these values of entity_pid() are shown; all rows if pid_count is 0
     */
    const int32_t *pids;
    size_t pid_count;
    bool no_kernel_threads;
    /* [only_count] only rows whose labels have all of these values are shown */
    const struct label_value *only;
    size_t only_count;
    struct grouping grouping; /* grouping.numbers has a number for each row of selected->picked */
    const regex_t *filter;    /* regular expression for names and labels; NULL if all rows match */
    bool filters_names;       /* the filter applies to names only, not to labels */
    size_t order;
    /* Returns the number by which a row is sorted; the largest number comes first. If the pointer
     * is NULL, rows are sorted by `order`. */
    uint64_t (*key)(const void *context, const struct frame *rows, size_t row);
    bool exited_apart; /* whether rows of exited entities come after all other rows */
    bool tree;
    size_t tree_label; /* 1 + the label that has the id of the row above; 0: entity.parent */
    size_t most;       /* largest number of rows; 0 if there is no limit */
    /* Returns the name of a row. If the pointer is NULL, the name of the entity is used. */
    const char *(*name)(void *context, const struct entity *row);
    void *context; /* the first argument of `key` and `name` */
};

struct selected {
    const struct frame *picked; /* the caller's frame, or &copy if rows are left out */
    const struct frame *rows;   /* `picked`, or &groups if rows are grouped */
    size_t *order;              /* [count] indexes of rows, in the order in which they are shown */
    uint32_t *depths;           /* [count] depth of each row in the tree; 0 without a tree */
    size_t count;
    /* With exited_apart: number of rows of living entities, which come first. Otherwise `count`. */
    size_t living;
    size_t cut; /* number of rows that were left out because of `most` */
    /* Internal. selected_release() frees these members, and also `order` and `depths`. */
    struct frame copy, groups;
    uint64_t *keys; /* [rows->entity_count] the numbers by which rows are sorted */
    size_t capacity;
};

/* Sets ret->picked to the rows of `frame` that `pids`, `no_kernel_threads` and `only` allow. The
 * caller may then set grouping.numbers for these rows. *ret may be all zero. Returns CAMP_OK or
 * CAMP_E_NOMEM.
 */
int selection_pick(struct selected *ret, const struct frame *frame,
                   const struct selection *selection);

/* Groups, filters, sorts and limits the rows of ret->picked. Returns CAMP_OK or CAMP_E_NOMEM. */
int selection_fill(struct selected *ret, const struct selection *selection);

void selected_release(struct selected *selected);

/* Sorts order[count], indexes of rows of `frame`, as a tree of processes (tree.c). The ids of the
 * rows are pids. With `label` 1 + the index of a label, the parent of a row is the one whose id the
 * label has; without a number there, or with a `label` of 0, it is that of the entity. Each process
 * comes after its parent, and children of one parent keep their order. A process whose parent is
 * not in order[] is at the top level. depths[count] gets the number of ancestors of each process.
 * Returns CAMP_OK or CAMP_E_NOMEM. */
int tree_order(const struct frame *frame, size_t label, size_t *order, size_t count,
               uint32_t *depths);

const char *selection_name(const struct selection *selection, const struct entity *row);

/* class_ns() returns the time of a row in the states of one class. busy_ns() returns the time of a
 * row in all states that are not idle, plus the unaccounted time of the row. */
uint64_t class_ns(const struct frame *frame, size_t row, enum column_class class);
uint64_t busy_ns(const struct frame *frame, size_t row);
