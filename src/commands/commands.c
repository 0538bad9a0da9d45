/* The table of all commands, for main(), --help and the manual. */
#include "program/absence.h"
#include "program/help.h"

static const struct command commands[] = {
    { "check", command_check, "how wrong sampled CPU time is here: sampled against measured",
      .opens_processes = true },
    { "top", command_top, "where the time of threads, processes, users goes, by state" },
    { "time", command_time, "where the wall time of a command, or of a process, went" },
    { "wait", command_wait, "I/O wait by five definitions, and which tasks waited for which disk" },
    { "why", command_why, "what each wait was for, and whose fault: causes that add up" },
    { "explain", command_explain, "where time is lost, by rules, and what cannot be known here" },
    { "view", command_view, "the page in this computer's browser, live or from a file" },
    { "export", command_export, "metrics for Prometheus: CPUs, states of threads, groups" },
    { "record", command_record, "record any source to a file, for later" },
    { "report", command_report, "the page with its data in one file, or one picture",
      .opens_processes = true },
    { "compare", command_compare, "two recordings: which time differs, and how sure that is" },
    { "get", command_get, "read counters", .opens_processes = true },
    { "list", command_list, "what can be read: CPUs, disks, networks, processes, counters" },
    { "doctor", command_doctor, "what this kernel counts and how, and what would change it" },
    { "load", command_load, "loads of known size that report their true times" },
    { "verify", command_verify, "is every number right on this machine?" },
    { "probe", command_probe, "what measuring costs" },
};

const struct command_list camp_commands = {
    .usage = "camp COMMAND [OPTIONS]",
    .about = "camp accounts for every nanosecond exactly once: where time really goes.",
    .title = "Commands",
    .commands = commands,
    .count = sizeof commands / sizeof commands[0],
    .absence = command_absence,
    .after = "`camp help COMMAND`, or `camp COMMAND --help`, prints its options;\n"
             "`camp --version` the version.",
    .statuses = exit_statuses,
};
