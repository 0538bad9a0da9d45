#include "top_record.h"

#include "counters/units.h"
#include "top_prstat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct field summary_fields[] = {
    { "time", NULL, "wall clock of the interval's end", 0, 0, false, NULL },
    { "interval_s", NULL, "its length", 0, 6, false, NULL },
    { "source", NULL, "threads", 0, 0, false, NULL },
    { "tier", NULL, "bpf", 0, 0, false, NULL },
    { "group", NULL, "what a row is: thread, process, user ...", 0, 0, false, NULL },
};

#define PERCENT(title, help)                                                                       \
    {                                                                                              \
        NULL, title, help, 4, 1, false, NULL                                                       \
    }

/* Before the columns of the source. In text id and name stand in FIELD_ID and FIELD_SHOWN_NAME. */
enum { FIELD_ID, FIELD_NAME, FIELD_SHOWN_NAME, FIELD_THREADS = 6, FIELD_PERCENTS = 10 };
static const struct field own_fields[] = {
    { "id", "id", "tid, pid, uid or id of a cgroup", 7, 0, false, NULL },
    { "name", NULL, "of the thread, process, user, command, cgroup or workload", 0, 0, false,
      NULL },
    { NULL, "name", "likewise; in a tree below its parent", -15, 0, false, NULL },
    { "pid", NULL, "its process", 0, 0, false, NULL },
    { "parent", NULL, "the parent of its process", 0, 0, false, NULL },
    { "user_name", NULL, "effective user", 0, 0, false, NULL },
    { "threads", "thr", "how many are in the row", 4, 0, false, NULL },
    { "new", NULL, "began in the interval", 0, 0, false, NULL },
    { "ended", NULL, "ended in it", 0, 0, false, NULL },
    { "elapsed_ns", NULL, "wall time of its threads in the interval", 0, 0, false, NULL },
    PERCENT("usr%", "user, of the interval"),
    PERCENT("sys%", "system and irq"),
    PERCENT("runq%", "run_queue"),
    PERCENT("flt%", "text_fault, data_fault and kernel_fault"),
    PERCENT("dsk%", "disk"),
    PERCENT("lck%", "lock"),
    PERCENT("slp%", "all other states"),
    PERCENT("un%", "unaccounted"),
};
_Static_assert(COUNT(own_fields) == FIELD_PERCENTS + TOP_PERCENTS, "a percentage was forgotten");

static const struct field loss_fields[] = {
    { "unseen", NULL, "switches that the kernel told nobody of, in the interval", 0, 0, false,
      NULL },
    { "lost", NULL, "threads without an account or without last numbers", 0, 0, false, NULL },
    { "partial", NULL, "CPUs whose interval is not whole: they came or went", 0, 0, false, NULL },
};

#define NAME_WIDTH 15 /* of the text's columns these are as wide as there is room */
#define NAME_WIDTH_MOST 60
#define OTHER_WIDTH 65 /* all others with the gaps between them, and a blank at the edge */
#define ID_WIDTH 9

/* --------------------------------------------------------------------------------- Fields -- */

static bool is_numbered(const struct top_selection *selection)
{
    return selection->group == TOP_THREAD || selection->group == TOP_PROCESS ||
           selection->group == TOP_USER;
}

static int name_width(const struct top_selection *selection)
{
    const size_t others = OTHER_WIDTH - (is_numbered(selection) ? 0 : ID_WIDTH);

    if (selection->width < others + NAME_WIDTH)
        return NAME_WIDTH;
    return selection->width - others < NAME_WIDTH_MOST ? (int)(selection->width - others)
                                                       : NAME_WIDTH_MOST;
}

static void fill_fields(struct top_fields *ret, const struct schema *schema,
                        const struct top_selection *selection, bool ended)
{
    const struct field prstat = {
        NULL, prstat_heading(selection, ended), "as of prstat -mL", -TOP_NOTE_SIZE, 0, false, NULL
    };

    *ret = (struct top_fields){ 0 };
    top_fields_add(ret, own_fields, COUNT(own_fields));
    top_fields_add_schema(ret, schema);
    ret->fields[FIELD_SHOWN_NAME].title = ended ? "ended" : "name";
    ret->fields[FIELD_SHOWN_NAME].width = -name_width(selection);
    if (!is_numbered(selection))
        ret->fields[FIELD_ID].title = NULL;
    if (!selection->prstat)
        return;
    for (size_t i = 0; i < ret->count; i++)
        ret->fields[i].title = NULL;
    top_fields_add(ret, &prstat, 1);
}

/* ---------------------------------------------------------------------------------- Cells -- */

static uint64_t faults_ns(const uint64_t *values)
{
    return values[CAMP_STATE_TEXT_FAULT] + values[CAMP_STATE_DATA_FAULT] +
           values[CAMP_STATE_KERNEL_FAULT];
}

