#include "top_any_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GAP 2 /* blanks between columns of text */
#define NAME_WIDTH 15
#define NAME_WIDTH_MOST 40
#define LABEL_WIDTH 10
#define LABEL_WIDTH_MOST 40
#define UNCUT_MOST 120 /* into a file or pipe */
#define PID_WIDTH 7
#define COUNT_WIDTH 4
#define UNACCOUNTED_WIDTH 6
#define PERCENT_WIDTH 5
#define HEADING_MOST 7         /* of a title that is not cut */
#define STATES_BEFORE_LABELS 5 /* so many have room first, then labels, then further states */
#define IDLE_COUNTS_LESS 100
#define OTHER_HEADING "other%"

/* Of JSON and CSV, around labels, states and counters. */
static const struct field first_fields[] = {
    { .name = "id", .help = "what tells it from the others" },
    { .name = "name" },
    { .name = "pid", .help = "its process on this machine" },
    { .name = "count", .help = "how many are in the row" },
    { .name = "new", .help = "began in the interval" },
    { .name = "ended", .help = "ended in it" },
};
static const struct field last_fields[] = {
    { .name = "unaccounted_ns", .help = "wall time in no state; below 0: more was booked" },
};
static const struct field elapsed_field = { .name = "elapsed_ns",
                                            .help = "its wall time in the interval" };

/* --------------------------------------------------------------------------- Life cycle -- */

int top_any_columns_init(struct top_any_columns *ret, const struct schema *schema)
{
    const size_t most = COUNT(first_fields) + 2 + schema->label_count + schema->column_count +
                        COUNT(last_fields) + TOP_ANY_STATES_SHOWN;

    *ret = (struct top_any_columns){ .schema = schema };
    ret->fields = calloc(most, sizeof *ret->fields);
    ret->stems = calloc(schema->state_count + 1, sizeof *ret->stems);
    ret->most_ns = calloc(schema->state_count + 1, sizeof *ret->most_ns);
    vertices_usual(&ret->vertices, schema, 3);
    if (ret->fields == NULL || ret->stems == NULL || ret->most_ns == NULL)
        return CAMP_E_NOMEM;
    ret->cpu = SIZE_MAX;
    for (size_t i = schema->state_count; i-- > 0;) {
        top_any_stem(&schema->columns[i], ret->stems[i]);
        if (i < VERTICES_STATES_MAXIMUM && ret->vertices.of_state[i] == 1)
            ret->cpu = i;
    }
    return CAMP_OK;
}

void top_any_columns_release(struct top_any_columns *columns)
{
    free(columns->fields);
    free(columns->stems);
    free(columns->most_ns);
    *columns = (struct top_any_columns){ 0 };
}

/* Characters, not bytes. */
static size_t characters(const char *text)
{
    size_t count = 0;

    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* What a label has shown once it keeps, so that columns do not come and go. */
static void meet_labels(struct top_any_columns *columns, const struct frame *frame)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];

        for (size_t label = 0; label < columns->schema->label_count && label < LABELS_MOST;
             label++) {
            const char *value = labels_value(entity->labels, label);

            const size_t length = characters(value);

            if (length > columns->label_most[label])
                columns->label_most[label] = length;
            columns->differs[label] |=
                strcmp(value, labels_value(frame->entities[0].labels, label)) != 0;
            columns->beyond_name[label] |= strstr(entity->name, value) == NULL;
        }
    }
}

void top_any_columns_meet(struct top_any_columns *columns, const struct top_any_rows *rows)
{
    const struct schema *schema = columns->schema;
    const struct frame *frame = rows->frame;

    columns->row_count = frame->entity_count;
    meet_labels(columns, frame);
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];
        const size_t length = characters(entity->name);

        columns->has_pid |=
            entity->pid > 0 && (schema->label_count > 0 || entity->id == entity->pid);
        columns->has_count |= entity->count > 1;
        columns->name_most = length > columns->name_most ? length : columns->name_most;
    }
    for (size_t state = 0; state < schema->state_count; state++) {
        uint64_t sum = 0;

        for (size_t i = 0; i < frame->entity_count; i++)
            sum += frame_values(frame, i)[state];
        if (sum > columns->most_ns[state])
            columns->most_ns[state] = sum;
    }
}

/* ------------------------------------------------------------------------------ Headings -- */

/* Four letters of the first word, one of each other. */
static void shorten(const char *title, char *ret)
{
    size_t length = 0, letters = 0;
    bool first = true;

    for (const char *at = title; *at != '\0' && length < HEADING_MOST; at++) {
        if (*at == ' ' || *at == '_') {
            first = false;
            letters = 0;
        } else if (letters++ < (first ? 4 : 1)) {
            ret[length++] = *at;
        }
    }
    ret[length] = '\0';
}

