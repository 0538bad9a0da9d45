/*
 * Options: a table of struct option_spec, each bound to a variable of the command; getopt_long
 * does the parsing. --help is written from the same table (help.h), and so are the manual and the
 * completions of shells.
 */
#ifndef CAMP_COMMANDS_OPTIONS_H
#define CAMP_COMMANDS_OPTIONS_H

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
    OPTION_LIST      /* struct text_list *: may be given again */
};

struct text_list {
    const char **texts; /* owned: text_list_release() */
    size_t count;
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

struct option_table {
    const char *usage; /* "camp check [OPTIONS]" */
    const char *about; /* a paragraph or more for --help */
    const struct option_spec *specs;
    size_t count;
};

enum options_result { OPTIONS_GO_ON = -1 }; /* otherwise an exit status */

/* Parses argv, sets the bound variables. *ret_first: index of the first operand in argv (options
 * and operands may be mixed). Returns OPTIONS_GO_ON; 0 after --help was printed; STATUS_USAGE after
 * a complaint that names the option and what it takes. */
int options_parse(const struct option_table *table, int argc, char **argv, int *ret_first);

bool option_takes_argument(const struct option_spec *spec);

/* "250ms" -> ns, and "12K" -> bytes; false when it is not such a thing. */
int parse_duration(const char *text, uint64_t *ret_ns);
int parse_size(const char *text, uint64_t *ret_bytes);

#endif
