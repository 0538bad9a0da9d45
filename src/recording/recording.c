/*
 * Reads a recording as a source. The intervals come in the order in which they were recorded, even
 * if the wall clock was set back. Each interval is read in its own transaction, so that the reader
 * does not block a recorder. Memory is needed for only two frames, whatever the size of the file.
 */
#include "recording_inside.h"

#include "counters/error.h"
#include "ledger/words.h"
#include "recording_causes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000.0
#define SLICE_NS 100000000u
#define CPUS_MOST 65536 /* more are not believed */
/* What next() and beside() return of a recording of sessions that has them by wait event, too. */
enum division { WHOLE, BY_EVENT, EVENTS_BESIDE };

#define CUT "%s is damaged: it ends too early"

struct recording_source {
    /* This member must be first, because struct recording_source is cast to struct source. */
    struct source source;
    struct from from;
    char *path;
    sqlite3 *database;
    struct foreign_watch watch;
    sqlite3_stmt *after;
    sqlite3_stmt *note_before; /* NULL if the file has no notes */
    char note[FRAME_NOTE_SIZE];
    /* If the recording has no second frames (source_beside()), beside.database is NULL. */
    struct recording_table table, beside;
    bool has_events; /* the second frames have the columns and labels of the sessions */
    enum division division;
    struct frame events;             /* an interval by wait event */
    struct recording_causes *causes; /* NULL: none, or not asked for yet */
    bool asked_for_causes;
    struct frame nothing; /* empty frame, for intervals without a second frame */
    int64_t tick;
    /* The selected intervals. `first` is INT64_MAX if there are none, `last` is INT64_MAX if the
     * selection has no end. */
    int64_t first, last;
    bool is_cut;
    /* Number of intervals that were read, and number of intervals in the file. `frames` is 0 if
     * unknown. */
    uint64_t done, frames;
    uint64_t whole; /* intervals that were read, with those before the selection */
    /* The start of a replay with --speed, in CLOCK_MONOTONIC (began_ns) and in the recording
     * (from_ns). */
    uint64_t began_ns, from_ns;
};

