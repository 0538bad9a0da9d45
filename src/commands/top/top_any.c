#include "top_any.h"

#include "counters/units.h"
#include "top_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SUM_LEAST 0.005 /* of a state that is told in the line of sums */

static const struct field summary_fields[] = {
    { .name = "time", .help = "wall clock of the interval's end" },
    { .name = "interval_s", .help = "its length", .decimals = 6 },
    { .name = "source", .help = "as --from says it, or its file" },
    { .name = "tier", .help = "how it is measured" },
    { .name = "kind", .help = "what the rows are: sessions, processes ..." },
    { .name = "group", .help = "the label that they are added up by" },
};

static const struct field loss_fields[] = {
    { .name = "unseen", .help = "began and ended unseen; of threads: switches" },
    { .name = "lost", .help = "ended, and their record was dropped" },
    { .name = "unread_ns", .help = "at most so much CPU time is in no record" },
    { .name = "partial", .help = "rows whose interval is not whole" },
};

int top_any_init(struct top_any *ret, const struct schema *schema, const struct from_facts *facts)
{
    *ret = (struct top_any){ .facts = facts };
    return top_any_columns_init(&ret->columns, schema);
}

void top_any_release(struct top_any *any)
{
    top_any_rows_release(&any->rows);
    top_any_columns_release(&any->columns);
    free(any->cells);
    free(any->texts);
    *any = (struct top_any){ 0 };
}

/* -------------------------------------------------------------------------------- Nouns -- */

static const char *kind_of(const struct top_any *any)
{
    if (any->facts->kind[0] != '\0')
        return any->facts->kind;
    return any->columns.schema->label_count > 0 ? "sessions" : any->columns.schema->name;
}

const char *top_any_noun(const struct top_any *any, uint64_t count)
{
    static const struct {
        const char *kind, *one, *many;
    } nouns[] = {
        { "sessions", "session", "sessions" },
        { "processes", "process", "processes" },
        { "threads", "thread", "threads" },
        { "users", "user", "users" },
        { "commands", "command", "commands" },
        { "cgroups", "cgroup", "cgroups" },
        { "cpus", "CPU", "CPUs" },
        { "hosts", "host", "hosts" },
        { "groups", "group", "groups" },
    };

    for (size_t i = 0; i < COUNT(nouns); i++) {
        if (strcmp(nouns[i].kind, kind_of(any)) == 0)
            return count == 1 ? nouns[i].one : nouns[i].many;
    }
    return count == 1 ? "entity" : "entities";
}

/* --------------------------------------------------------------------------------- Cells -- */

/* Beyond 100 % it is marked, for who sees no colours. */
static struct cell unaccounted_cell(const struct frame *frame, size_t row,
                                    struct top_any_texts *texts)
{
    const int64_t unaccounted = frame_unaccounted_ns(frame, row);
    const double percent = 100.0 * (double)unaccounted / (double)frame->elapsed_ns[row];
    const bool is_nothing = fabs(percent) < 0.05;

    if (frame->elapsed_ns[row] == 0)
        return cell_unknown();
    snprintf(texts->unaccounted, sizeof texts->unaccounted, "%.*f%c", fabs(percent) < 99.95 ? 1 : 0,
             is_nothing ? 0.0 : percent, !is_nothing && percent < 0 ? '!' : ' ');
    return emphasised(cell_text(texts->unaccounted), is_nothing ? FAINT : BAD);
}

static struct cell *fill_percents(const struct top_any *any, size_t row, struct cell *cells,
                                  struct top_any_texts *texts)
{
    const struct top_any_columns *columns = &any->columns;
    const struct frame *frame = any->rows.frame;
    const uint64_t *values = frame_values(frame, row), elapsed = frame->elapsed_ns[row];
    uint64_t other = 0;

    for (size_t i = 0; i < columns->schema->state_count; i++)
        other += values[i];
    for (size_t i = 0; i < columns->shown_count; i++) {
        const uint64_t value = values[columns->shown[i]];

        *cells = top_percent((int64_t)value, elapsed, texts->percents[i]);
        if (value > elapsed / 10 && strcmp(columns->stems[columns->shown[i]], "run_queue") == 0)
            cells->emphasis = NOTABLE;
        other -= value;
        cells++;
    }
    if (columns->has_other)
        *cells++ = top_percent((int64_t)other, elapsed, texts->percents[columns->shown_count]);
    *cells++ = unaccounted_cell(frame, row, texts);
    return cells;
}

