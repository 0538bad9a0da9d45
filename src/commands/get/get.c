/*
 * camp get reads counters. The operands become rows (query.c). The subjects of the rows are read
 * once or, for rates and percentages, twice. Each row then gets a value with its unit and its
 * provenance (measured, sampled, scaled or derived).
 *
 * A value that could not be read is shown as unknown, and the reason is printed once on stderr. The
 * exit status is then STATUS_PARTIAL if any other value was read. Otherwise it is the exit status
 * for the first unknown value.
 */
#include "program/command.h"
#include "query.h"
#include "values.h"

#include "counters/clock.h"
#include "views/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEFAULT_RATE_INTERVAL_NS NS_PER_S

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

struct get {
    struct query query;
    struct camp_source source;
    struct camp_kernel kernel;
    struct camp_linux facts;
    const struct view *view;
    struct view_options output;
    bool value_only;
    bool is_text; /* the text format, without --value */
    uint64_t interval_ns;
    uint64_t count;
    const char *name;
    const char *pid;
    struct cell *cells;
    struct values values;
    int status; /* the exit status for the first operand whose subject does not exist */
};

static const struct field moment_fields[] = {
    { "time", NULL, "wall clock of the reading, RFC 3339", 0, 0 },
    { "interval_s", NULL, "time between the two readings of the first rate or percentage", 0, 0 },
};

enum {
    CELL_NAME,
    CELL_VALUE,
    CELL_UNIT,
    CELL_PROVENANCE,
    CELL_OF_KIND,
    CELL_SUBJECT,
    CELL_COUNTER
};

static const struct field value_fields[] = {
    { "name", "", "what was read, as camp get takes it", 0, 0 },
    { "value", "", "its value; unknown is null", 0, 3 },
    { "unit", "", "of the value", 0, 0 },
    { "provenance", "",
      "how it was obtained: measured, sampled, scaled or derived; null if the value is unknown", 0,
      0 },
    { "kind", NULL, "cpu, memory, network, ...", 0, 0 },
    { "subject", NULL, "which CPU, interface, disk, process; null: all together", 0, 0 },
    { "counter", NULL, "the counter's own name", 0, 0 },
};

#define VALUE_FIELDS (sizeof value_fields / sizeof value_fields[0])

static const char *rate_unit(const char *unit)
{
    return strcmp(unit, "ns") == 0 ? "ns/s" : strcmp(unit, "bytes") == 0 ? "bytes/s" : "count/s";
}

/* Returns the last reading of a task, from which the provenance of some counters is known. Returns
 * NULL if the subject is not a task, or could not be read. */
static const struct camp_task *task_of(const struct subject *subject)
{
    const bool is_task = (subject->kind & (CAMP_KIND_PROCESS | CAMP_KIND_THREAD)) != 0;

    return is_task && subject->now.result >= 0 ? &subject->now.task : NULL;
}

/* Fills the cells of a row. The name of the row is written to `name`, which has LABEL_SIZE +
 * CAMP_NAME_SIZE bytes. */
static void fill_row(struct get *get, struct row *row, struct cell *cells, char *name)
{
    const struct camp_counter *counter = row->counter;
    const struct subject *subject = &get->query.subjects.items[row->subject];
    const char *dot = strchr(subject->label, '.');
    bool is_rate = get->query.rate && counter->nature == CAMP_NATURE_COUNTER;
    int32_t cpu = subject->kind == CAMP_KIND_CPU ? subject->cpu : CAMP_CPU_TOTAL;
    int provenance = is_rate
                         ? CAMP_DERIVED
                         : camp_counter_provenance(counter, &get->kernel, cpu, task_of(subject));

    snprintf(name, LABEL_SIZE + CAMP_NAME_SIZE, "%s.%s", subject->label, counter->name);
    cells[CELL_NAME] = cell_text(name);
    cells[CELL_VALUE] = value_cell(&get->values, row);
    /* Without quotes, an empty text, such as the command line of a kernel thread, is a blank. */
    if (get->is_text && cells[CELL_VALUE].kind == CELL_TEXT && cells[CELL_VALUE].text[0] == '\0')
        cells[CELL_VALUE] = cell_text("\"\"");
    cells[CELL_UNIT] = cell_text(is_rate ? rate_unit(counter->unit) : counter->unit);
    /* An unknown value was not obtained. */
    cells[CELL_PROVENANCE] =
        counter->rule == CAMP_RULE_NONE || cells[CELL_VALUE].kind == CELL_UNKNOWN
            ? cell_unknown()
            : cell_text(camp_provenance_name(provenance));
    cells[CELL_OF_KIND] = cell_text(camp_kind_name(subject->kind));
    cells[CELL_SUBJECT] = dot != NULL ? cell_text(dot + 1) : cell_unknown();
    cells[CELL_COUNTER] = cell_text(counter->name);
}