/* Older files have no notes. */
static bool has_notes(sqlite3 *database)
{
    return sqlite3_table_column_metadata(database, NULL, "note", "since_tick", NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

static int open_tables(struct recording_source *source, const struct recording_info *info,
                       struct camp_error *error)
{
    const char *beside = info->facts[RECORDING_BESIDE];
    int r = recording_table_open(&source->table, source->database, source->path,
                                 info->facts[RECORDING_TABLE], "tick", error);

    if (r == CAMP_OK && beside[0] != '\0')
        r = recording_table_open(&source->beside, source->database, source->path, beside,
                                 "tick_beside", error);
    source->has_events = source->beside.database != NULL && source->table.schema.label_count > 0 &&
                         recording_is_same_schema(&source->table.schema, &source->beside.schema);
    frame_init(&source->nothing, &source->beside.schema);
    if (r == CAMP_OK)
        r = recording_prepare(source->database, source->path, &source->after, error,
                              "SELECT tick FROM tick WHERE tick > ? ORDER BY tick LIMIT 1");
    if (r == CAMP_OK && has_notes(source->database))
        r = recording_prepare(source->database, source->path, &source->note_before, error,
                              "SELECT text FROM note WHERE since_tick <= ? "
                              "ORDER BY since_tick DESC LIMIT 1");
    return r;
}

static int select_number(const struct recording_source *source, const char *sql, int64_t parameter,
                         int64_t *ret, struct camp_error *error)
{
    return recording_file_number(source->database, source->path, sql, parameter, ret, error);
}

/* Selects the intervals from the first whose middle (from_middle_ns()) is not before --begin, to
 * the last whose middle is before --end. If the wall clock was set back, some intervals between
 * these two may be outside of --begin and --end. */
#define MIDDLE_NS "wall_clock_ns - (end_ns - start_ns) / 2"

static int find_range(struct recording_source *source, struct camp_error *error)
{
    int64_t key;
    int r = CAMP_OK;

    source->last = INT64_MAX;
    if (source->from.begin_ns != 0)
        r = select_number(source,
                          "SELECT ifnull(min(tick), 9223372036854775807) FROM tick "
                          "WHERE " MIDDLE_NS " >= ?",
                          source->from.begin_ns, &source->first, error);
    if (r == CAMP_OK && source->from.end_ns != 0)
        r = select_number(source, "SELECT ifnull(max(tick), 0) FROM tick WHERE " MIDDLE_NS " < ?",
                          source->from.end_ns, &source->last, error);
    if (r != CAMP_OK || source->first == INT64_MAX)
        return r;
    r = select_number(source, "SELECT ifnull(max(tick), 1) FROM tick WHERE key AND tick <= ?",
                      source->first, &key, error);
    source->tick = key - 1;
    return r;
}

static size_t server_cpus_of(const char *text)
{
    const unsigned long long cpus = strtoull(text, NULL, 10);

    return cpus <= CPUS_MOST ? (size_t)cpus : 0;
}

static int fill_facts(const struct recording_info *info, bool has_causes, struct from_facts *facts)
{
    const char *tier = info->facts[RECORDING_TIER];
    /* facts->tier must outlive the source. */
    const labels_id kept = labels_keep(labels_intern(&tier, 1));
    char name[sizeof facts->name];

    if (kept == LABELS_LOST)
        return CAMP_E_NOMEM;
    facts->live = false;
    facts->has_causes = has_causes;
    snprintf(facts->kind, sizeof facts->kind, "%.31s", info->facts[RECORDING_KIND]);
    snprintf(name, sizeof name, "%.*s (%s)", (int)(sizeof name - sizeof facts->kind - 4),
             facts->name, facts->kind);
    memcpy(facts->name, name, sizeof name);
    facts->tier = labels_count(kept) > 0 ? labels_value(kept, 0) : "recording";
    facts->interval_ns = strtoull(info->facts[RECORDING_INTERVAL], NULL, 10);
    if (facts->interval_ns > INT64_MAX)
        facts->interval_ns = 0;
    facts->server_cpus = server_cpus_of(info->facts[RECORDING_SERVER_CPUS]);
    snprintf(facts->note, sizeof facts->note, "%s",
             info->is_cut ? "The recording is damaged: it ends too early, and what is whole is "
                            "shown."
                          : info->facts[RECORDING_NOTE]);
    facts->frames = info->intervals > 0 ? (uint64_t)info->intervals : 0;
    facts->begin_ns = info->begin_ns > 0 && info->end_ns > 0 ? info->begin_ns : 0;
    facts->end_ns = info->begin_ns > 0 && info->end_ns > 0 ? info->end_ns : 0;
    return CAMP_OK;
}

static const struct schema *describe(const struct source *base)
{
    return &((const struct recording_source *)base)->table.schema;
}

static const struct frame *last_frame(const struct recording_table *table)
{
    return &table->intervals[table->now].frame;
}

static void set_division(struct source *base, const char *label)
{
    struct recording_source *source = (struct recording_source *)base;

    source->division = label == NULL                                 ? WHOLE
                       : strcmp(label, SOURCE_LABEL_WAIT_EVENT) == 0 ? BY_EVENT
                       : strcmp(label, SOURCE_DIVISION_BESIDE) == 0  ? EVENTS_BESIDE
                                                                     : WHOLE;
}

static const struct frame *beside(const struct source *base)
{
    const struct recording_source *source = (const struct recording_source *)base;

    if (source->beside.database == NULL ||
        (source->has_events && source->division != EVENTS_BESIDE))
        return NULL;
    return source->beside.is_there ? last_frame(&source->beside) : &source->nothing;
}

/* Returns the frame of an interval. By wait event it has more rows than sessions: a row for each
 * event, of which each counts the sessions that waited for it. */
static const struct frame *frame_of_interval(struct recording_source *source)
{
    const struct frame *frame = last_frame(&source->table);
    struct frame *events = &source->events;
    uint64_t count = 0;

    if (!source->has_events || source->division != BY_EVENT)
        return frame;
    *events = source->beside.is_there ? *last_frame(&source->beside) : source->nothing;
    events->schema = frame->schema;
    events->start_ns = frame->start_ns;
    events->end_ns = frame->end_ns;
    events->wall_clock_ns = frame->wall_clock_ns;
    events->losses = frame->losses;
    events->note = frame->note;
    for (size_t i = 0; i < events->entity_count; i++)
        count += events->entities[i].count;
    events->size = frame_size(frame);
    events->repeated = count > frame_size(frame) ? count - frame_size(frame) : 0;
    return events;
}

static int is_damaged(const struct recording_source *source, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_FORMAT, 0, CUT, source->path);
}

/* Finds the next selected interval. Returns SOURCE_END if there is none. In a damaged page `tick`
 * may be 0; this is an error, because reading on from 0 would never end. */
static int find_next(struct recording_source *source, struct camp_error *error)
{
    int64_t found = 0;
    int stepped;

    sqlite3_bind_int64(source->after, 1, source->tick);
    stepped = sqlite3_step(source->after);
    if (stepped == SQLITE_ROW)
        found = sqlite3_column_int64(source->after, 0);
    sqlite3_reset(source->after);
    if (stepped != SQLITE_ROW && stepped != SQLITE_DONE)
        return recording_failed(source->database, source->path, error);
    if (stepped == SQLITE_DONE)
        return source->is_cut ? is_damaged(source, error) : SOURCE_END;
    if (found <= source->tick)
        return is_damaged(source, error);
    source->tick = found;
    return found > source->last ? SOURCE_END : CAMP_OK;
}

static void keep_pace(struct recording_source *source, const struct frame *frame)
{
    const double speed = source->from.speed;
    uint64_t deadline_ns;

    if (speed <= 0 || source->from.stop == NULL)
        return;
    if (source->began_ns == 0) {
        source->began_ns = source_clock_ns(CLOCK_MONOTONIC);
        source->from_ns = frame->start_ns;
    }
    /* Starts again if the clock went back: the machine was restarted, or the next file is of
     * another machine. */
    if (frame->end_ns < source->from_ns) {
        source->began_ns = source_clock_ns(CLOCK_MONOTONIC);
        source->from_ns = frame->end_ns;
    }
    deadline_ns = source->began_ns + (uint64_t)((double)(frame->end_ns - source->from_ns) / speed);
    while (source_wait(deadline_ns, SLICE_NS, source->from.stop))
        ;
}

static int read_note(struct recording_source *source, struct camp_error *error)
{
    const unsigned char *text;
    int stepped;

    source->note[0] = '\0';
    if (source->note_before == NULL)
        return CAMP_OK;
    sqlite3_bind_int64(source->note_before, 1, source->tick);
    stepped = sqlite3_step(source->note_before);
    text = stepped == SQLITE_ROW ? sqlite3_column_text(source->note_before, 0) : NULL;
    if (text != NULL)
        snprintf(source->note, sizeof source->note, "%s", (const char *)text);
    sqlite3_reset(source->note_before);
    source->table.intervals[source->table.now].frame.note = source->note;
    return stepped == SQLITE_ROW || stepped == SQLITE_DONE
               ? CAMP_OK
               : recording_failed(source->database, source->path, error);
}

/* Reads all parts of an interval in one transaction, because a recorder may be writing. */
static int read_frames(struct recording_source *source, struct camp_error *error)
{
    int r;

    foreign_watch_start(&source->watch);
    labels_start_interval();
    sqlite3_exec(source->database, "BEGIN", NULL, NULL, NULL);
    r = find_next(source, error);
    if (r == CAMP_OK)
        r = recording_table_read(&source->table, source->tick, error);
    if (r == CAMP_OK && source->beside.database != NULL)
        r = recording_table_read(&source->beside, source->tick, error);
    if (r == CAMP_OK)
        r = read_note(source, error);
    sqlite3_exec(source->database, "COMMIT", NULL, NULL, NULL);
    source->whole += r == CAMP_OK;
    return r;
}

/* Adds to the error of a damaged file how many intervals were read before the damage. */
static int report_intact_intervals(const struct recording_source *source, struct camp_error *error)
{
    const struct camp_error damage = error != NULL ? *error : (struct camp_error){ 0 };

    if (source->whole == 0)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s; no interval before that is whole",
                         damage.message);
    return camp_fail(error, CAMP_E_FORMAT, 0, "%s; %" PRIu64 " %s before that %s whole",
                     damage.message, source->whole, noun_of(source->whole, "interval", "intervals"),
                     source->whole == 1 ? "is" : "are");
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct recording_source *source = (struct recording_source *)base;
    const struct from *from = &source->from;
    int r;

    (void)deadline_ns;
    if (source->first == INT64_MAX)
        return SOURCE_END;
    do /* Skips the intervals before the selection, but reads them: idle rows can only be restored
          from a key interval on. */
        r = read_frames(source, error);
    while (r == CAMP_OK && source->tick < source->first &&
           !foreign_watch_is_stopped(&source->watch));
    if (r < 0 && r != CAMP_E_NOMEM && foreign_watch_is_stopped(&source->watch))
        return SOURCE_END;
    if (r != CAMP_OK)
        return r == CAMP_E_FORMAT ? report_intact_intervals(source, error) : r;
    source->done++;
    if (from->progress != NULL && from->speed <= 0 && source->frames > 0)
        from->progress(from->context, source->done, source->frames);
    *ret_frame = frame_of_interval(source);
    keep_pace(source, *ret_frame);
    return CAMP_OK;
}

