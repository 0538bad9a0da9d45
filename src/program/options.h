/*
 * Options: a table of struct option_spec, each bound to a variable of the command; getopt_long
 * parses them. --help (help.h), the manual and shell completions are written from the same table.
 *
 * Options that several commands share are rows of one table (common_options.h), so that a letter
 * has one meaning in all commands. A test compares the tables of all commands.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
    OPTION_FLAG,     /* bool *: set to true */
    OPTION_NO_FLAG,  /* bool *: set to false (--no-kernel-threads) */
    OPTION_COUNT,    /* uint64_t *: a whole number in [minimum, maximum] */
    OPTION_REAL,     /* double *: in [minimum, maximum] */
    OPTION_DURATION, /* uint64_t *: ns. "100ms", "2s", "1.5", "1m", "2h": a bare number is s.
                      * minimum and maximum in s */
    OPTION_SIZE,     /* uint64_t *: bytes. "976K" (1024), "2M", "1G", "1T" */
    OPTION_TEXT,     /* const char ** */
    OPTION_CHOICE,   /* int *: index into choices[] */
    OPTION_LIST,     /* struct text_list *: can be repeated */

    /* Added to each table, so that no command names them: */
    OPTION_ALIAS, /* int *: set to `minimum` (--json: --format json) */
    OPTION_HELP,
    OPTION_VERSION
};

struct text_list {
    const char **texts; /* owned: text_list_release() */
    size_t count, capacity;
};
void text_list_release(struct text_list *list);

struct option_spec {
    const char *name; /* "interval" */
    char letter;      /* 'i', or 0 */
    enum option_type type;
    void *value;          /* of the type's kind */
    const char *argument; /* "TIME"; NULL for flags */
    const char *help;
    double minimum, maximum; /* both 0: no bounds but the type's */
    /* NULL-terminated. Of an OPTION_TEXT: words among others, which shells offer. */
    const char *const *choices;
};

/* A combination of options that options_parse() refuses. A condition is the name of an option that
 * was given, or a name with the value that the option has: "rotate", "format csv". */
struct option_rule {
    const char *option;  /* the condition under which the rule applies; NULL ends a list of rules */
    const char *with;    /* conditions of which one must hold: "pid, tid"; NULL: no condition */
    const char *without; /* conditions of which none may hold; NULL: no condition */
    /* NULL: "--OPTION goes with --WITH", "--OPTION goes without --WITHOUT" */
    const char *complaint;
};

struct option_table {
    const char *usage; /* "camp check [OPTIONS] [INTERVAL [COUNT]]": see enum operand_kind */
    const char *about; /* a paragraph or more for --help */
    const struct option_spec *specs;
    size_t count;
    const struct option_rule *rules; /* the last one is all zero; NULL: none */
};

enum options_result { OPTIONS_GO_ON = -1 }; /* otherwise an exit status */

/* The operands that a command takes, by its usage. */
enum operand_kind {
    OPERAND_NONE,
    OPERAND_OTHER,
    OPERAND_INTERVAL, /* [INTERVAL [COUNT]] or [INTERVAL], and nothing else */
    OPERAND_COUNTER,  /* of `camp get`: COUNTER... */
    OPERAND_SUBJECT,  /* of `camp list`: KIND */
    OPERAND_COMMAND   /* a program, and its arguments */
};
enum operand_kind operand_kind(const struct option_table *table);

/* Parses argv, sets the bound variables. *ret_first: index of the first operand in argv (options
 * and operands may be mixed). Where the usage has the operands INTERVAL and COUNT, they set the
 * variables of --interval and --count, and *ret_first is after them. Returns OPTIONS_GO_ON; 0 after
 * --help or --version was printed; STATUS_USAGE after a complaint that names the option or the
 * operand, and the values it accepts. */
int options_parse(const struct option_table *table, int argc, char **argv, int *ret_first);

/* Adds the options that each command has besides those of its table: --json and --csv where
 * --format accepts them, --help and --version. All options are written to `specs`. False: there are
 * more than MAXIMUM_OPTIONS. */
#define MAXIMUM_OPTIONS 40
bool options_complete(const struct option_table *table,
                      struct option_spec specs[static MAXIMUM_OPTIONS], struct option_table *ret);

/* The words of the usage before its options: "camp load net". */
void options_command(const struct option_table *table, char *ret, size_t capacity);

bool option_takes_argument(const struct option_spec *spec);

/* Parse "250ms" to ns, and "12K" to bytes; false for other texts. */
int parse_duration(const char *text, uint64_t *ret_ns);
int parse_size(const char *text, uint64_t *ret_bytes);
