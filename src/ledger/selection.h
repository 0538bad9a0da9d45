/*
 * Selects the rows of a frame that are shown: they are picked, grouped, filtered, sorted, put into
 * a tree, and limited in number. Pure arithmetic, for any schema that has states.
 *
 * An order has a number: 0 is "busy", the time that is not idle (unaccounted time included); then
 * "cpu", the time on a CPU, where that is several states; each state, "unaccounted", each label and
 * "name"; at last "elapsed" and each counter.
 */
#pragma once

#include "group.h"

#include <regex.h>

#define ORDER_NAME_SIZE 64

/* The number of orders of a schema: all, and only those before "elapsed". */
size_t order_count(const struct schema *schema);
size_t order_count_of_states(const struct schema *schema);
void order_name(const struct schema *schema, size_t order, char ret[ORDER_NAME_SIZE]);

/* The order with this name; order_count(): there is none. */
size_t order_find(const struct schema *schema, const char *name);

/* The state by which the order sorts; column_count: it does not sort by one state. */
size_t order_state(const struct schema *schema, size_t order);

/* A column's name without its unit: "run_queue". */
void column_stem(const struct column *column, char ret[ORDER_NAME_SIZE]);

struct selection {
    const int32_t *pids; /* [pid_count] only these processes; none: all */
    size_t pid_count;
    bool no_kernel_threads;
    struct grouping grouping; /* grouping.numbers are for the rows of selected->picked */
    const regex_t *filter;    /* regular expression for names and labels; NULL: all */
    size_t order;
    bool exited_apart; /* rows of exited entities are after the others */
    bool tree;         /* show processes under their parents */
    size_t most;       /* number of rows; 0: all */
    /* Returns the name of a row; NULL: entity->name. */
    const char *(*name)(void *context, const struct entity *row);
    void *context;
};

struct selected {
    const struct frame *picked; /* the frame, or `copy` */
    const struct frame *rows;   /* `picked`, or `groups` */
    size_t *order;              /* [count] rows of `rows` */
    uint32_t *depths;           /* [count] in a tree; otherwise 0 */
    size_t count;
    size_t living; /* number of rows before those of exited entities, if exited_apart */
    size_t cut;    /* number of rows that `most` left out */
    /* owned: selected_release() */
    struct frame copy, groups;
    uint64_t *keys; /* [rows->entity_count] the numbers by which rows are sorted */
    size_t capacity;
};

/* Picks the entities of selection->pids into ret->picked, for which the caller may then set
 * grouping.numbers. *ret may be all zero. CAMP_OK or CAMP_E_NOMEM. */
int selection_pick(struct selected *ret, const struct frame *frame,
                   const struct selection *selection);

/* Makes the rows from ret->picked. CAMP_OK or CAMP_E_NOMEM. */
int selection_fill(struct selected *ret, const struct selection *selection);

void selected_release(struct selected *selected);

/* Puts processes under their parents (tree.c). order[count] has rows of `frame`, whose ids are
 * pids. It is reordered so that each row is after its parent, and children of one parent keep their
 * order; rows whose parent is not there are at the top level. depths[count]: the number of
 * ancestors. CAMP_OK or CAMP_E_NOMEM. */
int tree_order(const struct frame *frame, size_t *order, size_t count, uint32_t *depths);

const char *selection_name(const struct selection *selection, const struct entity *row);

/* A row's time in the states of a class; its time that is not idle. */
uint64_t class_ns(const struct frame *frame, size_t row, enum column_class class);
uint64_t busy_ns(const struct frame *frame, size_t row);
