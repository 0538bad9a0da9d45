/*
 * A program of the build, which is not installed: manual pages (in scdoc's language) and
 * completions for bash, zsh and fish, from the tables that commands read their options by.
 *
 *     manual page COMMAND [FRAGMENT]
 *         the page of a command ("camp": of all; "exporter": of camp-exporter); FRAGMENT is a file
 *         of the sections that --help has not
 *     manual bash|zsh|fish TEMPLATE
 *         the template, whose lines @PART@ are written from the tables
 *
 * Each command is asked for its --help, and its table is taken (help.h).
 */
#pragma once

#include "program/help.h"

/* What is done with each table. `words` are those behind "camp": "", "check", "load cpu"; help is
 * the command's line in the list that it is in ("" of camp itself). */
struct manual_visitor {
    void (*options)(const char *words, const char *help, const struct option_table *table);
    void (*commands)(const char *words, const char *help, const struct command_list *list);
};

/* All: a list, then each of its commands, with their own commands. NULL functions are left out. */
void manual_visit_all(const struct manual_visitor *visitor);

/* One command and its commands. False: there is no such command. */
bool manual_visit(const struct manual_visitor *visitor, const char *name);

/* What can be offered for the argument of an option. A name of a file: */
enum argument_kind {
    ARGUMENT_UNKNOWN, /* a time, a number, an expression: nothing can */
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

/* A page, but for what its fragment says. False: there is no such command. */
bool manual_page(const char *name);
