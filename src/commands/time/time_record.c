#include "time_record.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "ledger/characters.h"
#include "ledger/words.h"
#include "microstates/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const time_table_names[] = { "executables", "states", "total", NULL };

static const struct field summary_fields[TIME_SUMMARY_FIELDS] = {
    { "time", NULL, "wall clock of the end", 0, 0 },
    { "command", NULL, "what was run", 0, 0 },
    { "real_s", NULL, "wall time from its start to its end", 0, 3 },
    { "status", NULL, "its exit status, 128 + N when signal N ended it", 0, 0 },
};

enum { STATE_NAME, STATE_TIME, STATE_PERCENT };

/* In text, the title of the percentages is percent_title of struct time_record. */
static const struct field state_fields[] = {
    [STATE_NAME] = { "state", "state", "name of a microstate", -14, 0 },
    [STATE_TIME] = { "time_s", "time s", "of all threads together", 10, 3 },
    [STATE_PERCENT] = { "percent", "%", "of their wall time", 7, 2 },
};

/* The first columns of an executable and of the total. In text, percentages of the states follow
 * these columns. In JSON and CSV, the unaccounted time, counters and each state follow. */
static const struct field first_fields[] = {
    { "name", "name", "comm of the process's first thread at the end: prctl(2) changes it", -15,
      0 },
    { "processes", "proc", "that ended, or are running", 4, 0 },
    { "threads", NULL, "of them", 0, 0 },
    { "running", NULL, "threads that had not ended", 0, 0 },
    { "elapsed_s", "time s", "wall times of its threads", 8, 3 },
};

static const enum threads_counter shown_counters[] = {
    THREADS_CPU,          THREADS_SYSTEM_CALLS,       THREADS_MINOR_FAULTS,
    THREADS_MAJOR_FAULTS, THREADS_VOLUNTARY_SWITCHES, THREADS_INVOLUNTARY_SWITCHES,
    THREADS_READ_BYTES,   THREADS_WRITTEN_BYTES,
};

_Static_assert(TIME_SUM_FIELDS == ARRAY_COUNT(first_fields) + 1 + ARRAY_COUNT(shown_counters) +
                                      2 * CAMP_STATE_COUNT,
               "a field was forgotten");

static const struct field loss_fields[] = {
    { "switches", NULL, "of all CPUs in this time", 0, 0 },
    { "unseen", NULL, "switches that no event reported", 0, 0 },
    { "lost", NULL, "times a thread got no account", 0, 0 },
    { "exits_lost", NULL, "exited threads whose last numbers are lost", 0, 0 },
    { "exits_added_up", NULL, "exited threads that are only in totals, for lack of space", 0, 0 },
    { "stolen_ns", NULL, "a hypervisor took it of all CPUs, in units of 10 ms: within the states",
      0, 0 },
};

#define PERCENT_WIDTH 5 /* "100.0" */

