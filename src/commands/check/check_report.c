#include "check_report.h"

#include "ledger/array.h"
#include "program/command.h"
#include "views/format.h"
#include "views/memory_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CROWD 4096    /* above this number, processes not seen for a while are merged by name */
#define GONE_AFTER 60 /* intervals */

static void write_quoted(FILE *stream, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./=:,+%@";

    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, stream);
        return;
    }
    putc('\'', stream);
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            fputs("'\\''", stream);
        else
            putc(*word, stream);
    }
    putc('\'', stream);
}

static char *command_line(int argc, char **argv)
{
    struct memory_text text;

    if (!memory_text_open(&text))
        return NULL;
    fputs("camp", text.stream);
    for (int i = 0; i < argc; i++) {
        putc(' ', text.stream);
        write_quoted(text.stream, argv[i]);
    }
    memory_text_close(&text);
    return text.text;
}

int check_report_open(struct check_report *report, const char *path, int argc, char **argv)
{
    struct camp_kernel kernel;

    report->command = command_line(argc, argv);
    if (report->command == NULL)
        return complain(STATUS_FAILURE, "out of memory");
    gethostname(report->source, sizeof report->source - 1);
    if (camp_kernel_read(NULL, &kernel, sizeof kernel, NULL) == CAMP_OK)
        snprintf(report->kernel, sizeof report->kernel, "%s %s", kernel.system, kernel.release);
    report->picture.source = report->source;
    if (output_file_open(&report->file, path) != STATUS_OK)
        return STATUS_FAILURE;
    return OPTIONS_GO_ON;
}

void check_report_name_source(struct check_report *report, const char *name)
{
    snprintf(report->source, sizeof report->source, "%s", name);
}

/* Returns NAN if the cell has no number. */
static double number_of(const struct cell *cell)
{
    return cell->kind == CELL_REAL      ? cell->real
           : cell->kind == CELL_INTEGER ? (double)cell->integer
           : cell->kind == CELL_NATURAL ? (double)cell->natural
                                        : NAN;
}

static double number_at(const struct record *record, const char *table, size_t row,
                        const char *column)
{
    const struct cell cell = cell_of(record, table, row, column);

    return number_of(&cell);
}

/* Each column of the new row has the same name as a column in one of `tables`. */
static int add_interval(struct check_report *report)
{
    static const char *const tables[] = { "interval", "total", "machine", "losses" };
    const struct record *record = &report->record.document.record;
    const size_t at = report->picture.series.count;
    struct report_interval *interval;

    if (report->intervals == NULL)
        report->intervals = calloc(REPORT_INTERVALS, sizeof *report->intervals);
    if (report->intervals == NULL)
        return CAMP_E_NOMEM;
    if (at == 0)
        snprintf(report->begin, sizeof report->begin, "%s", report->record.time);
    interval = &report->intervals[at % REPORT_INTERVALS];
    snprintf(interval->time, sizeof interval->time, "%s", report->record.time);
    for (size_t i = 1; i < REPORT_COLUMNS; i++) {
        const char *name = report_interval_fields[i].name;

        interval->cells[i] = cell_unknown();
        for (size_t j = 0; j < ARRAY_COUNT(tables); j++) {
            const struct cell cell = cell_of(record, tables[j], 0, name);

            if (cell.kind != CELL_UNKNOWN)
                interval->cells[i] = cell;
        }
    }
    return CAMP_OK;
}

static struct entity process_of(const struct record *record, size_t row)
{
    const struct cell name = cell_of(record, "processes", row, "name");
    const struct cell pid = cell_of(record, "processes", row, "pid");
    const struct cell began = cell_of(record, "processes", row, "new");
    struct entity entity = { .id = pid.kind == CELL_INTEGER ? pid.integer : 0,
                             .flags = began.boolean ? ENTITY_NEW : 0 };

    if (name.kind == CELL_TEXT)
        snprintf(entity.name, sizeof entity.name, "%s", name.text);
    return entity;
}

static void add_sums(struct report_process *process, const struct report_process *more)
{
    process->measured_s += more->measured_s;
    process->sampled_s += more->sampled_s;
    process->absolute_s += more->absolute_s;
}

static int add_process(struct check_report *report, const struct entity *entity,
                       const struct report_process *more)
{
    enum registry_match match;
    uint32_t number;
    int r = registry_enter(&report->registry, entity, &number, &match);

    if (r != CAMP_OK ||
        !ARRAY_RESERVE_ZEROED(report->processes, report->process_capacity, report->registry.count))
        return CAMP_E_NOMEM;
    add_sums(&report->processes[number], more);
    return CAMP_OK;
}

/* Keeps the registry small when many processes start and exit. Processes not seen for GONE_AFTER
 * intervals are merged by name, like exited processes. */
static int fold_gone(struct check_report *report)
{
    struct registry old = report->registry;
    const size_t count = old.count;
    bool *gone = calloc(count + 1, sizeof *gone);
    uint32_t *numbers = calloc(count + 1, sizeof *numbers);
    struct report_process *processes = NULL;
    int r = CAMP_E_NOMEM;

    for (size_t i = 0; gone != NULL && i < count; i++)
        gone[i] = old.entities[i].last_seen + GONE_AFTER < old.frames;
    if (gone != NULL && numbers != NULL)
        r = registry_fold(&old, gone, "", &report->registry, numbers);
    if (r == CAMP_OK) {
        registry_release(&old);
        report->crowd = 2 * report->registry.count;
        processes = calloc(report->registry.count + 1, sizeof *processes);
    }
    if (r == CAMP_OK && processes == NULL)
        r = CAMP_E_NOMEM;
    for (size_t i = 0; r == CAMP_OK && i < count; i++)
        add_sums(&processes[numbers[i]], &report->processes[i]);
    free(gone);
    free(numbers);
    if (r != CAMP_OK)
        return r;
    free(report->processes);
    report->processes = processes;
    report->process_capacity = report->registry.count;
    return CAMP_OK;
}

