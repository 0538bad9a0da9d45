#include "frame_table.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "ledger/characters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_FACTS, TABLE_SUMMARY, TABLE_CPUS, TABLE_ENTITIES };

static const struct field fact_fields[] = {
    { .name = "time", .help = "wall clock of the interval's end" },
    { .name = "interval_s", .help = "its length", .decimals = 6 },
    { .name = "source", .help = "as --from names it, or its file" },
    { .name = "tier", .help = "how it is measured" },
    { .name = "kind", .help = "what is shown: threads, sessions, hosts ..." },
    { .name = "group", .help = "what they are added up by: process, a label ..." },
    { .name = "rows_cut", .help = "rows that --top left out" },
};

/* The classes are in the order of enum column_class, from CLASS_CPU on. */
static const struct field summary_fields[FRAME_SUMMARY_FIELDS] = {
    { .name = "text", .help = "the interval in one sentence" },
    { .name = "cpus", .help = "CPUs that the rows share" },
    { .name = "full_cpus", .help = "those of them that were busy at least 95 % of the interval" },
    { .name = "cpu", .help = "rows on a CPU, on average", .decimals = 6 },
    { .name = "run_queue", .help = "rows that wait for a CPU", .decimals = 6 },
    { .name = "throttled", .help = "rows whose quota of CPU time is used up", .decimals = 6 },
    { .name = "disk", .help = "rows that wait for a disk or a page", .decimals = 6 },
    { .name = "lock", .help = "rows that wait for what another one holds", .decimals = 6 },
    { .name = "network", .help = "rows that wait for another computer", .decimals = 6 },
    { .name = "wait", .help = "rows in other waits", .decimals = 6 },
    { .name = "idle", .help = "rows with nothing to do", .decimals = 6 },
    { .name = "unaccounted", .help = "rows in no state", .decimals = 6 },
    { .name = "accounted_twice", .help = "rows in two states at once", .decimals = 6 },
    { .name = "parked", .help = "threads that only wait in futex(2): for a lock, or for work" },
    { .name = "entities", .help = "all of them" },
};
_Static_assert(CLASS_IDLE - CLASS_CPU == 7, "summary_fields lacks a class");

static const struct field loss_fields[] = {
    { .name = "unseen", .help = "started and ended unseen; of microstates: switches" },
    { .name = "lost", .help = "without an account, or ended without last numbers" },
    { .name = "unread_ns", .help = "at most so much CPU time is in no record" },
    { .name = "partial", .help = "rows and CPUs whose interval is not whole" },
};

int frame_table_init(struct frame_table *ret, const struct schema *schema)
{
    *ret = (struct frame_table){ 0 };
    return frame_columns_init(&ret->columns, schema);
}

void frame_table_release(struct frame_table *table)
{
    selected_release(&table->selected);
    frame_columns_release(&table->columns);
    frame_cpus_release(&table->cpus);
    free(table->exited_fields);
    free(table->cells);
    free(table->texts);
    *table = (struct frame_table){ 0 };
}

struct filling {
    const struct frame_columns *columns;
    const struct frame *rows;
    const struct selection *selection;
    const struct frame_style *style;
};

/* Writes a name, indented by its depth in a tree. A path that is too long is cut at its start,
 * because the end of a path is more specific. Rows of exited entities have a heading of their own,
 * so their names are written without " (ended)". */
static const char *show_name(const struct filling *filling, const struct entity *entity,
                             uint32_t depth, char ret[FRAME_NAME_SIZE])
{
    const char *name = selection_name(filling->selection, entity), *end = name + strlen(name);
    const size_t width = filling->columns->name_width, suffix = strlen(ENTITY_ENDED_SUFFIX);
    const uint32_t indent = depth < width / 2 ? depth : (uint32_t)width / 2;

    if ((entity->flags & ENTITY_ENDED) != 0 && filling->selection->exited_apart &&
        (size_t)(end - name) > suffix && strcmp(end - suffix, ENTITY_ENDED_SUFFIX) == 0)
        end -= suffix;
    if (filling->style->keeps_end && (size_t)(end - name) > width && width > 2)
        snprintf(ret, FRAME_NAME_SIZE, "..%.*s", (int)width - 2, end - width + 2);
    else
        snprintf(ret, FRAME_NAME_SIZE, "%*s%.*s", (int)indent, "", (int)(end - name), name);
    return ret;
}

