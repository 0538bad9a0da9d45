/*
 * camp probe measures the cost of measuring. Like the probe in the CAMP paper (its Figure 8), it
 * makes nine calls of the library in a block, at a given rate, and measures their CPU time.
 *
 * The CAMP paper does not name its nine calls. Here there is one call for each item in the paper's
 * Figure 3: the use of all CPUs, free memory, bytes sent and received on an interface, reads and
 * writes of a disk, and page faults, CPU time and size of a process (camp itself). Each call of
 * libcamp opens, reads and closes its files. Nothing is kept between two calls.
 *
 * The cost of a block is the CPU time of the process during the block, so the cost can be measured
 * at any rate. The percentage includes everything: the blocks, the wakeups between blocks, and
 * reading the clock. A clock with steps of 10 ms, as on Wine, cannot measure a block: its CPU time
 * is then unknown.
 *
 * Each block has an absolute deadline, so the duration of a block does not change the rate. (The
 * paper's probe subtracted the duration of a block from the time to sleep.) Each rate runs for a
 * whole number of periods, with one block in each period. Blocks that have not started at the end
 * of this time are skipped.
 */
#include "counters/clock.h"
#include "load/load_tools.h"
#include "program/command.h"
#include "views/document.h"
#include "views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RATES_MAX 16
#define CALLS 9
#define NAMES_MAX 64
/* Without ROUNDING, 0.07 s at a rate of 100 could be six blocks instead of seven. */
#define ROUNDING 1e-6

static const char *const formats[] = { "text", "json", "csv", NULL };

struct subjects {
    struct camp_process self;
    char network[CAMP_NAME_SIZE]; /* "" if there is no interface; its calls are then skipped */
    char disk[CAMP_NAME_SIZE];
};

struct cost {
    double rate;
    uint64_t blocks, late, missed, failed, calls;
    uint64_t wall_ns, cpu_ns;
    struct load_split split;
    uint64_t block_cpu_ns, block_wall_ns; /* only the time within the blocks */
    uint64_t resident_bytes;
    struct load_faults faults;
    int64_t resident_growth_bytes;
};

struct probe {
    double rates[RATES_MAX];
    size_t rate_count;
    const char *rate_text;
    uint64_t duration_ns;
    int format;
    struct subjects subjects;
    struct cost costs[RATES_MAX];
    size_t cost_count;
};

static const struct field rate_fields[] = {
    { "rate", "rate", "blocks a second, asked for", 6, 0 },
    { "achieved_rate", "achieved", "blocks a second", 8, 1 },
    { "cpu_percent", "cpu %", "of one CPU: all that the probe used", 7, 3 },
    { "user_percent", "user %", "of it, as the system divides it (Linux: scaled; Windows: sampled)",
      7, 3 },
    { "system_percent", "sys %", "likewise", 7, 3 },
    { "block_us", "us/block", "CPU time of a block, by the process's clock", 8, 1 },
    { "call_us", "us/call", "CPU time of a call: a block's, divided", 7, 2 },
    { "block_wall_us", NULL, "wall time of a block", 0, 1 },
    { "resident_bytes", NULL, "of the probe, at the end", 0, 0 },
    { "resident_growth_bytes", "growth", "of its resident size meanwhile", 6, 0 },
    { "faults", "faults", "page faults of the probe meanwhile", 6, 0 },
    { "minor_faults", NULL, "of these, without a disk; Windows does not tell", 0, 0 },
    { "major_faults", NULL, "of these, with a disk; likewise", 0, 0 },
    { "blocks", NULL, "how many", 0, 0 },
    { "calls", NULL, "of the library in each block", 0, 0 },
    { "late", NULL, "blocks that started after the next one was due", 0, 0 },
    { "missed", NULL, "blocks that were not done: there was no time left", 0, 0 },
    { "failed", NULL, "calls that failed", 0, 0 },
};
static const struct field time_fields[] = { { "time", NULL, "of the end", 0, 0 } };

enum { RATES, RECORD, TABLE_COUNT };

static const struct table tables[TABLE_COUNT] = {
    [RATES] = DOCUMENT_ROWS("rates", rate_fields),
    [RECORD] = DOCUMENT_ONE("record", TABLE_INLINE, time_fields),
};

static const struct record layout = DOCUMENT_LAYOUT("camp.probe/1", tables, RATES);

static unsigned call_network(const char *name)
{
    struct camp_network network;

    return camp_network_read(NULL, name, &network, sizeof network, NULL) != CAMP_OK;
}

