#include "frame_columns.h"

#include "frame_heading.h"
#include "ledger/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2
#define NAME_WIDTH 15
#define NAME_WIDTH_MOST 60
#define LINE_NAME_WIDTH 30
#define LABEL_WIDTH 10
#define LABEL_WIDTH_MOST 40
#define UNCUT_MOST 120 /* largest width of a name or label in a file or pipe */
#define PID_WIDTH 7
#define COUNT_WIDTH 4
#define PERCENT_WIDTH 4
#define OVER_WIDTH 6
/* States are hidden to make space for labels only while more states than this are shown. */
#define STATES_BEFORE_LABELS 5
#define IDLE_COUNTS_LESS 100
#define OTHER_HEADING "other%"

/* In JSON and CSV, first_fields precede the labels, states and counters, and last_fields follow. */
static const struct field first_fields[] = {
    { .name = "id", .help = "tid, pid, uid, number of a CPU; null where it is of many" },
    { .name = "name", .help = "of the thread, process, user, session, host or group" },
    { .name = "pid", .help = "its process on this machine" },
    { .name = "parent", .help = "the parent of its process" },
    { .name = "user_name", .help = "effective user" },
    { .name = "count", .help = "how many are in the row" },
    { .name = "new", .help = "started in the interval" },
    { .name = "ended", .help = "ended in it" },
};
static const struct field last_fields[] = {
    { .name = "unaccounted_ns", .help = "wall time in no state; below 0: more was accounted" },
};
static const struct field elapsed_field = { .name = "elapsed_ns",
                                            .help = "its wall time in the interval" };

static const struct column *first_of(const struct frame_columns *columns, size_t column)
{
    return &columns->schema->columns[columns->states[column].first];
}

static bool share_a_column(const struct column *left, const struct column *right)
{
    return left->short_title != NULL && right->short_title != NULL &&
           strcmp(left->short_title, right->short_title) == 0;
}

static void add_state(struct frame_columns *columns, size_t state)
{
    const struct column *states = columns->schema->columns;
    size_t at = 0;

    while (at < columns->state_column_count &&
           !share_a_column(first_of(columns, at), &states[state]))
        at++;
    if (at == columns->state_column_count)
        columns->states[columns->state_column_count++] = (struct state_column){ .first = state };
    columns->has_shared |= ++columns->states[at].states > 1;
    columns->column_of[state] = at;
}

static void sort_by_class(struct frame_columns *columns)
{
    for (size_t i = 1; i < columns->state_column_count; i++) {
        const struct state_column moved = columns->states[i];
        const enum column_class class = first_of(columns, i)->class;
        size_t to = i;

        for (; to > 0 && first_of(columns, to - 1)->class > class; to--)
            columns->states[to] = columns->states[to - 1];
        columns->states[to] = moved;
    }
    for (size_t state = 0; state < columns->schema->state_count; state++) {
        const struct column *column = &columns->schema->columns[state];
        size_t at = 0;

        while (columns->states[at].first != state && !share_a_column(first_of(columns, at), column))
            at++;
        columns->column_of[state] = at;
    }
}

int frame_columns_init(struct frame_columns *ret, const struct schema *schema)
{
    const size_t most = ARRAY_COUNT(first_fields) + 2 + schema->label_count + schema->column_count +
                        ARRAY_COUNT(last_fields) + FRAME_STATES_SHOWN;

    *ret = (struct frame_columns){ .schema = schema, .cpu = SIZE_MAX, .sorted = SIZE_MAX };
    ret->fields = calloc(most, sizeof *ret->fields);
    ret->stems = calloc(schema->state_count + 1, sizeof *ret->stems);
    ret->column_of = calloc(schema->state_count + 1, sizeof *ret->column_of);
    ret->states = calloc(schema->state_count + 1, sizeof *ret->states);
    if (ret->fields == NULL || ret->stems == NULL || ret->column_of == NULL || ret->states == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < schema->state_count; i++) {
        column_stem(&schema->columns[i], ret->stems[i]);
        add_state(ret, i);
    }
    if (ret->has_shared)
        sort_by_class(ret);
    for (size_t i = ret->state_column_count; i-- > 0;)
        ret->cpu = first_of(ret, i)->class == CLASS_CPU ? i : ret->cpu;
    return CAMP_OK;
}