/* Returns the time that is 100 percent of a row. The text of a quota may be from a recording of
 * anybody, so a number that is too large or too small is no quota. */
static uint64_t whole_of(const struct filling *filling, size_t row)
{
    const struct frame *rows = filling->rows;
    const struct frame_style *style = filling->style;
    const uint64_t interval = rows->end_ns - rows->start_ns;
    double allowed_ns = 0;

    if (style->percent_of == PERCENT_OF_ROW || interval == 0)
        return rows->elapsed_ns[row];
    if (style->percent_of == PERCENT_OF_QUOTA)
        allowed_ns = (double)interval *
                     strtod(labels_value(rows->entities[row].labels, style->quota_label), NULL);
    return allowed_ns >= 1 && allowed_ns < 0x1p63 ? (uint64_t)allowed_ns : interval;
}

static bool is_known(const struct filling *filling, size_t row, size_t column)
{
    const struct frame_style *style = filling->style;

    return style->is_known == NULL || style->is_known(style->context, filling->rows, row, column);
}

static struct cell *fill_percents(const struct filling *filling, size_t row, struct cell *cells,
                                  struct frame_texts *texts)
{
    const struct frame_columns *columns = filling->columns;
    const struct frame *rows = filling->rows;
    const uint64_t *values = frame_values(rows, row), whole = whole_of(filling, row);
    uint64_t other = 0;

    for (size_t i = 0; i < columns->schema->state_count; i++)
        other += values[i];
    for (size_t i = 0; i < columns->shown_count; i++) {
        const size_t column = columns->shown[i];
        const uint64_t value = state_column_ns(columns, values, column);

        *cells = is_known(filling, row, columns->states[column].first)
                     ? percent_cell((int64_t)value, whole, texts->percents[i])
                     : cell_unknown();
        if (value > whole / 10 &&
            columns->schema->columns[columns->states[column].first].class == CLASS_READY)
            cells->emphasis = NOTABLE;
        other -= value;
        cells++;
    }
    if (columns->has_other)
        *cells++ = percent_cell((int64_t)other, whole, texts->percents[columns->shown_count]);
    *cells++ = unaccounted_cell(frame_unaccounted_ns(rows, row), whole, columns->has_over,
                                texts->percents[columns->shown_count + 1]);
    return cells;
}

/* Returns whether the id of a row is shown. The id 0 means no id, as in the sum of exited threads
 * with the same name, or in a row of a table. But 0 is also the id of the user root and of a
 * CPU. */
static bool has_id(const struct filling *filling, const struct entity *entity)
{
    const enum group_key key = filling->selection->grouping.key;
    const bool is_living = (entity->flags & (ENTITY_ENDED | ENTITY_OUTSIDE)) == 0;

    if (key == GROUP_NONE)
        return entity->id != 0 || filling->style->of_cpus ||
               (filling->style->numbered && is_living);
    return ((key == GROUP_USER || key == GROUP_CGROUP) && is_living) ||
           ((key == GROUP_THREAD || key == GROUP_PROCESS) && entity->id != 0);
}

static void fill_text(const struct filling *filling, size_t row, uint32_t depth, struct cell *cells,
                      struct frame_texts *texts)
{
    const struct frame_columns *columns = filling->columns;
    const struct frame_style *style = filling->style;
    const struct entity *entity = &filling->rows->entities[row];

