#include "frame_states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 15
#define NAME_WIDTH_NARROW 8 /* width of names if columns of CPU time do not fit otherwise */
#define PERCENT_WIDTH 4
#define OVER_WIDTH 6
/* States are hidden to make space for labels only while more states than this are shown. */
#define STATES_BEFORE_LABELS 5
#define IDLE_COUNTS_LESS 100

/* Columns of a lower rank are dropped first. RANK_ALWAYS is never dropped. */
enum rank { RANK_SELDOM, RANK_ANY, RANK_CPU, RANK_ALWAYS };

const struct column *state_column_first(const struct frame_columns *columns, size_t column)
{
    return &columns->schema->columns[columns->states[column].first];
}

/* Returns true if a rule (rules/) named the state. The name of such a state ends with its title:
 * "contention_table_lock" has the title "table lock". */
static bool is_of_rule(const struct frame_columns *columns, size_t state)
{
    const char *stem = columns->stems[state], *title = columns->schema->columns[state].title;

    return strlen(stem) > strlen(title) && strchr(stem, '_') != NULL &&
           stem[strlen(stem) - strlen(title) - 1] == '_';
}

static void head_state(const struct frame_columns *columns, size_t column, bool whole, char *ret)
{
    const struct column *state = state_column_first(columns, column);

    if (whole || (columns->has_shared && state->short_title != NULL))
        snprintf(ret, FRAME_HEADING_SIZE, "%.*s%%", FRAME_HEADING_SIZE - 2,
                 columns->has_shared ? state_column_title(columns, column) : state->title);
    else if (is_of_rule(columns, columns->states[column].first))
        dotted_heading(state->title, ret);
    else
        short_heading(state->short_title != NULL ? state->short_title : state->title, ret);
}

/* Writes the headings of the shown states. If `whole` is set, headings are whole titles. Otherwise
 * they are short titles, except that a heading is a whole title if an earlier heading has the same
 * short title. */
static void head_states(struct frame_columns *columns, bool whole)
{
    for (size_t i = 0; i < columns->shown_count; i++) {
        bool is_same = false;

        head_state(columns, columns->shown[i], whole, columns->headings[i]);
        for (size_t j = 0; j < i; j++)
            is_same |= strcmp(columns->headings[i], columns->headings[j]) == 0;
        if (is_same)
            head_state(columns, columns->shown[i], true, columns->headings[i]);
    }
}

size_t frame_state_width(const struct frame_columns *columns, size_t at)
{
    const size_t heading = characters(columns->headings[at]);
    const size_t least = columns->percent_width > 0 ? columns->percent_width : PERCENT_WIDTH;

    return heading > least ? heading : least;
}

size_t frame_unaccounted_width(const struct frame_columns *columns)
{
    return columns->has_over ? OVER_WIDTH : PERCENT_WIDTH;
}

static size_t states_width(const struct frame_columns *columns)
{
    size_t width = columns->has_other ? FRAME_GAP + strlen(FRAME_OTHER_HEADING) : 0;

    for (size_t i = 0; i < columns->shown_count; i++)
        width += FRAME_GAP + frame_state_width(columns, i);
    return width;
}

static enum rank rank_of(const struct frame_columns *columns, size_t column)
{
    const enum column_class class = state_column_first(columns, column)->class;

    if (column == columns->cpu || column == columns->sorted)
        return RANK_ALWAYS;
    /* Idle time in which a database session keeps locks. */
    if (columns->states[column].most_ns > 0 &&
        strcmp(state_column_first(columns, column)->name, "idle_in_transaction_ns") == 0)
        return RANK_CPU;
    if (class == CLASS_THROTTLED && columns->states[column].most_ns == 0)
        return RANK_SELDOM; /* most groups have no quota */
    return class == CLASS_READY || (class == CLASS_CPU && columns->states[column].most_ns > 0)
               ? RANK_CPU
               : RANK_ANY;
}