static void fill_percents(struct cell *cells, const struct frame *frame, size_t row,
                          char buffers[TOP_PERCENTS][TOP_PERCENT_SIZE])
{
    const uint64_t *values = frame_values(frame, row);
    const uint64_t whole = frame->end_ns - frame->start_ns;
    const uint64_t parts[TOP_PERCENTS] = {
        values[CAMP_STATE_USER],      values[CAMP_STATE_SYSTEM] + values[CAMP_STATE_IRQ],
        values[CAMP_STATE_RUN_QUEUE], faults_ns(values),
        values[CAMP_STATE_DISK],      values[CAMP_STATE_LOCK],
        top_sleep_ns(values),         (uint64_t)frame_unaccounted_ns(frame, row),
    };

    for (size_t i = 0; i < TOP_PERCENTS; i++)
        cells[i] = top_percent((int64_t)parts[i], whole, buffers[i]);
    if (values[CAMP_STATE_RUN_QUEUE] > whole / 10)
        cells[2].emphasis = NOTABLE;
    if (cells[TOP_PERCENTS - 1].emphasis == PLAIN)
        cells[TOP_PERCENTS - 1].emphasis = BAD;
}

/* In a tree under its parent; a path that is too long by its end, which tells more. */
static void show_name(char ret[TOP_NAME_SIZE], const struct top_selection *selection,
                      const char *name, uint32_t depth)
{
    const size_t width = (size_t)name_width(selection), length = strlen(name);
    const uint32_t indent = depth < width / 2 ? depth : (uint32_t)width / 2;

    if (selection->group == TOP_CGROUP && length > width)
        snprintf(ret, TOP_NAME_SIZE, "..%s", name + length - width + 2);
    else
        snprintf(ret, TOP_NAME_SIZE, "%*s%s", (int)indent, "", name);
}

static void fill_row(struct top_record *ret, const struct top_selection *selection, size_t at)
{
    const struct frame *frame = &ret->rows.groups;
    const size_t row = ret->rows.order[at];
    const struct entity *entity = &frame->entities[row];
    const char *name = top_row_name(selection, entity);
    const bool of_process = entity->id != 0 && selection->group <= TOP_PROCESS;
    struct cell *cells = &ret->cells[at * ret->fields.count];
    struct top_texts *texts = &ret->texts[at];

    show_name(texts->name, selection, name, at < ret->rows.living ? ret->rows.depths[at] : 0);
    *cells++ = of_process || selection->group == TOP_USER || selection->group == TOP_CGROUP
                   ? cell_integer(entity->id)
                   : cell_unknown();
    *cells++ = cell_text(name);
    *cells++ = cell_text(texts->name);
    *cells++ = of_process ? cell_integer(entity->pid) : cell_unknown();
    *cells++ = of_process ? cell_integer(entity->parent) : cell_unknown();
    *cells++ = of_process || selection->group == TOP_USER
                   ? cell_text(user_names_get(selection->users, entity->uid))
                   : cell_unknown();
    *cells++ = cell_natural(entity->count);
    *cells++ = cell_boolean((entity->flags & ENTITY_NEW) != 0);
    *cells++ = cell_boolean((entity->flags & ENTITY_ENDED) != 0);
    *cells++ = cell_natural(frame->elapsed_ns[row]);
    fill_percents(cells, frame, row, texts->percents);
    cells = top_cells_add(cells + TOP_PERCENTS, frame, row);
    if (!selection->prstat)
        return;
    prstat_line(texts->prstat, sizeof texts->prstat, frame, row, selection, texts->name);
    *cells++ = cell_text(texts->prstat);
}

static int reserve(struct top_record *ret, size_t rows)
{
    if (rows < ret->capacity)
        return CAMP_OK;
    free(ret->cells);
    free(ret->texts);
    ret->capacity = 2 * rows + 1;
    ret->cells = calloc(ret->capacity * TOP_FIELDS_MAXIMUM, sizeof *ret->cells);
    ret->texts = calloc(ret->capacity, sizeof *ret->texts);
    if (ret->cells != NULL && ret->texts != NULL)
        return CAMP_OK;
    ret->capacity = 0;
    return CAMP_E_NOMEM;
}

/* ----------------------------------------------------------------------------- The record -- */

static void fill_summary(struct top_record *ret, const struct top_interval *interval,
                         const struct top_selection *selection)
{
    const struct frame *threads = interval->threads;
    struct cell *cells = ret->summary;

    snprintf(ret->time, sizeof ret->time, "%s", interval->time);
    *cells++ = cell_text(ret->time);
    *cells++ = cell_real((double)(threads->end_ns - threads->start_ns) / NS_PER_S);
    *cells++ = cell_text("threads");
    *cells++ = cell_text(interval->tier);
    *cells++ = cell_text(top_group_names[selection->group]);
    ret->losses[0] = cell_natural(threads->losses.unseen);
    ret->losses[1] = cell_natural(threads->losses.lost);
    ret->losses[2] = cell_natural(interval->cpus->losses.partial);
}

