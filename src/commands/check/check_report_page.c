#include "check_report.h"

#include "ledger/words.h"
#include "sources/machine/hidden.h"
#include "views/html.h"
#include "views/memory_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES_SHOWN 30

/* The first column is the time. Each other column has the same name as a column in a one-row table
 * of the record (check_fields.c). */
const struct field report_interval_fields[REPORT_COLUMNS] = {
    { "time", "end", "of the interval", 0, 0 },
    { "interval_s", "length s", "its real length", 0, 3 },
    { "processes", "processes", "living at the end, and ended; with a selection: those in it", 0,
      0 },
    { "ended", "ended", "in the interval", 0, 0 },
    { "measured_percent", "measured %", "CPU time of processes by the scheduler, of one CPU", 0,
      3 },
    { "sampled_percent", "sampled %", "what ticks charged to them", 0, 3 },
    { "error_percent", "error %", "(sampled - measured) / measured: errors cancel out", 0, 2 },
    { "absolute_error_percent", "absolute %", "sum of |sampled - measured| / measured", 0, 2 },
    { "maximum_error_percent", "maximum %", "largest |sampled - measured| / measured of one", 0,
      2 },
    { "stray_sampled_percent", "stray %", "sampled of processes not measured to run", 0, 3 },
    { "measured_busy_percent", "CPUs busy %", "measured, all CPUs, of one", 0, 2 },
    { "sampled_busy_percent", "sampled %", "what their columns call busy", 0, 2 },
    { "steal_percent", "steal %", "taken by a hypervisor", 0, 2 },
    { "unaccounted_percent", "no process's %", "measured busy that is no process's", 0, 2 },
    { "unseen", "unseen", "tasks that started and exited unseen, at most", 0, 0 },
    { "lost", "lost", "tasks whose exit record the kernel dropped", 0, 0 },
    { "partial", "partial", "processes or CPUs whose last interval is unknown", 0, 0 },
    { "unread_percent", "unread %", "CPU time at most of ended processes since their last tick", 0,
      2 },
};

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : NAN;
}

__attribute__((format(printf, 2, 3))) static void paragraph(FILE *stream, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    html_paragraph(stream, text);
}

static bool is_sampled(const struct check_report *report)
{
    return tasks_tiers[report->context.tier].is_sampled;
}

static void write_summary(FILE *stream, const struct check_report *report)
{
    const struct accuracy *whole = &report->whole;
    const double elapsed_ns = report->elapsed_s * 1e9;

    if (is_sampled(report) && whole->measured > 0)
        paragraph(
            stream,
            "By the scheduler's measure processes used %.2f %% of one CPU; clock ticks sampled "
            "%.2f %%. The error is %+.2f %%, the absolute error, in which none cancels another, "
            "%.2f %% of what was measured.",
            percent(whole->measured, elapsed_ns), percent(whole->sampled, elapsed_ns),
            error_percent(whole->measured, whole->sampled), absolute_error_percent(whole));
    else if (tasks_tiers[report->context.tier].is_measured)
        paragraph(stream, "By the scheduler's measure processes used %.2f %% of one CPU.",
                  percent(whole->measured, elapsed_ns));
    else
        paragraph(stream,
                  "No CPU time is measured, so the error of samples is not known. Tier %s "
                  "lacks %s.",
                  tier_name(report->context.tier), tier_lacks(report->context.tier, false));
    if (!is_sampled(report))
        paragraph(stream, "Sampled time of processes is not known on this tier, so their error is "
                          "not.");
    if (isnan(report->measured_busy_s))
        return;
    if (isnan(report->sampled_busy_s))
        paragraph(stream, "CPUs were busy for %.2f %% of one by measure.",
                  percent(report->measured_busy_s, report->elapsed_s));
    else
        paragraph(stream, "CPUs were busy for %.2f %% of one by measure, %.2f %% by their samples.",
                  percent(report->measured_busy_s, report->elapsed_s),
                  percent(report->sampled_busy_s, report->elapsed_s));
}

