#include "table.h"

#include "counters/error.h"
#include "counters/units.h"
#include "ledger/words.h"
#include "table_rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table_source {
    struct source source; /* must be the first member */
    struct table_columns columns;
    struct table_rows rows;
    struct table_times times;
    struct column *states; /* [columns.state_count]; their names are in `names` */
    char (*names)[TABLE_NAME_SIZE + 8];
    struct schema schema;
    struct frame frame;
    size_t at, end; /* times.order[at] is the next row, and times.order[end - 1] the last */
    double speed;
    /* with --speed: CLOCK_MONOTONIC when the newest frame is due; 0 before the first frame */
    uint64_t due_ns;
    const volatile sig_atomic_t *stop;
};

/* Writes the name of a column: `stem` and "_ns". If an earlier column has this name, inserts a
 * number before "_ns". */
static void name_state(struct table_source *source, size_t at, const char *stem)
{
    char *name = source->names[at];
    size_t same = 1;

    snprintf(name, sizeof source->names[at], "%s_ns", stem);
    for (size_t i = 0; i < at;) {
        if (strcmp(source->names[i], name) == 0) {
            snprintf(name, sizeof source->names[at], "%.58s_%zu_ns", stem, ++same);
            i = 0;
        } else {
            i++;
        }
    }
}

static bool make_schema(struct table_source *source)
{
    const struct table_columns *columns = &source->columns;
    size_t at = 0;

    source->states = calloc(columns->state_count, sizeof *source->states);
    source->names = calloc(columns->state_count, sizeof *source->names);
    if (source->states == NULL || source->names == NULL)
        return false;
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->columns[i].use != USE_STATE)
            continue;
        name_state(source, at, columns->columns[i].stem);
        source->states[at] = (struct column){ .name = source->names[at],
                                              .title = columns->columns[i].title,
                                              .help = "a column of the table",
                                              .kind = COLUMN_STATE,
                                              .provenance = CAMP_UNKNOWN,
                                              .class = column_class_of(source->names[at]) };
        at++;
    }
    source->schema = (struct schema){ "table", source->states, at, at };
    frame_init(&source->frame, &source->schema);
    return true;
}

/* Adds a sentence to the note, or nothing if there is no space for the whole sentence. */
static void __attribute__((format(printf, 2, 3)))
add_note(struct from_facts *facts, const char *format, ...)
{
    const size_t length = strlen(facts->note);
    const char *between = length > 0 ? "; " : "";
    char text[sizeof facts->note];
    va_list arguments;
    int r;

    va_start(arguments, format);
    r = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (r <= 0 || length + strlen(between) + (size_t)r >= sizeof facts->note)
        return;
    memcpy(facts->note + length, between, strlen(between));
    memcpy(facts->note + length + strlen(between), text, (size_t)r + 1);
}

static const struct table_column *first_ignored(const struct table_columns *columns)
{
    size_t i = 0;

    while (columns->columns[i].use != USE_IGNORED)
        i++;
    return &columns->columns[i];
}

static void write_note(const struct table_source *source, const char *word,
                       struct from_facts *facts)
{
    const struct table_rows *rows = &source->rows;
    const struct table_columns *columns = &source->columns;
    const struct table_times *times = &source->times;
    const size_t ignored = columns->ignored_count;

    facts->note_warns = rows->skipped > 0;
    if (rows->skipped > 0)
        add_note(facts, "%s %" PRIu64 ": %s; %" PRIu64 " of %zu %s skipped", word,
                 rows->problem_number, rows->problem, rows->skipped, rows->count,
                 noun_of(rows->count, "row", "rows"));
    if (times->is_guessed)
        add_note(facts,
                 "values taken as %s: the median row adds up to %.4g %s of %.4g s; --unit says "
                 "otherwise",
                 unit_name(times->unit), times->sum, unit_name(times->unit),
                 (double)times->spacing_ns / NS_PER_S);
    if (columns->time_form.is_plain)
        add_note(facts, "%s counts %s from 0", columns->columns[columns->time].title,
                 columns->time_form.unit == UNIT_S ? "seconds"
                                                   : unit_name(columns->time_form.unit));
    if (ignored == 1)
        add_note(facts, "%s is ignored", first_ignored(columns)->title);
    else if (ignored > 1)
        add_note(facts, "%s and %zu more %s are ignored", first_ignored(columns)->title,
                 ignored - 1, noun_of(ignored - 1, "column", "columns"));
}

static const struct schema *describe(const struct source *base)
{
    return &((const struct table_source *)base)->schema;
}

static int64_t time_at(const struct table_source *source, size_t at)
{
    return source->rows.times[source->times.order[at]];
}

/* Returns the position after the last row of the frame that starts at `at`, in times.order. */
static size_t frame_end(const struct table_source *source, size_t at)
{
    const int64_t time = time_at(source, at);

    while (at < source->rows.count && time_at(source, at) == time)
        at++;
    return at;
}

static int64_t length_at(const struct table_source *source, size_t at)
{
    return at > 0 ? time_at(source, at) - time_at(source, at - 1)
                  : (int64_t)source->times.interval_ns;
}

static int64_t middle_at(const struct table_source *source, size_t at)
{
    return from_middle_ns(time_at(source, at), (uint64_t)length_at(source, at));
}

/* Leaves out the frames that are not between --begin and --end. Returns the number of frames
 * left. */
