/*
 * The truths of the loads as records: one table of fields for each load serves all formats. In text
 * the totals are lines of title, value and unit.
 */
#include "load_show.h"

#include "counters/units.h"
#include "program/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TOTALS_MAX 20u
#define NOTE_SIZE 160u

struct truth {
    const char *load;
    const struct field *fields; /* of the totals */
    const struct cell *cells;
    size_t count;
    const struct table *rows; /* of each step or thread; NULL: none */
};

/* The last word of a field's name is its unit, which decides the format. */
static void value_text(char *ret, size_t capacity, const struct field *field,
                       const struct cell *cell)
{
    const char *unit = strrchr(field->name, '_');

    unit = unit != NULL ? unit + 1 : field->name;
    if (cell->kind == CELL_NATURAL && strcmp(unit, "ns") == 0)
        snprintf(ret, capacity, "%.6f s", (double)cell->natural / NS_PER_S);
    else if (cell->kind == CELL_NATURAL)
        snprintf(ret, capacity, "%" PRIu64 "%s", cell->natural,
                 strcmp(unit, "bytes") == 0 ? " bytes" : "");
    else if (cell->kind == CELL_REAL)
        snprintf(ret, capacity, "%.*f%s", field->decimals, cell->real,
                 strcmp(unit, "percent") == 0 ? " %" : "");
    else if (cell->kind == CELL_INTEGER)
        snprintf(ret, capacity, "%" PRId64, cell->integer);
    else if (cell->kind == CELL_BOOLEAN)
        snprintf(ret, capacity, "%s", cell->boolean ? "yes" : "no");
    else
        snprintf(ret, capacity, "%s", cell->kind == CELL_TEXT ? cell->text : "-");
}

/* Adds the lines of one table to the texts. Returns the new number of texts. */
static size_t write_notes(const struct field *fields, const struct cell *cells, size_t count,
                          char (*texts)[NOTE_SIZE], size_t written)
{
    for (size_t i = 0; i < count; i++) {
        char value[64];

        if (fields[i].title == NULL || cells[i].kind == CELL_UNKNOWN)
            continue;
        value_text(value, sizeof value, &fields[i], &cells[i]);
        snprintf(texts[written++], NOTE_SIZE, "  %-34s %s", fields[i].title, value);
    }
    return written;
}

static uint64_t startup_ns;