static int write_facts(FILE *stream, const struct check_report *report)
{
    static const struct field fields[] = { { "what", "what", "", 0, 0 }, { "is", "is", "", 0, 0 } };
    const size_t count = report->picture.series.count;
    const bool is_recorded = report->context.is_recorded;
    char length[64];
    const char *const rows[][2] = {
        { "command", report->command },
        { is_recorded ? "source" : "machine", report->source },
        { "kernel", is_recorded ? NULL : report->kernel },
        { "user and system time", report->context.accounting },
        { "camp", CAMP_VERSION },
        { "first interval ended", report->begin },
        { "last interval ended", report->record.time },
        { "intervals", length },
        { "tier", tier_name(report->context.tier) },
        { "which cannot see", tier_lacks(report->context.tier, report->context.final_clocks) },
        { "what would change that",
          tier_change(report->context.tier, report->context.final_clocks || is_recorded) },
        { "processes of other users", is_recorded              ? NULL
                                      : report->context.hidden ? "hidden (hidepid): " HIDDEN_CHANGE
                                                               : "seen" },
        { "processes", check_selects_all(&report->context.selection) ? "all" : "a selection" },
    };
    struct cell cells[2 * ARRAY_COUNT(rows)];
    struct table table = TABLE_OF_ROWS("facts", fields, cells, 0);

    snprintf(length, sizeof length, "%zu, of %.3f s together", count, report->elapsed_s);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (rows[i][1] == NULL)
            continue;
        cells[2 * table.row_count] = cell_text(rows[i][0]);
        cells[2 * table.row_count++ + 1] = cell_text(rows[i][1]);
    }
    html_heading(stream, "How it was measured");
    html_table(stream, &table, NULL);
    return CAMP_OK;
}

static int write_losses(FILE *stream, const struct check_report *report)
{
    static const struct field fields[] = {
        { "unseen", "unseen", "tasks that started and exited unseen, at most", 0, 0 },
        { "lost", "lost", "tasks whose exit record the kernel dropped", 0, 0 },
        { "partial", "partial", "processes or CPUs whose last interval is unknown", 0, 0 },
        { "unread_percent", "unread %, at most, in one interval",
          "CPU time at most of ended processes since their last tick: the largest", 0, 2 },
    };
    const struct cell cells[] = {
        tasks_tiers[report->context.tier].counts_unseen ? cell_natural(report->losses.unseen)
                                                        : cell_unknown(),
        cell_natural(report->losses.lost),
        cell_natural(report->losses.partial),
        cell_real(report->unread_percent),
    };
    const struct table table = TABLE_OF_ROWS("losses", fields, cells, 1);

    html_heading(stream, "What was lost");
    html_table(
        stream, &table,
        "Tasks that came and went unseen, whose records were dropped, or whose last interval "
        "is not known.");
    return CAMP_OK;
}

static int write_picture(FILE *stream, const struct check_report *report,
                         int (*draw)(FILE *, const struct error_picture *))
{
    struct memory_text text;
    int r;

    if (!memory_text_open(&text))
        return CAMP_E_NOMEM;
    r = draw(text.stream, &report->picture);
    if (!memory_text_close(&text))
        r = CAMP_E_NOMEM;
    if (r == CAMP_OK)
        html_picture(stream, text.text);
    free(text.text);
    return r;
}

static int write_pictures(FILE *stream, const struct check_report *report)
{
    int r;

    html_heading(stream, "Error over time, and by load");
    r = write_picture(stream, report, error_over_time);
    return r == CAMP_OK ? write_picture(stream, report, error_by_load) : r;
}

