#include "help.h"

#include "absence.h"

#include <errno.h>
#include <string.h>

#define HELP_COLUMN 28
#define WIDTH 79

const struct help_receiver *help_receiver;

const char *const exit_statuses[STATUS_COUNT] = {
    "ok", "failure", "usage", "partial", "a right is missing", "found (--fail-on)"
};

/* Prints a text with lines of at most WIDTH columns. The second and later lines start at
 * HELP_COLUMN. */
static void print_folded(const char *text)
{
    size_t column = HELP_COLUMN;

    while (*text != '\0') {
        size_t length = strcspn(text, " ");

        if (column > HELP_COLUMN && column + 1 + length > WIDTH) {
            printf("\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        column += (size_t)printf("%s%.*s", column > HELP_COLUMN ? " " : "", (int)length, text);
        text += length + strspn(text + length, " ");
    }
    printf("\n");
}

static void print_option(const struct option_spec *spec)
{
    const bool takes_argument = option_takes_argument(spec);
    char left[64];
    char letter[8] = "    ";

    if (spec->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", spec->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, spec->name, takes_argument ? " " : "",
             takes_argument ? spec->argument : "");
    printf("%-*s", HELP_COLUMN, left);
    if (strlen(left) >= HELP_COLUMN)
        printf("\n%*s", HELP_COLUMN, "");
    print_folded(spec->help);
}

static int finish_stream(FILE *stream)
{
    return fflush(stream) == 0 ? STATUS_OK : output_failed(errno);
}

int help_of_options(const struct option_table *table)
{
    char command[64];

    if (help_receiver != NULL) {
        help_receiver->options(table);
        return STATUS_OK;
    }
    printf("Usage: %s\n\n%s\n\nOptions:\n", table->usage, table->about);
    options_command(table, command, sizeof command);
    for (size_t i = 0; i < table->count; i++) {
        if (option_absence(command, table->specs[i].name) == NULL)
            print_option(&table->specs[i]);
    }
    return finish_stream(stdout);
}

/* Prints a line for each command that is here, or for each that is not, with the reason. */
static void print_commands(const struct command_list *list, bool are_absent, const char *title,
                           FILE *stream)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct command *command = &list->commands[i];
        const char *absence = list->absence != NULL ? list->absence(command->name) : NULL;

        if ((absence != NULL) != are_absent)
            continue;
        if (count++ == 0)
            fprintf(stream, "\n%s:\n", title);
        fprintf(stream, "  %-10s %s\n", command->name, are_absent ? absence : command->help);
    }
}

/* Prints the meanings of exit statuses, in lines of at most WIDTH columns. */
static void print_statuses(const char *const *statuses, FILE *stream)
{
    int column = fprintf(stream, "Exit status: 0 %s", statuses[0]);

    for (int i = 1; i < STATUS_COUNT && statuses[i] != NULL; i++) {
        const bool fits = (size_t)column + strlen(statuses[i]) + sizeof ", 1 ." <= WIDTH;

        column =
            (fits ? column : 0) + fprintf(stream, fits ? ", %d %s" : ",\n%d %s", i, statuses[i]);
    }
    fprintf(stream, ".\n");
}

int help_of_commands(const struct command_list *list, FILE *stream)
{
    if (help_receiver != NULL) {
        help_receiver->commands(list);
        return STATUS_OK;
    }
    fprintf(stream, "Usage: %s\n\n%s\n", list->usage, list->about);
    print_commands(list, false, list->title, stream);
    print_commands(list, true, "Not here", stream);
    fprintf(stream, "\n%s\n", list->after);
    print_statuses(list->statuses, stream);
    return finish_stream(stream);
}
