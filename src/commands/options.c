#include "options.h"

#include "help.h"
#include "suggestion.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_OPTIONS 32
/* What getopt_long returns: of --help, and of the table's options, to which their index is added.
 */
#define HELP_VALUE 1
#define FIRST_VALUE 256

void text_list_release(struct text_list *list)
{
    free(list->texts);
    *list = (struct text_list){ 0 };
}

static int text_list_add(struct text_list *list, const char *text)
{
    const char **texts = realloc(list->texts, (list->count + 1) * sizeof *texts);

    if (texts == NULL)
        return 0;
    list->texts = texts;
    list->texts[list->count++] = text;
    return 1;
}

/* A finite decimal number at the beginning of text; *ret_rest is what follows it. */
static int parse_number(const char *text, double *ret, const char **ret_rest)
{
    const char *digits = text + strspn(text, "+-");
    char *rest;

    /* strtod also takes blanks, "nan", "infinity" and hexadecimal numbers: none is meant. */
    if (strspn(digits, ".0123456789") == 0 || digits[1] == 'x' || digits[1] == 'X')
        return 0;
    errno = 0;
    *ret = strtod(text, &rest);
    *ret_rest = rest;
    return rest != text && errno == 0 && isfinite(*ret);
}

struct suffix {
    const char *name;
    double factor;
};

static int parse_with_suffix(const char *text, const struct suffix *suffixes, uint64_t *ret)
{
    const char *rest;
    double number;

    if (!parse_number(text, &number, &rest) || number < 0)
        return 0;
    for (; suffixes->name != NULL; suffixes++) {
        if (strcmp(rest, suffixes->name) != 0)
            continue;
        number *= suffixes->factor;
        if (number >= 18446744073709551616.0)
            return 0;
        *ret = (uint64_t)llround(fmin(number, 9.2e18));
        return 1;
    }
    return 0;
}

int parse_duration(const char *text, uint64_t *ret_ns)
{
    static const struct suffix suffixes[] = {
        { "", 1e9 },   { "s", 1e9 },    { "ms", 1e6 },   { "us", 1e3 },    { "ns", 1 },
        { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 }, { NULL, 0 },
    };

    return parse_with_suffix(text, suffixes, ret_ns);
}

int parse_size(const char *text, uint64_t *ret_bytes)
{
    static const struct suffix suffixes[] = {
        { "", 1 },
        { "B", 1 },
        { "K", 1024.0 },
        { "KB", 1e3 },
        { "kB", 1e3 },
        { "KiB", 1024.0 },
        { "M", 1048576.0 },
        { "MB", 1e6 },
        { "MiB", 1048576.0 },
        { "G", 1073741824.0 },
        { "GB", 1e9 },
        { "GiB", 1073741824.0 },
        { "T", 1099511627776.0 },
        { "TB", 1e12 },
        { "TiB", 1099511627776.0 },
        { NULL, 0 },
    };

    return parse_with_suffix(text, suffixes, ret_bytes);
}

static int in_bounds(const struct option_spec *spec, double value)
{
    return (spec->minimum == 0 && spec->maximum == 0) ||
           (value >= spec->minimum && value <= spec->maximum);
}

static int set_choice(const struct option_spec *spec, const char *text)
{
    for (int i = 0; spec->choices[i] != NULL; i++) {
        if (strcmp(spec->choices[i], text) == 0) {
            *(int *)spec->value = i;
            return 1;
        }
    }
    return 0;
}

static int set_count(const struct option_spec *spec, const char *text)
{
    unsigned long long number;
    char *rest;

    errno = 0;
    number = strtoull(text, &rest, 10);
    if (text[0] < '0' || text[0] > '9' || *rest != '\0' || errno != 0 ||
        !in_bounds(spec, (double)number))
        return 0;
    *(uint64_t *)spec->value = number;
    return 1;
}

static int set_real(const struct option_spec *spec, const char *text)
{
    const char *rest;
    double number;

    if (!parse_number(text, &number, &rest) || *rest != '\0' || !in_bounds(spec, number))
        return 0;
    *(double *)spec->value = number;
    return 1;
}