/* Prints a value on a line of its own, for --value. Unprintable characters are printed as '?'. */
static void print_value(const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_UNKNOWN:
        printf("-\n");
        break;
    case CELL_TEXT:
    case CELL_LIST:
        print_name(cell->text);
        printf("\n");
        break;
    case CELL_INTEGER:
        printf("%" PRId64 "\n", cell->integer);
        break;
    case CELL_NATURAL:
        printf("%" PRIu64 "\n", cell->natural);
        break;
    case CELL_REAL:
        printf("%.3f\n", cell->real);
        break;
    case CELL_BOOLEAN:
        break;
    }
}

static int print_values(const struct get *get)
{
    for (size_t i = 0; i < get->query.row_count; i++)
        print_value(&get->cells[i * VALUE_FIELDS + CELL_VALUE]);
    errno = 0;
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : errno != 0 ? errno : EIO;
}

/* Returns the length of the interval of the first row that needs an interval. Subjects are read
 * one after the other, so their intervals differ a little. */
static struct cell interval_cell(const struct get *get)
{
    for (size_t i = 0; i < get->query.row_count; i++) {
        const struct row *row = &get->query.rows[i];
        const struct subject *subject = &get->query.subjects.items[row->subject];

        if (query_row_needs_interval(&get->query, row) && subject->before.time_ns != 0 &&
            subject->now.time_ns > subject->before.time_ns)
            return cell_real((double)(subject->now.time_ns - subject->before.time_ns) / NS_PER_S);
    }
    return cell_unknown();
}

/* Returns 0, or the errno of a failed write. */
static int print_record(struct get *get, char *names, uint64_t number)
{
    struct query *query = &get->query;
    char time[TIME_TEXT_SIZE];
    struct cell moment[2];
    const struct table tables[] = {
        { "moment", TABLE_INLINE, moment_fields, 2, moment, 1, .hidden_in_text = true },
        { "counters", TABLE_ROWS, value_fields, VALUE_FIELDS, get->cells, query->row_count },
    };
    const struct record record = { .schema = "camp.get/1",
                                   .headline = get->count > 1 ? time : NULL,
                                   .tables = tables,
                                   .table_count = 2,
                                   .main_table = 1 };

    time_text(time, sizeof time, (int64_t)now_ns(CLOCK_REALTIME));
    moment[0] = cell_text(time);
    moment[1] = interval_cell(get);
    for (size_t i = 0; i < query->row_count; i++)
        fill_row(get, &query->rows[i], &get->cells[i * VALUE_FIELDS],
                 names + i * (LABEL_SIZE + CAMP_NAME_SIZE));
    if (get->value_only)
        return print_values(get);
    return get->view->record(&get->output, &record, number);
}

/* Complains that a signal ended the first interval. The values are then of a shorter interval. */
static int tell_end(const struct get *get, uint64_t began_ns)
{
    return complain(STATUS_PARTIAL, "ended early: the interval is %.3g s of %.6g s",
                    (double)(now_ns(CLOCK_MONOTONIC) - began_ns) / NS_PER_S,
                    (double)get->interval_ns / NS_PER_S);
}

