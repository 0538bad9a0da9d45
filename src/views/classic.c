/*
 * The lines of cpuchk, as the CMG98 paper prints them, from a record of "camp.check/1": scripts of
 * that time (awk on "msac") still work. Errors of processes are without a sign, as there.
 *
 *     00:17:10 cpu time accuracy check  proc 45  new 0
 *     pid 6262 meas 2.413 samp 0.002 err 99.93%
 *     msac 42 meas 5.763 samp 3.027 err -47.48% abs 48.56% max 100.00%
 */
#include "format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The cell of a column by its name; unknown where there is none. */
static struct cell find(const struct record *record, const char *table_name, size_t row,
                        const char *column)
{
    size_t index = table_by_name(record, table_name);
    const struct table *table = &record->tables[index];

    for (size_t i = 0; index < record->table_count && i < table->field_count; i++) {
        if (table->fields[i].name != NULL && strcmp(table->fields[i].name, column) == 0 &&
            row < table->row_count)
            return table->cells[row * table->field_count + i];
    }
    return cell_unknown();
}

static void write_real(FILE *stream, const char *label, struct cell cell, int decimals,
                       const char *unit)
{
    if (cell.kind == CELL_REAL)
        fprintf(stream, " %s %.*f%s", label, decimals, cell.real, unit);
    else
        fprintf(stream, " %s -", label);
}

static void write_process(FILE *stream, const struct record *record, size_t row)
{
    struct cell pid = find(record, "processes", row, "pid");
    struct cell error = find(record, "processes", row, "error_percent");

    if (pid.kind == CELL_INTEGER)
        fprintf(stream, "pid %" PRId64, pid.integer);
    else
        fputs("pid -", stream);
    if (error.kind == CELL_REAL)
        error.real = fabs(error.real);
    write_real(stream, "meas", find(record, "processes", row, "measured_percent"), 3, "");
    write_real(stream, "samp", find(record, "processes", row, "sampled_percent"), 3, "");
    write_real(stream, "err", error, 2, "%");
    putc('\n', stream);
}

static int classic_record(const struct view_options *options, const struct record *record,
                          size_t number)
{
    size_t processes = table_by_name(record, "processes");
    struct cell time = find(record, "interval", 0, "time");
    FILE *stream = options->stream;

    (void)number;
    fprintf(stream, "%.8s cpu time accuracy check  proc %" PRIu64 "  new %" PRIu64 "\n",
            time.kind == CELL_TEXT && strlen(time.text) > 11 ? time.text + 11 : "-",
            find(record, "total", 0, "processes").natural, find(record, "total", 0, "new").natural);
    for (size_t row = 0; row < record->tables[processes].row_count; row++) {
        if (find(record, "processes", row, "measured_percent").real > 0)
            write_process(stream, record, row);
    }
    fprintf(stream, "msac %" PRIu64, find(record, "total", 0, "active").natural);
    write_real(stream, "meas", find(record, "total", 0, "measured_percent"), 3, "");
    write_real(stream, "samp", find(record, "total", 0, "sampled_percent"), 3, "");
    write_real(stream, "err", find(record, "total", 0, "error_percent"), 2, "%");
    write_real(stream, "abs", find(record, "total", 0, "absolute_error_percent"), 2, "%");
    write_real(stream, "max", find(record, "total", 0, "maximum_error_percent"), 2, "%");
    putc('\n', stream);
    return view_flush(options);
}

const struct view classic_view = {
    .name = "classic",
    .help = "the lines of cpuchk",
    .record = classic_record,
};
