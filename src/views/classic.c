/*
 * The output formats of two older tools, for scripts that parse these formats.
 *
 * A record of "camp.check/1" is written like the output of cpuchk in the CMG98 paper. Scripts
 * search for "msac" in this output. The errors of processes have no sign, as in the paper.
 *
 *     00:17:10 cpu time accuracy check  proc 45  new 0
 *     pid 6262 meas 2.413 samp 0.002 err 99.93%
 *     msac 42 meas 5.763 samp 3.027 err -47.48% abs 48.56% max 100.00%
 *
 * The number after "msac" is how many processes are in the totals, idle ones too. Solaris could not
 * measure its system processes (3 of the 45 here). Linux measures all, so it equals "proc". Both
 * are
 * "-" for a recording, which has no rows of idle processes.
 *
 * A record of "camp.wait/1" has the columns of mpstat -P ALL (sysstat 12):
 *
 *     22:49:27  CPU   %usr %nice %sys %iowait %irq %soft %steal %guest %gnice %idle
 *     22:49:27  all  39.60     - 9.90    0.50 0.00  0.00   1.49      -      - 48.51
 *
 *  - %iowait is the time in which a CPU is idle while a thread that slept on this CPU waits for a
 *    disk. If this time is unknown, %iowait is the iowait time of the kernel.
 *  - %idle is the idle time without %iowait.
 *  - %usr contains the time of niced processes and of guests, so %nice, %guest and %gnice are "-".
 *  - Stolen time (%steal) is also counted in the other columns.
 */
#include "format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void write_real(FILE *stream, const char *label, struct cell cell, int decimals,
                       const char *unit)
{
    if (cell.kind == CELL_REAL)
        fprintf(stream, " %s %.*f%s", label, decimals, cell.real, unit);
    else
        fprintf(stream, " %s -", label);
}

static void write_natural(FILE *stream, const char *label, struct cell cell)
{
    if (cell.kind == CELL_NATURAL)
        fprintf(stream, "%s %" PRIu64, label, cell.natural);
    else
        fprintf(stream, "%s -", label);
}

static void write_process(FILE *stream, const struct record *record, size_t row)
{
    struct cell pid = cell_of(record, "processes", row, "pid");
    struct cell error = cell_of(record, "processes", row, "error_percent");

    if (pid.kind == CELL_INTEGER)
        fprintf(stream, "pid %" PRId64, pid.integer);
    else
        fputs("pid -", stream);
    if (error.kind == CELL_REAL)
        error.real = fabs(error.real);
    write_real(stream, "meas", cell_of(record, "processes", row, "measured_percent"), 3, "");
    write_real(stream, "samp", cell_of(record, "processes", row, "sampled_percent"), 3, "");
    write_real(stream, "err", error, 2, "%");
    putc('\n', stream);
}

static int cpuchk_record(const struct view_options *options, const struct record *record,
                         uint64_t number)
{
    size_t processes = table_by_name(record, "processes");
    struct cell time = cell_of(record, "interval", 0, "time");
    struct cell totalled = cell_of(record, "total", 0, "processes");
    FILE *stream = options->stream;

    (void)number;
    fprintf(stream, "%.8s cpu time accuracy check",
            time_of_day(time.kind == CELL_TEXT ? time.text : NULL));
    write_natural(stream, "  proc", totalled);
    write_natural(stream, "  new", cell_of(record, "total", 0, "new"));
    putc('\n', stream);
    for (size_t row = 0; row < record->tables[processes].row_count; row++) {
        if (cell_of(record, "processes", row, "measured_percent").real > 0)
            write_process(stream, record, row);
    }
    write_natural(stream, "msac", totalled);
    write_real(stream, "meas", cell_of(record, "total", 0, "measured_percent"), 3, "");
    write_real(stream, "samp", cell_of(record, "total", 0, "sampled_percent"), 3, "");
    write_real(stream, "err", cell_of(record, "total", 0, "error_percent"), 2, "%");
    write_real(stream, "abs", cell_of(record, "total", 0, "absolute_error_percent"), 2, "%");
    write_real(stream, "max", cell_of(record, "total", 0, "maximum_error_percent"), 2, "%");
    putc('\n', stream);
    return view_flush(options);
}

static void write_percent(FILE *stream, struct cell cell)
{
    if (cell.kind == CELL_REAL)
        fprintf(stream, " %7.2f", cell.real);
    else
        fprintf(stream, " %7s", "-");
}

static void write_cpu(FILE *stream, const struct record *record, const char *table, size_t row)
{
    struct cell idle = cell_of(record, table, row, "idle_percent");
    struct cell wait = cell_of(record, table, row, "own_percent");

    if (wait.kind != CELL_REAL)
        wait = cell_of(record, table, row, "kernel_percent");
    if (idle.kind == CELL_REAL && wait.kind == CELL_REAL)
        idle.real -= wait.real;
    write_percent(stream, cell_of(record, table, row, "user_percent"));
    write_percent(stream, cell_unknown());
    write_percent(stream, cell_of(record, table, row, "system_percent"));
    write_percent(stream, wait);
    write_percent(stream, cell_of(record, table, row, "irq_percent"));
    write_percent(stream, cell_of(record, table, row, "softirq_percent"));
    write_percent(stream, cell_of(record, table, row, "steal_percent"));
    write_percent(stream, cell_unknown());
    write_percent(stream, cell_unknown());
    write_percent(stream, idle);
    putc('\n', stream);
}

static int mpstat_record(const struct view_options *options, const struct record *record,
                         uint64_t number)
{
    const struct table *cpus = &record->tables[table_by_name(record, "cpus")];
    struct cell time = cell_of(record, "summary", 0, "time");
    FILE *stream = options->stream;
    char clock[12];

    snprintf(clock, sizeof clock, "%.8s", time_of_day(time.kind == CELL_TEXT ? time.text : NULL));
    if (number > 0)
        putc('\n', stream);
    fprintf(stream,
            "%-11s  CPU    %%usr   %%nice    %%sys %%iowait    %%irq   %%soft  %%steal  %%guest"
            "  %%gnice   %%idle\n",
            clock);
    fprintf(stream, "%-11s  all", clock);
    write_cpu(stream, record, "machine", 0);
    for (size_t row = 0; row < cpus->row_count; row++) {
        fprintf(stream, "%-11s %4" PRId64, clock, cell_of(record, "cpus", row, "cpu").integer);
        write_cpu(stream, record, "cpus", row);
    }
    return view_flush(options);
}

static int classic_record(const struct view_options *options, const struct record *record,
                          uint64_t number)
{
    return strcmp(record->schema, "camp.wait/1") == 0 ? mpstat_record(options, record, number)
                                                      : cpuchk_record(options, record, number);
}

const struct view classic_view = {
    .name = "classic",
    .help = "the lines of cpuchk, the columns of mpstat",
    .record = classic_record,
};
