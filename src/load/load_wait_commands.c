/* camp load io, lock, pipe, sleep, fault: options, run, truth. */
#include "load_commands.h"

#include "load.h"
#include "load_show.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

int load_io_command(int argc, char **argv)
{
    struct load_io_plan plan = { .bytes = 64u << 20, .block = 4096 };
    int format = 0, r;
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_FILE, &plan.file,
                      .help = "The file. camp reads an existing file, and never writes to it. A "
                              "file that does not exist is created, and removed at the end. "
                              "(Default: a new file in TMPDIR or /var/tmp.)"),
        COMMON_OPTION(COMMON_BYTES, &plan.bytes, .help = "How many bytes to read or write (64M)."),
        { "block", 0, OPTION_SIZE, &plan.block, "SIZE", "The size of each operation (4K).", 1,
          16777216, NULL },
        LOAD_DURATION_OF("Run for this time, through the file of --bytes again and again."),
        { "direct", 0, OPTION_FLAG, &plan.direct, NULL, "Bypass the page cache.", 0, 0, NULL },
        { "cold", 0, OPTION_FLAG, &plan.cold, NULL,
          "Use the page cache, but remove the file from it before each pass.", 0, 0, NULL },
        { "write", 0, OPTION_FLAG, &plan.write, NULL, "Write instead of reading.", 0, 0, NULL },
        LOAD_FORMAT,
    };
    struct load_io_truth truth;
    struct camp_error error = { 0 };
    char remark[REMARK_SIZE] = "";

    r = load_parse("camp load io [OPTIONS]", "Reads or writes in blocks.", specs,
                   ARRAY_COUNT(specs), argc, argv);
    if (r != OPTIONS_GO_ON)
        return r;
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is then an error like a full disk */
    r = load_io(&plan, &truth, &error);
    if (truth.wall_ns == 0 && r != CAMP_OK)
        return complain_of(r, &error);
    if ((plan.cold || (plan.direct && !plan.write)) &&
        (double)truth.storage_bytes < NEARLY * (double)truth.bytes)
        snprintf(remark, sizeof remark,
                 "only %llu of %llu bytes came from storage: this file stays in memory",
                 (unsigned long long)truth.storage_bytes, (unsigned long long)truth.bytes);
    return load_ended(show_load_io(view_by_name(load_formats[format]), &truth), r, &error, remark);
}

/* The three kinds of sleep, in the order of enum load_sleep_kind. */
static const struct sleep_command {
    const char *name, *usage, *about;
} sleeps[] = {
    { "lock", "camp load lock [OPTIONS]",
      "A thread that sleeps in futex(2) for a known share of its time, until another one\n"
      "wakes it. The off_cpu_ns of the time it uses a CPU." },
    { "pipe", "camp load pipe [OPTIONS]",
      "A thread that sleeps in read(2) of a pipe for a known share of its time, until\n"
      "another one writes to it. The off_cpu_ns of the time it uses a CPU." },
    { "sleep", "camp load sleep [OPTIONS]",
      "A thread that sleeps in clock_nanosleep(2) for a known share of its time. The off_cpu_ns\n"
      "of the time it uses a CPU." },
};

static enum load_sleep_kind kind_of(const char *name)
{
    size_t kind = 0;

    while (strcmp(sleeps[kind].name, name) != 0)
        kind++;
    return (enum load_sleep_kind)kind;
}

int load_sleep_command(int argc, char **argv)
{
    struct load_sleep_plan plan = { kind_of(argv[0]), 50, 0, -1, DEFAULT_DURATION_NS };
    const struct sleep_command *command = &sleeps[plan.kind];
    uint64_t cpu = UINT64_MAX;
    int format = 0, r;
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_PERCENT, &plan.percent,
                      .help = "The time asleep, in percent of the wall time (50)."),
        COMMON_OPTION(COMMON_PERIOD, &plan.period_ns,
                      .help = "The thread sleeps once in each period (10 ms).", .minimum = 0.001,
                      .maximum = 1),
        COMMON_OPTION(COMMON_CPU, &cpu),
        LOAD_DURATION,
        LOAD_FORMAT,
    };
    struct load_sleep_truth truth;
    struct camp_error error = { 0 };
    char remark[REMARK_SIZE] = "";

    r = load_parse(command->usage, command->about, specs, ARRAY_COUNT(specs), argc, argv);
    if (r != OPTIONS_GO_ON)
        return r;
    plan.cpu = cpu == UINT64_MAX ? -1 : (int32_t)cpu;
    r = load_sleep(&plan, &truth, &error);
    if (truth.wall_ns == 0 && r != CAMP_OK)
        return complain_of(r, &error);
    if (truth.percent < plan.percent * NEARLY)
        snprintf(
            remark, sizeof remark,
            "only %.2f%% of %.2f%% was spent asleep: the CPU was in use when the thread was due",
            truth.percent, plan.percent);
    return load_ended(
        show_load_sleep(view_by_name(load_formats[format]), command->name, &plan, &truth), r,
        &error, stop_requested ? "" : remark);
}

int load_fault_command(int argc, char **argv)
{
    struct load_fault_plan plan = { .pages = 4096 };
    int format = 0, r;
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_FILE, &plan.file,
                      .help = "The file to map and read. (Default: a new file in TMPDIR or "
                              "/var/tmp.)"),
        { "pages", 0, OPTION_COUNT, &plan.pages, "N", "How many pages to touch (4096).", 1, 1e9,
          NULL },
        LOAD_DURATION_OF("Run for this time, through the file of --pages again and again."),
        { "in-call", 0, OPTION_FLAG, &plan.in_call, NULL,
          "Let the kernel touch the pages, in write(2): kernel faults instead of data faults.", 0,
          0, NULL },
        LOAD_FORMAT,
    };
    struct load_fault_truth truth;
    struct camp_error error = { 0 };
    char remark[REMARK_SIZE] = "";

    r = load_parse("camp load fault [OPTIONS]",
                   "Touches pages of a file that are not in memory, one after the other.", specs,
                   ARRAY_COUNT(specs), argc, argv);
    if (r != OPTIONS_GO_ON)
        return r;
    r = load_fault(&plan, &truth, &error);
    if (truth.wall_ns == 0 && r != CAMP_OK)
        return complain_of(r, &error);
    if ((double)truth.major_faults < NEARLY * (double)truth.pages)
        snprintf(remark, sizeof remark,
                 "only %llu of %llu pages were not in memory: this file stays in memory",
                 (unsigned long long)truth.major_faults, (unsigned long long)truth.pages);
    return load_ended(show_load_fault(view_by_name(load_formats[format]), &truth), r, &error,
                      stop_requested ? "" : remark);
}
