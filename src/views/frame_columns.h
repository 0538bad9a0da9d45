/*
 * The columns of a frame's rows. As text: id, name, process, labels, how many, a percentage for
 * each state (states of one short title share a column), and what is unaccounted, as many as have
 * space. The most time that was in a state so far decides whether it has a column, and idle time
 * counts little, so that columns do not come and go; the others are together in "other". CPU time
 * and the state that rows are sorted by always have a column. Labels are those that tell rows
 * apart: not those that are the same in all rows, or part of their names. As JSON and CSV: all
 * there is.
 */
#pragma once

#include "frame_heading.h"
#include "ledger/selection.h"
#include "record.h"

#define FRAME_STATES_MOST 128 /* columns that can be chosen from */
#define FRAME_STATES_SHOWN 40

enum percent_of { PERCENT_OF_INTERVAL, PERCENT_OF_ROW };

/* How rows are shown. */
struct frame_style {
    bool for_text;   /* what is long is cut, and as many columns as have space */
    size_t width;    /* text: columns of the terminal */
    bool is_uncut;   /* text for no terminal: names and labels as wide as they are */
    bool cpus;       /* text: with a line a CPU */
    bool of_threads; /* rows are threads, or threads added up */
    bool numbered;   /* each row has an id that a person knows: tid, pid, uid */
    bool keeps_end;  /* text: of a name that is too long its end is shown: paths */
    bool is_single;  /* a row is one thread, process or session, not a group of them */
    enum percent_of percent_of;
    const char *(*user)(void *context, uint32_t uid); /* NULL: rows have no user */
    /* Text: one column in place of all. NULL: the columns. */
    const char *line_heading, *line_heading_of_exited;
    void (*line)(void *context, const struct frame *rows, size_t row, const char *name, char *ret,
                 size_t capacity);
    void *context;
};

/* A column of text for one state, or for those of one short title. */
struct state_column {
    size_t first;     /* the first of its states */
    size_t states;    /* how many states it has */
    uint64_t most_ns; /* the most of any interval so far */
};

struct frame_columns {
    const struct schema *schema;
    struct field *fields;           /* [field_count]; owned: frame_columns_release() */
    char (*stems)[ORDER_NAME_SIZE]; /* [state_count] of the schema; owned */
    size_t *column_of;              /* [state_count] the place in `states` of each; owned */
    struct state_column *states;    /* [state_column_count] in the order of text; owned */
    size_t state_column_count;
    bool has_shared; /* states share a column */
    size_t cpu;      /* the first column on a CPU; SIZE_MAX: none */
    size_t sorted;   /* the column that rows are sorted by; SIZE_MAX: none */
    size_t field_count;
    bool differs[LABELS_MOST];         /* a label of which rows have had different values */
    bool beyond_name[LABELS_MOST];     /* a label of which a row has had a value not in its name */
    size_t row_count;                  /* of the last interval */
    bool has_pid, has_count, has_over; /* text: a row has had one; was more than one; had more in
                                        * its states than there was time */
    size_t name_most;                  /* columns of the longest name so far, */
    size_t label_most[LABELS_MOST];    /* and of each label's longest value */
    /* Of text, decided anew by frame_columns_lay_out(). */
    size_t shown[FRAME_STATES_MOST]; /* [shown_count] of `states`, ascending */
    size_t shown_count;
    size_t labels[LABELS_MOST]; /* [labels_shown], ascending */
    size_t labels_shown, name_width;
    bool has_other; /* there are further states */
    char headings[FRAME_STATES_MOST][FRAME_HEADING_SIZE];
};

/* CAMP_OK or CAMP_E_NOMEM. */
int frame_columns_init(struct frame_columns *ret, const struct schema *schema);
void frame_columns_release(struct frame_columns *columns);

/* Remembers what the rows of an interval have. */
void frame_columns_see(struct frame_columns *columns, const struct selected *selected,
                       const struct selection *selection);

/* Fills columns->fields for one row of cells. */
void frame_columns_lay_out(struct frame_columns *columns, const struct selection *selection,
                           const struct frame_style *style);

/* The time of a row in the states of a column of text. */
uint64_t state_column_ns(const struct frame_columns *columns, const uint64_t *values,
                         size_t column);

/* Its title: of one state the state's, of several their short one. */
const char *state_column_title(const struct frame_columns *columns, size_t column);

/* Text: is there a column of processes, and of how many are in a row? */
bool frame_columns_have_pid(const struct frame_columns *columns, const struct frame_style *style);
bool frame_columns_have_count(const struct frame_columns *columns, const struct frame_style *style);