static unsigned call_disk(const char *name)
{
    struct camp_disk disk;

    return camp_disk_read(NULL, name, &disk, sizeof disk, NULL) != CAMP_OK;
}

static unsigned call_process(const struct camp_process *process, uint32_t wanted)
{
    struct camp_task task;

    return camp_process_read(NULL, process, wanted, &task, sizeof task, NULL) != CAMP_OK;
}

/* Makes the calls of a block. Returns the number of failed calls. */
static unsigned run_block(const struct subjects *subjects)
{
    struct camp_cpu cpu;
    struct camp_memory memory;
    unsigned failed = 0;

    failed += camp_cpu_read(NULL, CAMP_CPU_TOTAL, &cpu, sizeof cpu, NULL) != CAMP_OK;
    failed += camp_memory_read(NULL, CAMP_MEMORY_FREE, &memory, sizeof memory, NULL) != CAMP_OK;
    if (subjects->network[0] != '\0') {
        failed += call_network(subjects->network); /* bytes sent */
        failed += call_network(subjects->network); /* bytes received */
    }
    if (subjects->disk[0] != '\0') {
        failed += call_disk(subjects->disk); /* reads */
        failed += call_disk(subjects->disk); /* writes */
    }
    failed += call_process(&subjects->self,
                           CAMP_TASK_MINOR_FAULTS | CAMP_TASK_MAJOR_FAULTS | CAMP_TASK_FAULTS);
    failed += call_process(&subjects->self, CAMP_TASK_CPU);
    failed += call_process(&subjects->self, CAMP_TASK_VIRTUAL | CAMP_TASK_RESIDENT);
    return failed;
}

static unsigned call_count(const struct subjects *subjects)
{
    return CALLS - (subjects->network[0] == '\0' ? 2u : 0u) - (subjects->disk[0] == '\0' ? 2u : 0u);
}

static int find_subjects(struct subjects *subjects)
{
    struct camp_network networks[NAMES_MAX];
    struct camp_disk disks[NAMES_MAX];
    struct camp_error error = { 0 };
    size_t count = 0, network = 0, disk = 0;
    int r = camp_process_identify(NULL, (int32_t)getpid(), &subjects->self, sizeof subjects->self,
                                  &error);

    if (r != CAMP_OK)
        return complain_of(r, &error);
    r = camp_network_read_all(NULL, networks, sizeof *networks, NAMES_MAX, &count, NULL);
    count = r == CAMP_OK || r == CAMP_E_SPACE ? count : 0;
    for (size_t i = 0; i < count && i < NAMES_MAX; i++)
        if (i == 0 || networks[i].received_bytes > networks[network].received_bytes)
            network = i;
    if (count > 0)
        memcpy(subjects->network, networks[network].name, sizeof subjects->network);
    r = camp_disk_read_all(NULL, CAMP_DISK_WHOLE, disks, sizeof *disks, NAMES_MAX, &count, NULL);
    count = r == CAMP_OK || r == CAMP_E_SPACE ? count : 0;
    for (size_t i = 0; i < count && i < NAMES_MAX; i++)
        if (i == 0 || disks[i].reads > disks[disk].reads)
            disk = i;
    if (count > 0)
        memcpy(subjects->disk, disks[disk].name, sizeof subjects->disk);
    return OPTIONS_GO_ON;
}

struct own {
    uint64_t wall_ns, cpu_ns;
    struct load_split split;
    struct load_faults faults;
    struct camp_task task;
};

static struct own add_self(const struct subjects *subjects)
{
    struct own own = { .wall_ns = 0 };

    camp_process_read(NULL, &subjects->self, CAMP_TASK_VIRTUAL | CAMP_TASK_RESIDENT, &own.task,
                      sizeof own.task, NULL);
    own.split = load_split();
    own.faults = load_faults();
    own.wall_ns = now_ns(CLOCK_MONOTONIC);
    own.cpu_ns = load_process_ns();
    return own;
}

static void account_block(struct cost *cost, const struct subjects *subjects)
{
    uint64_t wall = now_ns(CLOCK_MONOTONIC), cpu = load_process_ns();

    cost->failed += run_block(subjects);
    cost->block_cpu_ns += load_process_ns() - cpu;
    cost->block_wall_ns += now_ns(CLOCK_MONOTONIC) - wall;
    cost->blocks++;
}

