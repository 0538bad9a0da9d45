/* Writes what replaces the lines @NAME@ of packaging/completions/camp.fish.in: a `complete` line
 * for each command and each option. */
#include "manual.h"

#include <stdio.h>

static void write_quoted(const char *text)
{
    putchar('\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void write_commands(const char *words, const char *help, const struct command_list *list)
{
    (void)help;
    for (size_t i = 0; i < list->count; i++) {
        printf("complete -c camp -n '__camp_at %s' -a %s -d ", words, list->commands[i].name);
        write_quoted(list->commands[i].help);
        putchar('\n');
        if (words[0] != '\0')
            continue;
        printf("complete -c camp -n '__camp_at help' -a %s -d ", list->commands[i].name);
        write_quoted(list->commands[i].help);
        putchar('\n');
    }
}

/* Options of `complete` in fish: -x means that the argument is not a file name, -r -F that the
 * argument may be a file name. -a lists words to offer. */
static void write_argument(const struct option_spec *spec)
{
    static const char *const kinds[] = {
        [ARGUMENT_UNKNOWN] = " -x",
        [ARGUMENT_WORD] = " -x",
        [ARGUMENT_FILE] = " -r -F",
        [ARGUMENT_WORD_OR_FILE] = " -r -F",
        [ARGUMENT_FOLDER] = " -x -a '(__fish_complete_directories)'",
        [ARGUMENT_PROCESS] = " -x -a '(__fish_complete_pids)'",
        [ARGUMENT_EXECUTABLE] = " -x -a '(__fish_complete_proc)'",
    };

    fputs(kinds[argument_kind(spec)], stdout);
    if (spec->choices == NULL)
        return;
    printf(" -a '");
    for (const char *const *word = spec->choices; *word != NULL; word++)
        printf("%s%s", word > spec->choices ? " " : "", *word);
    putchar('\'');
}

static void write_option(const char *words, const struct option_spec *spec)
{
    char summary[SUMMARY_SIZE];

    summary_of(spec->help, summary);
    printf("complete -c camp -n '__camp_in %s' -l %s", words, spec->name);
    if (spec->letter != 0)
        printf(" -s %c", spec->letter);
    if (option_takes_argument(spec))
        write_argument(spec);
    printf(" -d ");
    write_quoted(summary);
    putchar('\n');
}

static void write_options(const char *words, const char *help, const struct option_table *table)
{
    static const char *const operands[] = {
        [OPERAND_COUNTER] = "(__camp_counters)",
        [OPERAND_SUBJECT] = "(__camp_subjects)",
        [OPERAND_COMMAND] = "(__camp_program)",
    };
    const enum operand_kind kind = operand_kind(table);

    (void)help;
    for (size_t i = 0; i < table->count; i++)
        write_option(words, &table->specs[i]);
    if (operands[kind] != NULL)
        printf("complete -c camp -n '__camp_in %s' -a '%s'\n", words, operands[kind]);
}

const struct manual_part fish_parts[] = {
    { "completions", { .options = write_options, .commands = write_commands } },
    { 0 },
};
