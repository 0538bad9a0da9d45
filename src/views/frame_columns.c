#include "frame_states.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH_MOST 60
#define LINE_NAME_WIDTH 30
#define LABEL_WIDTH_MOST 40
#define UNCUT_MOST 120 /* largest width of a name or label in a file or pipe */

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
           !share_a_column(state_column_first(columns, at), &states[state]))
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
        const enum column_class class = state_column_first(columns, i)->class;
        size_t to = i;

        for (; to > 0 && state_column_first(columns, to - 1)->class > class; to--)
            columns->states[to] = columns->states[to - 1];
        columns->states[to] = moved;
    }
    for (size_t state = 0; state < columns->schema->state_count; state++) {
        const struct column *column = &columns->schema->columns[state];
        size_t at = 0;

        while (columns->states[at].first != state &&
               !share_a_column(state_column_first(columns, at), column))
            at++;
        columns->column_of[state] = at;
    }
}

int frame_columns_init(struct frame_columns *ret, const struct schema *schema)
{
    const size_t most = ARRAY_COUNT(first_fields) + 2 + schema->label_count + schema->column_count +
                        ARRAY_COUNT(last_fields) + FRAME_STATES_SHOWN + 2 * FRAME_MORE_MOST;

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
        ret->cpu = state_column_first(ret, i)->class == CLASS_CPU ? i : ret->cpu;
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
    const struct column *first = state_column_first(columns, column);

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

static void find_averages(struct frame_columns *columns, const struct frame *frame)
{
    const double interval = (double)(frame->end_ns - frame->start_ns);
    struct state_column *states = columns->states;

    columns->unaccounted = 0;
    for (size_t i = 0; i < columns->state_column_count; i++)
        states[i].average = 0;
    for (size_t i = 0; i < frame->entity_count && interval > 0; i++) {
        const struct filled_columns filled = frame_filled_states(frame, i);

        columns->unaccounted += (double)frame_unaccounted_ns(frame, i) / interval;
        for (size_t state = filled.first; state < filled.end; state++)
            states[columns->column_of[state]].row_ns += filled.values[state - filled.first];
        for (size_t state = filled.first; state < filled.end; state++) {
            struct state_column *column = &states[columns->column_of[state]];

            column->average += (double)column->row_ns / interval;
            column->row_ns = 0;
        }
    }
}

void frame_columns_see(struct frame_columns *columns, const struct selected *selected,
                       const struct selection *selection)
{
    const struct frame *frame = selected->rows;
    struct state_column *states = columns->states;

    columns->row_count = frame->entity_count;
    for (size_t i = 0; i < columns->state_column_count; i++)
        states[i].sum_ns = 0;
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];
        const struct filled_columns filled = frame_filled_states(frame, i);
        const size_t length = characters(selection_name(selection, entity));
        const int64_t unaccounted_ns = frame_unaccounted_ns(frame, i);

        see_labels(columns, frame, entity);
        columns->has_session_id |= columns->schema->label_count > 0 && entity->id > 0 &&
                                   (entity->id & ENTITY_NUMBER_MASK) != entity->pid;
        columns->has_pid |=
            entity->pid > 0 && (columns->schema->label_count > 0 || entity->id == entity->pid);
        columns->has_count |= entity->count > 1;
        columns->has_over |= unaccounted_ns < 0 &&
                             100 * -(double)unaccounted_ns >= 0.05 * (double)frame->elapsed_ns[i];
        columns->name_most = length > columns->name_most ? length : columns->name_most;
        for (size_t state = filled.first; state < filled.end; state++)
            states[columns->column_of[state]].sum_ns += filled.values[state - filled.first];
    }
    for (size_t i = 0; i < columns->state_column_count; i++) {
        if (states[i].sum_ns > states[i].most_ns)
            states[i].most_ns = states[i].sum_ns;
    }
    find_averages(columns, selected->picked);
}

bool frame_columns_have_pid(const struct frame_columns *columns, const struct frame_style *style)
{
    return columns->has_pid && style->is_single && !style->numbered;
}

/* Those that block others are named by this id. Of PostgreSQL it is the pid. */
bool frame_columns_have_session_id(const struct frame_columns *columns,
                                   const struct frame_style *style)
{
    return columns->has_session_id && style->is_single && !style->numbered &&
           schema_find_label(columns->schema, "blocker") != SIZE_MAX;
}

bool frame_columns_have_count(const struct frame_columns *columns, const struct frame_style *style)
{
    return !columns->hides_count && (columns->has_count || style->of_threads);
}

/* Divides `space` between labels and names. First, each label that fits gets FRAME_LABEL_WIDTH.
 * Then names get as much as they need, and labels get the rest. Returns the width of a label. */