static double seconds(uint64_t ns)
{
    return (double)ns / NS_PER_S;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static uint64_t value_of(const struct frame *sums, size_t row, size_t column)
{
    return frame_values(sums, row)[threads_column(sums->schema, column)];
}

/* Chooses the columns for states. They are the same as in camp top, but sleep is always shown. */
static void choose_states(struct time_record *record, const struct frame *sums, size_t width)
{
    struct frame_columns *columns = &record->columns;
    const bool is_divided = threads_have(sums->schema, CAMP_STATE_OTHER_SLEEP);
    const size_t sleep = is_divided ? CAMP_STATE_OTHER_SLEEP : CAMP_STATE_SLEEP;
    size_t fixed = 0;

    for (size_t i = 0; i < ARRAY_COUNT(first_fields); i++)
        fixed += first_fields[i].title != NULL ? FRAME_GAP + (size_t)abs(first_fields[i].width) : 0;
    fixed -= FRAME_GAP;
    columns->percent_width = PERCENT_WIDTH;
    columns->sorted = columns->column_of[threads_column(sums->schema, sleep)];
    for (size_t i = 0; i < columns->state_column_count; i++)
        columns->states[i].most_ns = state_column_ns(columns, frame_values(sums, 0), i);
    frame_states_choose_in(columns, width == 0 ? SIZE_MAX : width > fixed ? width - fixed : 0);
}

/* Fills record->fields. */
static void lay_out(struct time_record *record, const struct schema *schema)
{
    struct field *field = record->fields;

    memcpy(field, first_fields, sizeof first_fields);
    field += ARRAY_COUNT(first_fields);
    for (size_t i = 0; i < record->columns.shown_count; i++)
        *field++ = (struct field){ .title = record->columns.headings[i],
                                   .width = (int)frame_state_width(&record->columns, i),
                                   .decimals = 1 };
    if (record->columns.has_other)
        *field++ = (struct field){ .title = FRAME_OTHER_HEADING,
                                   .width = (int)strlen(FRAME_OTHER_HEADING),
                                   .decimals = 1 };
    *field++ = (struct field){ .name = "unaccounted_ns", .help = "wall time that is in no state" };
    for (size_t i = 0; i < ARRAY_COUNT(shown_counters); i++) {
        if (threads_have(schema, shown_counters[i]))
            *field++ = (struct field){
                .name = schema->columns[threads_column(schema, shown_counters[i])].name
            };
    }
    for (size_t i = 0; i < schema->state_count; i++)
        *field++ = (struct field){ .name = schema->columns[i].name };
    record->field_count = (size_t)(field - record->fields);
}

static struct cell *fill_sum(const struct time_record *record, struct cell *cells,
                             const struct frame *sums, size_t row)
{
    const uint64_t *values = frame_values(sums, row), elapsed_ns = sums->elapsed_ns[row];
    uint64_t other_ns = 0;

    *cells++ = cell_text(sums->entities[row].name);
    *cells++ = cell_natural(value_of(sums, row, FAMILY_PROCESSES));
    *cells++ = cell_natural(sums->entities[row].count);
    *cells++ = cell_natural(value_of(sums, row, FAMILY_RUNNING));
    *cells++ = cell_real(seconds(elapsed_ns));
    for (size_t i = 0; i < sums->schema->state_count; i++)
        other_ns += values[i];
    for (size_t i = 0; i < record->columns.shown_count; i++) {
        const uint64_t ns = state_column_ns(&record->columns, values, record->columns.shown[i]);

        *cells++ = cell_real(share(ns, elapsed_ns));
        other_ns -= ns;
    }
    if (record->columns.has_other)
        *cells++ = cell_real(share(other_ns, elapsed_ns));
    *cells++ = cell_integer(frame_unaccounted_ns(sums, row));
    for (size_t i = 0; i < ARRAY_COUNT(shown_counters); i++) {
        if (threads_have(sums->schema, shown_counters[i]))
            *cells++ = cell_natural(value_of(sums, row, shown_counters[i]));
    }
    for (size_t i = 0; i < sums->schema->state_count; i++)
        *cells++ = cell_natural(values[i]);
    return cells;
}

static struct cell *fill_states(struct cell *cells, const struct frame *sums, size_t *ret_count)
{
    *ret_count = 0;
    for (size_t i = 0; i < CAMP_STATE_COUNT; i++) {
        const uint64_t ns = threads_have(sums->schema, i) ? value_of(sums, 0, i) : 0;

        if (ns == 0)
            continue;
        *cells++ = cell_text(camp_state_name((int)i));
        *cells++ = cell_real(seconds(ns));
        *cells++ = cell_real(share(ns, sums->elapsed_ns[0]));
        ++*ret_count;
    }
    return cells;
}

struct table time_summary(const struct time_facts *facts, struct cell cells[TIME_SUMMARY_FIELDS])
{
    cells[0] = cell_text(facts->time);
    cells[1] = cell_text(facts->command);
    cells[2] = cell_real(seconds(facts->real_ns));
    cells[3] = facts->status >= 0 ? cell_integer(facts->status) : cell_unknown();
    return TABLE_OF_ONE("summary", TABLE_INLINE, summary_fields, cells);
}

static int allocate(struct time_record *ret, const struct frame *sums)
{
    const size_t cells = TIME_SUMMARY_FIELDS + ARRAY_COUNT(loss_fields) +
                         CAMP_STATE_COUNT * ARRAY_COUNT(state_fields) +
                         sums->entity_count * TIME_SUM_FIELDS;

    ret->cells = calloc(cells, sizeof *ret->cells);
    return ret->cells != NULL ? frame_columns_init(&ret->columns, sums->schema) : CAMP_E_NOMEM;
}

static void fill_tables(struct time_record *ret, const struct family *family,
                        const struct time_facts *facts)
{
    const struct frame *sums = &family->sums;
    struct cell *cells = ret->cells, *first;
    size_t states;

    ret->tables[0] = time_summary(facts, cells);
    first = cells += TIME_SUMMARY_FIELDS;
    cells = fill_states(cells, sums, &states);
    memcpy(ret->state_fields, state_fields, sizeof state_fields);
    snprintf(ret->percent_title, sizeof ret->percent_title, "%% of %.3f s of threads",
             seconds(sums->elapsed_ns[0]));
    ret->state_fields[STATE_PERCENT].title = ret->percent_title;
    ret->tables[1] = TABLE_OF_ROWS("states", ret->state_fields, first, states);
    ret->tables[1].hidden_in_text = facts->as_figure;
    first = cells;
    for (size_t i = 0; i + 1 < sums->entity_count; i++)
        cells = fill_sum(ret, cells, sums, family->order[i]);
    ret->tables[2] = (struct table){ .name = "executables",
                                     .shape = TABLE_ROWS,
                                     .fields = ret->fields,
                                     .field_count = ret->field_count,
                                     .cells = first,
                                     .row_count = sums->entity_count - 1,
                                     .hidden_in_text = facts->as_figure };
    first = cells;
    cells = fill_sum(ret, cells, sums, 0);
    ret->tables[3] =
        (struct table){ "total", TABLE_OBJECT, ret->fields + 1, ret->field_count - 1, first + 1,
                        1,       true };
    first = cells;
    *cells++ = cell_natural(facts->losses.switches);
    *cells++ = cell_natural(facts->losses.unseen);
    *cells++ = cell_natural(facts->losses.lost);
    *cells++ = cell_natural(facts->losses.exits_lost + family->exiting);
    *cells++ = cell_natural(facts->losses.exits_added_up);
    *cells++ = cell_natural(facts->stolen_ns);
    ret->tables[4] = TABLE_OF_ONE("losses", TABLE_OBJECT, loss_fields, first);
}

static char *next_note(struct time_record *record)
{
    size_t i = 0;

    while (i < TIME_NOTES - 1 && record->note_list[i] != NULL)
        i++;
    record->note_list[i] = record->notes[i];
    return record->notes[i];
}

static void note_sums(struct time_record *ret, const struct frame *sums)
{
    const double unaccounted_ns = (double)frame_unaccounted_ns(sums, 0);
    const uint64_t elapsed_ns = sums->elapsed_ns[0];

    snprintf(next_note(ret), TIME_NOTE_SIZE,
             "threads' wall time %.3f s, unaccounted %.3f s (%.4f %%)", seconds(elapsed_ns),
             unaccounted_ns / NS_PER_S,
             elapsed_ns > 0 ? 100.0 * unaccounted_ns / (double)elapsed_ns : 0);
    if (threads_have(sums->schema, THREADS_CPU))
        snprintf(next_note(ret), TIME_NOTE_SIZE,
                 "on CPU %.3f s by the states, %.3f s by the scheduler's own count",
                 seconds(class_ns(sums, 0, CLASS_CPU)), seconds(value_of(sums, 0, THREADS_CPU)));
}

/* Notes the time that a hypervisor took. If the hypervisor reports this time to the kernel, the
 * scheduler does not count it as CPU time. */
static void note_steal(struct time_record *ret, uint64_t stolen_ns)
{
    if (stolen_ns > 0)
        snprintf(next_note(ret), TIME_NOTE_SIZE,
                 "a hypervisor took %.2f s of all CPUs: it is a part of the states of the threads "
                 "that it stopped",
                 seconds(stolen_ns));
}

static void note_losses(struct time_record *ret, const struct camp_states_losses *losses,
                        uint64_t exiting)
{
    if (losses->unseen > 0)
        snprintf(next_note(ret), TIME_NOTE_SIZE,
                 "unseen: %" PRIu64 " of %" PRIu64
                 " switches of all CPUs (%.3f %%); their times are "
                 "estimated",
                 losses->unseen, losses->switches, share(losses->unseen, losses->switches));
    if (losses->lost > 0)
        snprintf(next_note(ret), TIME_NOTE_SIZE, "lost: %" PRIu64 " %s a thread got no account",
                 losses->lost, noun_of(losses->lost, "time", "times"));
    if (losses->exits_lost > 0)
        snprintf(next_note(ret), TIME_NOTE_SIZE, "lost: %" PRIu64 " ended %s, for lack of space",
                 losses->exits_lost, noun_of(losses->exits_lost, "thread", "threads"));
    if (exiting > 0)
        snprintf(next_note(ret), TIME_NOTE_SIZE,
                 "lost: %" PRIu64 " %s of all CPUs that had not ended 1 s after the last process",
                 exiting, noun_of(exiting, "thread", "threads"));
}

/* Writes a time in the form of the CAMP paper: "2:11.723", "3:20:50.049". */
static void clock_text(char ret[32], uint64_t ns)
{
    const uint64_t ms = ns / NS_PER_MS, s = ms / 1000;

    if (s >= 3600)
        snprintf(ret, 32, "%" PRIu64 ":%02u:%02u.%03u", s / 3600, (unsigned)(s / 60 % 60),
                 (unsigned)(s % 60), (unsigned)(ms % 1000));
    else if (s >= 60)
        snprintf(ret, 32, "%u:%02u.%03u", (unsigned)(s / 60), (unsigned)(s % 60),
                 (unsigned)(ms % 1000));
    else
        snprintf(ret, 32, "%u.%03u", (unsigned)s, (unsigned)(ms % 1000));
}

/* A system divides sleep (CAMP_STATE_OTHER_SLEEP and others), or has it as one state. The summary
 * has the other states even if the session does not measure them. */
static bool is_in_figure(const struct schema *schema, size_t state)
{
    return threads_have(schema, state) ||
           (state != CAMP_STATE_SLEEP && !threads_have(schema, CAMP_STATE_SLEEP));
}

/* Notes a microstate summary in the form of Figure 4 of the CAMP paper. The "other sleep" of the
 * paper is divided into several states here. */
static void note_figure(struct time_record *ret, const struct frame *sums,
                        const struct time_facts *facts)
{
#define FIGURE(state, name, title, short_title, class, figure, help) [CAMP_STATE_##state] = figure,
    static const char *const names[CAMP_STATE_COUNT] = { MICROSTATES(FIGURE) };
    char text[32], *note = next_note(ret);

    clock_text(text, facts->real_ns);
    snprintf(note, TIME_NOTE_SIZE, "%-20s %12s   %-20s %12s", "Elapsed time", text, "Current time",
             facts->time);
    for (size_t i = 0, shown = 0; i < CAMP_STATE_COUNT; i++) {
        if (!is_in_figure(sums->schema, i))
            continue;
        note = shown % 2 == 0 ? next_note(ret) : note;
        snprintf(text, sizeof text, "-");
        if (threads_have(sums->schema, i))
            clock_text(text, value_of(sums, 0, i));
        snprintf(note + strlen(note), TIME_NOTE_SIZE - strlen(note), "%s%-20s %12s",
                 shown++ % 2 == 0 ? "" : "   ", names[i], text);
    }
}

/* Writes two lines. The second line has only the time on CPUs and on the run queue, because the
 * times of other states include parents that wait for their children. */
static void head_command(struct time_record *ret, const struct frame *sums,
                         const struct time_facts *facts)
{
    const uint64_t processes = value_of(sums, 0, FAMILY_PROCESSES);
    const uint64_t cpu_ns = class_ns(sums, 0, CLASS_CPU);
    const uint64_t run_queue_ns = value_of(sums, 0, CAMP_STATE_RUN_QUEUE);
    const double real_ns = facts->real_ns > 0 ? (double)facts->real_ns : 1;

    snprintf(ret->headline, sizeof ret->headline,
             "%s  real %.3f s, %" PRIu64 " %s, %" PRIu32 " %s%s\n"
             "on CPUs %.3f s (%.2f CPUs on average), on the run queue %.3f s (%.2f threads)",
             facts->time, seconds(facts->real_ns), processes,
             noun_of(processes, "process", "processes"), sums->entities[0].count,
             noun_of(sums->entities[0].count, "thread", "threads"),
             value_of(sums, 0, FAMILY_RUNNING) > 0 ? ", some still running" : "", seconds(cpu_ns),
             (double)cpu_ns / real_ns, seconds(run_queue_ns), (double)run_queue_ns / real_ns);
}

int time_record_fill(struct time_record *ret, const struct family *family,
                     const struct time_facts *facts, size_t width)
{
    const struct frame *sums = &family->sums;
    const uint32_t threads = sums->entities[0].count;

    *ret = (struct time_record){ 0 };
    if (allocate(ret, sums) != CAMP_OK) {
        time_record_release(ret);
        return CAMP_E_NOMEM;
    }
    choose_states(ret, sums, width);
    lay_out(ret, sums->schema);
    fill_tables(ret, family, facts);
    if (facts->as_figure) {
        snprintf(ret->headline, sizeof ret->headline, "%s, %" PRIu32 " %s", facts->command, threads,
                 noun_of(threads, "thread", "threads"));
        make_printable(ret->headline);
        note_figure(ret, sums, facts);
    } else {
        head_command(ret, sums, facts);
    }
    note_sums(ret, sums);
    note_steal(ret, facts->stolen_ns);
    note_losses(ret, &facts->losses, family->exiting);
    ret->record =
        (struct record){ "camp.time/1", ret->headline, ret->tables, 5, 2, ret->note_list };
    return CAMP_OK;
}

void time_record_release(struct time_record *record)
{
    free(record->cells);
    frame_columns_release(&record->columns);
    record->cells = NULL;
}