static void fill_text_row(const struct top_any *any, size_t row, bool grouped, struct cell *cells,
                          struct top_any_texts *texts)
{
    const struct top_any_columns *columns = &any->columns;
    const struct entity *entity = &any->rows.frame->entities[row];

    *cells++ = cell_text(entity->name);
    if (columns->has_pid && !grouped)
        *cells++ = entity->pid > 0 ? cell_integer(entity->pid) : cell_unknown();
    for (size_t i = 0; i < columns->labels_shown; i++)
        *cells++ = cell_text(labels_value(entity->labels, columns->labels[i]));
    if (columns->has_count)
        *cells++ = cell_natural(entity->count);
    fill_percents(any, row, cells, texts);
}

/* Of a group the one that it is by. */
static struct cell label_cell(const struct entity *entity, size_t label, int group)
{
    const bool is_known = entity->labels != NULL && (group < 0 || (size_t)group == label);

    return is_known ? cell_text(labels_value(entity->labels, label)) : cell_unknown();
}

static void fill_whole_row(const struct top_any *any, size_t row, int group, struct cell *cells)
{
    const bool grouped = group >= 0;
    const struct schema *schema = any->columns.schema;
    const struct entity *entity = &any->rows.frame->entities[row];

    *cells++ = grouped ? cell_unknown() : cell_integer(entity->id);
    *cells++ = cell_text(entity->name);
    *cells++ = entity->pid > 0 && !grouped ? cell_integer(entity->pid) : cell_unknown();
    *cells++ = cell_natural(entity->count);
    *cells++ = cell_boolean((entity->flags & ENTITY_NEW) != 0);
    *cells++ = cell_boolean((entity->flags & ENTITY_ENDED) != 0);
    for (size_t i = 0; i < schema->label_count; i++)
        *cells++ = label_cell(entity, i, group);
    *cells++ = cell_natural(any->rows.frame->elapsed_ns[row]);
    top_cells_add(cells, any->rows.frame, row);
}

static bool reserve(void **array, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return true;
    free(*array);
    *array = calloc(2 * count, size);
    *capacity = *array != NULL ? 2 * count : 0;
    return *array != NULL;
}

static int fill_rows(struct top_any *any, const struct top_any_selection *selection)
{
    const size_t fields = any->columns.field_count;

    if (!reserve((void **)&any->cells, &any->cell_capacity, any->rows.count * fields,
                 sizeof *any->cells) ||
        !reserve((void **)&any->texts, &any->text_capacity, any->rows.count, sizeof *any->texts))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < any->rows.count; i++) {
        struct cell *cells = &any->cells[i * fields];

        if (selection->for_text)
            fill_text_row(any, any->rows.order[i], selection->group >= 0, cells, &any->texts[i]);
        else
            fill_whole_row(any, any->rows.order[i], selection->group, cells);
    }
    return CAMP_OK;
}

/* --------------------------------------------------------------------------------- Notes -- */

/* Adds to a note as long as there is room. */
static void __attribute__((format(printf, 2, 3)))
append(char note[TOP_ANY_NOTE_SIZE], const char *format, ...)
{
    const size_t length = strlen(note);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(note + length, TOP_ANY_NOTE_SIZE - length, format, arguments);
    va_end(arguments);
}

