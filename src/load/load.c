/*
 * camp load: loads of known size, which report at their end what they did.
 *
 * This file has the table of the loads. Each load is in a file load_*.c. The exit status 3
 * (STATUS_PARTIAL) means that the load did less than requested.
 */
#include "load_children.h"
#include "load_command.h"

#include "program/help.h"
#include "program/suggestion.h"

#include <stdio.h>
#include <string.h>

const char *const load_formats[] = { "text", "json", "csv", NULL };
int load_format;

int load_parse(const char *about, const struct option_spec *specs, size_t count, int argc,
               char **argv)
{
    char usage[64];
    const struct option_table table = { usage, about, specs, count };
    int first;

    snprintf(usage, sizeof usage, "camp load %s [OPTIONS]", argv[0]);
    return options_parse(&table, argc, argv, &first);
}

int load_run(const struct load_command *load)
{
    char remark[REMARK_SIZE] = "";
    struct camp_error error = { 0 };
    const int r = load->run(load->plan, load->truth, &error);
    int status;

    /* The first member of each truth is wall_ns, which is 0 if the load did not start. */
    if (r != CAMP_OK && *(const uint64_t *)load->truth == 0)
        return complain_of(r, &error);
    if (load->remark != NULL)
        load->remark(load->plan, load->truth, remark);
    status = load_show(load);
    if (status != STATUS_OK)
        return status;
    if (r != CAMP_OK)
        return complain_of(r, &error);
    return remark[0] != '\0' ? complain(STATUS_PARTIAL, "%s", remark) : STATUS_OK;
}

static const struct command loads[] = {
    { "cpu", load_cpu_command, "a share of one CPU, at random or locked to the tick" },
    { "fork", load_fork_command, "short processes at a rate" },
    { "memory", load_memory_command, "memory in steps" },
    { "net", load_net_command, "UDP packets to itself" },
    { "io", load_io_command, "reads or writes" },
    { "lock", load_sleep_command, "a thread that waits for another for a share of its time" },
    { "pipe", load_sleep_command, "likewise for data of a pipe" },
    { "sleep", load_sleep_command, "likewise for a timer" },
    { "fault", load_fault_command, "page faults that wait for a file" },
    { "threads", load_threads_command, "threads that use a share of a CPU each" },
};

static const char *const load_statuses[STATUS_COUNT] = { "ok", "failure", "usage",
                                                         "smaller than asked for", "privilege" };

static const struct command_list load_list = {
    .usage = "camp load LOAD [OPTIONS]",
    .about = "Makes a load of known size, and says at its end what it was, as it knows\n"
             "it itself.",
    .title = "Loads",
    .commands = loads,
    .count = ARRAY_COUNT(loads),
    .after = "`camp load LOAD --help` prints its options.",
    .statuses = load_statuses,
};

int command_load(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    struct suggestion suggestion = { .word = name };
    int status;

    if (argc < 2) {
        help_of_commands(&load_list, stderr);
        return STATUS_USAGE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help_of_commands(&load_list, stdout);
    if (is_version_option(name))
        return print_version();
    if (load_child_command(argc, argv, &status))
        return status;
    for (size_t i = 0; i < ARRAY_COUNT(loads); i++) {
        if (strcmp(loads[i].name, name) == 0) {
            stop_on_signals();
            load_mark_startup();
            return loads[i].run(argc - 1, argv + 1);
        }
        suggestion_offer(&suggestion, loads[i].name);
    }
    if (suggestion.best != NULL)
        return complain(STATUS_USAGE, "there is no load '%s'; did you mean '%s'?", name,
                        suggestion.best);
    return complain(STATUS_USAGE, "there is no load '%s'; see camp load --help", name);
}
