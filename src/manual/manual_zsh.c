/*
 * Writes what replaces the line @NAME@ of packaging/completions/camp.zsh.in: a function for each
 * command. The function of a command with options calls _arguments with a specification for each
 * option. The function of a list of commands offers the commands.
 */
#include "manual.h"

#include <stdio.h>
#include <string.h>

/* Writes the text between two single quotes. Bytes in `special` get a backslash. */
static void write_quoted(const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            printf("'\\''");
            continue;
        }
        if (strchr(special, *text) != NULL)
            putchar('\\');
        putchar(*text);
    }
}

/* Writes the name of a command's function, such as _camp_load_cpu for "load cpu". */
static void write_function(const char *words)
{
    printf("_camp");
    if (words[0] != '\0')
        putchar('_');
    for (; *words != '\0'; words++)
        putchar(*words == ' ' ? '_' : *words);
}

static void write_words(const char *const *words)
{
    for (; *words != NULL; words++) {
        putchar(' ');
        write_quoted(*words, ":");
    }
}

/* Writes the end of an option's specification, such as ":PATH:_files": the argument's name, and the
 * zsh action that completes the argument. */
static void write_action(const struct option_spec *spec)
{
    static const char *const actions[] = {
        [ARGUMENT_UNKNOWN] = " ",
        [ARGUMENT_WORD] = " _camp_words",
        [ARGUMENT_FILE] = "_files",
        [ARGUMENT_WORD_OR_FILE] = " _camp_words_or_files",
        [ARGUMENT_FOLDER] = "_files -/",
        [ARGUMENT_PROCESS] = "_pids",
        [ARGUMENT_EXECUTABLE] = " _camp_executables",
    };
    const enum argument_kind kind = argument_kind(spec);

    printf(":%s:%s", spec->argument, actions[kind]);
    if (kind == ARGUMENT_WORD || kind == ARGUMENT_WORD_OR_FILE)
        write_words(spec->choices);
}

/* Writes a specification such as '(-n --count)'{-n+,--count=}'[End after N intervals]:N: '. */
static void write_option(const struct option_spec *spec)
{
    const bool takes_argument = option_takes_argument(spec),
               again = spec->type == OPTION_LIST || spec->type == OPTION_TEXTS;
    char summary[SUMMARY_SIZE];

    summary_of(spec->help, summary);
    printf("        ");
    if (again)
        printf("'*'");
    else if (spec->type == OPTION_HELP || spec->type == OPTION_VERSION)
        printf("'(-)'");
    else if (spec->letter != 0)
        printf("'(-%c --%s)'", spec->letter, spec->name);
    if (spec->letter != 0)
        printf("{-%c%s,--%s%s}", spec->letter, takes_argument ? "+" : "", spec->name,
               takes_argument ? "=" : "");
    else
        printf("--%s%s", spec->name, takes_argument ? "=" : "");
    printf("'[");
    write_quoted(summary, "[]\\");
    putchar(']');
    if (takes_argument)
        write_action(spec);
    printf("' \\\n");
}

static void write_operand(enum operand_kind kind)
{
    static const char *const operands[] = {
        [OPERAND_COUNTER] = "        '*:counter:_camp_counters' \\\n",
        [OPERAND_SUBJECT] = "        '1:kind:_camp_subjects' '2:kind:_camp_subjects' \\\n",
        [OPERAND_COMMAND] = "        '(-)1:command:_command_names -e' '*::argument:_normal' \\\n",
    };

    if (operands[kind] != NULL)
        fputs(operands[kind], stdout);
}

static void write_options(const char *words, const char *help, const struct option_table *table)
{
    (void)help;
    write_function(words);
    printf("()\n{\n    _arguments -s -S \\\n");
    for (size_t i = 0; i < table->count; i++)
        write_option(&table->specs[i]);
    write_operand(operand_kind(table));
    printf("        && return\n}\n\n");
}

static void write_commands(const char *words, const char *help, const struct command_list *list)
{
    (void)help;
    printf("_camp_commands");
    if (words[0] != '\0')
        printf("_%s", words);
    printf("()\n{\n    local -a commands=(\n");
    for (size_t i = 0; i < list->count; i++) {
        printf("        '%s:", list->commands[i].name);
        write_quoted(list->commands[i].help, ":\\");
        printf("'\n");
    }
    printf("    )\n    _describe -t commands command commands\n}\n\n");
    if (words[0] == '\0')
        return;
    write_function(words);
    printf("()\n{\n    _camp_command %s\n}\n\n", words);
}

const struct manual_part zsh_parts[] = {
    { "functions", { .options = write_options, .commands = write_commands } },
    { 0 },
};