/* Opens the causes only now, so that damaged ones disturb nobody who does not ask for them. */
static int read_causes(struct recording_source *source, const struct causes **ret,
                       struct camp_error *error)
{
    int r = CAMP_OK;

    if (!source->asked_for_causes)
        r = recording_causes_open(&source->causes, source->database, source->path, error);
    source->asked_for_causes = r == CAMP_OK;
    if (source->causes != NULL)
        r = recording_causes_read(source->causes, source->tick, last_frame(&source->table), ret,
                                  error);
    return r;
}

static int causes(struct source *base, const struct causes **ret, struct camp_error *error)
{
    struct recording_source *source = (struct recording_source *)base;
    int r;

    foreign_watch_start(&source->watch);
    sqlite3_exec(source->database, "BEGIN", NULL, NULL, NULL);
    r = read_causes(source, ret, error);
    sqlite3_exec(source->database, "COMMIT", NULL, NULL, NULL);
    return r != CAMP_OK && r != CAMP_E_NOMEM && foreign_watch_is_stopped(&source->watch)
               ? SOURCE_END
               : r;
}

static void close_recording(struct source *base)
{
    struct recording_source *source = (struct recording_source *)base;

    recording_table_release(&source->table);
    recording_table_release(&source->beside);
    sqlite3_finalize(source->after);
    sqlite3_finalize(source->note_before);
    recording_causes_close(source->causes);
    sqlite3_close(source->database);
    free(source->path);
    free(source);
}

