/* Writes what replaces the lines @NAME@ of packaging/completions/camp.bash.in: `case` branches for
 * each command, and for each option with an argument. */
#include "manual.h"

#include <stdio.h>

static void write_commands(const char *words, const char *help, const struct command_list *list)
{
    (void)help;
    printf("    '%s') REPLY='", words);
    for (size_t i = 0; i < list->count; i++)
        printf("%s%s", i > 0 ? " " : "", list->commands[i].name);
    printf("' ;;\n");
}

static void write_options(const char *words, const char *help, const struct option_table *table)
{
    (void)help;
    printf("    '%s') REPLY='", words);
    for (size_t i = 0; i < table->count; i++) {
        if (table->specs[i].letter != 0)
            printf("-%c ", table->specs[i].letter);
        printf("--%s ", table->specs[i].name);
    }
    printf("' ;;\n");
}

static void write_words(const char *const *words)
{
    for (; words != NULL && *words != NULL; words++)
        printf(" %s", *words);
}

static const char *const kind_names[] = {
    [ARGUMENT_UNKNOWN] = "unknown",
    [ARGUMENT_WORD] = "words",
    [ARGUMENT_FILE] = "files",
    [ARGUMENT_WORD_OR_FILE] = "words_files",
    [ARGUMENT_FOLDER] = "folders",
    [ARGUMENT_PROCESS] = "processes",
    [ARGUMENT_EXECUTABLE] = "executables",
};

static void write_arguments(const char *words, const char *help, const struct option_table *table)
{
    (void)help;
    for (size_t i = 0; i < table->count; i++) {
        const struct option_spec *spec = &table->specs[i];

        if (!option_takes_argument(spec))
            continue;
        printf("    '%s --%s'", words, spec->name);
        if (spec->letter != 0)
            printf(" | '%s -%c'", words, spec->letter);
        printf(") REPLY='%s", kind_names[argument_kind(spec)]);
        write_words(spec->choices);
        printf("' ;;\n");
    }
}

static void write_operands(const char *words, const char *help, const struct option_table *table)
{
    static const char *const names[] = { [OPERAND_COUNTER] = "counters",
                                         [OPERAND_SUBJECT] = "subjects",
                                         [OPERAND_COMMAND] = "command" };
    const enum operand_kind kind = operand_kind(table);

    (void)help;
    if (names[kind] != NULL)
        printf("    '%s') REPLY=%s ;;\n", words, names[kind]);
}

const struct manual_part bash_parts[] = {
    { "commands", { .commands = write_commands } },
    { "options", { .options = write_options } },
    { "arguments", { .options = write_arguments } },
    { "operands", { .options = write_operands } },
    { 0 },
};
