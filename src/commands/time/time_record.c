#include "time_record.h"

#include "counters/units.h"
#include "ledger/array.h"
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

static const struct field state_fields[] = {
    { "state", "state", "name of a microstate", -14, 0 },
    { "time_s", "time s", "of all threads together", 10, 3 },
    { "percent", "%", "of their wall time", 7, 2 },
};

#define STATE_FIELD(state, name, ...) { name "_ns", NULL, "", 0, 0 },
/* Text has columns for groups of states; JSON and CSV have each state. */
static const struct field sum_fields[] = {
    { "name", "executable", "name of the process when it ended", -15, 0 },
    { "processes", "proc", "that ended, or are running", 4, 0 },
    { "threads", NULL, "of them", 0, 0 },
    { "running", NULL, "threads that had not ended", 0, 0 },
    { "elapsed_s", "time s", "wall times of its threads", 8, 3 },
    { NULL, "user%", "", 5, 1 },
    { NULL, "sys%", "system and irq", 5, 1 },
    { NULL, "runq%", "run_queue", 5, 1 },
    { NULL, "flt%", "text_fault, data_fault and kernel_fault", 5, 1 },
    { NULL, "disk%", "", 5, 1 },
    { NULL, "lock%", "", 5, 1 },
    { NULL, "slp%", "all other states", 5, 1 },
    { "unaccounted_ns", NULL, "wall time that is in no state", 0, 0 },
    { "cpu_ns", NULL, "CPU time by the scheduler's own count", 0, 0 },
    { "system_calls", NULL, "", 0, 0 },
    { "minor_faults", NULL, "", 0, 0 },
    { "major_faults", NULL, "", 0, 0 },
    { "voluntary_switches", NULL, "", 0, 0 },
    { "involuntary_switches", NULL, "", 0, 0 },
    { "read_bytes", NULL, "from storage", 0, 0 },
    { "written_bytes", NULL, "to storage", 0, 0 },
    MICROSTATES(STATE_FIELD)
};

/* In the order of the text's percentages; the last has all others. */
static const char *const short_titles[] = { "usr", "sys", "runq", "flt", "dsk", "lck" };

static const struct field loss_fields[] = {
    { "switches", NULL, "of all CPUs meanwhile", 0, 0 },
    { "unseen", NULL, "switches that no event reported", 0, 0 },
    { "lost", NULL, "times a thread got no account", 0, 0 },
    { "exits_lost", NULL, "exited threads whose last numbers are lost", 0, 0 },
    { "exits_added_up", NULL, "exited threads that are only in totals, for lack of space", 0, 0 },
    { "stolen_ns", NULL, "a hypervisor took it of all CPUs: within the states, not lost", 0, 0 },
};