void frame_columns_release(struct frame_columns *columns)
{
    free(columns->fields);
    free(columns->stems);
    free(columns->column_of);
    free(columns->states);
    *columns = (struct frame_columns){ 0 };
}

uint64_t state_column_ns(const struct frame_columns *columns, const uint64_t *values, size_t column)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < columns->schema->state_count; i++)
        sum += columns->column_of[i] == column ? values[i] : 0;
    return sum;
}

const char *state_column_title(const struct frame_columns *columns, size_t column)
{
    const struct column *first = first_of(columns, column);

    return columns->has_shared && first->short_title != NULL ? first->short_title : first->title;
}

static void see_labels(struct frame_columns *columns, const struct frame *frame,
                       const struct entity *entity)
{
    const size_t count = columns->schema->label_count;

    for (size_t label = 0; label < count && label < LABELS_MOST; label++) {
        const char *value = labels_value(entity->labels, label);
        const size_t length = characters(value);

        if (length > columns->label_most[label])
            columns->label_most[label] = length;
        columns->differs[label] |=
            strcmp(value, labels_value(frame->entities[0].labels, label)) != 0;
        columns->beyond_name[label] |= strstr(entity->name, value) == NULL;
    }
}

void frame_columns_see(struct frame_columns *columns, const struct selected *selected,
                       const struct selection *selection)
{
    const struct frame *frame = selected->rows;

    columns->row_count = frame->entity_count;
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];
        const size_t length = characters(selection_name(selection, entity));

        see_labels(columns, frame, entity);
        columns->has_pid |=
            entity->pid > 0 && (columns->schema->label_count > 0 || entity->id == entity->pid);
        columns->has_count |= entity->count > 1;
        columns->has_over |=
            100 * (double)-frame_unaccounted_ns(frame, i) >= 0.05 * (double)frame->elapsed_ns[i] &&
            frame_unaccounted_ns(frame, i) < 0;
        columns->name_most = length > columns->name_most ? length : columns->name_most;
    }
    for (size_t column = 0; column < columns->state_column_count; column++) {
        uint64_t sum = 0;

        for (size_t i = 0; i < frame->entity_count; i++)
            sum += state_column_ns(columns, frame_values(frame, i), column);
        if (sum > columns->states[column].most_ns)
            columns->states[column].most_ns = sum;
    }
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
    const struct column *state = first_of(columns, column);

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

static size_t state_width(const struct frame_columns *columns, size_t at)
{
    const size_t heading = characters(columns->headings[at]);

    return heading > PERCENT_WIDTH ? heading : PERCENT_WIDTH;
}

bool frame_columns_have_pid(const struct frame_columns *columns, const struct frame_style *style)
{
    return columns->has_pid && style->is_single && !style->numbered;
}

bool frame_columns_have_count(const struct frame_columns *columns, const struct frame_style *style)
{
    return columns->has_count || style->of_threads;
}

static size_t unaccounted_width(const struct frame_columns *columns)
{
    return columns->has_over ? OVER_WIDTH : PERCENT_WIDTH;
}

static size_t fixed_width(const struct frame_columns *columns, const struct frame_style *style)
{
    size_t width = NAME_WIDTH + GAP + unaccounted_width(columns);

    width += frame_columns_have_pid(columns, style) || style->numbered ? GAP + PID_WIDTH : 0;
    return width + (frame_columns_have_count(columns, style) ? GAP + COUNT_WIDTH : 0);
}

static size_t states_width(const struct frame_columns *columns)
{
    size_t width = columns->has_other ? GAP + strlen(OTHER_HEADING) : 0;

    for (size_t i = 0; i < columns->shown_count; i++)
        width += GAP + state_width(columns, i);
    return width;
}

