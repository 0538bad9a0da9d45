/*
 * The rows of an interval of camp top that shows no threads: entities of any schema that has
 * states, selected, perhaps added up by a label, and in their order.
 *
 * Orders have a number: 0 is "busy", the time that is not idle (ledger/vertex.h says which states
 * are), so that what nobody accounts for comes first too; then each state, "unaccounted", each
 * label, and "name".
 */
#ifndef CAMP_COMMANDS_TOP_TOP_ANY_ROWS_H
#define CAMP_COMMANDS_TOP_TOP_ANY_ROWS_H

#include "ledger/vertex.h"
#include "sources/label_groups.h"

#include <regex.h>

#define TOP_ANY_WORD_SIZE 64 /* of an order's name */

struct top_any_selection {
    const regex_t *filter; /* of names, and of labels; NULL: all */
    int sort;              /* an order's number */
    int group;             /* number of a label; -1: a row is an entity */
    bool for_text;         /* what is long is cut, and so many columns as have room */
    size_t width;          /* text: columns of the terminal */
    bool is_uncut;         /* text for no terminal: names and labels as wide as they are */
    size_t top;            /* at most so many rows; 0: all */
};

struct top_any_rows {
    const struct frame *frame;  /* the interval's, or `groups` */
    struct label_groups groups; /* owned: top_any_rows_release() */
    size_t *order;              /* [count] rows of `frame` */
    uint64_t *keys;             /* [frame->entity_count] what they are ordered by */
    size_t count, capacity;
};

/* How many orders a schema has, and what each is called, as --sort takes it. */
int top_any_sort_count(const struct schema *schema);
void top_any_sort_name(const struct schema *schema, int sort, char ret[TOP_ANY_WORD_SIZE]);

/* A column's name without its unit: "run_queue". */
void top_any_stem(const struct column *column, char ret[TOP_ANY_WORD_SIZE]);

/* `vertices`: vertices_usual() of 3. */
bool top_any_is_idle(const struct vertices *vertices, size_t state);

/* CAMP_OK or CAMP_E_NOMEM. */
int top_any_rows_fill(struct top_any_rows *ret, const struct frame *frame,
                      const struct top_any_selection *selection);
void top_any_rows_release(struct top_any_rows *rows);

#endif