static size_t divide_space(struct frame_columns *columns, size_t space, size_t labels)
{
    const size_t wanted =
        columns->name_most < NAME_WIDTH_MOST ? columns->name_most : NAME_WIDTH_MOST;
    const size_t least = columns->name_width, more = wanted > least ? wanted - least : 0;
    size_t count = space / (FRAME_GAP + FRAME_LABEL_WIDTH), label = FRAME_LABEL_WIDTH;

    columns->labels_shown = count = count < labels ? count : labels;
    space -= count * (FRAME_GAP + FRAME_LABEL_WIDTH);
    columns->name_width += more < space ? more : space;
    space -= columns->name_width - least;
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

/* Returns the width of a column of names or labels in a file or pipe, where values of up to
 * UNCUT_MOST characters are not cut. `most` is the length of the longest value. */
static size_t uncut_width(size_t width, size_t most)
{
    const size_t whole = most < UNCUT_MOST ? most : UNCUT_MOST;

    return whole > width ? whole : width;
}

static void add_percents(struct frame_columns *columns)
{
    for (size_t i = 0; i < columns->shown_count; i++)
        add(columns, (struct field){ .title = columns->headings[i],
                                     .width = (int)frame_state_width(columns, i),
                                     .decimals = 1 });
    if (columns->has_other)
        add(columns, (struct field){ .title = FRAME_OTHER_HEADING,
                                     .width = (int)strlen(FRAME_OTHER_HEADING),
                                     .decimals = 1 });
    add(columns, (struct field){ .title = columns->has_over ? "un% " : "un%",
                                 .width = (int)frame_unaccounted_width(columns) });
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
    const size_t sorted = order_state(schema, selection->order);
    const struct grouping *grouping = &selection->grouping;
    const char *title = grouping->key != GROUP_LABEL ? "name"
                        : grouping->more_count > 0   ? grouping->title
                                                     : schema->label_names[grouping->label];
    size_t space, label = FRAME_LABEL_WIDTH, labels;

    columns->sorted = sorted < schema->state_count ? columns->column_of[sorted] : SIZE_MAX;
    labels =
        grouping->key == GROUP_LABEL || style->hides_labels ? 0 : choose_labels(columns, selection);
    space = frame_states_choose(columns, style, labels);
    if (style->is_uncut) {
        columns->labels_shown = labels;
        columns->name_width = uncut_width(columns->name_width, columns->name_most);
    } else {
        label = divide_space(columns, space, labels);
    }
    if (style->numbered)
        add(columns, (struct field){ .title = "id", .width = FRAME_PID_WIDTH });
    add(columns, (struct field){ .title = title, .width = -(int)columns->name_width });
    if (frame_columns_have_session_id(columns, style))
        add(columns, (struct field){ .title = "id", .width = FRAME_PID_WIDTH });
    if (frame_columns_have_pid(columns, style))
        add(columns, (struct field){ .title = "pid", .width = FRAME_PID_WIDTH });
    for (size_t i = 0; i < columns->labels_shown; i++) {
        const size_t most = columns->label_most[columns->labels[i]];

        add(columns,
            (struct field){ .title = schema->label_names[columns->labels[i]],
                            .width = -(int)(style->is_uncut ? uncut_width(label, most) : label) });
    }
    if (frame_columns_have_count(columns, style))
        add(columns,
            (struct field){ .title = style->of_threads ? "thr" : "n", .width = FRAME_COUNT_WIDTH });
    if (style->percent_of == PERCENT_OF_QUOTA)
        add(columns, (struct field){ .title = "quota", .width = FRAME_QUOTA_WIDTH });
    add_percents(columns);
    add_all(columns, style->extra, style->extra_count);
}

static void lay_out_all(struct frame_columns *columns, const struct frame_style *style)
{
    const struct schema *schema = columns->schema;

    add_all(columns, first_fields, ARRAY_COUNT(first_fields));
    for (size_t i = 0; i < schema->label_count; i++)
        add(columns, (struct field){ .name = schema->label_names[i], .group = "labels" });
    add(columns, elapsed_field);
    for (size_t i = 0; i < schema->column_count; i++) {
        add(columns, (struct field){ .name = schema->columns[i].name,
                                     .help = schema->columns[i].help,
                                     .group = i < schema->state_count ? "states" : "counters" });
    }
    add_all(columns, last_fields, ARRAY_COUNT(last_fields));
    add_all(columns, style->more, style->more_count);
}

void frame_columns_lay_out(struct frame_columns *columns, const struct selection *selection,
                           const struct frame_style *style)
{
    columns->field_count = 0;
    columns->name_width = LINE_NAME_WIDTH;
    if (!style->for_text)
        lay_out_all(columns, style);
    else if (style->line != NULL)
        add(columns, (struct field){ .title = style->line_heading, .width = -1 });
    else
        lay_out_text(columns, selection, style);
}
