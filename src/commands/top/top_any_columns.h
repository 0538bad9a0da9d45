/*
 * The columns of camp top that shows no threads. As text: name, process, labels, a percentage for
 * each state, and what is unaccounted, so many as have room; which states have a column is decided
 * by the most time that was in them so far, of which idle time counts little, so that columns do
 * not come and go; what has none is together in "other". CPU time and the state that rows are
 * sorted by are always among them. Labels are those that tell rows apart: not those which all rows
 * have alike, or have in their names. As JSON and CSV: all there is.
 */
#ifndef CAMP_COMMANDS_TOP_TOP_ANY_COLUMNS_H
#define CAMP_COMMANDS_TOP_TOP_ANY_COLUMNS_H

#include "ledger/vertex.h"
#include "top_any_rows.h"
#include "views/record.h"

#define TOP_ANY_STATES_MOST 128 /* that can be chosen from */
#define TOP_ANY_STATES_SHOWN 40
#define TOP_ANY_HEADING_SIZE 40

struct top_any_columns {
    const struct schema *schema;
    struct field *fields;             /* [field_count]; owned: top_any_columns_release() */
    char (*stems)[TOP_ANY_WORD_SIZE]; /* [state_count] of the schema; owned */
    uint64_t *most_ns;                /* [state_count] the most of any interval so far; owned */
    struct vertices vertices;         /* which states are idle */
    size_t cpu;                       /* the first state on a CPU; SIZE_MAX: none */
    size_t sorted;                    /* the state that rows are sorted by; SIZE_MAX: none */
    size_t field_count;
    bool differs[LABELS_MOST];      /* a label of which rows have had different values */
    bool beyond_name[LABELS_MOST];  /* a label of which a row has had a value not in its name */
    size_t row_count;               /* of the last interval */
    bool has_pid, has_count;        /* of text: an entity has had one, or more than one in a row */
    size_t name_most;               /* columns of the longest name so far, */
    size_t label_most[LABELS_MOST]; /* and of each label's longest value */
    /* Of text, decided anew by top_any_columns_lay_out(). */
    size_t shown[TOP_ANY_STATES_MOST]; /* [shown_count] the states that have a column, ascending */
    size_t shown_count;
    size_t labels[LABELS_MOST]; /* [labels_shown] those that have a column, ascending */
    size_t labels_shown;
    bool has_other; /* there are further states */
    char headings[TOP_ANY_STATES_MOST][TOP_ANY_HEADING_SIZE];
};

/* CAMP_OK or CAMP_E_NOMEM. */
int top_any_columns_init(struct top_any_columns *ret, const struct schema *schema);
void top_any_columns_release(struct top_any_columns *columns);

/* What an interval's rows have is remembered. */
void top_any_columns_meet(struct top_any_columns *columns, const struct top_any_rows *rows);

/* Fills columns->fields for one row of cells. */
void top_any_columns_lay_out(struct top_any_columns *columns,
                             const struct top_any_selection *selection);

/* "run queue" as a heading of few columns: "runq%". Up to 7 characters are as they are. */
void top_any_heading(const char *title, char ret[TOP_ANY_HEADING_SIZE]);

/* "table lock" as "tab.lock%": of many columns whose words are of other trades. */
void top_any_dotted_heading(const char *title, char ret[TOP_ANY_HEADING_SIZE]);

#endif