static uint64_t limit(struct table_source *source, const struct from *from)
{
    uint64_t frames = 0;
    size_t end;

    while (source->at < source->rows.count && from->begin_ns != 0 &&
           middle_at(source, source->at) < from->begin_ns)
        source->at = frame_end(source, source->at);
    for (end = source->at; end < source->rows.count; end = frame_end(source, end)) {
        if (from->end_ns != 0 && middle_at(source, end) >= from->end_ns)
            break;
        frames++;
    }
    source->end = end;
    return frames;
}

/* A name identifies its entity, as the id 0 says. Names whose shown parts are equal get a number.
 */
static void set_identity(struct entity *entity, const struct table_names *names, uint32_t number)
{
    const size_t at = number - 1;

    entity->id = names->is_shared != NULL && names->is_shared[at] ? number : 0;
    field_copy(names->names[at], entity->name, sizeof entity->name);
}

static bool fill_row(struct table_source *source, size_t row)
{
    const struct table_rows *rows = &source->rows;
    struct frame *frame = &source->frame;
    struct entity *entity;

    if (rows->elapsed[row].ns == 0) {
        frame->losses.partial++;
        return true;
    }
    entity = frame_add(frame);
    if (entity == NULL)
        return false;
    set_identity(entity, &rows->names, rows->entities[row]);
    frame->elapsed_ns[frame->entity_count - 1] = rows->elapsed[row].ns;
    for (size_t i = 0; i < rows->state_count; i++)
        frame_values(frame, frame->entity_count - 1)[i] =
            rows->values[row * rows->state_count + i].ns;
    return true;
}

/* Fills the next frame. Its start and end count from the start of the table, not on
 * CLOCK_MONOTONIC. */
static bool fill_frame(struct table_source *source)
{
    struct frame *frame = &source->frame;
    const size_t at = source->at, end = frame_end(source, at);
    const int64_t zero = time_at(source, 0) - (int64_t)source->times.interval_ns;

    frame_clear(frame);
    frame->wall_clock_ns = time_at(source, at);
    frame->end_ns = (uint64_t)(frame->wall_clock_ns - zero);
    frame->start_ns = frame->end_ns - (uint64_t)length_at(source, at);
    for (; source->at < end; source->at++) {
        if (!fill_row(source, source->times.order[source->at]))
            return false;
    }
    return true;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct table_source *source = (struct table_source *)base;

    (void)deadline_ns;
    if (source->at == source->end)
        return SOURCE_END;
    if (!fill_frame(source))
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a frame of the table");
    source_wait_replay(&source->due_ns, &source->frame, source->speed, source->stop);
    *ret_frame = &source->frame;
    return CAMP_OK;
}

static void close_table(struct source *base)
{
    struct table_source *source = (struct table_source *)base;

    table_columns_release(&source->columns);
    table_rows_release(&source->rows);
    free(source->times.order);
    free(source->states);
    free(source->names);
    frame_release(&source->frame);
    free(source);
}

static int find_times(struct table_source *source, const char *name, const char *word,
                      enum unit unit, struct camp_error *error)
{
    const struct table_rows *rows = &source->rows;

    if (rows->skipped < rows->count &&
        table_times_find(&source->times, &source->rows, &source->columns, unit) != CAMP_OK)
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for %zu rows", name, rows->count);
    if (rows->skipped == rows->count)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s has no row with a time, an entity and numbers; %s %" PRIu64 ": %s",
                         name, word, rows->problem_number, rows->problem);
    return CAMP_OK;
}

static int open_table(struct table_source *source, struct rows *rows, const char *name,
                      const struct from *from, struct from_facts *facts, struct camp_error *error)
{
    enum unit unit = UNIT_NONE;
    int r;

    if (from->unit != NULL && (unit = unit_of_name(from->unit, strlen(from->unit))) == UNIT_NONE)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "there is no unit '%s'; the units are ns, us, ms, s, percent and share",
                         from->unit);
    r = table_rows_read(&source->rows, &source->columns, rows, name, error);
    if (r == CAMP_OK)
        r = find_times(source, name, rows->word, unit, error);
    if (r != CAMP_OK)
        return r;
    if (!make_schema(source))
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for its columns", name);
    facts->frames = limit(source, from);
    if (facts->frames == 0)
        return camp_fail(error, CAMP_E_GONE, 0, "%s has no rows between --begin and --end", name);
    facts->tier = "table";
    facts->interval_ns = source->times.interval_ns;
    facts->begin_ns = time_at(source, 0) - (int64_t)source->times.interval_ns;
    if (facts->begin_ns <= 0) /* the times of a table may count from 0, but 0 means unknown here */
        facts->begin_ns = 1;
    facts->end_ns = time_at(source, source->rows.count - 1);
    write_note(source, rows->word, facts);
    return CAMP_OK;
}

int table_source_open(struct rows *rows, const char *name, const struct from *from,
                      struct source **ret, struct from_facts *facts, struct camp_error *error)
{
    struct table_source *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL) {
        rows->close(rows);
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory to read it", name);
    }
    source->source = (struct source){ describe, next, close_table, NULL };
    source->speed = from->speed;
    source->stop = from->stop;
    r = open_table(source, rows, name, from, facts, error);
    rows->close(rows);
    if (r != CAMP_OK) {
        close_table(&source->source);
        return r;
    }
    *ret = &source->source;
    return CAMP_OK;
}