static int set_scaled(const struct option_spec *spec, const char *text)
{
    int is_duration = spec->type == OPTION_DURATION;
    uint64_t number;

    if (!(is_duration ? parse_duration : parse_size)(text, &number) ||
        !in_bounds(spec, is_duration ? (double)number / 1e9 : (double)number))
        return 0;
    *(uint64_t *)spec->value = number;
    return 1;
}

static int set_value(const struct option_spec *spec, const char *text)
{
    switch (spec->type) {
    case OPTION_FLAG:
        *(bool *)spec->value = true;
        return 1;
    case OPTION_NO_FLAG:
        *(bool *)spec->value = false;
        return 1;
    case OPTION_COUNT:
        return set_count(spec, text);
    case OPTION_REAL:
        return set_real(spec, text);
    case OPTION_DURATION:
    case OPTION_SIZE:
        return set_scaled(spec, text);
    case OPTION_TEXT:
        *(const char **)spec->value = text;
        return 1;
    case OPTION_CHOICE:
        return set_choice(spec, text);
    case OPTION_LIST:
        return text_list_add(spec->value, text);
    }
    return 0;
}

/* A bound as a person writes it: "1T", "976K", "0.01". */
static void bound_text(const struct option_spec *spec, double bound, char *ret, size_t capacity)
{
    static const char suffixes[] = "KMGT";
    size_t at = 0;

    while (spec->type == OPTION_SIZE && at < sizeof suffixes - 1 && bound >= 1024 &&
           fmod(bound, 1024) == 0) {
        bound /= 1024;
        at++;
    }
    snprintf(ret, capacity, "%.10g%.*s", bound, at > 0 ? 1 : 0, &suffixes[at > 0 ? at - 1 : 0]);
}

/* "one of text, json, csv", "a time from 0.001 s to 3600 s such as 500ms" ... */
static void describe_value(const struct option_spec *spec, char *ret, size_t capacity)
{
    static const char *const kinds[] = {
        [OPTION_COUNT] = "a whole number",
        [OPTION_REAL] = "a number",
        [OPTION_DURATION] = "a time such as 500ms, 2s or 1m",
        [OPTION_SIZE] = "a size such as 4096, 976K or 2M",
    };
    char least[32], most[32];
    size_t used;

    if (spec->type == OPTION_CHOICE) {
        used = (size_t)snprintf(ret, capacity, "one of");
        for (int i = 0; spec->choices[i] != NULL && used < capacity; i++)
            used += (size_t)snprintf(ret + used, capacity - used, "%s %s", i > 0 ? "," : "",
                                     spec->choices[i]);
        return;
    }
    used = (size_t)snprintf(
        ret, capacity, "%s",
        spec->type < OPTION_TEXT && kinds[spec->type] != NULL ? kinds[spec->type] : "a text");
    if ((spec->minimum == 0 && spec->maximum == 0) || used >= capacity)
        return;
    bound_text(spec, spec->minimum, least, sizeof least);
    bound_text(spec, spec->maximum, most, sizeof most);
    snprintf(ret + used, capacity - used, ", from %s to %s%s", least, most,
             spec->type == OPTION_DURATION ? " s" : "");
}

bool option_takes_argument(const struct option_spec *spec)
{
    return spec->type != OPTION_FLAG && spec->type != OPTION_NO_FLAG;
}

/* getopt_long's own tables, written from ours. */
static void fill_getopt(const struct option_table *table, struct option *longs, char *letters)
{
    size_t used = 0;

    letters[used++] = ':'; /* a missing argument is told apart, and getopt prints nothing */
    letters[used++] = 'h';
    for (size_t i = 0; i < table->count; i++) {
        const struct option_spec *spec = &table->specs[i];

        longs[i] =
            (struct option){ spec->name, option_takes_argument(spec), NULL, FIRST_VALUE + (int)i };
        if (spec->letter == 0)
            continue;
        letters[used++] = spec->letter;
        if (option_takes_argument(spec))
            letters[used++] = ':';
    }
    longs[table->count] = (struct option){ "help", 0, NULL, HELP_VALUE };
    longs[table->count + 1] = (struct option){ 0 };
    letters[used] = '\0';
}