    if (style->line != NULL) {
        style->line(style->context, filling->rows, row,
                    show_name(filling, entity, depth, texts->name), texts->line,
                    sizeof texts->line);
        *cells = cell_text(texts->line);
        return;
    }
    if (style->numbered)
        *cells++ = has_id(filling, entity) ? cell_integer(entity->id) : cell_unknown();
    *cells++ = cell_text(show_name(filling, entity, depth, texts->name));
    if (frame_columns_have_session_id(columns, style))
        *cells++ = entity->id > 0 ? cell_integer(entity->id & ENTITY_NUMBER_MASK) : cell_unknown();
    if (frame_columns_have_pid(columns, style))
        *cells++ = entity->pid > 0 ? cell_integer(entity->pid) : cell_unknown();
    for (size_t i = 0; i < columns->labels_shown; i++)
        *cells++ = cell_text(labels_value(entity->labels, columns->labels[i]));
    if (frame_columns_have_count(columns, style))
        *cells++ = cell_natural(entity->count);
    if (style->percent_of == PERCENT_OF_QUOTA)
        *cells++ = cell_text_or_unknown(labels_value(entity->labels, style->quota_label));
    cells = fill_percents(filling, row, cells, texts);
    if (style->extra_count > 0)
        style->fill_extra(style->context, filling->rows, row, cells);
}

/* In a group by a label, all other labels are unknown. In any other group, those that differ are
 * unknown. */
static struct cell label_cell(const struct filling *filling, const struct entity *entity,
                              size_t label)
{
    const struct grouping *grouping = &filling->selection->grouping;
    const bool is_known = labels_count(entity->labels) > 0 &&
                          (grouping->key != GROUP_LABEL || grouping_has_label(grouping, label)) &&
                          (grouping->key == GROUP_NONE || grouping->key == GROUP_LABEL ||
                           labels_value(entity->labels, label)[0] != '\0');

    return is_known ? cell_text(labels_value(entity->labels, label)) : cell_unknown();
}

/* The label of the server says which of several it is. */
static int64_t shown_id(const struct schema *schema, const struct entity *entity)
{
    return schema_has_servers(schema) ? entity->id & ENTITY_NUMBER_MASK : entity->id;
}

static void fill_all(const struct filling *filling, size_t row, struct cell *cells)
{
    const struct frame *rows = filling->rows;
    const struct schema *schema = rows->schema;
    const struct frame_style *style = filling->style;
    const struct entity *entity = &rows->entities[row];
    const bool is_one = has_id(filling, entity) && style->is_single;
    const bool has_user =
        style->user != NULL && (is_one || filling->selection->grouping.key == GROUP_USER);

    *cells++ = has_id(filling, entity) ? cell_integer(shown_id(schema, entity)) : cell_unknown();
    *cells++ = cell_text(selection_name(filling->selection, entity));
    *cells++ = is_one && entity->pid > 0 ? cell_integer(entity->pid) : cell_unknown();
    *cells++ = is_one && entity->parent > 0 ? cell_integer(entity->parent) : cell_unknown();
    *cells++ = has_user ? cell_text(style->user(style->context, entity->uid)) : cell_unknown();
    *cells++ = cell_natural(entity->count);
    *cells++ = cell_boolean((entity->flags & ENTITY_NEW) != 0);
    *cells++ = cell_boolean((entity->flags & ENTITY_ENDED) != 0);
    for (size_t i = 0; i < schema->label_count; i++)
        *cells++ = label_cell(filling, entity, i);
    *cells++ = cell_natural(rows->elapsed_ns[row]);
    for (size_t i = 0; i < schema->column_count; i++)
        *cells++ =
            is_known(filling, row, i) ? cell_natural(frame_values(rows, row)[i]) : cell_unknown();
    *cells++ = cell_integer(frame_unaccounted_ns(rows, row));
    if (style->more_count > 0)
        style->fill_more(style->context, rows, row, cells);
}

static bool reserve(void *array, size_t *capacity, size_t count, size_t size)
{
    void **place = array;

    if (count <= *capacity)
        return true;
    free(*place);
    *place = calloc(2 * count, size);
    *capacity = *place != NULL ? 2 * count : 0;
    return *place != NULL;
}

