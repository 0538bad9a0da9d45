/* Prints the report of a load. In the text format, each fact is a line of title, value and unit. */
#include "load_command.h"
#include "load_tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FACTS_MAX 20u
#define ROWS_MAX LOAD_THREADS_MAX
#define ROW_FACTS_MAX 6u
#define NOTE_SIZE 160u

struct about {
    const char *time, *load;
    uint64_t pid;
};
static const struct fact about_facts[] = {
    FACT(struct about, time, NULL, "wall clock at its end"),
    FACT(struct about, load, NULL, "which load"),
    FACT(struct about, pid, NULL, "process that was the load"),
};

/* Every load also reports the CPU time of its process. A program that reads this CPU time later
 * must read at least process_ns. */
static struct process {
    uint64_t startup_ns, process_ns;
} process;
static const struct fact process_facts[] = {
    FACT(struct process, startup_ns, "CPU time before the load",
         "program start and options; not in own_ns"),
    FACT(struct process, process_ns, "CPU time of the process so far",
         "from the fork to this report: start-up, the load, its end"),
};

void load_mark_startup(void)
{
    process.startup_ns = load_process_ns();
}

static struct cell cell_of(const struct fact *fact, const char *truth)
{
    const void *member = truth + fact->offset;

    if (fact->known_if != 0 && !*(const bool *)(truth + fact->known_if))
        return cell_unknown();
    switch (fact->kind) {
    case CELL_TEXT:
        return cell_text(*(const char *const *)member);
    case CELL_REAL:
        return cell_real(*(const double *)member);
    case CELL_BOOLEAN:
        return cell_boolean(*(const bool *)member);
    case CELL_INTEGER:
        return *(const int32_t *)member >= 0 ? cell_integer(*(const int32_t *)member)
                                             : cell_unknown();
    default:
        return cell_natural(*(const uint64_t *)member);
    }
}

struct table_memory {
    struct field fields[FACTS_MAX];
    struct cell cells[FACTS_MAX];
};

static struct table table_of_one(const char *name, const struct fact *facts, size_t count,
                                 const void *truth, struct table_memory *memory)
{
    for (size_t i = 0; i < count; i++) {
        memory->fields[i] = (struct field){ .name = facts[i].name,
                                            .title = facts[i].title,
                                            .help = facts[i].help,
                                            .decimals = facts[i].decimals };
        memory->cells[i] = cell_of(&facts[i], truth);
    }
    return (struct table){ name, TABLE_INLINE, memory->fields, count, memory->cells, 1, true };
}

static struct table table_of_rows(const struct load_rows *rows, struct table_memory *memory)
{
    static struct cell cells[ROWS_MAX * ROW_FACTS_MAX];
    struct table table =
        table_of_one(rows->name, rows->facts, rows->fact_count, rows->rows, memory);

    table.shape = TABLE_ROWS;
    table.row_count = (size_t)*rows->row_count;
    table.cells = cells;
    table.hidden_in_text = false;
    for (size_t i = 0; i < table.row_count; i++)
        for (size_t j = 0; j < rows->fact_count; j++)
            cells[i * rows->fact_count + j] =
                cell_of(&rows->facts[j], (const char *)rows->rows + i * rows->row_size);
    return table;
}

/* The unit is the last word of the field's name. */
static void value_text(char *ret, size_t capacity, const struct field *field,
                       const struct cell *cell)
{
    const char *unit = strrchr(field->name, '_');

    unit = unit != NULL ? unit + 1 : field->name;
    if (cell->kind == CELL_NATURAL && strcmp(unit, "ns") == 0)
        snprintf(ret, capacity, "%.6f s", (double)cell->natural / NS_PER_S);
    else if (cell->kind == CELL_NATURAL && strcmp(unit, "bytes") != 0)
        snprintf(ret, capacity, "%" PRIu64, cell->natural);
    else if (cell->kind == CELL_NATURAL && cell->natural < 1000000)
        snprintf(ret, capacity, "%" PRIu64 " bytes", cell->natural);
    else if (cell->kind == CELL_NATURAL)
        snprintf(ret, capacity, "%.6f MB", (double)cell->natural / 1e6);
    else if (cell->kind == CELL_REAL)
        snprintf(ret, capacity, "%.*f%s", field->decimals, cell->real,
                 strcmp(unit, "percent") == 0 ? " %" : "");
    else if (cell->kind == CELL_INTEGER)
        snprintf(ret, capacity, "%" PRId64, cell->integer);
    else if (cell->kind == CELL_BOOLEAN)
        snprintf(ret, capacity, "%s", cell->boolean ? "yes" : "no");
    else
        snprintf(ret, capacity, "%s", cell->text);
}

static size_t widest_title(const struct table *table, size_t least)
{
    for (size_t i = 0; i < table->field_count; i++) {
        const char *title = table->cells[i].kind != CELL_UNKNOWN ? table->fields[i].title : "";

        least = strlen(title) > least ? strlen(title) : least;
    }
    return least;
}

static size_t write_notes(const struct table *table, size_t width, char (*texts)[NOTE_SIZE],
                          size_t written)
{
    for (size_t i = 0; i < table->field_count; i++) {
        char value[64];

        if (table->cells[i].kind == CELL_UNKNOWN)
            continue;
        value_text(value, sizeof value, &table->fields[i], &table->cells[i]);
        snprintf(texts[written++], NOTE_SIZE, "  %-*s  %s", (int)width, table->fields[i].title,
                 value);
    }
    return written;
}

int load_show(const struct load_command *load)
{
    const struct view *view = view_by_name(load_formats[load_format]);
    const struct view_options options = { .stream = stdout,
                                          .colour = view_wants_colour(stdout),
                                          .width = view_limit(stdout) };
    char time[TIME_TEXT_SIZE], headline[64], texts[2 * FACTS_MAX][NOTE_SIZE];
    const struct about about = { time, load->name, (uint64_t)getpid() };
    const char *notes[2 * FACTS_MAX + 1] = { NULL };
    struct table_memory memory[4];
    struct table tables[4];
    struct record record = { "camp.load/1", headline, tables, 3, 1, notes };
    size_t written, width;
    int failed;

    time_text(time, sizeof time, (int64_t)now_ns(CLOCK_REALTIME));
    snprintf(headline, sizeof headline, "load %s, pid %d", load->name, (int)getpid());
    tables[0] = table_of_one("about", about_facts, ARRAY_COUNT(about_facts), &about, &memory[0]);
    tables[1] = table_of_one("truth", load->facts, load->fact_count, load->truth, &memory[1]);
    if (load->rows != NULL) {
        tables[3] = table_of_rows(load->rows, &memory[3]);
        record.table_count = 4;
        record.main_table = 3;
    }
    /* process_ns is read as late as possible. It lacks only the CPU time of the output below. */
    process.process_ns = load_process_ns();
    tables[2] =
        table_of_one("process", process_facts, ARRAY_COUNT(process_facts), &process, &memory[2]);
    width = widest_title(&tables[2], widest_title(&tables[1], 0));
    written = write_notes(&tables[1], width, texts, 0);
    written = write_notes(&tables[2], width, texts, written);
    for (size_t i = 0; i < written; i++)
        notes[i] = texts[i];
    failed = view->record(&options, &record, 0);
    return failed == 0 ? STATUS_OK : output_failed(failed);
}
