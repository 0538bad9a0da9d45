/*
 * The columns of a frame's rows. JSON and CSV have all columns. Text has as many as fit: id, name,
 * process, labels, count, a percentage for each state (states with the same short title share a
 * column), and unaccounted time.
 *
 * The states with the most time in any interval so far have a column, so that columns do not appear
 * and disappear; of idle time only a fraction counts. The other states are added up in "other". CPU
 * time and the state that rows are sorted by always have a column. A label is shown if it
 * distinguishes rows: not if it is the same in all rows, or part of their names.
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
    bool for_text;   /* long values are cut, and only the columns that fit are shown */
    size_t width;    /* text: columns of the terminal */
    bool is_uncut;   /* text for a file or pipe: names and labels at their full width */
    bool cpus;       /* text: show the CPUs, one on each line */
    bool of_threads; /* a row is a thread, or a sum of threads */
    bool numbered;   /* each row has an id that users know: tid, pid, uid */
    bool keeps_end;  /* text: a name that is too long is cut at its start (a path) */
    bool is_single;  /* a row is one thread, process or session, not a group of them */
    enum percent_of percent_of;
    const char *(*user)(void *context, uint32_t uid); /* NULL: rows have no user */
    /* Text: a single column, which this function writes. NULL: the usual columns. */
    const char *line_heading, *line_heading_of_exited;
    void (*line)(void *context, const struct frame *rows, size_t row, const char *name, char *ret,
                 size_t capacity);
    void *context;
};

/* A column of text for one state, or for all states with the same short title. */
struct state_column {
    size_t first;     /* index of the first of its states */
    size_t states;    /* number of its states */
    uint64_t most_ns; /* its maximum in any interval so far */
};

struct frame_columns {
    const struct schema *schema;
    struct field *fields;           /* [field_count]; owned: frame_columns_release() */
    char (*stems)[ORDER_NAME_SIZE]; /* [state_count] of the schema; owned */
    size_t *column_of;              /* [state_count] the index in `states` of each state; owned */
    struct state_column *states;    /* [state_column_count] in the order of text; owned */
    size_t state_column_count;
    bool has_shared; /* some states share a column */
    size_t cpu;      /* index of the column of CPU time; SIZE_MAX: none */
    size_t sorted;   /* the column that rows are sorted by; SIZE_MAX: none */
    size_t field_count;
    bool differs[LABELS_MOST];         /* rows had different values of this label */
    bool beyond_name[LABELS_MOST];     /* a row had a value that is not part of its name */
    size_t row_count;                  /* rows of the last interval */
    bool has_pid, has_count, has_over; /* text: a row had one: a process; a count > 1; time twice */
    size_t name_most;                  /* width of the longest name so far ... */
    size_t label_most[LABELS_MOST];    /* ... and of the longest value of each label */
    /* Set for text by each frame_columns_lay_out(). */
    size_t shown[FRAME_STATES_MOST]; /* [shown_count] of `states`, ascending */
    size_t shown_count;
    size_t labels[LABELS_MOST]; /* [labels_shown], ascending */
    size_t labels_shown, name_width;
    bool has_other; /* some states have no column */
    char headings[FRAME_STATES_MOST][FRAME_HEADING_SIZE];
};

/* CAMP_OK or CAMP_E_NOMEM. */
int frame_columns_init(struct frame_columns *ret, const struct schema *schema);
void frame_columns_release(struct frame_columns *columns);

/* Updates the maxima and flags above by the rows of an interval. */
void frame_columns_see(struct frame_columns *columns, const struct selected *selected,
                       const struct selection *selection);

/* Fills columns->fields for one row of cells. */
void frame_columns_lay_out(struct frame_columns *columns, const struct selection *selection,
                           const struct frame_style *style);

/* Returns a row's time in one column of the text output: the sum of the states that share it. */
uint64_t state_column_ns(const struct frame_columns *columns, const uint64_t *values,
                         size_t column);

/* Returns the column's title: that of its state, or the short title that its states share. */
const char *state_column_title(const struct frame_columns *columns, size_t column);

/* Text: is there a column of processes, and one of counts? */
bool frame_columns_have_pid(const struct frame_columns *columns, const struct frame_style *style);
bool frame_columns_have_count(const struct frame_columns *columns, const struct frame_style *style);
