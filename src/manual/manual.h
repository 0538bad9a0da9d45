/*
 * A program that runs during the build and is not installed. It writes manual pages (in the format
 * of scdoc) and completions for bash, zsh and fish, from the option tables of the commands.
 *
 *     manual page COMMAND [FRAGMENT]
 *         writes the page of a command. "camp" is the page of camp itself, "exporter" the page of
 *         camp-exporter. FRAGMENT is a file with further sections.
 *     manual bash|zsh|fish TEMPLATE
 *         writes the template. Its lines @NAME@ are replaced by parts made from the option tables.
 *
 * To get the option table of a command, the program runs the command with --help (help.h).
 */
#pragma once

#include "program/help.h"

/* Functions that are called with each option table and each list of commands. They may be NULL.
 * `words` are the words after "camp", such as "", "check" and "load cpu". `help` is the command's
 * line in its list of commands, or "" for camp itself. */
struct manual_visitor {
    void (*options)(const char *words, const char *help, const struct option_table *table);
    void (*commands)(const char *words, const char *help, const struct command_list *list);
};

/* Visits all commands. A list of commands is visited before the commands in it. */
void manual_visit_all(const struct manual_visitor *visitor);

/* Visits one command and its subcommands. Returns false if there is no such command. */
bool manual_visit(const struct manual_visitor *visitor, const char *name);

enum argument_kind {
    ARGUMENT_UNKNOWN, /* nothing, for example for a time, a number or an expression */
    ARGUMENT_WORD,    /* one of the choices of the option */
    ARGUMENT_FILE,
    ARGUMENT_WORD_OR_FILE,
    ARGUMENT_FOLDER,
    ARGUMENT_PROCESS,
    ARGUMENT_EXECUTABLE
};
enum argument_kind argument_kind(const struct option_spec *spec);

/* Writes the first sentence of a help text, without its full stop. A long sentence is truncated. */
#define SUMMARY_SIZE 80
void summary_of(const char *help, char ret[SUMMARY_SIZE]);

/* A part of a template. The last element of an array of parts has the name NULL. */
struct manual_part {
    const char *name;
    struct manual_visitor visitor;
};
extern const struct manual_part bash_parts[], zsh_parts[], fish_parts[];

/* Writes a page without the sections of a fragment. Returns false if there is no such command. */
bool manual_page(const char *name);