static const struct option_spec *spec_of(const struct option_table *table, int value)
{
    if (value >= FIRST_VALUE && value < FIRST_VALUE + (int)table->count)
        return &table->specs[value - FIRST_VALUE];
    if (value == 0) /* getopt knows no such option; those of ours without a letter have 0 too */
        return NULL;
    for (size_t i = 0; i < table->count; i++) {
        if (table->specs[i].letter == value)
            return &table->specs[i];
    }
    return NULL;
}

/* The words of the usage before its options, "camp load net". */
static void command_of(const struct option_table *table, char *ret, size_t capacity)
{
    size_t length = strcspn(table->usage, "[");

    while (length > 0 && table->usage[length - 1] == ' ')
        length--;
    snprintf(ret, capacity, "%.*s", (int)length, table->usage);
}

/* A word that several long options begin with: "--row or --rate". False: fewer than two do. */
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

/* A long option, perhaps with its value: "--intervall=2s". */
static int complain_of_unknown(const struct option_table *table, const char *option)
{
    char word[64], command[64], several[200];
    struct suggestion suggestion = { .word = word };

    snprintf(word, sizeof word, "%.*s", (int)strcspn(option + 2, "="), option + 2);
    if (may_be_several(table, word, several, sizeof several))
        return complain(STATUS_USAGE, "--%s is cut too short: %s?", word, several);
    suggestion_offer(&suggestion, "help");
    for (size_t i = 0; i < table->count; i++)
        suggestion_offer(&suggestion, table->specs[i].name);
    if (suggestion.best != NULL)
        return complain(STATUS_USAGE, "there is no option %s; did you mean --%s?", option,
                        suggestion.best);
    command_of(table, command, sizeof command);
    return complain(STATUS_USAGE, "there is no option %s; see %s --help", option, command);
}

static int complain_of_option(const struct option_table *table, int found, int word,
                              char *const *argv)
{
    const struct option_spec *spec = spec_of(table, optopt);
    const char *name = argv[word];
    char command[64];

    command_of(table, command, sizeof command);
    if (found == ':' && spec != NULL)
        return complain(STATUS_USAGE, "--%s takes %s; see %s --help", spec->name, spec->argument,
                        command);
    if (optopt > 0 && optopt < FIRST_VALUE && strncmp(name, "--", 2) != 0)
        return complain(STATUS_USAGE, "there is no option -%c; see %s --help", optopt, command);
    if (spec != NULL)
        return complain(STATUS_USAGE, "%s takes no value; see %s --help", name, command);
    return complain_of_unknown(table, name);
}

int options_parse(const struct option_table *table, int argc, char **argv, int *ret_first)
{
    struct option longs[MAXIMUM_OPTIONS + 2];
    char letters[2 * MAXIMUM_OPTIONS + 4];

    if (table->count > MAXIMUM_OPTIONS)
        return complain(STATUS_FAILURE, "more than %d options in a table: raise MAXIMUM_OPTIONS",
                        MAXIMUM_OPTIONS);
    fill_getopt(table, longs, letters);
    opterr = 0;
    optind = 0; /* glibc: begin anew, whatever was parsed before */
    for (;;) {
        int word = optind > 0 ? optind : 1;
        int found = getopt_long(argc, argv, letters, longs, NULL);
        const struct option_spec *spec;
        char wanted[200];

        if (found == -1)
            break;
        if (found == HELP_VALUE || found == 'h')
            return help_of_options(table);
        if (found == '?' || found == ':')
            return complain_of_option(table, found, optind > word ? optind - 1 : word, argv);
        spec = spec_of(table, found);
        if (set_value(spec, optarg))
            continue;
        describe_value(spec, wanted, sizeof wanted);
        if (*optarg == '\0')
            return complain(STATUS_USAGE, "--%s takes %s, not ''", spec->name, wanted);
        return complain(STATUS_USAGE, "--%s %s: takes %s", spec->name, optarg, wanted);
    }
    *ret_first = optind;
    return OPTIONS_GO_ON;
}
