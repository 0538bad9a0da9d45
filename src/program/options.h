/*
 * A command describes its options in a table of struct option_spec. Each option sets a variable of
 * the command. getopt_long() parses the options; --help (help.h), the manual and shell completions
 * are written from the same table.
 *
 * Options that several commands share are rows of one table (common_options.h), so a letter has the
 * same meaning in all commands. A test compares the tables of all commands.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
    OPTION_FLAG,    /* bool *, which becomes true */
    OPTION_NO_FLAG, /* bool *, which becomes false (--no-kernel-threads) */
    OPTION_COUNT,   /* uint64_t *: a whole number in [minimum, maximum] */
    OPTION_REAL,    /* double *: a number in [minimum, maximum] */
    /* uint64_t *: a time in ns, given as "100ms", "2s", "1m", "2h" or "1.5". A number without a
     * unit is in seconds. minimum and maximum are in seconds. */
    OPTION_DURATION,
    /* uint64_t *: a size in bytes, given as "976K" (of 1024 bytes), "2M", "1G" or "1T". */
    OPTION_SIZE,
    OPTION_TEXT,   /* const char ** */
    OPTION_CHOICE, /* int *, which becomes an index into choices[] */
    OPTION_LIST,   /* struct text_list *. The option can be repeated. */
    OPTION_TEXTS,  /* struct first_texts *. The option can be repeated. */

    /* options_complete() adds options of these types to each table: */
    OPTION_ALIAS, /* int *, which becomes `minimum` (--json sets --format to json) */
    OPTION_HELP,
    OPTION_VERSION
};

struct text_list {
    const char **texts;
    size_t count, capacity;
};
void text_list_release(struct text_list *list);

#define FIRST_TEXTS_MOST 64

/* The values of an option that is usually given once. */
struct first_texts {
    const char **first;                 /* the variable that is set to the first value */
    const char *more[FIRST_TEXTS_MOST]; /* the first of the `count` further values */
    size_t count;
};

struct option_spec {
    const char *name; /* the long name, without -- */
    char letter;      /* 0 if there is none */
    enum option_type type;
    void *value;
    /* The word for the value in the help, such as "TIME". NULL for options without a value. */
    const char *argument;
    const char *help;
    double minimum, maximum; /* If both are 0, only the type limits the value. */
    /* NULL-terminated. For OPTION_TEXT these words are only suggestions for shells. */
    const char *const *choices;
};

/* A combination of options that options_parse() refuses. A condition is the name of a given
 * option, such as "rotate", or a name with its value, such as "format csv". */
struct option_rule {
    const char *option; /* The rule applies if this condition holds. NULL ends a list of rules. */
    const char *with; /* One of these conditions must hold: "pid, tid". NULL means no condition. */
    const char *without; /* None of these conditions may hold. NULL means no condition. */
    /* the error message; NULL: "--OPTION goes with --WITH" or "--OPTION goes without --WITHOUT" */
    const char *complaint;
};

struct option_table {
    /* "camp check [OPTIONS] [INTERVAL [COUNT]]". operand_kind() reads the operands from this
     * text. */
    const char *usage;
    const char *about;
    const struct option_spec *specs;
    size_t count;
    const struct option_rule *rules; /* The last rule is all zero. NULL means no rules. */
};

/* OPTIONS_GO_ON means success: the command continues. Other results are exit statuses. */
enum options_result { OPTIONS_GO_ON = -1 };

/* The operands that a command takes, according to the usage text in its table. */
enum operand_kind {
    OPERAND_NONE,
    OPERAND_OTHER,
    OPERAND_INTERVAL, /* only [INTERVAL [COUNT]] or [INTERVAL] */
    OPERAND_COUNTER,  /* COUNTER... of `camp get` */
    OPERAND_SUBJECT,  /* KIND of `camp list` */
    OPERAND_PROCESS,  /* a pid, a name or a cgroup of `camp why`, then [INTERVAL [COUNT]] */
    OPERAND_COMMAND   /* a program and its arguments */
};
enum operand_kind operand_kind(const struct option_table *table);

/*
 * Parses argv and sets the variables of the options. Options and operands may be mixed. *ret_first
 * becomes the index in argv of the first operand. If the usage has the operands INTERVAL and COUNT,
 * they set the variables of --interval and --count, and *ret_first is the index after them.
 *
 * Returns OPTIONS_GO_ON, or 0 after printing --help or the version. Returns STATUS_USAGE after a
 * complaint that names the wrong option or operand and the values it accepts.
 */
int options_parse(const struct option_table *table, int argc, char **argv, int *ret_first);

/* Writes the options of a table to `specs`, and adds the options that each command has: --help,
 * --version, and --json and --csv if --format accepts those values. Returns false if there are
 * more than MAXIMUM_OPTIONS. */
#define MAXIMUM_OPTIONS 40
bool options_complete(const struct option_table *table,
                      struct option_spec specs[static MAXIMUM_OPTIONS], struct option_table *ret);

/* Writes the words of the usage before its options: "camp load net". */
void options_command(const struct option_table *table, char *ret, size_t capacity);

/* An option, and whether the user gave it. */
struct given_option {
    const char *name;
    bool given;
};

/* Returns the name of the first given option of options[count], or NULL. */
const char *option_first_given(const struct given_option *options, size_t count);

bool option_takes_argument(const struct option_spec *spec);

/* Parse "250ms" to ns, and "12K" to bytes. Return false for a text that is not a time or a size. */
int parse_duration(const char *text, uint64_t *ret_ns);
int parse_size(const char *text, uint64_t *ret_bytes);
