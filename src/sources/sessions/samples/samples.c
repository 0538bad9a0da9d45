#include "samples.h"

#include "counters/error.h"
#include "counters/units.h"
#include "ledger/words.h"
#include "samples_inside.h"
#include "sources/tables/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows whose first one was read before: it is returned again. */
struct rows_again {
    struct rows rows; /* must be the first member */
    struct rows *rest;
    struct row first;
    bool is_given;
};

static int next_again(struct rows *base, struct row *ret, struct camp_error *error)
{
    struct rows_again *again = (struct rows_again *)base;

    if (again->is_given)
        return again->rest->next(again->rest, ret, error);
    again->is_given = true;
    *ret = again->first;
    return CAMP_OK;
}

static void close_again(struct rows *base)
{
    struct rows_again *again = (struct rows_again *)base;

    again->rest->close(again->rest);
    free((void *)again->first.fields);
    free(again);
}

static const struct schema *describe(const struct source *base)
{
    return &((const struct samples_source *)base)->sessions.schema;
}

static int64_t time_at(const struct samples_source *source, size_t at)
{
    return source->rows.rows[source->times.order[at]].time;
}

/* Leaves out the moments that are not between --begin and --end. Returns the number of frames
 * left. */
static uint64_t limit(struct samples_source *source, const struct from *from)
{
    uint64_t frames = 0;
    uint32_t before = UINT32_MAX;
    size_t at = 0, end;
    bool has_begun = false;

    for (source->end = 0; at < source->rows.count; at = end) {
        int64_t middle;

        end = sample_moment_end(&source->times, &source->rows, at);
        middle = from_middle_ns(time_at(source, end - 1), sample_frame_length(source, before, end));
        before = source->times.order[end - 1];
        has_begun = has_begun || from->begin_ns == 0 || middle >= from->begin_ns;
        if (from->end_ns != 0 && middle >= from->end_ns)
            break;
        source->end = end;
        frames += has_begun;
        if (!has_begun && sample_frame_fill(source, true) != CAMP_OK)
            return UINT64_MAX;
    }
    return frames;
}

/* Fills the next frame. Its start and end count from the start of the table, not on
 * CLOCK_MONOTONIC. */
static int fill_frame(struct samples_source *source)
{
    const size_t end = sample_moment_end(&source->times, &source->rows, source->at);
    const uint64_t length_ns = sample_frame_length(source, source->before, end);
    const int64_t zero = time_at(source, 0) - (int64_t)source->times.period_ns;
    const int64_t time = time_at(source, end - 1);
    const uint64_t end_ns = (uint64_t)(time - zero);

    session_frame_begin(&source->sessions, end_ns - length_ns, end_ns, time);
    return sample_frame_fill(source, false);
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct samples_source *source = (struct samples_source *)base;

    (void)deadline_ns;
    if (source->at >= source->end)
        return SOURCE_END;
    if (fill_frame(source) != CAMP_OK)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a frame of samples");
    frame_count_lost_labels(&source->sessions.frame);
    source_wait_replay(&source->due_ns, &source->sessions.frame, source->speed, source->stop);
    *ret_frame = &source->sessions.frame;
    return CAMP_OK;
}

static void close_samples(struct source *base)
{
    struct samples_source *source = (struct samples_source *)base;

    sample_rows_release(&source->rows);
    session_frame_release(&source->sessions);
    free(source->times.order);
    free(source->living);
    free(source->kinds);
    free(source->texts);
    free(source);
}

static void choose_labels(struct samples_source *source)
{
    for (int role = SAMPLE_FIRST_LABEL; role < SAMPLE_LABEL_END; role++) {
        if (source->rows.columns.at[role] == SAMPLE_ABSENT)
            continue;
        source->label_roles[source->label_count] = (enum sample_role)role;
        source->label_names[source->label_count++] = sample_label_name((enum sample_role)role);
    }
}

static void write_note(const struct samples_source *source, const char *word,
                       struct from_facts *facts)
{
    const struct sample_rows *rows = &source->rows;
    size_t length = (size_t)snprintf(facts->note, sizeof facts->note, "a sample counts for %.4g s",
                                     (double)source->times.period_ns / NS_PER_S);

    facts->note_warns = rows->skipped > 0;
    if (rows->skipped > 0)
        snprintf(facts->note + length, sizeof facts->note - length,
                 "; %s %" PRIu64 ": %s; %" PRIu64 " of %zu %s skipped", word, rows->problem_number,
                 rows->problem, rows->skipped, rows->count, noun_of(rows->count, "row", "rows"));
}