static double seconds(uint64_t ns)
{
    return (double)ns / NS_PER_S;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static int64_t unaccounted_of(const struct family_sum *sum)
{
    uint64_t booked = 0;

    for (size_t i = 0; i < CAMP_STATE_COUNT; i++)
        booked += sum->state_ns[i];
    return (int64_t)(sum->elapsed_ns - booked);
}

/* The states of one short title, added up. */
static uint64_t time_of(const struct family_sum *sum, const char *short_title)
{
#define SHORT_TITLE(state, name, title, short_title, ...) [CAMP_STATE_##state] = short_title,
    static const char *const titles[CAMP_STATE_COUNT] = { MICROSTATES(SHORT_TITLE) };
    uint64_t ns = 0;

    for (size_t i = 0; i < CAMP_STATE_COUNT; i++)
        ns += strcmp(titles[i], short_title) == 0 ? sum->state_ns[i] : 0;
    return ns;
}

static struct cell *fill_sum(struct cell *cells, const struct family_sum *sum)
{
    uint64_t others = sum->elapsed_ns - (uint64_t)unaccounted_of(sum);

    *cells++ = cell_text(sum->name);
    *cells++ = cell_natural(sum->processes);
    *cells++ = cell_natural(sum->threads);
    *cells++ = cell_natural(sum->running);
    *cells++ = cell_real(seconds(sum->elapsed_ns));
    for (size_t i = 0; i < ARRAY_COUNT(short_titles); i++) {
        const uint64_t ns = time_of(sum, short_titles[i]);

        *cells++ = cell_real(share(ns, sum->elapsed_ns));
        others -= ns;
    }
    *cells++ = cell_real(share(others, sum->elapsed_ns));
    *cells++ = cell_integer(unaccounted_of(sum));
    *cells++ = cell_natural(sum->cpu_ns);
    *cells++ = cell_natural(sum->system_calls);
    *cells++ = cell_natural(sum->minor_faults);
    *cells++ = cell_natural(sum->major_faults);
    *cells++ = cell_natural(sum->voluntary_switches);
    *cells++ = cell_natural(sum->involuntary_switches);
    *cells++ = cell_natural(sum->read_bytes);
    *cells++ = cell_natural(sum->written_bytes);
    for (size_t i = 0; i < CAMP_STATE_COUNT; i++)
        *cells++ = cell_natural(sum->state_ns[i]);
    return cells;
}

/* In the enumeration's order, without states at 0. */
static struct cell *fill_states(struct cell *cells, const struct family_sum *total,
                                size_t *ret_count)
{
    *ret_count = 0;
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        if (total->state_ns[i] == 0)
            continue;
        *cells++ = cell_text(camp_state_name(i));
        *cells++ = cell_real(seconds(total->state_ns[i]));
        *cells++ = cell_real(share(total->state_ns[i], total->elapsed_ns));
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

static int allocate(struct time_record *ret, const struct family *family)
{
    const size_t cells = TIME_SUMMARY_FIELDS + ARRAY_COUNT(loss_fields) +
                         CAMP_STATE_COUNT * ARRAY_COUNT(state_fields) +
                         (family->sum_count + 1) * ARRAY_COUNT(sum_fields);

    ret->cells = calloc(cells, sizeof *ret->cells);
    return ret->cells != NULL ? CAMP_OK : CAMP_E_NOMEM;
}

static void fill_tables(struct time_record *ret, const struct family *family,
                        const struct time_facts *facts)
{
    struct cell *cells = ret->cells, *first;
    size_t states;

    ret->tables[0] = time_summary(facts, cells);
    first = cells += TIME_SUMMARY_FIELDS;
    cells = fill_states(cells, &family->total, &states);
    ret->tables[1] = TABLE_OF_ROWS("states", state_fields, first, states);
    ret->tables[1].hidden_in_text = facts->as_figure;
    first = cells;
    for (size_t i = 0; i < family->sum_count; i++)
        cells = fill_sum(cells, &family->sums[i]);
    ret->tables[2] = TABLE_OF_ROWS("executables", sum_fields, first, family->sum_count);
    ret->tables[2].hidden_in_text = facts->as_figure;
    first = cells;
    cells = fill_sum(cells, &family->total);
    ret->tables[3] = (struct table){
        "total", TABLE_OBJECT, sum_fields + 1, ARRAY_COUNT(sum_fields) - 1, first + 1, 1, true
    };
    first = cells;
    *cells++ = cell_natural(facts->losses.switches);
    *cells++ = cell_natural(facts->losses.unseen);
    *cells++ = cell_natural(facts->losses.lost);
    *cells++ = cell_natural(facts->losses.exits_lost);
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

static void note_sums(struct time_record *ret, const struct family_sum *total)
{
    const uint64_t on_cpu = time_of(total, "usr") + time_of(total, "sys");
    const int64_t unaccounted = unaccounted_of(total);

    snprintf(next_note(ret), TIME_NOTE_SIZE,
             "threads' wall time %.3f s, unaccounted %.3f s (%.4f %%)", seconds(total->elapsed_ns),
             (double)unaccounted / NS_PER_S,
             total->elapsed_ns > 0 ? 100.0 * (double)unaccounted / (double)total->elapsed_ns : 0);
    snprintf(next_note(ret), TIME_NOTE_SIZE,
             "on CPU %.3f s by the states, %.3f s by the scheduler's own count", seconds(on_cpu),
             seconds(total->cpu_ns));
}

/* The scheduler excludes it from its count, where it is reported to the kernel. */
static void note_steal(struct time_record *ret, uint64_t stolen_ns)
{
    if (stolen_ns > 0)
        snprintf(next_note(ret), TIME_NOTE_SIZE,
                 "a hypervisor took %.2f s of all CPUs meanwhile: the states have it within, where "
                 "it hit",
                 seconds(stolen_ns));
}

static void note_losses(struct time_record *ret, const struct camp_states_losses *losses)
{
    if (losses->unseen > 0)
        snprintf(next_note(ret), TIME_NOTE_SIZE,
                 "unseen: %" PRIu64 " of %" PRIu64
                 " switches of all CPUs (%.3f %%); their times are "
                 "estimated",
                 losses->unseen, losses->switches, share(losses->unseen, losses->switches));
    if (losses->lost > 0)
        snprintf(next_note(ret), TIME_NOTE_SIZE, "lost: %" PRIu64 " times a thread got no account",
                 losses->lost);
    if (losses->exits_lost > 0)
        snprintf(next_note(ret), TIME_NOTE_SIZE,
                 "lost: %" PRIu64 " ended threads, for lack of space", losses->exits_lost);
}

/* "2:11.723", "3:20:50.049", as in the paper. */
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

/* The paper's Figure 4; its other sleep is shown separately, and its traps are part of user here.
 */
static void note_figure(struct time_record *ret, const struct family_sum *sum,
                        const struct time_facts *facts)
{
#define FIGURE(state, name, title, short_title, class, figure, help) [CAMP_STATE_##state] = figure,
    static const char *const names[CAMP_STATE_COUNT] = { MICROSTATES(FIGURE) };
    char text[32], *note = next_note(ret);

    clock_text(text, facts->real_ns);
    snprintf(note, TIME_NOTE_SIZE, "%-20s %12s   %-20s %12s", "Elapsed time", text, "Current time",
             facts->time);
    for (size_t i = 0; i < CAMP_STATE_COUNT; i++) { /* two a line */
        note = i % 2 == 0 ? next_note(ret) : note;
        clock_text(text, sum->state_ns[i]);
        snprintf(note + strlen(note), TIME_NOTE_SIZE - strlen(note), "%s%-20s %12s",
                 i % 2 == 0 ? "" : "   ", names[i], text);
    }
}

int time_record_fill(struct time_record *ret, const struct family *family,
                     const struct time_facts *facts)
{
    const struct family_sum *total = &family->total;

    *ret = (struct time_record){ 0 };
    if (allocate(ret, family) != CAMP_OK)
        return CAMP_E_NOMEM;
    fill_tables(ret, family, facts);
    if (facts->as_figure) {
        snprintf(ret->headline, sizeof ret->headline, "%s, %" PRIu64 " threads", facts->command,
                 total->threads);
        note_figure(ret, total, facts);
    } else {
        snprintf(ret->headline, sizeof ret->headline,
                 "%s  real %.3f s, %" PRIu64 " processes, %" PRIu64 " threads%s", facts->time,
                 seconds(facts->real_ns), total->processes, total->threads,
                 total->running > 0 ? ", some still running" : "");
    }
    note_sums(ret, total);
    note_steal(ret, facts->stolen_ns);
    note_losses(ret, &facts->losses);
    ret->record =
        (struct record){ "camp.time/1", ret->headline, ret->tables, 5, 2, ret->note_list };
    return CAMP_OK;
}

void time_record_release(struct time_record *record)
{
    free(record->cells);
    record->cells = NULL;
}
