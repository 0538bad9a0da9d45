#include "program/help.h"
#include "program/privilege.h"
#include "program/suggestion.h"

#include <stdio.h>
#include <string.h>

static int complain_of_command(const char *name)
{
    struct suggestion suggestion = { .word = name };

    suggestion_offer(&suggestion, "help");
    suggestion_offer(&suggestion, "--help");
    suggestion_offer(&suggestion, "--version");
    for (size_t i = 0; i < camp_commands.count; i++)
        suggestion_offer(&suggestion, camp_commands.commands[i].name);
    if (suggestion.best != NULL)
        return complain(STATUS_USAGE, "there is no command '%s'; did you mean '%s'?", name,
                        suggestion.best);
    return complain(STATUS_USAGE, "there is no command '%s'; see camp --help", name);
}

/* Changes `camp help check` to `camp check --help`. */
static void ask_for_help(int argc, char **argv)
{
    static char option[] = "--help";

    memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof *argv);
    argv[argc - 1] = option;
}

int main(int argc, char **argv)
{
    const char *name;

    privilege_drop();
    prepare_program();
    if (argc < 2) {
        help_of_commands(&camp_commands, stderr);
        return STATUS_USAGE;
    }
    if (argc > 2 && strcmp(argv[1], "help") == 0)
        ask_for_help(argc, argv);
    name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help_of_commands(&camp_commands, stdout);
    if (is_version_option(name))
        return print_version();
    for (size_t i = 0; i < camp_commands.count; i++) {
        const struct command *command = &camp_commands.commands[i];

        if (strcmp(command->name, name) == 0) {
            command_name = command->name;
            if (command->opens_processes)
                privilege_open_processes();
            return command->run(argc - 1, argv + 1);
        }
    }
    return complain_of_command(name);
}
