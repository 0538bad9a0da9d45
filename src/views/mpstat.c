/*
 * The columns of mpstat -P ALL (sysstat 12), from a record of "camp.wait/1", for scripts that read
 * them. %iowait follows the definition "own": idle while a thread that slept on this CPU waits for
 * a disk; the kernel's value if unknown. %idle is the rest of idle time. Columns that camp does not
 * measure are "-": niced code and virtual machines are part of %usr. %steal is within the others.
 *
 *     22:49:27  CPU   %usr %nice %sys %iowait %irq %soft %steal %guest %gnice %idle
 *     22:49:27  all  39.60     - 9.90    0.50 0.00  0.00   1.49      -      - 48.51
 */
#include "format.h"

#include <inttypes.h>
#include <string.h>

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

int mpstat_record(const struct view_options *options, const struct record *record, uint64_t number)
{
    const struct table *cpus = &record->tables[table_by_name(record, "cpus")];
    struct cell time = cell_of(record, "summary", 0, "time");
    FILE *stream = options->stream;
    char clock[12] = "-";

    if (time.kind == CELL_TEXT && strlen(time.text) > 11)
        snprintf(clock, sizeof clock, "%.8s", time.text + 11);
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