void top_any_heading(const char *title, char ret[TOP_ANY_HEADING_SIZE])
{
    char text[TOP_ANY_HEADING_SIZE];

    if (characters(title) <= HEADING_MOST)
        snprintf(text, sizeof text, "%.*s", TOP_ANY_HEADING_SIZE - 2, title);
    else
        shorten(title, text);
    snprintf(ret, TOP_ANY_HEADING_SIZE, "%.*s%%", TOP_ANY_HEADING_SIZE - 2, text);
}

void top_any_dotted_heading(const char *title, char ret[TOP_ANY_HEADING_SIZE])
{
    const char *last = strrchr(title, ' ');
    const size_t first = strcspn(title, " ");

    if (last == NULL || characters(title) <= HEADING_MOST)
        top_any_heading(title, ret);
    else
        snprintf(ret, TOP_ANY_HEADING_SIZE, "%.*s.%.4s%%", first < 3 ? (int)first : 3, title,
                 last + 1);
}

/* Named by a rule: "contention_table_lock" is its name, "table lock" its title. */
static bool is_of_rule(const struct top_any_columns *columns, size_t state)
{
    const char *stem = columns->stems[state], *title = columns->schema->columns[state].title;

    return strlen(stem) > strlen(title) && strchr(stem, '_') != NULL &&
           stem[strlen(stem) - strlen(title) - 1] == '_';
}

/* The whole title where there is room, or where a short one would say the same as another. */
static void head_states(struct top_any_columns *columns, bool whole)
{
    const struct column *states = columns->schema->columns;

    for (size_t i = 0; i < columns->shown_count; i++) {
        char *heading = columns->headings[i];
        bool is_same = false;

        (is_of_rule(columns, columns->shown[i]) ? top_any_dotted_heading : top_any_heading)(
            states[columns->shown[i]].title, heading);
        for (size_t j = 0; j < i; j++)
            is_same |= strcmp(heading, columns->headings[j]) == 0;
        if (whole || is_same)
            snprintf(heading, TOP_ANY_HEADING_SIZE, "%.*s%%", TOP_ANY_HEADING_SIZE - 2,
                     states[columns->shown[i]].title);
    }
}

static size_t state_width(const struct top_any_columns *columns, size_t at)
{
    const size_t heading = characters(columns->headings[at]);

    return heading > PERCENT_WIDTH ? heading : PERCENT_WIDTH;
}

/* ---------------------------------------------------------------------------- What fits -- */

/* Columns of what is there in any case. */
static size_t fixed_width(const struct top_any_columns *columns, bool grouped)
{
    size_t width = NAME_WIDTH + GAP + UNACCOUNTED_WIDTH;

    width += columns->has_pid && !grouped ? GAP + PID_WIDTH : 0;
    return width + (columns->has_count ? GAP + COUNT_WIDTH : 0);
}

static size_t states_width(const struct top_any_columns *columns)
{
    size_t width = columns->has_other ? GAP + strlen(OTHER_HEADING) : 0;

    for (size_t i = 0; i < columns->shown_count; i++)
        width += GAP + state_width(columns, i);
    return width;
}

/* Of two sessions of which one is idle, what the other does is of interest; CPU time and what rows
 * are sorted by is in any case. */
static uint64_t interest(const struct top_any_columns *columns, size_t state)
{
    if (state == columns->cpu || state == columns->sorted)
        return UINT64_MAX;
    return columns->most_ns[state] /
           (top_any_is_idle(&columns->vertices, state) ? IDLE_COUNTS_LESS : 1);
}

/* Leaves out the state that is of least interest. False: all that are left must stay. */
static bool drop_state(struct top_any_columns *columns)
{
    size_t least = 0;

    for (size_t i = 1; i < columns->shown_count; i++) {
        if (interest(columns, columns->shown[i]) <= interest(columns, columns->shown[least]))
            least = i;
    }
    if (columns->shown_count <= 1 || interest(columns, columns->shown[least]) == UINT64_MAX)
        return false;
    columns->shown_count--;
    memmove(&columns->shown[least], &columns->shown[least + 1],
            (columns->shown_count - least) * sizeof columns->shown[0]);
    columns->has_other = true;
    return true;
}

/* As many states as there is room for, and one at least. `labels`: how many want room beside. */
static void choose_states(struct top_any_columns *columns, size_t room, size_t labels)
{
    const size_t states = columns->schema->state_count;

    columns->shown_count = states < TOP_ANY_STATES_MOST ? states : TOP_ANY_STATES_MOST;
    columns->has_other = states > columns->shown_count;
    for (size_t i = 0; i < columns->shown_count; i++)
        columns->shown[i] = i;
    while (columns->shown_count > TOP_ANY_STATES_SHOWN && drop_state(columns))
        ;
    head_states(columns, true);
    if (states_width(columns) + labels * (GAP + LABEL_WIDTH) <= room)
        return;
    head_states(columns, false);
    while ((states_width(columns) > room ||
            (columns->shown_count > STATES_BEFORE_LABELS &&
             states_width(columns) + labels * (GAP + LABEL_WIDTH) > room)) &&
           drop_state(columns))
        head_states(columns, false);
}