static int repeat(struct get *get)
{
    size_t rows = get->query.row_count;
    char *names = calloc(rows + 1, LABEL_SIZE + CAMP_NAME_SIZE);
    uint64_t began_ns = now_ns(CLOCK_MONOTONIC), next_ns = began_ns;
    bool differs = query_needs_interval(&get->query), cut = false;
    int failed = 0;

    get->cells = calloc(rows + 1, VALUE_FIELDS * sizeof *get->cells);
    if (names == NULL || get->cells == NULL ||
        !values_init(&get->values, &get->query, &get->kernel, &get->facts)) {
        free(names);
        return complain(STATUS_FAILURE, "no memory left; ask for less at a time");
    }
    if (differs)
        subjects_read(&get->query.subjects);
    for (uint64_t i = 0; i < get->count && failed == 0; i++) {
        uint64_t now;

        if (i > 0 || differs)
            next_ns += get->interval_ns;
        if (!sleep_until(next_ns)) {
            if (i > 0)
                break;
            cut = differs;
        }
        /* After a suspend, or a reading that took longer than an interval, missed readings are
         * skipped. */
        now = now_ns(CLOCK_MONOTONIC);
        if (now > next_ns + get->interval_ns)
            next_ns = now;
        subjects_read(&get->query.subjects);
        if (i == 0 && !cut)
            values_tell_steps(&get->values, get->interval_ns);
        failed = print_record(get, names, i);
    }
    free(names);
    if (failed != 0)
        return output_failed(failed);
    return cut ? tell_end(get, began_ns) : STATUS_OK;
}

/* With --name or --pid, the operands are counters of the selected processes. */
static int add_operand(struct get *get, const char *operand)
{
    char whole[LABEL_SIZE + CAMP_NAME_SIZE];
    int length;

    if (get->name == NULL && get->pid == NULL)
        return query_add(&get->query, operand);
    if (strchr(operand, '.') != NULL)
        return complain(STATUS_USAGE,
                        "'%s': --%s already names the process; give only the counter, such as "
                        "cpu_ns",
                        operand, get->name != NULL ? "name" : "pid");
    length = snprintf(whole, sizeof whole, "process.%s%s.%s", get->name != NULL ? "name:" : "",
                      get->name != NULL ? get->name : get->pid, operand);
    if (length < 0 || (size_t)length >= sizeof whole)
        return complain(STATUS_USAGE, "'%s...' is too long", operand);
    return query_add(&get->query, whole);
}

/* Adds all operands before anything is read. A mistyped operand ends the command. A subject that
 * does not exist counts as a missing value. */
static int add_operands(struct get *get, int argc, char **argv, int first)
{
    if (first >= argc && get->name == NULL && get->pid == NULL)
        return complain(STATUS_USAGE, "which counter? for example cpu.user_ns or network; see "
                                      "camp list");
    if (get->name != NULL && get->pid != NULL)
        return complain(STATUS_USAGE, "--name and --pid do not go together; give one of them");
    for (int i = first; i < argc || i == first; i++) {
        int status = add_operand(get, i < argc ? argv[i] : "all");

        if (status == STATUS_USAGE)
            return status;
        if (status == STATUS_OK)
            continue;
        if (get->status == STATUS_OK)
            get->status = status;
    }
    return STATUS_OK;
}

static int choose_view(struct get *get, int format)
{
    static const char *const names[] = { "text", "json", "csv" };

    if (get->value_only && format != FORMAT_TEXT)
        return complain(STATUS_USAGE, "--value is plain text; leave out --format");
    get->is_text = format == FORMAT_TEXT && !get->value_only;
    get->view = view_by_name(names[format]);
    get->output = (struct view_options){ .stream = stdout, .colour = false, .width = 0 };
    return STATUS_OK;
}

