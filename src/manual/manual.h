/*
 * A program that runs during the build and is not installed. It writes manual pages (in the format
 * of scdoc) and completions for bash, zsh and fish, from the option tables of the commands.
 *
 *     manual page COMMAND [FRAGMENT]
 *         writes the page of a command. COMMAND may also be "camp", for the page of camp itself, or
 *         "exporter", for the page of camp-exporter. The file FRAGMENT is appended to the page.
 *     manual bash|zsh|fish TEMPLATE
 *         writes the file TEMPLATE. Its lines @NAME@ are replaced by parts made from the option
 *         tables.
 *
 * To get the option table of a command, the program runs the command with --help (help.h).
 */
#pragma once

#include "program/help.h"

/* options() is called for each command that has options, and commands() for each list of commands.
 * Either may be NULL. `words` is the command without "camp", such as "check" or "load cpu", or ""
 * for camp itself. `help` is the line that describes the command in its list of commands, or "" for
 * camp itself. */
struct manual_visitor {
    void (*options)(const char *words, const char *help, const struct option_table *table);
    void (*commands)(const char *words, const char *help, const struct command_list *list);
};

/* Visits all commands. A list of commands is visited before the commands in it. */
void manual_visit_all(const struct manual_visitor *visitor);

/* Visits the command `name` and its subcommands. Returns false if there is no such command. */
bool manual_visit(const struct manual_visitor *visitor, const char *name);

enum argument_kind {
    ARGUMENT_UNKNOWN, /* an argument without completion, such as a time or a number */
    ARGUMENT_WORD,    /* one of spec->choices */
    ARGUMENT_FILE,
    ARGUMENT_WORD_OR_FILE,
    ARGUMENT_FOLDER,
    ARGUMENT_PROCESS,
    ARGUMENT_EXECUTABLE
};
enum argument_kind argument_kind(const struct option_spec *spec);

/* Copies the first sentence of `help` to `ret`, without the full stop. A sentence that is too long
 * is cut. */
#define SUMMARY_SIZE 80
void summary_of(const char *help, char ret[SUMMARY_SIZE]);

/* `visitor` writes what replaces the line @NAME@ of a template, where NAME is `name`. In an array
 * of parts, the last part has the name NULL. */
struct manual_part {
    const char *name;
    struct manual_visitor visitor;
};
extern const struct manual_part bash_parts[], zsh_parts[], fish_parts[];

/* Writes the page `name`, without FRAGMENT. Returns false if there is no such command. */
bool manual_page(const char *name);