int recording_source_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error)
{
    struct recording_source *source = calloc(1, sizeof *source);
    struct recording_info info;
    int r;

    if (source == NULL)
        return CAMP_E_NOMEM;
    source->source = (struct source){ .describe = describe,
                                      .next = next,
                                      .close = close_recording,
                                      .beside = beside,
                                      .causes = causes,
                                      .set_division = set_division };
    source->from = *from;
    source->watch.stop = from->stop;
    source->path = strdup(path);
    r = source->path != NULL
            ? recording_file_open(&source->database, source->path, &source->watch, error)
            : CAMP_E_NOMEM;
    if (r == CAMP_OK)
        r = recording_file_info(source->database, source->path, &info, error);
    if (r == CAMP_OK)
        r = open_tables(source, &info, error);
    if (r == CAMP_OK)
        r = find_range(source, error);
    if (r == CAMP_OK)
        r = fill_facts(&info, recording_has_causes(source->database), ret_facts);
    if (r != CAMP_OK) {
        if (r == CAMP_E_FORMAT && foreign_watch_is_stopped(&source->watch))
            r = camp_fail(error, CAMP_E_IO, EINTR, "reading %s was stopped", path);
        close_recording(&source->source);
        return r;
    }
    ret_facts->has_events = source->has_events;
    source->is_cut = info.is_cut || info.is_damaged;
    source->frames = ret_facts->frames;
    *ret = &source->source;
    return CAMP_OK;
}