/* Returns the number of whole periods within the duration. */
static uint64_t blocks_within(double rate, uint64_t duration_ns)
{
    return (uint64_t)(rate * (double)duration_ns / NS_PER_S + ROUNDING);
}

static void run_rate(const struct probe *probe, double rate, struct cost *cost)
{
    uint64_t planned = blocks_within(rate, probe->duration_ns);
    double period_ns = NS_PER_S / rate;
    struct own before = add_self(&probe->subjects), after;
    uint64_t end = before.wall_ns + (uint64_t)((double)planned * period_ns);

    *cost = (struct cost){ .rate = rate, .calls = call_count(&probe->subjects) };
    for (uint64_t number = 0; number < planned; number++) {
        uint64_t due = before.wall_ns + (uint64_t)((double)number * period_ns);

        if (!sleep_until(due) || now_ns(CLOCK_MONOTONIC) >= end)
            break;
        cost->late += now_ns(CLOCK_MONOTONIC) > due + (uint64_t)period_ns;
        account_block(cost, &probe->subjects);
    }
    cost->missed = stop_requested ? 0 : planned - cost->blocks;
    sleep_until(end);
    after = add_self(&probe->subjects);
    cost->wall_ns = after.wall_ns - before.wall_ns;
    cost->cpu_ns = after.cpu_ns - before.cpu_ns;
    cost->split =
        (struct load_split){ after.split.user_ns - before.split.user_ns,
                             after.split.system_ns - before.split.system_ns, after.split.step_ns };
    cost->faults = after.faults;
    cost->faults.all -= before.faults.all;
    cost->faults.minor -= before.faults.minor;
    cost->faults.major -= before.faults.major;
    cost->resident_bytes = after.task.resident_bytes;
    cost->resident_growth_bytes =
        (int64_t)after.task.resident_bytes - (int64_t)before.task.resident_bytes;
}

/* Returns unknown if the time is shorter than the steps of its clock. */
static struct cell cell_of_time(double value, uint64_t time_ns, uint64_t step_ns)
{
    return time_ns >= step_ns ? cell_real(value) : cell_unknown();
}

static struct cell cell_of_count(uint64_t count, bool is_known)
{
    return is_known ? cell_natural(count) : cell_unknown();
}

static void add_row(struct document *document, const struct cost *cost)
{
    const double wall = (double)cost->wall_ns, blocks = (double)cost->blocks;
    const double block_us = (double)cost->block_cpu_ns / blocks / NS_PER_US;
    const uint64_t both_ns = cost->split.user_ns + cost->split.system_ns;
    const uint64_t step_ns = load_clock_step_ns();
    const uint64_t one_ns = cost->blocks > 0 ? cost->block_cpu_ns / cost->blocks : 0;
    const struct cell cells[] = {
        cell_real(cost->rate),
        cell_real(blocks * NS_PER_S / wall),
        cell_of_time(100 * (double)cost->cpu_ns / wall, cost->cpu_ns, step_ns),
        cell_of_time(100 * (double)cost->split.user_ns / wall, both_ns, cost->split.step_ns),
        cell_of_time(100 * (double)cost->split.system_ns / wall, both_ns, cost->split.step_ns),
        cell_of_time(block_us, one_ns, step_ns),
        cell_of_time(block_us / (double)cost->calls, one_ns, step_ns),
        cell_real((double)cost->block_wall_ns / blocks / NS_PER_US),
        cell_natural(cost->resident_bytes),
        cell_integer(cost->resident_growth_bytes),
        cell_of_count(cost->faults.all, cost->faults.has_all),
        cell_of_count(cost->faults.minor, cost->faults.has_parts),
        cell_of_count(cost->faults.major, cost->faults.has_parts),
        cell_natural(cost->blocks),
        cell_natural(cost->calls),
        cell_natural(cost->late),
        cell_natural(cost->missed),
        cell_natural(cost->failed),
    };

    DOCUMENT_ADD(document, RATES, cells);
}