static const char about[] =
    "Reads counters: KIND.COUNTER, KIND.WHICH.COUNTER, or a KIND for all of it. WHICH\n"
    "and COUNTER may be globs (quote them), COUNTER may be \"all\".\n\n"
    "  camp get cpu.user_ns cpu.2.idle_ns        all CPUs together; one of them\n"
    "  camp get 'cpu.*.busy_percent'             over 100 ms, or over --interval\n"
    "  camp get memory.free_bytes --value        the number alone\n"
    "  camp get network.eth0.100.sent_bytes      names may hold dots\n"
    "  camp get disk --rate --interval 5s        per second\n"
    "  camp get memory.free_bytes 1 3            three times, 1 s apart\n"
    "  camp get process.1234.all                 a process; 1234@START: no other one\n"
    "  camp get process.1234.command_line        not in \"all\": read by name only\n"
    "  camp get --name nginx cpu_ns              all processes of a program\n"
    "  camp get 'thread.1234.*.run_delay_ns'     its threads\n\n"
    "Each line is name, value, unit, and how it was obtained; `camp list counters`\n"
    "explains them. The percentages of a task are of one CPU.";

static int parse(struct get *get, int argc, char **argv, int *ret_first)
{
    static const char *const formats[] = { "text", "json", "csv", NULL };
    int format = FORMAT_TEXT;
    uint64_t interval_ns = 0;
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_INTERVAL, &interval_ns,
                      .help = "The time between readings (1s; 100ms if only percentages are read).",
                      .minimum = 0.001, .maximum = 86400),
        COMMON_OPTION(COMMON_COUNT, &get->count, .help = "How many readings (1)."),
        COMMON_OPTION(COMMON_RATE, &get->query.rate,
                      .help = "Print the growth of each counter per second."),
        { "value", 0, OPTION_FLAG, &get->value_only, NULL, "Print only the values, one a line." },
        COMMON_OPTION(COMMON_NAME, &get->name, .help = "Read the processes of this program."),
        COMMON_OPTION(COMMON_PID, &get->pid, .type = OPTION_TEXT, .help = "Read this process."),
        COMMON_OPTION(COMMON_FORMAT, &format, .choices = formats),
        COMMON_OPTION(COMMON_PROC, &get->source.proc),
        COMMON_OPTION(COMMON_SYS, &get->source.sys),
    };
    const struct option_table table = { "camp get [OPTIONS] COUNTER... [INTERVAL [COUNT]]", about,
                                        specs, sizeof specs / sizeof specs[0] };
    int status = options_parse(&table, argc, argv, ret_first);

    if (status != OPTIONS_GO_ON)
        return status;
    get->query.interval_given = interval_ns != 0;
    get->interval_ns = interval_ns;
    if (get->source.proc != NULL || get->source.sys != NULL)
        get->query.subjects.source = &get->source;
    status = choose_view(get, format);
    return status == STATUS_OK ? OPTIONS_GO_ON : status;
}

static int final_status(const struct get *get)
{
    int status = get->status != STATUS_OK ? get->status : get->values.status;

    return status != STATUS_OK && get->values.had > 0 ? STATUS_PARTIAL : status;
}

int command_get(int argc, char **argv)
{
    struct get get = { .count = 1 };
    int first;
    int status = parse(&get, argc, argv, &first);

    if (status != OPTIONS_GO_ON)
        return status;
    status = add_operands(&get, argc, argv, first);
    subjects_note_hidden(&get.query.subjects);
    if (status != STATUS_OK)
        goto out;
    if (get.interval_ns == 0)
        get.interval_ns = get.query.rate || get.count > 1 ? DEFAULT_RATE_INTERVAL_NS
                                                          : CAMP_DEFAULT_INTERVAL_MS * 1000000u;
    /* If this call fails, the provenance of CPU times is shown as unknown. */
    camp_kernel_read(get.query.subjects.source, &get.kernel, sizeof get.kernel, NULL);
    camp_linux_read(get.query.subjects.source, &get.facts, sizeof get.facts, NULL);
    stop_on_signals();
    if (get.query.row_count > 0)
        status = repeat(&get);
    if (status == STATUS_OK)
        status = final_status(&get);
out:
    query_release(&get.query);
    free(get.cells);
    values_release(&get.values);
    return status;
}