/* -------------------------------------------------------------------------------- Fields -- */

static void add(struct top_any_columns *columns, struct field field)
{
    columns->fields[columns->field_count++] = field;
}

static void add_all(struct top_any_columns *columns, const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(columns, fields[i]);
}

/* What is left of the width goes to names that are long, then to labels. */
static void divide_room(struct top_any_columns *columns, size_t room, size_t labels,
                        size_t *ret_name, size_t *ret_label)
{
    const size_t wanted =
        columns->name_most < NAME_WIDTH_MOST ? columns->name_most : NAME_WIDTH_MOST;
    const size_t more = wanted > NAME_WIDTH ? wanted - NAME_WIDTH : 0;
    size_t count = room / (GAP + LABEL_WIDTH), label = LABEL_WIDTH;

    columns->labels_shown = count = count < labels ? count : labels;
    room -= count * (GAP + LABEL_WIDTH);
    *ret_name = NAME_WIDTH + (more < room ? more : room);
    room -= *ret_name - NAME_WIDTH;
    if (count > 0)
        label += room / count;
    *ret_label = label < LABEL_WIDTH_MOST ? label : LABEL_WIDTH_MOST;
}

/* Nothing is cut that tells rows apart where there is no edge to be cut at. */
static int text_width(const struct top_any_selection *selection, size_t width, size_t most)
{
    const size_t whole = most < UNCUT_MOST ? most : UNCUT_MOST;

    return -(int)(selection->is_uncut && whole > width ? whole : width);
}

static void add_percents(struct top_any_columns *columns)
{
    for (size_t i = 0; i < columns->shown_count; i++)
        add(columns, (struct field){ .title = columns->headings[i],
                                     .width = (int)state_width(columns, i),
                                     .decimals = 1 });
    if (columns->has_other)
        add(columns, (struct field){ .title = OTHER_HEADING,
                                     .width = (int)strlen(OTHER_HEADING),
                                     .decimals = 1 });
    add(columns, (struct field){ .title = "un% ", .width = UNACCOUNTED_WIDTH });
}

/* Those that tell rows apart, and the one that they are sorted by. How many in columns->labels. */
static size_t choose_labels(struct top_any_columns *columns, size_t sorted)
{
    size_t count = 0;

    for (size_t i = 0; i < columns->schema->label_count && i < LABELS_MOST; i++) {
        if (i == sorted ||
            (columns->beyond_name[i] && (columns->differs[i] || columns->row_count == 1)))
            columns->labels[count++] = i;
    }
    return count;
}

static void lay_out_text(struct top_any_columns *columns, const struct top_any_selection *selection)
{
    const struct schema *schema = columns->schema;
    const int group = selection->group;
    const bool grouped = group >= 0;
    const size_t fixed = fixed_width(columns, grouped), width = selection->width;
    size_t room = width > fixed ? width - fixed : 0, name, label, labels;

    columns->sorted = (size_t)selection->sort - 1; /* a state, or beyond them */
    labels = grouped ? 0 : choose_labels(columns, columns->sorted - schema->state_count - 1);
    choose_states(columns, room, labels);
    room -= states_width(columns) < room ? states_width(columns) : room;
    divide_room(columns, room, labels, &name, &label);
    add(columns, (struct field){ .title = grouped ? schema->label_names[group] : "name",
                                 .width = text_width(selection, name, columns->name_most) });
    if (columns->has_pid && !grouped)
        add(columns, (struct field){ .title = "pid", .width = PID_WIDTH });
    for (size_t i = 0; i < columns->labels_shown; i++)
        add(columns,
            (struct field){
                .title = schema->label_names[columns->labels[i]],
                .width = text_width(selection, label, columns->label_most[columns->labels[i]]) });
    if (columns->has_count)
        add(columns, (struct field){ .title = "n", .width = COUNT_WIDTH });
    add_percents(columns);
}

static void lay_out_all(struct top_any_columns *columns)
{
    const struct schema *schema = columns->schema;

    add_all(columns, first_fields, COUNT(first_fields));
    for (size_t i = 0; i < schema->label_count; i++)
        add(columns, (struct field){ .name = schema->label_names[i], .group = "labels" });
    add(columns, elapsed_field);
    for (size_t i = 0; i < schema->column_count; i++) {
        const bool is_state = i < schema->state_count;

        add(columns, (struct field){ .name = is_state ? columns->stems[i] : schema->columns[i].name,
                                     .help = schema->columns[i].help,
                                     .group = is_state ? "states" : "counters" });
    }
    add_all(columns, last_fields, COUNT(last_fields));
}

void top_any_columns_lay_out(struct top_any_columns *columns,
                             const struct top_any_selection *selection)
{
    columns->field_count = 0;
    if (selection->for_text)
        lay_out_text(columns, selection);
    else
        lay_out_all(columns);
}