/* "10 sessions: 3.20 CPU": as much as 3.2 of them all the time; of those that no row shows too. */
static void tell_sums(struct top_any *any, const struct frame *frame)
{
    const struct schema *schema = frame->schema;
    const double interval = (double)(frame->end_ns - frame->start_ns);
    double unaccounted = 0;
    const char *between = ": ";

    any->sums[0] = '\0';
    append(any->sums, "%zu %s", frame->entity_count, top_any_noun(any, frame->entity_count));
    for (size_t state = 0; state < schema->state_count && interval > 0; state++) {
        double sum = 0;

        for (size_t i = 0; i < frame->entity_count; i++)
            sum += (double)frame_values(frame, i)[state] / interval;
        if (sum < SUM_LEAST)
            continue;
        append(any->sums, "%s%.2f %s", between, sum, schema->columns[state].title);
        between = ", ";
    }
    for (size_t i = 0; i < frame->entity_count && interval > 0; i++)
        unaccounted += (double)frame_unaccounted_ns(frame, i) / interval;
    if (fabs(unaccounted) >= SUM_LEAST)
        append(any->sums, "%s%.2f unaccounted", between, unaccounted);
}

static void tell_over(struct top_any *any, const struct frame *frame)
{
    size_t count = 0, worst = 0;
    double most = 1.0005; /* what is rounded to 100.0 % is not told */

    any->over[0] = '\0';
    for (size_t i = 0; i < frame->entity_count; i++) {
        const double booked =
            1 - (double)frame_unaccounted_ns(frame, i) / (double)frame->elapsed_ns[i];

        count += booked >= 1.0005;
        if (!(booked >= most))
            continue;
        most = booked;
        worst = i;
    }
    if (count == 1)
        append(any->over, "! the states of %s add up to %.1f %% of its time",
               frame->entities[worst].name, 100 * most);
    else if (count > 1)
        append(any->over,
               "! the states of %zu rows add up to more than their time, at most %.1f %% (%s)",
               count, 100 * most, frame->entities[worst].name);
}

/* In the kernel switches are unseen; of a database sessions may be hidden from its role, too. */
static const char *unseen_noun(const struct top_any *any, uint64_t count)
{
    if (strcmp(any->facts->tier, "bpf") != 0)
        return top_any_noun(any, count);
    return strcmp(kind_of(any), "sessions") == 0 ? "switches or sessions"
           : count == 1                          ? "switch"
                                                 : "switches";
}

static void tell_losses(struct top_any *any, const struct losses *losses)
{
    const struct {
        const char *what, *name;
        uint64_t count;
    } all[] = { { unseen_noun(any, losses->unseen), "unseen", losses->unseen },
                { top_any_noun(any, losses->lost), "lost", losses->lost },
                { top_any_noun(any, losses->partial), "not whole", losses->partial } };
    const char *between = "not in these numbers: ";

    any->lost[0] = '\0';
    for (size_t i = 0; i < COUNT(all); i++) {
        if (all[i].count == 0)
            continue;
        append(any->lost, "%s%" PRIu64 " %s %s", between, all[i].count, all[i].what, all[i].name);
        between = ", ";
    }
    if (losses->unread_ns > 0)
        append(any->lost, "%sat most %.3f s of CPU time", between,
               (double)losses->unread_ns / NS_PER_S);
}

/* Where states are sampled: how far off a share may be. */
static void tell_looks(struct top_any *any, const struct frame *frame)
{
    const struct schema *schema = frame->schema;
    size_t column = schema->state_count;
    double looks = 0, sessions = 0;

    any->looks[0] = '\0';
    while (column < schema->column_count && strcmp(schema->columns[column].name, "looks") != 0)
        column++;
    for (size_t i = 0; column < schema->column_count && i < frame->entity_count; i++) {
        looks += (double)frame_values(frame, i)[column];
        sessions += frame->entities[i].count;
    }
    if (sessions > 0 && looks > 0)
        append(
            any->looks,
            "samples: %.1f of each; of one, a share of 50 %% has a standard error of %.0f points",
            looks / sessions, 50 / sqrt(looks / sessions));
    else if (sessions > 0 && column < schema->column_count)
        append(any->looks, "samples: none in this interval");
}