/* Says why there are dashes. */
static void note_unknown(struct document *document, const struct probe *probe)
{
    bool lacks_time = false, lacks_split = false, lacks_faults = false;

    for (size_t i = 0; i < probe->cost_count; i++) {
        const struct cost *cost = &probe->costs[i];

        lacks_time |= cost->block_cpu_ns < cost->blocks * load_clock_step_ns() ||
                      cost->cpu_ns < load_clock_step_ns();
        lacks_split |= cost->split.user_ns + cost->split.system_ns < cost->split.step_ns;
        lacks_faults |= !cost->faults.has_all;
    }
    if (lacks_time)
        document_note(document,
                      "Unknown CPU times are shorter than the steps of this clock, %.3g ms.",
                      (double)load_clock_step_ns() / NS_PER_MS);
    if (lacks_split)
        document_note(document,
                      "Unknown user and system times are shorter than a step of theirs, %.3g ms.",
                      (double)probe->costs[0].split.step_ns / NS_PER_MS);
    if (lacks_faults)
        document_note(document, "Page faults are unknown: this system does not count them.");
}

static void fill(struct document *document, const struct probe *probe)
{
    char time[TIME_TEXT_SIZE];
    struct cell cells[1];

    document_start(document, &layout);
    time_text(time, sizeof time, (int64_t)now_ns(CLOCK_REALTIME));
    cells[0] = cell_text(document_text(document, "%s", time));
    DOCUMENT_ADD(document, RECORD, cells);
    for (size_t i = 0; i < probe->cost_count; i++)
        add_row(document, &probe->costs[i]);
    note_unknown(document, probe);
    document->record.headline = document_text(
        document, "%s  %u calls a block: cpu, memory, network %s, disk %s, process", time,
        call_count(&probe->subjects), probe->subjects.network, probe->subjects.disk);
}

static int show(const struct probe *probe)
{
    const struct view *view = view_by_name(formats[probe->format]);
    const struct view_options options = view_options_of(stdout);
    struct document document = { 0 };
    int status;

    fill(&document, probe);
    status = show_document(&document, view, &options, 0);
    document_release(&document);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

static int read_rates(struct probe *probe)
{
    char copy[256];

    if (strlen(probe->rate_text) >= sizeof copy)
        return complain(STATUS_USAGE, "--rate: too long");
    strcpy(copy, probe->rate_text);
    for (char *text = copy, *next; text != NULL; text = next) {
        char *rest, *comma = strchr(text, ',');
        double rate;

        next = comma != NULL ? comma + 1 : NULL;
        if (comma != NULL)
            *comma = '\0';
        rate = strtod(text, &rest);
        if (rest == text || *rest != '\0' || !(rate >= 0.1 && rate <= 100000))
            return complain(
                STATUS_USAGE,
                "--rate takes 0.1 to 100000 blocks a second, such as 1,10,100, not '%s'", text);
        if (blocks_within(rate, probe->duration_ns) == 0)
            return complain(STATUS_USAGE, "--rate %s: a block of it takes --duration %.4gs or more",
                            text, 1 / rate);
        if (probe->rate_count == RATES_MAX)
            return complain(STATUS_USAGE, "--rate: at most %d rates", RATES_MAX);
        probe->rates[probe->rate_count++] = rate;
    }
    return OPTIONS_GO_ON;
}

static int parse(struct probe *probe, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_RATE, &probe->rate_text, .type = OPTION_TEXT, .argument = "N,...",
                      .help = "Blocks a second, for one test after the other (1,2,5,10,50,100)."),
        COMMON_OPTION(COMMON_DURATION, &probe->duration_ns,
                      .help = "The time of the test of each rate (2s).", .minimum = 0.01,
                      .maximum = 86400),
        COMMON_OPTION(COMMON_FORMAT, &probe->format, .choices = formats),
        COLOR_OPTION,
    };
    const struct option_table table = {
        .usage = "camp probe [OPTIONS]",
        .about = "What measuring costs: nine calls of the library in a block, at rising rates,\n"
                 "and the CPU time, memory and page faults that took.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
    };

    return options_parse(&table, argc, argv, ret_first);
}

int command_probe(int argc, char **argv)
{
    struct probe probe = { .rate_text = "1,2,5,10,50,100", .duration_ns = 2ull * NS_PER_S };
    int first, status = parse(&probe, argc, argv, &first);

    if (status != OPTIONS_GO_ON)
        return status;
    status = read_rates(&probe);
    if (status == OPTIONS_GO_ON)
        status = find_subjects(&probe.subjects);
    if (status != OPTIONS_GO_ON)
        return status;
    stop_on_signals();
    load_precise_timers();
    run_block(&probe.subjects); /* the first use of memory and code is not counted */
    for (size_t i = 0; i < probe.rate_count && !stop_requested; i++)
        run_rate(&probe, probe.rates[i], &probe.costs[probe.cost_count++]);
    return show(&probe);
}
