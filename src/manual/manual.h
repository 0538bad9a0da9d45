/*
 * A program of the build, which is not installed: manual pages (in scdoc's language) and
 * completions for bash, zsh and fish, from the tables that commands read their options by.
 *
 *     manual page COMMAND [FRAGMENT]
 *         the page of a command ("camp": of all; "exporter": of camp-exporter); FRAGMENT is a file
 *         with further sections
 *     manual bash|zsh|fish TEMPLATE
 *         the template, with its lines @PART@ replaced from the tables
 *
 * Each command is run with --help, and passes its table (help.h).
 */
#pragma once

#include "program/help.h"

/* Functions for each table. `words` are those after "camp": "", "check", "load cpu"; help is
 * the command's line in the list that it is in ("" of camp itself). */
struct manual_visitor {
    void (*options)(const char *words, const char *help, const struct option_table *table);
    void (*commands)(const char *words, const char *help, const struct command_list *list);
};

/* Visits all commands: a list first, then each of its commands. Functions may be NULL. */
void manual_visit_all(const struct manual_visitor *visitor);

/* Visits one command and its subcommands. False: there is no such command. */
bool manual_visit(const struct manual_visitor *visitor, const char *name);

/* What a shell can offer for the argument of an option. */
enum argument_kind {
    ARGUMENT_UNKNOWN, /* nothing: it is a time, a number or an expression */
    ARGUMENT_WORD,    /* one of its choices */
    ARGUMENT_FILE,
    ARGUMENT_WORD_OR_FILE,
    ARGUMENT_FOLDER,
    ARGUMENT_PROCESS,   /* a pid */
    ARGUMENT_EXECUTABLE /* the name of a running program */
};
enum argument_kind argument_kind(const struct option_spec *spec);

/* The first sentence of an option's help, or what fits of it, without the full stop. */
#define SUMMARY_SIZE 80
void summary_of(const char *help, char ret[SUMMARY_SIZE]);

/* Parts of templates; the last has no name. */
struct manual_part {
    const char *name;
    struct manual_visitor visitor;
};
extern const struct manual_part bash_parts[], zsh_parts[], fish_parts[];

/* Writes a page without the sections of its fragment. False: there is no such command. */
bool manual_page(const char *name);