static void write_facts(const struct samples_source *source, struct from_facts *facts)
{
    facts->tier = "samples";
    snprintf(facts->kind, sizeof facts->kind, "sessions");
    facts->interval_ns = source->times.period_ns;
    facts->begin_ns = time_at(source, 0) - (int64_t)source->times.period_ns;
    if (facts->begin_ns <= 0) /* times may count from 0, but 0 means unknown here */
        facts->begin_ns = 1;
    facts->end_ns = time_at(source, source->rows.count - 1);
}

static int open_samples(struct samples_source *source, const struct row *header, struct rows *rows,
                        const char *name, const struct from *from, struct from_facts *facts,
                        struct camp_error *error)
{
    struct session_plan plan = { .name = "samples",
                                 .detail = from->detail,
                                 .cpu_provenance = CAMP_SAMPLED,
                                 .wait_provenance = CAMP_SAMPLED,
                                 .rules_path = from->rules,
                                 .label_names = source->label_names };
    int r;

    if (from->unit != NULL)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "%s has samples of sessions, not times: leave out --unit", name);
    r = sample_rows_read(&source->rows, header, rows, name, error);
    if (r != CAMP_OK)
        return r;
    if (sample_times_find(&source->times, &source->rows) != CAMP_OK)
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for %zu rows", name,
                         source->rows.count);
    choose_labels(source);
    plan.label_count = source->label_count;
    plan.rules_text =
        source->rows.columns.is_oracle ? session_rules_oracle : session_rules_postgres;
    r = session_frame_init(&source->sessions, &plan, error);
    if (r != CAMP_OK)
        return r;
    facts->frames = limit(source, from);
    if (facts->frames == UINT64_MAX)
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for its sessions", name);
    if (facts->frames == 0)
        return camp_fail(error, CAMP_E_GONE, 0, "%s has no samples between --begin and --end",
                         name);
    write_facts(source, facts);
    write_note(source, rows->word, facts);
    return CAMP_OK;
}

static int samples_source_open(const struct row *header, struct rows *rows, const char *name,
                               const struct from *from, struct source **ret,
                               struct from_facts *facts, struct camp_error *error)
{
    struct samples_source *source = calloc(1, sizeof *source);
    const char *end = strrchr(name, '.');
    int r;

    if (source == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory to read it", name);
    source->source = (struct source){ .describe = describe, .next = next, .close = close_samples };
    source->speed = from->speed;
    source->stop = from->stop;
    source->before = UINT32_MAX;
    field_copy((struct field){ name, end != NULL ? (size_t)(end - name) : strlen(name) },
               source->only, sizeof source->only);
    r = open_samples(source, header, rows, name, from, facts, error);
    if (r != CAMP_OK)
        close_samples(&source->source);
    else
        *ret = &source->source;
    return r;
}

/* Gives the rows, with their header, to table_source_open(), which closes them. */
static int open_table(struct row *header, struct rows *rows, const char *name,
                      const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error)
{
    struct rows_again *again = NULL;

    if (from->rules != NULL || from->detail)
        camp_fail(error, CAMP_E_INVALID, 0,
                  "%s has no samples of sessions (docs/tables.md), so %s has no meaning", name,
                  from->rules != NULL ? "--rules" : "--detail");
    else if ((again = malloc(sizeof *again)) == NULL)
        camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory to read it", name);
    if (again == NULL) {
        free((void *)header->fields);
        rows->close(rows);
        return from->rules != NULL || from->detail ? CAMP_E_INVALID : CAMP_E_NOMEM;
    }
    *again = (struct rows_again){
        { next_again, close_again, rows->word, rows->bytes_most }, rows, *header, false
    };
    return table_source_open(&again->rows, name, from, ret, facts, error);
}

int samples_or_table_open(struct rows *rows, const char *name, const struct from *from,
                          struct source **ret, struct from_facts *facts, struct camp_error *error)
{
    struct sample_columns columns;
    struct row row, header;
    int r = rows->next(rows, &row, error);

    if (r == SOURCE_END) /* table_source_open() says that the table is empty */
        return table_source_open(rows, name, from, ret, facts, error);
    if (r == CAMP_OK && !row_copy(&header, &row, 0))
        r = camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for its header", name);
    if (r != CAMP_OK) {
        rows->close(rows);
        return r;
    }
    if (header.problem != NULL || !sample_columns_find(&columns, &header))
        return open_table(&header, rows, name, from, ret, facts, error);
    r = samples_source_open(&header, rows, name, from, ret, facts, error);
    free((void *)header.fields);
    rows->close(rows);
    return r;
}