static void fill_texts(struct top_record *ret, const struct top_interval *interval,
                       bool is_unmatched)
{
    const struct frame *frame = ret->rows.threads;
    const struct camp_states_losses *losses = &interval->losses;
    const double wall = (double)(frame->end_ns - frame->start_ns);
    const uint64_t lost = interval->threads->losses.lost, partial = interval->cpus->losses.partial;
    uint64_t on_cpu = 0, run_queue = 0, disk = 0, ended = 0;
    size_t length;

    for (size_t i = 0; i < frame->entity_count; i++) {
        const bool is_ended = (frame->entities[i].flags & ENTITY_ENDED) != 0;

        on_cpu += top_on_cpu_ns(frame_values(frame, i));
        run_queue += frame_values(frame, i)[CAMP_STATE_RUN_QUEUE];
        disk += frame_values(frame, i)[CAMP_STATE_DISK];
        ended += is_ended ? frame->entities[i].count : 0;
    }
    snprintf(ret->headline, sizeof ret->headline,
             "%s  %.2f s  tier %s  %zu threads, %" PRIu64 " ended", ret->time, wall / NS_PER_S,
             interval->tier, frame->entity_count, ended);
    length = (size_t)snprintf(
        ret->note, sizeof ret->note,
        "on CPU %.1f %%, run queue %.1f %%, disk %.1f %%; unseen %.3f %% of switches",
        100 * (double)on_cpu / wall, 100 * (double)run_queue / wall, 100 * (double)disk / wall,
        losses->switches > 0 ? 100 * (double)losses->unseen / (double)losses->switches : 0.0);
    if (lost > 0)
        length += (size_t)snprintf(ret->note + length, sizeof ret->note - length,
                                   "; %" PRIu64 " threads lost", lost);
    if (partial > 0)
        snprintf(ret->note + length, sizeof ret->note - length, "; %" PRIu64 " CPUs came or went",
                 partial);
    ret->note_list[0] = ret->note;
    ret->note_list[1] = is_unmatched ? TOP_UNMATCHED : NULL;
    ret->note_list[2] = NULL;
}

static void fill_tables(struct top_record *ret, const struct top_selection *selection)
{
    const struct top_rows *rows = &ret->rows;
    struct table *table = ret->tables;
    size_t main_table;

    *table++ = (struct table){
        "summary", TABLE_INLINE, summary_fields, COUNT(summary_fields), ret->summary, 1, true
    };
    table->hidden_in_text = !selection->cpus; /* top_cpus_fill() has filled it */
    main_table = (size_t)(++table - ret->tables);
    *table++ = (struct table){ "entities",
                               TABLE_ROWS,
                               ret->fields.fields,
                               ret->fields.count,
                               ret->cells,
                               selection->for_text ? rows->living : rows->count,
                               false };
    if (selection->for_text)
        *table++ = (struct table){ "ended",
                                   TABLE_ROWS,
                                   ret->ended.fields,
                                   ret->ended.count,
                                   ret->cells + rows->living * ret->fields.count,
                                   rows->count - rows->living,
                                   false };
    *table++ = (struct table){ "losses", TABLE_OBJECT, loss_fields, COUNT(loss_fields), ret->losses,
                               1,        true };
    ret->record =
        (struct record){ "camp.frame/1", ret->headline, ret->tables, (size_t)(table - ret->tables),
                         main_table,     ret->note_list };
}

int top_record_fill(struct top_record *ret, const struct top_interval *interval,
                    const struct top_selection *selection)
{
    int r = top_rows_fill(&ret->rows, interval->threads, selection);

    if (r == CAMP_OK)
        r = reserve(ret, ret->rows.count);
    if (r == CAMP_OK)
        r = top_cpus_fill(&ret->cpus, interval->cpus, selection->for_text, &ret->tables[1]);
    if (r != CAMP_OK)
        return r;
    fill_fields(&ret->fields, interval->threads->schema, selection, false);
    fill_fields(&ret->ended, interval->threads->schema, selection, true);
    for (size_t i = 0; i < ret->rows.count; i++)
        fill_row(ret, selection, i);
    fill_summary(ret, interval, selection);
    fill_texts(ret, interval, selection->filter != NULL && ret->rows.count == 0);
    fill_tables(ret, selection);
    return CAMP_OK;
}

void top_record_release(struct top_record *record)
{
    top_rows_release(&record->rows);
    top_cpus_release(&record->cpus);
    free(record->cells);
    free(record->texts);
    *record = (struct top_record){ 0 };
}
