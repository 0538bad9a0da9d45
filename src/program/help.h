/*
 * --help, written from the tables by which commands parse their options. A program of the build
 * (manual/) writes manual pages and shell completions from the same tables: it receives them
 * instead of --help printing them.
 */
#pragma once

#include "command.h"

#include <stdio.h>

/* A command with subcommands: camp itself, and camp load. */
struct command_list {
    const char *usage; /* "camp load LOAD [OPTIONS]" */
    const char *about;
    const char *title; /* title of the list: "Loads" */
    const struct command *commands;
    size_t count;
    const char *after;           /* text after the list */
    const char *const *statuses; /* meaning of exit status 0, 1, 2, ... */
};

#define STATUS_COUNT 5
extern const char *const exit_statuses[STATUS_COUNT]; /* those of most commands */

extern const struct command_list camp_commands; /* commands.c */

/* Prints --help of a complete table (options_complete()). STATUS_OK, or an exit status after a
 * complaint. */
int help_of_options(const struct option_table *table);
int help_of_commands(const struct command_list *list, FILE *stream);

/* Receives a table instead of printing it. Options are bound to the command's own variables, so
 * they are valid until the function returns. */
struct help_receiver {
    void (*options)(const struct option_table *table);
    void (*commands)(const struct command_list *list);
};
extern const struct help_receiver *help_receiver; /* NULL, except in the program of the build */
