/*
 * Prints --help from the tables by which commands parse their options. Manual pages and shell
 * completions are made from the same tables, by a program that runs during the build (src/manual/).
 * That program sets help_receiver, which gets the tables; --help then prints nothing.
 */
#pragma once

#include "command.h"

#include <stdio.h>

struct command_list {
    const char *usage;
    const char *about;
    const char *title;
    const struct command *commands;
    size_t count;
    /* Returns why a command is not here, or NULL if it is. NULL: all are here. */
    const char *(*absence)(const char *name);
    const char *after;
    /* [STATUS_COUNT] the meaning of exit status 0, 1, 2, ...; NULL: there is no such status */
    const char *const *statuses;
};

#define STATUS_COUNT 6
extern const char *const exit_statuses[STATUS_COUNT]; /* the meanings for most commands */

extern const struct command_list camp_commands;

/* Prints --help of a table that options_complete() has completed. Returns STATUS_OK, or an exit
 * status after an error message. */
int help_of_options(const struct option_table *table);
int help_of_commands(const struct command_list *list, FILE *stream);

/* If help_receiver is set, --help calls one of these functions instead of printing the table. The
 * options in a table point to variables of the running command, so the table is valid only until
 * the function returns. */
struct help_receiver {
    void (*options)(const struct option_table *table);
    void (*commands)(const struct command_list *list);
};
extern const struct help_receiver *help_receiver; /* NULL, except in src/manual/ */
