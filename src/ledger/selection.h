/*
 * From a frame to the rows that are shown: picked, grouped, filtered, sorted, as a tree, cut. Pure
 * arithmetic, for any schema that has states.
 *
 * An order has a number: 0 is "busy", the time that is not idle (unaccounted time included); then
 * "cpu", the time on a CPU, where that is several states; each state, "unaccounted", each label and
 * "name"; at last "elapsed" and each counter.
 */
#pragma once

#include "group.h"

#include <regex.h>

#define ORDER_NAME_SIZE 64

/* How many orders a schema has: all, and those before "elapsed". */
size_t order_count(const struct schema *schema);
size_t order_count_of_states(const struct schema *schema);
void order_name(const struct schema *schema, size_t order, char ret[ORDER_NAME_SIZE]);

/* The order of that name. order_count(): there is none. */
size_t order_find(const struct schema *schema, const char *name);

/* The state of the order; column_count: it is not of one state. */
size_t order_state(const struct schema *schema, size_t order);

/* A column's name without its unit: "run_queue". */
void column_stem(const struct column *column, char ret[ORDER_NAME_SIZE]);

struct selection {
    const int32_t *pids; /* [pid_count] of these processes only; none: of all */
    size_t pid_count;
    bool no_kernel_threads;
    struct grouping grouping; /* `numbers` are of selected->picked */
    const regex_t *filter;    /* of names and labels; NULL: all */
    size_t order;
    bool exited_apart; /* rows of exited entities follow the others */
    bool tree;         /* processes under their parents */
    size_t most;       /* rows; 0: all */
    /* The name of a row; NULL: entity->name. */
    const char *(*name)(void *context, const struct entity *row);
    void *context;
};

struct selected {
    const struct frame *picked; /* the frame, or `copy` */
    const struct frame *rows;   /* `picked`, or `groups` */
    size_t *order;              /* [count] rows of `rows` */
    uint32_t *depths;           /* [count] in a tree; otherwise 0 */
    size_t count;
    size_t living; /* rows before those of exited entities, if they are apart */
    size_t cut;    /* rows that `most` left out */
    /* owned: selected_release() */
    struct frame copy, groups;
    uint64_t *keys; /* [rows->entity_count] what they are sorted by */
    size_t capacity;
};

/* The entities of selection->pids. Then *ret has `picked`, and the caller may number them. All zero
 * is empty. CAMP_OK or CAMP_E_NOMEM. */
int selection_pick(struct selected *ret, const struct frame *frame,
                   const struct selection *selection);

/* The rows, of what was picked. CAMP_OK or CAMP_E_NOMEM. */
int selection_fill(struct selected *ret, const struct selection *selection);

void selected_release(struct selected *selected);

/* Processes under their parents (tree.c). order[count] has rows of `frame`, whose ids are
 * processes, and is reordered: each row after its parent, children of one parent in their given
 * order; rows without a parent among them are at the top. depths[count]: the number of ancestors.
 * CAMP_OK or CAMP_E_NOMEM. */
int tree_order(const struct frame *frame, size_t *order, size_t count, uint32_t *depths);

const char *selection_name(const struct selection *selection, const struct entity *row);

/* A row's time in the states of a class; its time that is not idle. */
uint64_t class_ns(const struct frame *frame, size_t row, enum column_class class);
uint64_t busy_ns(const struct frame *frame, size_t row);
