/*
 * The columns of mpstat and vmstat of Solaris, of a record of "camp.wait/1". docs/wait.md says
 * where each column comes from. What the record does not have is "-".
 *
 *     CPU   minf mjf  xcal  intr ithr   csw  icsw migr smtx srw  syscl  usr sys  wt idl
 *     all    610   3   350  1900    -  2254    30    -    -   -   8000   15   0  30  55
 *
 * mpstat writes a heading for each interval, and vmstat for every 19 lines, as on Solaris.
 */
#include "format.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define HEADING_EVERY 19
#define DISKS 4
#define KIB 1024

/* A column of counts. `field` is its name in the record; empty if Linux does not count it. */
struct column {
    const char *name;
    int width;
    const char *field;
};

static void write_names(FILE *stream, const struct column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(stream, " %*s", columns[i].width - 1, columns[i].name);
}

/* Writes a blank, and a number, divided by `unit` and without decimals, at the right of the other
 * columns of `width`. A number that is too long moves the rest of the line. */
static void write_number(FILE *stream, int width, struct cell cell, double unit)
{
    const double value = cell.kind == CELL_REAL      ? cell.real
                         : cell.kind == CELL_NATURAL ? (double)cell.natural
                                                     : 0;

    if (cell.kind == CELL_REAL || cell.kind == CELL_NATURAL)
        fprintf(stream, " %*.0f", width - 1, value / unit);
    else
        fprintf(stream, " %*s", width - 1, "-");
}

static struct cell of_system(const struct record *record, const char *column)
{
    return cell_of(record, "system", 0, column);
}

/* The sum is unknown if a part is. */
static struct cell sum(struct cell a, struct cell b, double sign)
{
    if (a.kind != CELL_REAL || b.kind != CELL_REAL)
        return cell_unknown();
    return cell_real(a.real + sign * b.real);
}

/* Time in interrupts is time of the kernel, as on Solaris. */
static struct cell system_time(const struct record *record, const char *table, size_t row)
{
    const struct cell interrupts = sum(cell_of(record, table, row, "irq_percent"),
                                       cell_of(record, table, row, "softirq_percent"), 1);

    return sum(cell_of(record, table, row, "system_percent"), interrupts, 1);
}

/* The columns usr to idl. */
static void write_times(FILE *stream, const struct record *record, const char *table, size_t row)
{
    struct cell wait = cell_of(record, table, row, "own_percent");

    if (wait.kind != CELL_REAL)
        wait = cell_of(record, table, row, "kernel_percent");
    write_number(stream, 5, cell_of(record, table, row, "user_percent"), 1);
    write_number(stream, 4, system_time(record, table, row), 1);
    write_number(stream, 4, wait, 1);
    write_number(stream, 4, sum(cell_of(record, table, row, "idle_percent"), wait, -1), 1);
    putc('\n', stream);
}

/* Linux has no count of interrupts as threads (ithr), migrations (migr), and spins on mutexes and
 * other locks (smtx, srw). Page faults, involuntary switches and system calls are counted for the
 * machine, not for a CPU. */
static const struct column mpstat_columns[] = {
    { "minf", 7, "minor_faults_per_s" },
    { "mjf", 4, "major_faults_per_s" },
    { "xcal", 6, "cross_calls_per_s" },
    { "intr", 6, "interrupts_per_s" },
    { "ithr", 5, "" },
    { "csw", 6, "context_switches_per_s" },
    { "icsw", 6, "involuntary_switches_per_s" },
    { "migr", 5, "" },
    { "smtx", 5, "" },
    { "srw", 4, "" },
    { "syscl", 7, "system_calls_per_s" },
};

static void write_mpstat_row(FILE *stream, const struct record *record, const char *counts,
                             const char *times, size_t row)
{
    for (size_t i = 0; i < ARRAY_COUNT(mpstat_columns); i++)
        write_number(stream, mpstat_columns[i].width,
                     cell_of(record, counts, row, mpstat_columns[i].field), 1);
    write_times(stream, record, times, row);
}

static int mpstat_record(const struct view_options *options, const struct record *record,
                         uint64_t number)
{
    const struct table *cpus = &record->tables[table_by_name(record, "cpus")];
    FILE *stream = options->stream;

    (void)number;
    fputs("CPU", stream);
    write_names(stream, mpstat_columns, ARRAY_COUNT(mpstat_columns));
    fputs("  usr sys  wt idl\nall", stream);
    write_mpstat_row(stream, record, "system", "machine", 0);
    for (size_t row = 0; row < cpus->row_count; row++) {
        fprintf(stream, "%3" PRId64, cell_of(record, "cpus", row, "cpu").integer);
        write_mpstat_row(stream, record, "cpus", "cpus", row);
    }
    return view_flush(options);
}