static int write_fit(FILE *stream, const struct check_report *report)
{
    static const struct field fields[] = {
        { "a", "a", "1 / error of an idle machine", 0, -7 },
        { "a_error", "\xc2\xb1", "its standard error", 0, -3 },
        { "b", "b", "how much 1 / error grows with a percent of a CPU", 0, -7 },
        { "b_error", "\xc2\xb1", "its standard error", 0, -3 },
        { "b_probability", "p", "of such a b, or further from 0, were there no relation", 0, -3 },
        { "deviance", "deviance", "of the curve", 0, -5 },
        { "null_deviance", "null deviance", "of one error for all loads", 0, -5 },
        { "dispersion", "dispersion", "Pearson's chi squared / (intervals - 2)", 0, -4 },
        { "aic", "AIC", "Akaike's information criterion", 0, -6 },
        { "iterations", "iterations", "of least squares", 0, 0 },
        { "used", "intervals", "with an error above 0", 0, 0 },
        { "left_out", "left out", "without one", 0, 0 },
    };
    const struct inverse_fit *fit = &report->picture.fit;
    const struct cell cells[] = {
        cell_real(fit->a),
        cell_real(fit->a_error),
        cell_real(fit->b),
        cell_real(fit->b_error),
        cell_real(fit->b_probability),
        cell_real(fit->deviance),
        cell_real(fit->null_deviance),
        cell_real(fit->dispersion),
        cell_real(fit->aic),
        cell_natural(fit->iterations),
        cell_natural(fit->used),
        cell_natural(fit->left_out),
    };
    const struct table table = TABLE_OF_ROWS("fit", fields, cells, 1);
    char sentences[ERROR_SENTENCES][ERROR_SENTENCE_SIZE];

    error_sentences(&report->picture, sentences);
    html_heading(stream, "The inverse curve");
    html_paragraph(stream, sentences[0]);
    if (fit->outcome == INVERSE_FITTED)
        html_table(stream, &table,
                   "error = 1 / (a + b \xc3\x97 measured CPU %), a generalized linear model of the "
                   "Gamma family with inverse link.");
    return CAMP_OK;
}

static int write_intervals(FILE *stream, const struct check_report *report)
{
    const size_t count = report->picture.series.count;
    const size_t shown = count < REPORT_INTERVALS ? count : REPORT_INTERVALS;
    struct cell *cells = calloc(shown * REPORT_COLUMNS, sizeof *cells);
    char caption[128];
    struct table table = TABLE_OF_ROWS("intervals", report_interval_fields, cells, shown);

    if (cells == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < shown; i++) {
        const struct report_interval *interval =
            &report->intervals[(count - shown + i) % REPORT_INTERVALS];

        memcpy(&cells[i * REPORT_COLUMNS], interval->cells, sizeof interval->cells);
        cells[i * REPORT_COLUMNS] = cell_text(interval->time);
    }
    snprintf(caption, sizeof caption, "%s %zu of %zu %s. Percent of one CPU.",
             shown < count ? "The last" : "All", shown, count,
             noun_of(count, "interval", "intervals"));
    html_heading(stream, "Intervals");
    html_table(stream, &table, caption);
    free(cells);
    return CAMP_OK;
}

/* Puts the largest sampling error first. Without samples, puts the most CPU time first. */
static int compare_processes(const void *left, const void *right, void *context)
{
    const struct report_process *processes = context;
    const struct report_process *a = &processes[*(const size_t *)left];
    const struct report_process *b = &processes[*(const size_t *)right];

    if (isfinite(a->absolute_s) && isfinite(b->absolute_s) && a->absolute_s != b->absolute_s)
        return a->absolute_s < b->absolute_s ? 1 : -1;
    return a->measured_s < b->measured_s ? 1 : a->measured_s > b->measured_s ? -1 : 0;
}

static void fill_process(const struct check_report *report, size_t number, struct cell *cells)
{
    const struct report_process *process = &report->processes[number];
    const struct entity *entity = &report->registry.entities[number].entity;
    const double error = error_percent(process->measured_s, process->sampled_s);

    cells[0] = entity->id > 0 ? cell_integer(entity->id) : cell_unknown();
    cells[1] = cell_text(entity->name);
    cells[2] = cell_real(process->measured_s);
    cells[3] = cell_real(process->sampled_s);
    cells[4] = emphasised(cell_real(error),
                          emphasis_of_error(error, percent(process->sampled_s - process->measured_s,
                                                           report->elapsed_s)));
    cells[5] = cell_real(process->absolute_s);
}

