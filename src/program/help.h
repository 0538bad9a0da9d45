/*
 * --help, written from the tables that commands are read by. Manual pages and the completions of
 * shells are written from the same tables by a program of the build (manual/), which takes them
 * where --help would print them: nothing is said twice.
 */
#ifndef CAMP_PROGRAM_HELP_H
#define CAMP_PROGRAM_HELP_H

#include "command.h"

#include <stdio.h>

/* A command of commands: camp itself, and camp load. */
struct command_list {
    const char *usage; /* "camp load LOAD [OPTIONS]" */
    const char *about;
    const char *title; /* of the list: "Loads" */
    const struct command *commands;
    size_t count;
    const char *after;           /* what follows it */
    const char *const *statuses; /* what exit status 0, 1, 2, ... means */
};

#define STATUS_COUNT 5
extern const char *const exit_statuses[STATUS_COUNT]; /* of most commands */

extern const struct command_list camp_commands; /* commands.c */

/* Prints --help of a complete table (options_complete()). STATUS_OK, or an exit status after a
 * complaint. */
int help_of_options(const struct option_table *table);
int help_of_commands(const struct command_list *list, FILE *stream);

/* Takes a table instead of its being printed. Options are bound to the command's own variables, so
 * that they are there until the function returns. */
struct help_taker {
    void (*options)(const struct option_table *table);
    void (*commands)(const struct command_list *list);
};
extern const struct help_taker *help_taker; /* NULL, but in the program of the build */

#endif