/* Returns the priority of a column of states: its time, or a fraction of its time if the state is
 * idle. The columns of CPU time and of the state that rows are sorted by have the highest
 * priority. */
static uint64_t interest(const struct frame_columns *columns, size_t column)
{
    if (column == columns->cpu || column == columns->sorted)
        return UINT64_MAX;
    return columns->states[column].most_ns /
           (first_of(columns, column)->class == CLASS_IDLE ? IDLE_COUNTS_LESS : 1);
}

/* Hides the column with the lowest priority. Returns false if all remaining columns must stay. A
 * column without any time needs no column of other states in its place. */
static bool drop_state(struct frame_columns *columns)
{
    size_t least = 0;

    for (size_t i = 1; i < columns->shown_count; i++) {
        if (interest(columns, columns->shown[i]) <= interest(columns, columns->shown[least]))
            least = i;
    }
    if (columns->shown_count <= 1 || interest(columns, columns->shown[least]) == UINT64_MAX)
        return false;
    columns->has_other |= columns->states[columns->shown[least]].most_ns > 0;
    columns->shown_count--;
    memmove(&columns->shown[least], &columns->shown[least + 1],
            (columns->shown_count - least) * sizeof columns->shown[0]);
    return true;
}

/* Selects as many columns of states as fit beside `labels` labels, but at least one. */
static void choose_states(struct frame_columns *columns, size_t space, size_t labels)
{
    const size_t states = columns->state_column_count;

    columns->shown_count = states < FRAME_STATES_MOST ? states : FRAME_STATES_MOST;
    columns->has_other = states > columns->shown_count;
    for (size_t i = 0; i < columns->shown_count; i++)
        columns->shown[i] = i;
    while (columns->shown_count > FRAME_STATES_SHOWN && drop_state(columns))
        ;
    head_states(columns, true);
    if (states_width(columns) + labels * (GAP + LABEL_WIDTH) <= space)
        return;
    head_states(columns, false);
    while ((states_width(columns) > space ||
            (columns->shown_count > STATES_BEFORE_LABELS &&
             states_width(columns) + labels * (GAP + LABEL_WIDTH) > space)) &&
           drop_state(columns))
        head_states(columns, false);
}

/* Divides the remaining space. First, each label that fits gets LABEL_WIDTH. Then names get as much
 * as they need, and labels get the rest. Returns the width of a label. */
static size_t divide_space(struct frame_columns *columns, size_t space, size_t labels)
{
    const size_t wanted =
        columns->name_most < NAME_WIDTH_MOST ? columns->name_most : NAME_WIDTH_MOST;
    const size_t more = wanted > NAME_WIDTH ? wanted - NAME_WIDTH : 0;
    size_t count = space / (GAP + LABEL_WIDTH), label = LABEL_WIDTH;

    columns->labels_shown = count = count < labels ? count : labels;
    space -= count * (GAP + LABEL_WIDTH);
    columns->name_width = NAME_WIDTH + (more < space ? more : space);
    space -= columns->name_width - NAME_WIDTH;
    if (count > 0)
        label += space / count;
    return label < LABEL_WIDTH_MOST ? label : LABEL_WIDTH_MOST;
}

static void add(struct frame_columns *columns, struct field field)
{
    columns->fields[columns->field_count++] = field;
}

static void add_all(struct frame_columns *columns, const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(columns, fields[i]);
}

/* Returns the width of a column of names or labels. `most` is the longest value. In a file or pipe,
 * values of up to UNCUT_MOST characters are not cut. */
static size_t text_width(const struct frame_style *style, size_t width, size_t most)
{
    const size_t whole = most < UNCUT_MOST ? most : UNCUT_MOST;

    return style->is_uncut && whole > width ? whole : width;
}