/* Returns true if `left` is to be dropped before `right`. Of idle time only a fraction counts. */
static bool is_less(const struct frame_columns *columns, size_t left, size_t right)
{
    const size_t compared[] = { left, right };
    uint64_t time_ns[2];

    for (size_t i = 0; i < 2; i++)
        time_ns[i] =
            columns->states[compared[i]].most_ns /
            (state_column_first(columns, compared[i])->class == CLASS_IDLE ? IDLE_COUNTS_LESS : 1);
    if (rank_of(columns, left) != rank_of(columns, right))
        return rank_of(columns, left) < rank_of(columns, right);
    return time_ns[0] <= time_ns[1];
}

/* Hides the column that is_less() puts first. Returns false if the rank of this column is above
 * `most`, or if it is the only column. If the hidden column has any time, the column "other%" is
 * shown. */
static bool drop_state(struct frame_columns *columns, enum rank most)
{
    size_t least = 0;

    for (size_t i = 1; i < columns->shown_count; i++) {
        if (is_less(columns, columns->shown[i], columns->shown[least]))
            least = i;
    }
    if (columns->shown_count <= 1 || rank_of(columns, columns->shown[least]) > most)
        return false;
    columns->has_other |= columns->states[columns->shown[least]].most_ns > 0;
    columns->shown_count--;
    memmove(&columns->shown[least], &columns->shown[least + 1],
            (columns->shown_count - least) * sizeof columns->shown[0]);
    return true;
}

static void show_all(struct frame_columns *columns)
{
    const size_t states = columns->state_column_count;

    columns->shown_count = states < FRAME_STATES_MOST ? states : FRAME_STATES_MOST;
    columns->has_other = states > columns->shown_count;
    for (size_t i = 0; i < columns->shown_count; i++)
        columns->shown[i] = i;
    while (columns->shown_count > FRAME_STATES_SHOWN && drop_state(columns, RANK_CPU))
        ;
    head_states(columns, true);
}

static bool fits(const struct frame_columns *columns, size_t space, size_t labels)
{
    return states_width(columns) + labels * (FRAME_GAP + FRAME_LABEL_WIDTH) <= space;
}

static void drop_states(struct frame_columns *columns, size_t space, size_t labels, enum rank most)
{
    while ((states_width(columns) > space ||
            (columns->shown_count > STATES_BEFORE_LABELS && !fits(columns, space, labels))) &&
           drop_state(columns, most))
        head_states(columns, false);
}

static size_t space_for_states(const struct frame_columns *columns, const struct frame_style *style)
{
    size_t fixed = columns->name_width + FRAME_GAP + frame_unaccounted_width(columns);

    if (frame_columns_have_pid(columns, style) || style->numbered)
        fixed += FRAME_GAP + FRAME_PID_WIDTH;
    if (frame_columns_have_session_id(columns, style))
        fixed += FRAME_GAP + FRAME_PID_WIDTH;
    if (frame_columns_have_count(columns, style))
        fixed += FRAME_GAP + FRAME_COUNT_WIDTH;
    if (style->percent_of == PERCENT_OF_QUOTA)
        fixed += FRAME_GAP + FRAME_QUOTA_WIDTH;
    for (size_t i = 0; i < style->extra_count; i++)
        fixed += FRAME_GAP + (size_t)abs(style->extra[i].width);
    return style->width > fixed ? style->width - fixed : 0;
}

size_t frame_states_choose(struct frame_columns *columns, const struct frame_style *style,
                           size_t labels)
{
    size_t space;

    columns->name_width = NAME_WIDTH;
    columns->hides_count = false;
    space = space_for_states(columns, style);
    show_all(columns);
    if (!fits(columns, space, labels)) {
        head_states(columns, false);
        if (style->is_uncut)
            return 0;
        drop_states(columns, space, labels, RANK_ANY);
        if (states_width(columns) > space)
            columns->name_width = NAME_WIDTH_NARROW;
        space = space_for_states(columns, style);
        columns->hides_count = states_width(columns) > space;
        space = space_for_states(columns, style);
        drop_states(columns, space, labels, RANK_CPU);
    }
    return states_width(columns) < space ? space - states_width(columns) : 0;
}

void frame_states_choose_in(struct frame_columns *columns, size_t space)
{
    show_all(columns);
    drop_states(columns, space, 0, RANK_CPU);
}