/* Of hosts: what the system's own accounting says of the same time, and whose is the most off. */
static void tell_sampled(struct top_any *any, const struct frame *frame)
{
    const struct schema *schema = frame->schema;
    const double interval = (double)(frame->end_ns - frame->start_ns);
    double all = 0, all_sampled = 0, most = 0;
    size_t column = schema->state_count, worst = 0;

    any->sampled[0] = '\0';
    while (column < schema->column_count &&
           strcmp(schema->columns[column].name, "sampled_busy_ns") != 0)
        column++;
    if (column == schema->column_count || frame->entity_count == 0 || interval <= 0)
        return;
    for (size_t i = 0; i < frame->entity_count; i++) {
        const uint64_t *values = frame_values(frame, i);
        double busy = 0;

        for (size_t j = 0; j < schema->state_count; j++)
            busy += any->columns.vertices.of_state[j] == 1 ? (double)values[j] : 0;
        all += busy;
        all_sampled += (double)values[column];
        if (fabs((double)values[column] - busy) >= fabs(most)) {
            most = (double)values[column] - busy;
            worst = i;
        }
    }
    append(any->sampled, "on a CPU: measured %.2f, sampled %.2f; most off is %s: sampled %+.2f",
           all / interval, all_sampled / interval, frame->entities[worst].name, most / interval);
}

static void fill_notes(struct top_any *any, const struct frame *frame)
{
    const char *const notes[] = { any->unmatched, any->sums, any->sampled, any->looks,
                                  any->over,      any->lost, frame->note,  any->facts->note };
    size_t count = 0;

    tell_sums(any, frame);
    tell_sampled(any, frame);
    tell_looks(any, frame);
    tell_over(any, frame);
    tell_losses(any, &frame->losses);
    for (size_t i = 0; i < COUNT(notes); i++) {
        if (notes[i] != NULL && notes[i][0] != '\0')
            any->notes[count++] = notes[i];
    }
    any->notes[count] = NULL;
}

/* ---------------------------------------------------------------------------- The record -- */

static void fill_summary(struct top_any *any, const struct frame *frame, const char *time,
                         int group)
{
    const double interval = (double)(frame->end_ns - frame->start_ns) / NS_PER_S;
    const struct losses *losses = &frame->losses;

    snprintf(any->time, sizeof any->time, "%s", time);
    any->summary[0] = cell_text(any->time);
    any->summary[1] = cell_real(interval);
    any->summary[2] = cell_text(any->facts->name);
    any->summary[3] = cell_text(any->facts->tier);
    any->summary[4] = cell_text(kind_of(any));
    any->summary[5] =
        group >= 0 ? cell_text(any->columns.schema->label_names[group]) : cell_unknown();
    any->losses[0] = cell_natural(losses->unseen);
    any->losses[1] = cell_natural(losses->lost);
    any->losses[2] = cell_natural(losses->unread_ns);
    any->losses[3] = cell_natural(losses->partial);
    snprintf(any->headline, sizeof any->headline, "%s  %.2f s  %s  tier %s  %zu %s", any->time,
             interval, any->facts->name, any->facts->tier, frame->entity_count,
             top_any_noun(any, frame->entity_count));
}

static void fill_tables(struct top_any *any)
{
    any->tables[0] = (struct table){
        "summary", TABLE_INLINE, summary_fields, COUNT(summary_fields), any->summary, 1, true
    };
    any->tables[1] = (struct table){
        "entities",      TABLE_ROWS, any->columns.fields, any->columns.field_count, any->cells,
        any->rows.count, false
    };
    any->tables[2] =
        (struct table){ "losses", TABLE_OBJECT, loss_fields, COUNT(loss_fields), any->losses,
                        1,        true };
    any->record =
        (struct record){ "camp.frame/1", any->headline, any->tables, COUNT(any->tables), 1,
                         any->notes };
}

int top_any_fill(struct top_any *any, const struct frame *frame, const char *time,
                 const struct top_any_selection *selection)
{
    int r = top_any_rows_fill(&any->rows, frame, selection);

    if (r != CAMP_OK)
        return r;
    top_any_columns_meet(&any->columns, &any->rows);
    top_any_columns_lay_out(&any->columns, selection);
    r = fill_rows(any, selection);
    if (r != CAMP_OK)
        return r;
    fill_summary(any, frame, time, selection->group);
    any->unmatched = selection->filter != NULL && any->rows.count == 0 ? TOP_UNMATCHED : NULL;
    fill_notes(any, frame);
    fill_tables(any);
    return CAMP_OK;
}