void load_mark_startup(void)
{
    startup_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Every load reports these for its whole process. A counter of the process must report at least
 * this CPU time. */
static const struct field process_fields[] = {
    { "startup_ns", "CPU time before the load", "program start and options; not in own_ns", 0, 0 },
    { "process_ns", "CPU time of the process so far",
      "from the fork to this report: start-up, the load, its end", 0, 0 },
};
#define PROCESS_COUNT (sizeof process_fields / sizeof *process_fields)

static int show(const struct view *view, const struct truth *truth)
{
    static const struct field about[] = {
        { "time", NULL, "wall clock at its end", 0, 0 },
        { "load", NULL, "which load", 0, 0 },
        { "pid", NULL, "process that was the load", 0, 0 },
    };
    struct view_options options = { .stream = stdout, .colour = view_wants_colour(stdout) };
    char time_of_end[TIME_TEXT_SIZE], headline[64], texts[TOTALS_MAX][NOTE_SIZE];
    const char *notes[TOTALS_MAX + 1] = { NULL };
    struct cell cells[3], process_cells[PROCESS_COUNT];
    struct table tables[4] = {
        { "about", TABLE_INLINE, about, 3, cells, 1, true },
        { "truth", TABLE_INLINE, truth->fields, truth->count, truth->cells, 1, true },
        { "process", TABLE_INLINE, process_fields, PROCESS_COUNT, process_cells, 1, true },
    };
    struct record record = { "camp.load/1", headline, tables, 3, 1, notes };
    size_t written;
    int failed;

    time_text(time_of_end, sizeof time_of_end, (int64_t)now_ns(CLOCK_REALTIME));
    cells[0] = cell_text(time_of_end);
    cells[1] = cell_text(truth->load);
    cells[2] = cell_natural((uint64_t)getpid());
    snprintf(headline, sizeof headline, "load %s, pid %d", truth->load, (int)getpid());
    if (truth->rows != NULL) {
        tables[3] = *truth->rows;
        record.table_count = 4;
        record.main_table = 3;
    }
    options.width = isatty(STDOUT_FILENO) ? view_width(stdout) : 0;
    process_cells[0] = cell_natural(startup_ns);
    /* Only writing the report comes after this. */
    process_cells[1] = cell_natural(now_ns(CLOCK_PROCESS_CPUTIME_ID));
    written = write_notes(truth->fields, truth->cells, truth->count, texts, 0);
    written = write_notes(process_fields, process_cells, PROCESS_COUNT, texts, written);
    for (size_t i = 0; i < written; i++)
        notes[i] = texts[i];
    failed = view->record(&options, &record, 0);
    return failed == 0 ? STATUS_OK : output_failed(failed);
}

int show_load_cpu(const struct view *view, const struct load_cpu_plan *plan,
                  const struct load_cpu_truth *truth)
{
    static const char *const phases[] = { "any", "between-ticks", "across-ticks" };
    static const struct field fields[] = {
        { "phase", "phase", "where in the tick it ran", 0, 0 },
        { "wanted_percent", "wanted", "CPU time it was to use, of one CPU", 0, 3 },
        { "percent", "used, by its own clock", "own_ns of wall_ns", 0, 3 },
        { "own_ns", "CPU time of its own", "CLOCK_PROCESS_CPUTIME_ID, measured", 0, 0 },
        { "wall_ns", "wall time", "CLOCK_MONOTONIC over the same interval", 0, 0 },
        { "cycles", "cycles", "periods in which it ran", 0, 0 },
        { "missed", "missed", "periods in which it ran late, or out of its phase", 0, 0 },
        { "ticks_met", "ticks met", "ticks that came while it ran (with a phase)", 0, 0 },
        { "ticks_unsure", "of these, perhaps charged to another task",
          "another task took the CPU in the same burn, or the burn missed its place", 0, 0 },
        { "sampled_percent", "as sampled by ticks", "ticks_met x tick_ns of wall_ns", 0, 3 },
        { "period_ns", "period", "one burn in each", 0, 0 },
        { "tick_ns", "tick", "clock_getres(CLOCK_MONOTONIC_COARSE)", 0, 0 },
        { "tick_phase_ns", "tick seen after its multiples by", "of CLOCK_MONOTONIC", 0, 0 },
        { "locks", "times the phase was looked for", "at first, and when it was not kept", 0, 0 },
        { "search_ns", "CPU time to find the tick, before", "not in own_ns", 0, 0 },
        { "runnable_ns", "its CPU was not idle for at least",
          "wall time of the search for the tick and of the burns (with a phase)", 0, 0 },
        { "cpu", "pinned to CPU", "unknown: to none", 0, 0 },
        { "realtime", "SCHED_FIFO needed", "others had the CPU when it was due", 0, 0 },
    };
    bool phased = plan->phase != LOAD_ANY_PHASE;
    double sampled = truth->wall_ns > 0 ? 100.0 * (double)(truth->ticks_met * truth->tick_ns) /
                                              (double)truth->wall_ns
                                        : 0;
    const struct cell cells[] = {
        cell_text(phases[plan->phase]),
        cell_real(plan->percent),
        cell_real(truth->percent),
        cell_natural(truth->own_ns),
        cell_natural(truth->wall_ns),
        cell_natural(truth->cycles),
        cell_natural(truth->missed),
        phased ? cell_natural(truth->ticks_met) : cell_unknown(),
        phased ? cell_natural(truth->ticks_unsure) : cell_unknown(),
        phased ? cell_real(sampled) : cell_unknown(),
        cell_natural(truth->period_ns),
        truth->tick_ns > 0 ? cell_natural(truth->tick_ns) : cell_unknown(),
        phased ? cell_natural(truth->tick_phase_ns) : cell_unknown(),
        phased ? cell_natural(truth->locks) : cell_unknown(),
        phased ? cell_natural(truth->search_ns) : cell_unknown(),
        phased ? cell_natural(truth->runnable_ns) : cell_unknown(),
        truth->cpu >= 0 ? cell_integer(truth->cpu) : cell_unknown(),
        cell_boolean(truth->realtime),
    };
    const struct truth shown = { "cpu", fields, cells, sizeof cells / sizeof cells[0], NULL };

    return show(view, &shown);
}

int show_load_fork(const struct view *view, const struct load_fork_truth *truth)
{
    static const struct field fields[] = {
        { "children", "children", "forked, and waited for", 0, 0 },
        { "failed", "forks refused", "by a limit", 0, 0 },
        { "late", "forks late", "by more than one period", 0, 0 },
        { "unreported", "children killed", "before they reported their time", 0, 0 },
        { "rate", "children a second", "achieved", 0, 2 },
        { "own_ns", "CPU time as the children reported it",
          "sum of each one's CPU clock, read as its last act: without its exit", 0, 0 },
        { "whole_ns", "CPU time with their exit",
          "sum of their CPU clocks after their exit: what exit records should add up to", 0, 0 },
        { "parent_ns", "CPU time of the parent", "forks and waits; not in the others", 0, 0 },
        { "wall_ns", "wall time", "from the first fork to the last end", 0, 0 },
    };
    const struct cell cells[] = {
        cell_natural(truth->children), cell_natural(truth->failed),
        cell_natural(truth->late),     cell_natural(truth->unreported),
        cell_real(truth->rate),        cell_natural(truth->own_ns),
        cell_natural(truth->whole_ns), cell_natural(truth->parent_ns),
        cell_natural(truth->wall_ns),
    };
    const struct truth shown = { "fork", fields, cells, sizeof cells / sizeof cells[0], NULL };

    return show(view, &shown);
}

int show_load_memory(const struct view *view, const struct load_memory_truth *truth)
{
    static const struct field fields[] = {
        { "step_count", "steps", "taken", 0, 0 },
        { "bytes", "taken", "whole pages, written to", 0, 0 },
        { "pages", "pages", "written to once", 0, 0 },
        { "page_bytes", "page", "size of a page", 0, 0 },
        { "minor_faults", "minor faults", "getrusage() over the writes", 0, 0 },
        { "resident_bytes", "resident", "mincore() after each step", 0, 0 },
        { "wall_ns", "wall time", "pauses and checks included", 0, 0 },
    };
    static const struct field step_fields[] = {
        { "number", "step", "from 1", 0, 0 },
        { "bytes", "bytes", "of this step", 0, 0 },
        { "held_bytes", "held", "of this step and all before", 0, 0 },
        { "touched_pages", "pages", "written to", 0, 0 },
        { "minor_faults", "minor faults", "getrusage() over this step", 0, 0 },
        { "resident_bytes", "resident", "of this step, by mincore()", 0, 0 },
    };
    const struct cell cells[] = {
        cell_natural(truth->steps),        cell_natural(truth->bytes),
        cell_natural(truth->pages),        cell_natural(truth->page_bytes),
        cell_natural(truth->minor_faults), cell_natural(truth->resident_bytes),
        cell_natural(truth->wall_ns),
    };
    static struct cell step_cells[LOAD_STEPS_MAX][6];
    const struct table rows = { "steps",           TABLE_ROWS,           step_fields, 6,
                                &step_cells[0][0], (size_t)truth->steps, false };
    const struct truth shown = { "memory", fields, cells, sizeof cells / sizeof cells[0], &rows };

    for (size_t i = 0; i < truth->steps; i++) {
        const struct load_step *step = &truth->each[i];

        step_cells[i][0] = cell_natural(step->number);
        step_cells[i][1] = cell_natural(step->bytes);
        step_cells[i][2] = cell_natural(step->held_bytes);
        step_cells[i][3] = cell_natural(step->touched_pages);
        step_cells[i][4] = cell_natural(step->minor_faults);
        step_cells[i][5] = cell_natural(step->resident_bytes);
    }
    return show(view, &shown);
}

int show_load_net(const struct view *view, const struct load_net_truth *truth)
{
    static const struct field fields[] = {
        { "sent_packets", "packets sent", "send() calls that succeeded", 0, 0 },
        { "received_packets", "packets received", "by the load's own receiver", 0, 0 },
        { "lost_packets", "packets lost", "sent, not received within a second", 0, 0 },
        { "sent_bytes", "payload sent", "without headers", 0, 0 },
        { "received_bytes", "payload received", "without headers", 0, 0 },
        { "header_bytes", "headers of each packet", "IP and UDP: what lo counts beside payload", 0,
          0 },
        { "interface_bytes", "as lo counts it, sent", "sent_bytes + sent_packets x header_bytes", 0,
          0 },
        { "wall_ns", "wall time", "from the first packet to the last", 0, 0 },
    };
    const struct cell cells[] = {
        cell_natural(truth->sent_packets),
        cell_natural(truth->received_packets),
        cell_natural(truth->lost_packets),
        cell_natural(truth->sent_bytes),
        cell_natural(truth->received_bytes),
        cell_natural(truth->header_bytes),
        cell_natural(truth->sent_bytes + truth->sent_packets * truth->header_bytes),
        cell_natural(truth->wall_ns),
    };
    const struct truth shown = { "net", fields, cells, sizeof cells / sizeof cells[0], NULL };

    return show(view, &shown);
}

/* Differences of a wall clock and a CPU clock read in turn may be slightly negative. */
static uint64_t off_cpu_ns(uint64_t wall_ns, uint64_t own_ns)
{
    return wall_ns > own_ns ? wall_ns - own_ns : 0;
}

int show_load_io(const struct view *view, const struct load_io_truth *truth)
{
    static const struct field fields[] = {
        { "operations", "operations", "calls that moved something", 0, 0 },
        { "bytes", "moved", "by these calls", 0, 0 },
        { "call_ns", "time within the calls", "wall time in read or write", 0, 0 },
        { "longest_ns", "longest call", "wall time", 0, 0 },
        { "sync_ns", "time to bring it to the disk", "fdatasync() after writing", 0, 0 },
        { "prepared_bytes", "written before, to be read", "not part of the off_cpu_ns", 0, 0 },
        { "storage_bytes", "read from storage for it", "by getrusage()", 0, 0 },
        { "own_ns", "CPU time of its own", "CLOCK_THREAD_CPUTIME_ID, measured", 0, 0 },
        { "waited_ns", "waited", "wall_ns - own_ns: for the disk, and after it for a CPU", 0, 0 },
        { "wall_ns", "wall time", "without what was prepared", 0, 0 },
    };
    const struct cell cells[] = {
        cell_natural(truth->operations),
        cell_natural(truth->bytes),
        cell_natural(truth->call_ns),
        cell_natural(truth->longest_ns),
        cell_natural(truth->sync_ns),
        cell_natural(truth->prepared_bytes),
        cell_natural(truth->storage_bytes),
        cell_natural(truth->own_ns),
        cell_natural(off_cpu_ns(truth->wall_ns, truth->own_ns)),
        cell_natural(truth->wall_ns),
    };
    const struct truth shown = { "io", fields, cells, sizeof cells / sizeof cells[0], NULL };

    return show(view, &shown);
}

int show_load_sleep(const struct view *view, const char *name, const struct load_sleep_plan *plan,
                    const struct load_sleep_truth *truth)
{
    static const struct field fields[] = {
        { "tid", "thread that sleeps", "and uses the CPU otherwise", 0, 0 },
        { "wanted_percent", "wanted", "of its time it was to be asleep", 0, 3 },
        { "percent", "asleep", "asleep_ns of wall_ns", 0, 3 },
        { "asleep_ns", "time asleep", "from its clock before the call to the clock of its waker", 0,
          0 },
        { "unsure_ns", "at most more than that by", "while it was being woken", 0, 0 },
        { "late_ns", "from there till it ran again", "run queue, way back from the call", 0, 0 },
        { "own_ns", "CPU time of its own", "CLOCK_THREAD_CPUTIME_ID, measured", 0, 0 },
        { "call_own_ns", "of this, falling asleep and waking", "also in asleep_ns or late_ns", 0,
          0 },
        { "preempted_ns", "sleeps with a preemption", "wall time of these calls", 0, 0 },
        { "wall_ns", "wall time", "CLOCK_MONOTONIC over the same interval", 0, 0 },
        { "sleeps", "sleeps", "one a period", 0, 0 },
        { "missed", "missed", "it came too late to sleep", 0, 0 },
    };
    const struct cell cells[] = {
        cell_integer(truth->tid),          cell_real(plan->percent),
        cell_real(truth->percent),         cell_natural(truth->asleep_ns),
        cell_natural(truth->unsure_ns),    cell_natural(truth->late_ns),
        cell_natural(truth->own_ns),       cell_natural(truth->call_own_ns),
        cell_natural(truth->preempted_ns), cell_natural(truth->wall_ns),
        cell_natural(truth->sleeps),       cell_natural(truth->missed),
    };
    const struct truth shown = { name, fields, cells, sizeof cells / sizeof cells[0], NULL };

    return show(view, &shown);
}

int show_load_fault(const struct view *view, const struct load_fault_truth *truth)
{
    static const struct field fields[] = {
        { "pages", "pages", "touched", 0, 0 },
        { "major_faults", "major faults", "getrusage() over touching them", 0, 0 },
        { "touch_ns", "time of touching", "wall time", 0, 0 },
        { "own_ns", "of it on a CPU", "CLOCK_THREAD_CPUTIME_ID, measured", 0, 0 },
        { "waited_ns", "waited", "touch_ns - own_ns: for pages, and after that for a CPU", 0, 0 },
        { "longest_ns", "longest touch", "wall time of one page", 0, 0 },
        { "wall_ns", "wall time", "putting the pages out of memory is in it", 0, 0 },
    };
    const struct cell cells[] = {
        cell_natural(truth->pages),
        cell_natural(truth->major_faults),
        cell_natural(truth->touch_ns),
        cell_natural(truth->own_ns),
        cell_natural(off_cpu_ns(truth->touch_ns, truth->own_ns)),
        cell_natural(truth->longest_ns),
        cell_natural(truth->wall_ns),
    };
    const struct truth shown = { "fault", fields, cells, sizeof cells / sizeof cells[0], NULL };

    return show(view, &shown);
}

int show_load_threads(const struct view *view, const struct load_threads_truth *truth)
{
    static const struct field fields[] = {
        { "thread_count", "threads", "run", 0, 0 },
        { "threads_ns", "CPU time of the threads", "sum of their clocks", 0, 0 },
        { "own_ns", "CPU time of the process", "the same, and making and ending them", 0, 0 },
        { "wall_ns", "wall time", "from the first to the last", 0, 0 },
    };
    static const struct field thread_fields[] = {
        { "tid", "tid", "thread", 0, 0 },
        { "percent", "used %", "own_ns of wall_ns", 0, 3 },
        { "own_ns", "CPU time ns", "CLOCK_THREAD_CPUTIME_ID", 0, 0 },
        { "wall_ns", "wall time ns", "over the same interval", 0, 0 },
    };
    const struct cell cells[] = {
        cell_natural(truth->threads),
        cell_natural(truth->threads_ns),
        cell_natural(truth->own_ns),
        cell_natural(truth->wall_ns),
    };
    static struct cell thread_cells[LOAD_THREADS_MAX][4];
    const struct table rows = { "threads", TABLE_ROWS,          thread_fields,
                                4,         &thread_cells[0][0], (size_t)truth->threads,
                                false };
    const struct truth shown = { "threads", fields, cells, sizeof cells / sizeof cells[0], &rows };

    for (size_t i = 0; i < truth->threads; i++) {
        const struct load_thread_truth *thread = &truth->each[i];

        thread_cells[i][0] = cell_integer(thread->tid);
        thread_cells[i][1] = cell_real(thread->percent);
        thread_cells[i][2] = cell_natural(thread->own_ns);
        thread_cells[i][3] = cell_natural(thread->wall_ns);
    }
    return show(view, &shown);
}