static int fill_rows(struct frame_table *table, const struct selection *selection,
                     const struct frame_style *style)
{
    const struct selected *selected = &table->selected;
    const struct filling filling = { &table->columns, selected->rows, selection, style };
    const size_t fields = table->columns.field_count;

    if (!reserve(&table->cells, &table->cell_capacity, selected->count * fields,
                 sizeof *table->cells) ||
        (style->for_text &&
         !reserve(&table->texts, &table->text_capacity, selected->count, sizeof *table->texts)))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < selected->count; i++) {
        struct cell *cells = &table->cells[i * fields];

        if (style->for_text)
            fill_text(&filling, selected->order[i], selected->depths[i], cells, &table->texts[i]);
        else
            fill_all(&filling, selected->order[i], cells);
    }
    return CAMP_OK;
}

static void fill_headline(struct frame_table *table, const struct frame_style *style,
                          const struct frame_facts *facts)
{
    const struct frame *frame = table->selected.picked;
    const char *kind = frame_kind(facts, frame->schema);
    const uint64_t size = frame_size(frame);
    uint64_t ended = 0;
    int length;

    for (size_t i = 0; i < frame->entity_count; i++)
        ended += (frame->entities[i].flags & ENTITY_ENDED) != 0 ? frame->entities[i].count : 0;
    length =
        snprintf(table->headline, sizeof table->headline, "%s  %.2f s  %s  tier %s  %" PRIu64 " %s",
                 table->time, (double)(frame->end_ns - frame->start_ns) / NS_PER_S, facts->source,
                 facts->tier, size, kind_noun(kind, size));
    if (ended > 0 && length > 0 && (size_t)length < sizeof table->headline)
        snprintf(table->headline + length, sizeof table->headline - (size_t)length,
                 ", %" PRIu64 " ended", ended);
    make_printable(table->headline);
    length = (int)strlen(table->headline);
    if (length > 0 && (size_t)length < sizeof table->headline)
        snprintf(table->headline + length, sizeof table->headline - (size_t)length, "\n%s",
                 table->sentence);
    if (style->sentence_width > 0 && length > 0 && (size_t)length + 1 < sizeof table->headline)
        summary_wrap(table->headline + length + 1, style->sentence_width);
}

/* The CPUs are unknown if processes were selected, because other rows use them, too. */
static struct shared_cpus cpus_of(const struct frame_table *table, const struct frame *cpus,
                                  const struct selection *selection,
                                  const struct frame_facts *facts)
{
    if (selection->pid_count > 0 || selection->no_kernel_threads)
        return (struct shared_cpus){ 0 };
    return shared_cpus_of(cpus, table->selected.picked, facts->cpus);
}

static int fill_summary(struct frame_table *table, const struct frame *cpus,
                        const struct selection *selection, const struct frame_facts *facts)
{
    const struct frame *frame = table->selected.picked;
    const char *kind = frame_kind(facts, frame->schema);
    const struct shared_cpus shared = cpus_of(table, cpus, selection, facts);
    struct cell *next = table->summary;
    struct summary summary;
    const int r = summary_fill(&summary, frame, shared, kind_noun(kind, 2));

    if (r != CAMP_OK)
        return r;
    summary.unseen_are_switches = strcmp(facts->tier, "bpf") == 0 && strcmp(kind, "sessions") != 0;
    summary_text(&summary, table->sentence);
    *next++ = cell_text(table->sentence);
    *next++ = shared.count > 0 ? cell_natural(shared.count) : cell_unknown();
    *next++ = shared.count > 0 && shared.has_load ? cell_natural(shared.full) : cell_unknown();
    for (size_t i = CLASS_CPU; i < CLASS_COUNT; i++)
        *next++ = summary.has[i] ? cell_real(summary.classes[i]) : cell_unknown();
    *next++ = cell_real(summary.missing);
    *next++ = cell_real(summary.over);
    *next++ = cell_natural(summary.parked);
    *next = cell_natural(summary.entities);
    return CAMP_OK;
}

