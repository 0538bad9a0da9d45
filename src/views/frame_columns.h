/*
 * The columns in which the rows of a frame are shown. JSON, CSV, and text in a file or pipe have
 * all columns. Text on a terminal has as many columns as fit: id, name, process, labels, count, a
 * percentage for each state, and unaccounted time. In text, states with the same short title share
 * a column.
 *
 * If not all states fit into text, CPU time, the run queue and the states with the most time are
 * shown. A state's time is its largest time in any interval so far, so that columns do not come and
 * go. Of idle time only a fraction counts. The first state of CPU time and the state that rows are
 * sorted by are always shown. The other states are added up in the column "other%".
 *
 * Text shows the labels that distinguish rows, and the label that rows are sorted by. Any other
 * label is hidden: its value is the same in all rows, or part of the name in all rows.
 */
#pragma once

#include "frame_heading.h"
#include "ledger/selection.h"
#include "record.h"

#define FRAME_STATES_MOST 128 /* States beyond this number are never shown. */
#define FRAME_STATES_SHOWN 40
#define FRAME_MORE_MOST 8

enum percent_of { PERCENT_OF_INTERVAL, PERCENT_OF_ROW, PERCENT_OF_QUOTA };

#define FRAME_QUOTA_WIDTH 5

struct frame_style {
    bool for_text; /* text output: long values are cut, and only columns that fit are shown */
    size_t width;
    size_t sentence_width; /* the width of the lines of the sentence; 0: it has one line */
    bool is_uncut;         /* text for a file or pipe: nothing is cut, and all columns are shown */
    bool cpus;
    bool of_threads;   /* each row is a thread or a sum of threads */
    bool of_cpus;      /* each row is a CPU */
    bool numbered;     /* each row has an id that users know, such as a tid, pid or uid */
    bool keeps_end;    /* text cuts a long name at its start, because the name is a path */
    bool is_single;    /* each row is one thread, process or session, not a group */
    bool hides_labels; /* text has no column for labels, because the names of the rows are labels */
    enum percent_of percent_of;
    /* With PERCENT_OF_QUOTA: the index of the label that has the quota of a row in CPUs, such as
     * "0.5". A row without a number there has the percentages of PERCENT_OF_INTERVAL. Text has a
     * column for the quota. */
    size_t quota_label;
    /* Returns the name of a user. The member is NULL if rows have no user. */
    const char *(*user)(void *context, uint32_t uid);
    /* If `line` is not NULL, text has a single column, and line() writes its values to `ret`. The
     * column's heading is line_heading above living entities, and line_heading_of_exited above
     * exited entities. */
    const char *line_heading, *line_heading_of_exited;
    void (*line)(void *context, const struct frame *rows, size_t row, const char *name, char *ret,
                 size_t capacity);
    /* Columns that JSON and CSV have after those of the frame: at most FRAME_MORE_MOST. */
    const struct field *more;
    size_t more_count;
    void (*fill_more)(void *context, const struct frame *rows, size_t row, struct cell *ret);
    /* Columns that text has after those of the frame: at most FRAME_MORE_MOST. The last one is a
     * text, and may be wider than the screen. */
    const struct field *extra;
    size_t extra_count;
    void (*fill_extra)(void *context, const struct frame *rows, size_t row, struct cell *ret);
    /* Returns whether the value of a column in a row is known; if not, JSON and CSV have null, and
     * text has a dash for a state. NULL: all values are known. */
    bool (*is_known)(void *context, const struct frame *rows, size_t row, size_t column);
    void *context;
};

/* A column of text for one state, or for all states with the same short title. */
struct state_column {
    size_t first;
    size_t states;
    uint64_t sum_ns;  /* time of all rows in the last interval */
    uint64_t most_ns; /* largest sum_ns of any interval so far */
    uint64_t row_ns;  /* time of a single row, while rows are added up */
    double average;   /* of the entities that were in these states in the last interval */
};

struct frame_columns {
    const struct schema *schema;
    struct field *fields; /* [field_count], owned */
    /* [schema->state_count]; names of the states without "_ns", owned */
    char (*stems)[ORDER_NAME_SIZE];
    size_t *column_of; /* [schema->state_count]; index into `states` for each state, owned */
    struct state_column *states; /* [state_column_count] in the order of the text output, owned */
    size_t state_column_count;
    bool has_shared;
    size_t cpu;    /* index in `states` of the column of CPU time, or SIZE_MAX */
    size_t sorted; /* index in `states` of the column that rows are sorted by, or SIZE_MAX */
    size_t field_count;
    bool differs[LABELS_MOST];     /* rows had different values of this label */
    bool beyond_name[LABELS_MOST]; /* a value of this label was not part of the row's name */
    size_t row_count;
    double unaccounted; /* average of the entities that were in no state in the last interval */
    /* In this order: a row had a pid, another id than its pid, a count above 1, states that add up
     * to more than its time. */
    bool has_pid, has_session_id, has_count, has_over;
    size_t name_most;               /* width of the longest name so far */
    size_t label_most[LABELS_MOST]; /* width of the longest value of each label so far */
    size_t percent_width;           /* minimum width of percentage columns; 0: the default */
    /* For text, frame_columns_lay_out() sets the following members. */
    size_t shown[FRAME_STATES_MOST]; /* [shown_count] indexes into `states`, ascending */
    size_t shown_count;
    size_t labels[LABELS_MOST]; /* [labels_shown] indexes of labels, ascending */
    size_t labels_shown, name_width;
    bool has_other, hides_count;
    char headings[FRAME_STATES_MOST][FRAME_HEADING_SIZE];
};

/* Returns CAMP_OK or CAMP_E_NOMEM. */
int frame_columns_init(struct frame_columns *ret, const struct schema *schema);
void frame_columns_release(struct frame_columns *columns);

/* Updates the sums, averages, maxima and flags of `columns` with the rows of an interval. */
void frame_columns_see(struct frame_columns *columns, const struct selected *selected,
                       const struct selection *selection);

/* Fills columns->fields with the columns to show. */
void frame_columns_lay_out(struct frame_columns *columns, const struct selection *selection,
                           const struct frame_style *style);

/* Returns the time in all states of a column. `values` are the values of a row. */
uint64_t state_column_ns(const struct frame_columns *columns, const uint64_t *values,
                         size_t column);

/* Returns the title of a column. If any column has several states, all columns have short
 * titles. */
const char *state_column_title(const struct frame_columns *columns, size_t column);

/* Return true if text has a column "pid", a column "id" for the number that a database gives a
 * session, or a column for the number of entities. */
bool frame_columns_have_pid(const struct frame_columns *columns, const struct frame_style *style);
bool frame_columns_have_session_id(const struct frame_columns *columns,
                                   const struct frame_style *style);
bool frame_columns_have_count(const struct frame_columns *columns, const struct frame_style *style);
