#include "options.h"

#include "absence.h"
#include "command.h"
#include "help.h"
#include "option_habits.h"
#include "option_values.h"
#include "suggestion.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum operand_kind operand_kind(const struct option_table *table)
{
    static const struct {
        const char *words;
        enum operand_kind kind;
    } kinds[] = {
        { "-- COMMAND", OPERAND_COMMAND }, { "COUNTER...", OPERAND_COUNTER },
        { "[KIND", OPERAND_SUBJECT },      { "[PID | NAME", OPERAND_PROCESS },
        { "[INTERVAL", OPERAND_INTERVAL },
    };
    const char *options = strstr(table->usage, "[OPTIONS]");

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strstr(table->usage, kinds[i].words) != NULL)
            return kinds[i].kind;
    }
    return options == NULL || strcmp(options, "[OPTIONS]") == 0 ? OPERAND_NONE : OPERAND_OTHER;
}

static const struct option_spec *find(const struct option_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->specs[i].name, name) == 0)
            return &table->specs[i];
    }
    return NULL;
}

/* A time starts with a digit, or with a point and a digit. Counters and other operands do not. */
static bool starts_number(const char *operand)
{
    return isdigit((unsigned char)operand[operand[0] == '.' ? 1 : 0]) != 0;
}

static int set(const struct option_table *table, bool *given, const char *name, const char *operand)
{
    const struct option_spec *spec = find(table, name);
    char wanted[200];

    if (given[spec - table->specs])
        return complain(STATUS_USAGE,
                        "the operand %s and --%s set the same value: give only one of them",
                        operand, name);
    if (option_set(spec, operand)) {
        given[spec - table->specs] = true;
        return OPTIONS_GO_ON;
    }
    option_describe(spec, wanted, sizeof wanted);
    return complain(STATUS_USAGE, "the operand %s is the value of --%s: give %s", operand, name,
                    wanted);
}

/* Returns whether the operand may be meant for --from: a path, a source with a colon
 * (postgres:...), or the name of a source. */
static bool is_source(const struct option_table *table, const char *operand)
{
    const struct option_spec *from = find(table, "from");

    if (from == NULL || strpbrk(operand, "./:") != NULL)
        return from != NULL;
    for (size_t i = 0; from->choices != NULL && from->choices[i] != NULL; i++) {
        if (strcmp(from->choices[i], operand) == 0)
            return true;
    }
    return false;
}

/* Complains about an operand that is not a time, although the command takes only a time. The
 * name of a file is most likely meant for --from, or for camp record --output. */
static int complain_of_word(const struct option_table *table, const char *operand)
{
    char command[64];

    options_command(table, command, sizeof command);
    if (is_source(table, operand) && strcmp(command, "camp record") == 0 &&
        strstr(operand, ".camp") != NULL)
        return complain(STATUS_USAGE,
                        "'%s' is not a time; to record to this file, give --output %s, to read it "
                        "as a source, --from %s",
                        operand, operand, operand);
    if (is_source(table, operand))
        return complain(STATUS_USAGE, "'%s' is not a time; to read it as a source, give --from %s",
                        operand, operand);
    return complain(STATUS_USAGE,
                    "'%s' is not a time: the operands of %s are %s, such as 1 or 500ms", operand,
                    command, strstr(table->usage, "[INTERVAL"));
}

static int parse(const struct option_table *table, bool *given, int argc, char **argv, int at)
{
    const int most = find(table, "count") != NULL ? 2 : 1;
    int status;

    if (argc - at > most)
        return complain(STATUS_USAGE, "'%s' is one operand too many: the operands are %s",
                        argv[at + most], strstr(table->usage, "[INTERVAL"));
    status = set(table, given, "interval", argv[at]);
    if (status == OPTIONS_GO_ON && argc - at > 1)
        status = set(table, given, "count", argv[at + 1]);
    return status;
}

static void move_to_front(char **operands, int all, int count)
{
    for (; count > 0; count--) {
        char *last = operands[all - 1];

        memmove(operands + 1, operands, (size_t)(all - 1) * sizeof *operands);
        operands[0] = last;
    }
}