static void fill_facts(struct frame_table *table, const struct frame *cpus, const char *time,
                       const struct frame_facts *facts)
{
    const struct frame *frame = table->selected.picked;
    const struct losses *losses = &frame->losses;
    const struct cell cells[] = {
        cell_text(table->time),
        cell_real((double)(frame->end_ns - frame->start_ns) / NS_PER_S),
        cell_text(facts->source),
        cell_text(facts->tier),
        cell_text(frame_kind(facts, frame->schema)),
        cell_text(facts->group),
        cell_natural(table->selected.cut),
    };

    _Static_assert(ARRAY_COUNT(cells) == ARRAY_COUNT(fact_fields) &&
                       sizeof cells == sizeof table->facts,
                   "a cell was forgotten");
    snprintf(table->time, sizeof table->time, "%s", time);
    memcpy(table->facts, cells, sizeof cells);
    table->losses[0] = cell_natural(losses->unseen);
    table->losses[1] = cell_natural(losses->lost);
    table->losses[2] = cell_natural(losses->unread_ns);
    table->losses[3] = cell_natural(losses->partial + (cpus != NULL ? cpus->losses.partial : 0));
}

/* Rows of exited entities have the fields of living entities, but another heading above the
 * names. */
static int head_exited(struct frame_table *table, const struct frame_style *style)
{
    const size_t count = table->columns.field_count;

    if (!reserve(&table->exited_fields, &table->field_capacity, count,
                 sizeof *table->exited_fields))
        return CAMP_E_NOMEM;
    memcpy(table->exited_fields, table->columns.fields, count * sizeof *table->exited_fields);
    table->exited_fields[style->numbered && style->line == NULL ? 1 : 0].title =
        style->line != NULL ? style->line_heading_of_exited : "ended";
    return CAMP_OK;
}

/* Fills all tables except the table of CPUs, which is already filled. */
static void fill_tables(struct frame_table *table, const struct frame_style *style)
{
    const struct selected *selected = &table->selected;
    const size_t fields = table->columns.field_count;
    const size_t living = style->for_text ? selected->living : selected->count;
    struct table *next = &table->tables[TABLE_ENTITIES];

    table->tables[TABLE_FACTS] =
        (struct table){ "facts", TABLE_INLINE, fact_fields, ARRAY_COUNT(fact_fields), table->facts,
                        1,       true };
    table->tables[TABLE_SUMMARY] = (struct table){
        "summary", TABLE_OBJECT, summary_fields, FRAME_SUMMARY_FIELDS, table->summary, 1, true
    };
    table->tables[TABLE_CPUS].hidden_in_text |= !style->cpus;
    *next++ = (struct table){ "entities", TABLE_ROWS, table->columns.fields, fields, table->cells,
                              living,     false };
    if (style->for_text && selected->count > living)
        *next++ = (struct table){ "ended",
                                  TABLE_ROWS,
                                  table->exited_fields,
                                  fields,
                                  table->cells + living * fields,
                                  selected->count - living,
                                  false };
    *next++ = (struct table){
        "losses", TABLE_OBJECT, loss_fields, ARRAY_COUNT(loss_fields), table->losses, 1, true
    };
    table->record = (struct record){ "camp.frame/1", table->headline,
                                     table->tables,  (size_t)(next - table->tables),
                                     TABLE_ENTITIES, table->notes.list };
}

int frame_table_fill(struct frame_table *table, const struct frame *cpus, const char *time,
                     const struct selection *selection, const struct frame_style *style,
                     const struct frame_facts *facts)
{
    int r = selection_fill(&table->selected, selection);

    if (r != CAMP_OK)
        return r;
    frame_columns_see(&table->columns, &table->selected, selection);
    frame_columns_lay_out(&table->columns, selection, style);
    r = fill_rows(table, selection, style);
    if (r == CAMP_OK)
        r = frame_cpus_fill(&table->cpus, cpus, style->for_text, &table->tables[TABLE_CPUS]);
    if (r == CAMP_OK && style->for_text)
        r = head_exited(table, style);
    if (r != CAMP_OK)
        return r;
    fill_facts(table, cpus, time, facts);
    r = fill_summary(table, cpus, selection, facts);
    if (r != CAMP_OK)
        return r;
    fill_headline(table, style, facts);
    frame_notes_fill(&table->notes, table->selected.picked, cpus, &table->columns, facts,
                     selection->filter != NULL && table->selected.count == 0);
    fill_tables(table, style);
    return CAMP_OK;
}