static int write_processes(FILE *stream, const struct check_report *report)
{
    static const struct field fields[] = {
        { "pid", "pid", "-: processes of one name that ended, or were not seen for long", 0, 0 },
        { "name", "name", "of the task (comm)", 0, 0 },
        { "measured_s", "measured s", "on a CPU by the scheduler, all intervals", 0, 3 },
        { "sampled_s", "sampled s", "what ticks charged to it", 0, 3 },
        { "error_percent", "error %", "(sampled - measured) / measured", 0, 1 },
        { "absolute_s", "absolute s", "sum over intervals of |sampled - measured|", 0, 3 },
    };
    const size_t count = report->registry.count;
    const size_t shown = count < PROCESSES_SHOWN ? count : PROCESSES_SHOWN;
    struct cell *cells = calloc(shown * ARRAY_COUNT(fields) + 1, sizeof *cells);
    size_t *order = calloc(count + 1, sizeof *order);
    struct table table = TABLE_OF_ROWS("processes", fields, cells, shown);
    char caption[128];
    int r = cells != NULL && order != NULL ? CAMP_OK : CAMP_E_NOMEM;

    if (r == CAMP_OK) {
        for (size_t i = 0; i < count; i++)
            order[i] = i;
        qsort_r(order, count, sizeof *order, compare_processes, report->processes);
        for (size_t i = 0; i < shown; i++)
            fill_process(report, order[i], &cells[i * ARRAY_COUNT(fields)]);
        snprintf(caption, sizeof caption, "%zu of %zu, where samples were wrong by most first.",
                 shown, count);
        html_heading(stream, "Processes");
        html_table(stream, &table, caption);
    }
    free(cells);
    free(order);
    return r;
}

static int write_cpus(FILE *stream, const struct check_report *report)
{
    static const struct field fields[] = {
        { "cpu", "CPU", "its number", 0, 0 },
        { "measured_busy_percent", "busy, measured %",
          "mean of the intervals in which it was known", 0, 2 },
        { "sampled_busy_percent", "sampled %", "user + nice + system + irq + softirq + guest", 0,
          2 },
        { "error_percent", "error %", "(sampled - measured) / measured", 0, 1 },
    };
    struct cell *cells = calloc(report->cpu_count * ARRAY_COUNT(fields) + 1, sizeof *cells);
    const struct table table = TABLE_OF_ROWS("cpus", fields, cells, report->cpu_count);

    if (cells == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < report->cpu_count; i++) {
        const struct report_cpu *cpu = &report->cpus[i];
        const double measured = percent(cpu->measured_s, cpu->elapsed_s);
        const double sampled = percent(cpu->sampled_s, cpu->elapsed_s);
        const double error = error_percent(measured, sampled);
        struct cell *row = &cells[i * ARRAY_COUNT(fields)];

        row[0] = cell_integer(cpu->cpu);
        row[1] = cell_real(measured);
        row[2] = cell_real(sampled);
        row[3] = emphasised(cell_real(error), emphasis_of_error(error, sampled - measured));
    }
    html_heading(stream, "CPUs");
    html_table(stream, &table, NULL);
    free(cells);
    return CAMP_OK;
}

int check_report_page(FILE *stream, const struct check_report *report)
{
    static int (*const parts[])(FILE *, const struct check_report *) = {
        write_pictures, write_fit,   write_processes, write_cpus,
        write_losses,   write_facts, write_intervals,
    };
    char title[64 + FROM_NAME_SIZE];
    int r = CAMP_OK;

    snprintf(title, sizeof title, "How wrong sampled CPU time is: %s", report->source);
    html_begin(stream, title);
    write_summary(stream, report);
    for (size_t i = 0; i < ARRAY_COUNT(parts) && r == CAMP_OK; i++)
        r = parts[i](stream, report);
    html_end(stream);
    return r;
}