/* If the usage has the operands INTERVAL and COUNT, sets --interval and --count from the
 * operands, which start at argv[*first], and moves *first behind INTERVAL and COUNT. `given`
 * says for each option whether it was given. Returns OPTIONS_GO_ON, or STATUS_USAGE after an
 * error message. */
static int operands_parse(const struct option_table *table, bool *given, int argc, char **argv,
                          int *first)
{
    const enum operand_kind kind = operand_kind(table);
    int at = *first, status;
    char command[64];

    options_command(table, command, sizeof command);
    if (kind == OPERAND_NONE && at < argc)
        return complain(STATUS_USAGE, "'%s': %s takes no operands; see %s --help", argv[at],
                        command, command);
    if (strstr(table->usage, "[INTERVAL") == NULL)
        return OPTIONS_GO_ON;
    if (kind == OPERAND_PROCESS && at < argc)
        at++; /* The first operand is a process, even if it is a number. */
    while (at < argc && !starts_number(argv[at]))
        at++;
    if (kind == OPERAND_INTERVAL && at > *first)
        return complain_of_word(table, argv[*first]);
    if (at == argc)
        return OPTIONS_GO_ON;
    status = parse(table, given, argc, argv, at);
    move_to_front(argv + *first, argc - *first, argc - at);
    *first += argc - at;
    return status;
}

/* For an option of the table, getopt_long() returns FIRST_VALUE plus the index of the option. */
#define FIRST_VALUE 256

static const struct format_alias {
    const char *name, *help;
} format_aliases[] = {
    { "json", "The same as --format json." },
    { "csv", "The same as --format csv." },
};

static size_t add_aliases(const struct option_spec *format, struct option_spec *ret)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof format_aliases / sizeof format_aliases[0]; i++) {
        for (int at = 0; format->choices != NULL && format->choices[at] != NULL; at++) {
            if (strcmp(format->choices[at], format_aliases[i].name) == 0)
                ret[count++] = (struct option_spec){ .name = format_aliases[i].name,
                                                     .type = OPTION_ALIAS,
                                                     .value = format->value,
                                                     .help = format_aliases[i].help,
                                                     .minimum = at };
        }
    }
    return count;
}

bool options_complete(const struct option_table *table,
                      struct option_spec specs[static MAXIMUM_OPTIONS], struct option_table *ret)
{
    size_t count = 0;

    for (size_t i = 0; i < table->count; i++) {
        if (count + sizeof format_aliases / sizeof format_aliases[0] + 3 > MAXIMUM_OPTIONS)
            return false;
        specs[count++] = table->specs[i];
        if (strcmp(table->specs[i].name, "format") == 0)
            count += add_aliases(&table->specs[i], specs + count);
    }
    specs[count++] =
        (struct option_spec){ "help", 'h', OPTION_HELP, NULL, NULL, "This text.", 0, 0, NULL };
    specs[count++] =
        (struct option_spec){ "version", 'V', OPTION_VERSION, NULL, NULL, "The version of camp.", 0,
                              0,         NULL };
    *ret = (struct option_table){ table->usage, table->about, specs, count, table->rules };
    return true;
}

bool option_takes_argument(const struct option_spec *spec)
{
    return spec->argument != NULL;
}

/* The name of a command is in small letters, at the start of the usage text. */
void options_command(const struct option_table *table, char *ret, size_t capacity)
{
    size_t length = strspn(table->usage, "abcdefghijklmnopqrstuvwxyz ");

    while (length > 0 && table->usage[length - 1] == ' ')
        length--;
    snprintf(ret, capacity, "%.*s", (int)length, table->usage);
}

/* The tables for getopt_long(), made from a table of options. camp also accepts the British
 * spelling of an American name; `british` holds the British names. */
struct getopt_tables {
    struct option longs[2 * MAXIMUM_OPTIONS + 1];
    char letters[2 * MAXIMUM_OPTIONS + 3];
    char british[MAXIMUM_OPTIONS][24];
};

