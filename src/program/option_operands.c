#include "option_operands.h"

#include "command.h"
#include "option_values.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum operand_kind operand_kind(const struct option_table *table)
{
    static const struct {
        const char *words;
        enum operand_kind kind;
    } kinds[] = {
        { "-- COMMAND", OPERAND_COMMAND },
        { "COUNTER...", OPERAND_COUNTER },
        { "[KIND", OPERAND_SUBJECT },
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

/* No counter, kind or other operand starts with a digit, or with a point and a digit. */
static bool starts_number(const char *operand)
{
    return isdigit((unsigned char)operand[operand[0] == '.' ? 1 : 0]) != 0;
}

/* Sets the variable of the option, as if the option was given. */
static int set(const struct option_table *table, const bool *given, const char *name,
               const char *operand)
{
    const struct option_spec *spec = find(table, name);
    char wanted[200];

    if (given[spec - table->specs])
        return complain(STATUS_USAGE,
                        "the operand %s and --%s set the same value: give only one of them",
                        operand, name);
    if (option_set(spec, operand))
        return OPTIONS_GO_ON;
    option_describe(spec, wanted, sizeof wanted);
    return complain(STATUS_USAGE, "the operand %s is the value of --%s: give %s", operand, name,
                    wanted);
}

/* Is it a file, a source with a colon, or one of the sources that --from names? */
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

/* The operand is no time, but the command takes only a time. A name of a file is most likely meant
 * for --from; of camp record, for --output. */
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

/* Sets INTERVAL and COUNT from the operands argv[at] to argv[argc - 1]. */
static int parse(const struct option_table *table, const bool *given, int argc, char **argv, int at)
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

/* Moves the last `count` of the operands before the others. */
static void move_to_front(char **operands, int all, int count)
{
    for (; count > 0; count--) {
        char *last = operands[all - 1];

        memmove(operands + 1, operands, (size_t)(all - 1) * sizeof *operands);
        operands[0] = last;
    }
}

int operands_parse(const struct option_table *table, const bool *given, int argc, char **argv,
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