static int add_processes(struct check_report *report, double interval_s)
{
    const struct record *record = &report->record.document.record;
    const double share = interval_s / 100;
    int r = CAMP_OK;

    if (report->registry.count >= (report->crowd > CROWD ? report->crowd : CROWD))
        r = fold_gone(report);
    registry_start_frame(&report->registry);
    for (size_t i = 0; i < record->tables[CHECK_PROCESSES].row_count && r == CAMP_OK; i++) {
        const double measured = number_at(record, "processes", i, "measured_percent") * share;
        const double sampled = number_at(record, "processes", i, "sampled_percent") * share;
        const struct report_process more = { measured, sampled, fabs(sampled - measured) };
        const struct entity entity = process_of(record, i);

        r = add_process(report, &entity, &more);
    }
    return r;
}

static struct report_cpu *find_cpu(struct check_report *report, int64_t cpu)
{
    for (size_t i = 0; i < report->cpu_count; i++) {
        if (report->cpus[i].cpu == cpu)
            return &report->cpus[i];
    }
    if (!ARRAY_RESERVE_ZEROED(report->cpus, report->cpu_capacity, report->cpu_count + 1))
        return NULL;
    report->cpus[report->cpu_count].cpu = cpu;
    return &report->cpus[report->cpu_count++];
}

static int add_cpus(struct check_report *report, double interval_s)
{
    const struct record *record = &report->record.document.record;

    for (size_t i = 0; i < record->tables[CHECK_CPUS].row_count; i++) {
        const double measured = number_at(record, "cpus", i, "measured_busy_percent");
        const double sampled = number_at(record, "cpus", i, "sampled_busy_percent");
        struct report_cpu *cpu = find_cpu(report, cell_of(record, "cpus", i, "cpu").integer);

        if (cpu == NULL)
            return CAMP_E_NOMEM;
        if (isnan(measured) || isnan(sampled))
            continue;
        cpu->measured_s += measured / 100 * interval_s;
        cpu->sampled_s += sampled / 100 * interval_s;
        cpu->elapsed_s += interval_s;
    }
    return CAMP_OK;
}

static void add_totals(struct check_report *report, const struct accuracy *accuracy,
                       double interval_s)
{
    const struct record *record = &report->record.document.record;

    accuracy_merge(&report->whole, accuracy);
    report->elapsed_s += interval_s;
    report->measured_busy_s +=
        number_at(record, "machine", 0, "measured_busy_percent") / 100 * interval_s;
    report->sampled_busy_s +=
        number_at(record, "machine", 0, "sampled_busy_percent") / 100 * interval_s;
    report->losses.unseen += cell_of(record, "losses", 0, "unseen").natural;
    report->losses.lost += cell_of(record, "losses", 0, "lost").natural;
    report->losses.partial += cell_of(record, "losses", 0, "partial").natural;
    report->unread_percent =
        fmax(report->unread_percent, number_at(record, "losses", 0, "unread_percent"));
}

int check_report_add(struct check_report *report, const struct check_context *context,
                     const struct frame *tasks, const struct frame *cpus, const char *time)
{
    const uint64_t length_ns = tasks->end_ns - tasks->start_ns;
    const double interval_s = (double)length_ns / 1e9;
    const struct accuracy *accuracy = &report->record.summary.accuracy;
    int r;

    report->context = *context;
    report->context.top = report->context.top_cpus = 0;
    r = check_record_fill(&report->record, &report->context, tasks, cpus, time);
    if (r == CAMP_OK)
        r = add_interval(report);
    if (r == CAMP_OK)
        r = add_processes(report, interval_s);
    if (r == CAMP_OK)
        r = add_cpus(report, interval_s);
    /* The series counts the intervals, so a failed interval must not be added to it. */
    if (r == CAMP_OK)
        r = error_series_add(&report->picture.series, tasks->wall_clock_ns, length_ns, accuracy,
                             tasks_tiers[context->tier].is_sampled);
    if (r == CAMP_OK)
        add_totals(report, accuracy, interval_s);
    return r;
}

int check_report_write(struct check_report *report)
{
    int status;

    if (report->picture.series.count == 0)
        return STATUS_OK;
    if (error_picture_fit(&report->picture) != CAMP_OK ||
        check_report_page(report->file.stream, report) != CAMP_OK)
        return complain(STATUS_FAILURE, "--report: out of memory");
    status = output_file_finish(&report->file);
    report->file.stream = NULL;
    return status;
}

void check_report_release(struct check_report *report)
{
    if (report->file.stream != NULL)
        output_file_discard(&report->file);
    check_record_release(&report->record);
    error_picture_release(&report->picture);
    registry_release(&report->registry);
    free(report->command);
    free(report->intervals);
    free(report->processes);
    free(report->cpus);
    *report = (struct check_report){ 0 };
}