/* Changes "color-by" to "colour-by". Returns false if the name has only one spelling. */
static bool spell_british(const char *name, char *ret, size_t capacity)
{
    if (strncmp(name, "color", 5) != 0)
        return false;
    snprintf(ret, capacity, "colour%s", name + 5);
    return true;
}

static void fill_getopt(const struct option_table *table, struct getopt_tables *ret)
{
    size_t used = 0, count = 0;

    if (operand_kind(table) == OPERAND_COMMAND)
        /* Words after COMMAND belong to COMMAND, even if they look like options and the user
         * gives no "--". */
        ret->letters[used++] = '+';
    /* This ':' makes getopt_long() return ':' for a missing argument, without a message. */
    ret->letters[used++] = ':';
    for (size_t i = 0; i < table->count; i++) {
        const struct option_spec *spec = &table->specs[i];
        const int has_argument = option_takes_argument(spec), value = FIRST_VALUE + (int)i;

        ret->longs[count++] = (struct option){ spec->name, has_argument, NULL, value };
        if (spell_british(spec->name, ret->british[i], sizeof ret->british[i]))
            ret->longs[count++] = (struct option){ ret->british[i], has_argument, NULL, value };
        if (spec->letter == 0)
            continue;
        ret->letters[used++] = spec->letter;
        if (has_argument)
            ret->letters[used++] = ':';
    }
    ret->longs[count] = (struct option){ 0 };
    ret->letters[used] = '\0';
}

static const struct option_spec *spec_of(const struct option_table *table, int value)
{
    if (value >= FIRST_VALUE && value < FIRST_VALUE + (int)table->count)
        return &table->specs[value - FIRST_VALUE];
    /* If getopt_long() does not know the option, `value` is 0. This must not match the options that
     * have no letter: their `letter` is also 0. */
    if (value == 0)
        return NULL;
    for (size_t i = 0; i < table->count; i++) {
        if (table->specs[i].letter == value)
            return &table->specs[i];
    }
    return NULL;
}

/* Lists the long options that start with `word`: "--row or --rate". Returns false if there are
 * fewer than two. */
static bool may_be_several(const struct option_table *table, const char *word, char *ret,
                           size_t capacity)
{
    size_t count = 0, used = 0;

    for (size_t i = 0; i < table->count && used < capacity; i++) {
        if (strncmp(table->specs[i].name, word, strlen(word)) != 0)
            continue;
        used += (size_t)snprintf(ret + used, capacity - used, "%s--%s", count > 0 ? " or " : "",
                                 table->specs[i].name);
        count++;
    }
    return count > 1;
}

static int complain_of_missing(const char *command, const char *option)
{
    const char *instead = habit_of(command, option);

    if (instead != NULL)
        return complain(STATUS_USAGE, "there is no option %s here; %s", option, instead);
    return complain(STATUS_USAGE, "there is no option %s; see %s --help", option, command);
}

static int complain_of_unknown(const struct option_table *table, const char *command,
                               const char *option)
{
    char name[64], several[200];
    struct suggestion suggestion = { .word = name + 2 };

    snprintf(name, sizeof name, "%.*s", (int)strcspn(option, "="), option);
    if (may_be_several(table, name + 2, several, sizeof several))
        return complain(STATUS_USAGE, "%s is ambiguous: %s?", name, several);
    if (habit_of(command, name) != NULL)
        return complain_of_missing(command, name);
    for (size_t i = 0; i < table->count; i++)
        suggestion_offer(&suggestion, table->specs[i].name);
    if (suggestion.best != NULL)
        return complain(STATUS_USAGE, "there is no option %s; did you mean --%s?", option,
                        suggestion.best);
    return complain_of_missing(command, option);
}