static void add_percents(struct frame_columns *columns)
{
    for (size_t i = 0; i < columns->shown_count; i++)
        add(columns, (struct field){ .title = columns->headings[i],
                                     .width = (int)state_width(columns, i),
                                     .decimals = 1 });
    if (columns->has_other)
        add(columns, (struct field){ .title = OTHER_HEADING,
                                     .width = (int)strlen(OTHER_HEADING),
                                     .decimals = 1 });
    add(columns, (struct field){ .title = columns->has_over ? "un% " : "un%",
                                 .width = (int)unaccounted_width(columns) });
}

/* Selects the labels that distinguish rows, and the label that rows are sorted by. Returns the
 * number of labels. */
static size_t choose_labels(struct frame_columns *columns, const struct selection *selection)
{
    size_t count = 0;

    for (size_t i = 0; i < columns->schema->label_count && i < LABELS_MOST; i++) {
        char sorted[ORDER_NAME_SIZE];

        order_name(columns->schema, selection->order, sorted);
        if (strcmp(sorted, columns->schema->label_names[i]) == 0 ||
            (columns->beyond_name[i] && (columns->differs[i] || columns->row_count == 1)))
            columns->labels[count++] = i;
    }
    return count;
}

static void lay_out_text(struct frame_columns *columns, const struct selection *selection,
                         const struct frame_style *style)
{
    const struct schema *schema = columns->schema;
    const size_t fixed = fixed_width(columns, style), width = style->width;
    const size_t sorted = order_state(schema, selection->order);
    const char *title = selection->grouping.key == GROUP_LABEL
                            ? schema->label_names[selection->grouping.label]
                            : "name";
    size_t space = width > fixed ? width - fixed : 0, label, labels;

    columns->sorted = sorted < schema->state_count ? columns->column_of[sorted] : SIZE_MAX;
    labels = selection->grouping.key == GROUP_LABEL ? 0 : choose_labels(columns, selection);
    choose_states(columns, space, labels);
    space -= states_width(columns) < space ? states_width(columns) : space;
    label = divide_space(columns, space, labels);
    columns->name_width = text_width(style, columns->name_width, columns->name_most);
    if (style->numbered)
        add(columns, (struct field){ .title = "id", .width = PID_WIDTH });
    add(columns, (struct field){ .title = title, .width = -(int)columns->name_width });
    if (frame_columns_have_pid(columns, style))
        add(columns, (struct field){ .title = "pid", .width = PID_WIDTH });
    for (size_t i = 0; i < columns->labels_shown; i++) {
        const size_t most = columns->label_most[columns->labels[i]];

        add(columns, (struct field){ .title = schema->label_names[columns->labels[i]],
                                     .width = -(int)text_width(style, label, most) });
    }
    if (frame_columns_have_count(columns, style))
        add(columns,
            (struct field){ .title = style->of_threads ? "thr" : "n", .width = COUNT_WIDTH });
    add_percents(columns);
}

static void lay_out_all(struct frame_columns *columns)
{
    const struct schema *schema = columns->schema;

    add_all(columns, first_fields, ARRAY_COUNT(first_fields));
    for (size_t i = 0; i < schema->label_count; i++)
        add(columns, (struct field){ .name = schema->label_names[i], .group = "labels" });
    add(columns, elapsed_field);
    for (size_t i = 0; i < schema->column_count; i++) {
        const bool is_state = i < schema->state_count;

        add(columns, (struct field){ .name = is_state ? columns->stems[i] : schema->columns[i].name,
                                     .help = schema->columns[i].help,
                                     .group = is_state ? "states" : "counters" });
    }
    add_all(columns, last_fields, ARRAY_COUNT(last_fields));
}

void frame_columns_lay_out(struct frame_columns *columns, const struct selection *selection,
                           const struct frame_style *style)
{
    columns->field_count = 0;
    columns->name_width = LINE_NAME_WIDTH;
    if (!style->for_text)
        lay_out_all(columns);
    else if (style->line != NULL)
        add(columns, (struct field){ .title = style->line_heading, .width = -1 });
    else
        lay_out_text(columns, selection, style);
}