static size_t disks_shown(const struct record *record)
{
    const size_t count = record->tables[table_by_name(record, "disks")].row_count;

    return count < DISKS ? count : DISKS;
}

/* A column of a disk is as wide as the disk's name. Returns the width of all. */
static int disk_width(const struct record *record, size_t disk)
{
    const int width = (int)strlen(cell_of(record, "disks", disk, "disk").text);

    return width > 2 ? width : 2;
}

/* The columns r to sr. Linux swaps no whole processes (w), does not count pages that were taken
 * back from the free list (re), and expects no shortfall (de). */
static const struct column vmstat_columns[] = {
    { "r", 2, "run_queue" },
    { "b", 2, "blocked" },
    { "w", 2, "" },
    { "swap", 9, "" }, /* see write_vmstat_column() */
    { "free", 9, "available_bytes" },
    { "re", 3, "" },
    { "mf", 7, "minor_faults_per_s" },
    { "pi", 6, "paged_in_bytes_per_s" },
    { "po", 6, "paged_out_bytes_per_s" },
    { "fr", 5, "reclaimed_bytes_per_s" },
    { "de", 3, "" },
    { "sr", 5, "scanned_bytes_per_s" },
};

/* What a new program can get in memory and swap together. */
static struct cell available_swap(const struct record *record)
{
    const struct cell available = of_system(record, "available_bytes");
    const struct cell swap = of_system(record, "swap_free_bytes");

    if (available.kind != CELL_NATURAL || swap.kind != CELL_NATURAL)
        return cell_unknown();
    return cell_natural(available.natural + swap.natural);
}

/* Memory is in KB, but the scanned memory (sr) in pages. */
static void write_vmstat_column(FILE *stream, const struct column *column,
                                const struct record *record)
{
    const bool is_swap = strcmp(column->name, "swap") == 0;
    const struct cell cell = is_swap ? available_swap(record) : of_system(record, column->field);
    double unit = 1;

    if (strcmp(column->name, "sr") == 0)
        unit = (double)sysconf(_SC_PAGESIZE);
    else if (is_swap || strstr(column->field, "bytes") != NULL)
        unit = KIB;
    write_number(stream, column->width, cell, unit);
}

static void write_vmstat_heading(FILE *stream, const struct record *record)
{
    int width = 0;

    for (size_t i = 0; i < disks_shown(record); i++)
        width += 1 + disk_width(record, i);
    fprintf(stream, "%-25s%-35s%-*s        faults          cpu\n", " kthr       memory",
            "        page", width, width > 0 ? "disk" : "");
    write_names(stream, vmstat_columns, ARRAY_COUNT(vmstat_columns));
    for (size_t i = 0; i < disks_shown(record); i++)
        fprintf(stream, " %*s", disk_width(record, i), cell_of(record, "disks", i, "disk").text);
    fputs("     in      sy     cs  us  sy  id\n", stream);
}

static int vmstat_record(const struct view_options *options, const struct record *record,
                         uint64_t number)
{
    FILE *stream = options->stream;

    if (number % HEADING_EVERY == 0)
        write_vmstat_heading(stream, record);
    for (size_t i = 0; i < ARRAY_COUNT(vmstat_columns); i++)
        write_vmstat_column(stream, &vmstat_columns[i], record);
    for (size_t i = 0; i < disks_shown(record); i++)
        write_number(stream, 1 + disk_width(record, i),
                     cell_of(record, "disks", i, "transfers_per_s"), 1);
    write_number(stream, 7, of_system(record, "interrupts_per_s"), 1);
    write_number(stream, 8, of_system(record, "system_calls_per_s"), 1);
    write_number(stream, 7, of_system(record, "context_switches_per_s"), 1);
    write_number(stream, 4, cell_of(record, "machine", 0, "user_percent"), 1);
    write_number(stream, 4, system_time(record, "machine", 0), 1);
    write_number(stream, 4, cell_of(record, "machine", 0, "idle_percent"), 1);
    putc('\n', stream);
    return view_flush(options);
}

const struct view mpstat_view = {
    .name = "mpstat",
    .help = "the columns of mpstat of Solaris",
    .record = mpstat_record,
};

const struct view vmstat_view = {
    .name = "vmstat",
    .help = "the columns of vmstat of Solaris",
    .record = vmstat_record,
};