static int complain_of_option(const struct option_table *table, int found, const char *word)
{
    const struct option_spec *spec = spec_of(table, optopt);
    char command[64], letter[] = { '-', (char)optopt, '\0' };

    options_command(table, command, sizeof command);
    if (found == ':' && spec != NULL)
        return complain(STATUS_USAGE, "--%s takes %s; see %s --help", spec->name, spec->argument,
                        command);
    if (optopt > 0 && optopt < FIRST_VALUE && strncmp(word, "--", 2) != 0)
        return complain_of_missing(command, letter);
    if (spec != NULL)
        return complain(STATUS_USAGE, "%s takes no value; see %s --help", word, command);
    return complain_of_unknown(table, command, word);
}

/* In another program, a letter may stand for another option. So only the complaint about a letter
 * names a replacement. */
static int complain_of_value(const struct option_table *table, const struct option_spec *spec,
                             bool is_letter, const char *text)
{
    char wanted[200], command[64], option[32];
    const char *instead;

    option_describe(spec, wanted, sizeof wanted);
    options_command(table, command, sizeof command);
    snprintf(option, sizeof option, "--%s", spec->name);
    instead = is_letter ? habit_of(command, option) : NULL;
    if (text == NULL || *text == '\0')
        return complain(STATUS_USAGE, "%s takes %s, not ''", option, wanted);
    return complain(STATUS_USAGE, "%s %s: takes %s%s%s", option, text, wanted,
                    instead != NULL ? "; " : "", instead != NULL ? instead : "");
}

/* Returns whether a word is an option of the table, such as "--why" or "--top=3". */
static bool is_option(const struct option_table *table, const char *word)
{
    const size_t length = strcspn(word, "=");

    for (size_t i = 0; i < table->count && strncmp(word, "--", 2) == 0; i++) {
        if (strlen(table->specs[i].name) == length - 2 &&
            strncmp(table->specs[i].name, word + 2, length - 2) == 0)
            return true;
    }
    return false;
}

static int parse_complete(const struct option_table *table, int argc, char **argv, int *ret_first)
{
    bool given[MAXIMUM_OPTIONS] = { false };
    struct getopt_tables tables;
    char command[64];
    int status;

    options_command(table, command, sizeof command);
    fill_getopt(table, &tables);
    opterr = 0;
    optind = 0; /* In glibc, 0 restarts the parser. */
    for (;;) {
        int word = optind > 0 ? optind : 1;
        int found = getopt_long(argc, argv, tables.letters, tables.longs, NULL);
        const struct option_spec *spec;
        const char *absence;

        if (found == -1)
            break;
        if (found == '?' || found == ':')
            return complain_of_option(table, found, argv[optind > word ? optind - 1 : word]);
        spec = spec_of(table, found);
        if (spec->type == OPTION_HELP)
            return help_of_options(table);
        if (spec->type == OPTION_VERSION)
            return print_version();
        absence = option_absence(command, spec->name);
        if (absence != NULL)
            return complain(STATUS_FAILURE, "--%s is not here: %s", spec->name, absence);
        /* getopt_long() takes the next word as the value, whatever it is. */
        if (optarg != NULL && optarg == argv[optind - 1] && is_option(table, optarg))
            return complain(STATUS_USAGE,
                            "--%s takes %s, and %s is an option: give %s first, or --%s=%s",
                            spec->name, spec->argument, optarg, spec->argument, spec->name, optarg);
        if (!option_set(spec, optarg))
            return complain_of_value(table, spec, found < FIRST_VALUE, optarg);
        given[spec - table->specs] = true;
    }
    *ret_first = optind;
    status = operands_parse(table, given, argc, argv, ret_first);
    return status == OPTIONS_GO_ON ? option_rules_check(table, given) : status;
}

int options_parse(const struct option_table *table, int argc, char **argv, int *ret_first)
{
    struct option_spec specs[MAXIMUM_OPTIONS];
    struct option_table complete;

    if (!options_complete(table, specs, &complete))
        return complain(STATUS_FAILURE, "more than %d options in a table: raise MAXIMUM_OPTIONS",
                        MAXIMUM_OPTIONS);
    return parse_complete(&complete, argc, argv, ret_first);
}

const char *option_first_given(const struct given_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (options[i].given)
            return options[i].name;
    }
    return NULL;
}
