#include "command.h"
#include "suggestion.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command commands[] = {
    { "check", command_check, "how wrong sampled CPU time is here: sampled against measured" },
    { "top", command_top, "where the time of threads, processes, users goes, by state" },
    { "time", command_time, "where the wall time of a command, or of a process, went" },
    { "wait", command_wait, "what I/O wait is by five definitions, and who waited for which disk" },
    { "view", command_view, "the page in this computer's browser, live or from a file" },
    { "record", command_record, "record any source to a file, to be looked at later" },
    { "report", command_report, "the page with its data in one file, or one picture" },
    { "get", command_get, "read counters" },
    { "list", command_list, "what can be read: CPUs, disks, networks, processes, counters" },
    { "doctor", command_doctor, "what this kernel counts and how, and what would change it" },
    { "load", command_load, "loads of known size, which tell the truth about themselves" },
    { "verify", command_verify, "is every number right on this machine?" },
    { "probe", command_probe, "what measuring costs" },
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static int print_help(FILE *stream)
{
    fprintf(stream, "camp books every nanosecond once: where time really goes on this computer.\n\n"
                    "Usage: camp COMMAND [OPTIONS]\n\nCommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].help);
    fprintf(stream,
            "\n`camp help COMMAND`, or `camp COMMAND --help`, tells its options;\n"
            "`camp --version` the version.\n"
            "Exit status: 0 ok, 1 failure, 2 usage, 3 partial, 4 a capability is missing.\n");
    return fflush(stream) == 0 ? STATUS_OK : output_failed(errno);
}

static int print_version(void)
{
    printf("camp %s\n", camp_version());
    return fflush(stdout) == 0 ? STATUS_OK : output_failed(errno);
}

static int complain_of_command(const char *name)
{
    struct suggestion suggestion = { .word = name };

    suggestion_offer(&suggestion, "help");
    suggestion_offer(&suggestion, "--help");
    suggestion_offer(&suggestion, "--version");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        suggestion_offer(&suggestion, commands[i].name);
    if (suggestion.best != NULL)
        return complain(STATUS_USAGE, "there is no command '%s'; did you mean '%s'?", name,
                        suggestion.best);
    return complain(STATUS_USAGE, "there is no command '%s'; see camp --help", name);
}

/* `camp help check` is `camp check --help`: the words move up, and make room at the end. */
static void ask_for_help(int argc, char **argv)
{
    static char option[] = "--help";

    memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof *argv);
    argv[argc - 1] = option;
}

/* A standard descriptor that the caller closed would be given to the next file that is opened, and
 * the output would go there: let it be one that cannot be written to. */
static void occupy_standard_descriptors(void)
{
    int descriptor;

    do
        descriptor = open("/dev/null", O_RDONLY);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        close(descriptor);
}

int main(int argc, char **argv)
{
    const char *name;

    occupy_standard_descriptors();
    setlocale(LC_CTYPE, "");  /* the terminal's characters; numbers stay in the C locale */
    signal(SIGPIPE, SIG_IGN); /* `| head` ends a command by EPIPE, after what it had to tidy up */
    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    if (argc > 2 && strcmp(argv[1], "help") == 0)
        ask_for_help(argc, argv);
    name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return print_help(stdout);
    if (strcmp(name, "--version") == 0)
        return print_version();
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            command_name = commands[i].name;
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return complain_of_command(name);
}
