#include "manual.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const struct manual_visitor *visitor;
    char words[64];
    const char *help;
} at;

static void visit(const struct command *command);

static void receive_options(const struct option_table *table)
{
    if (at.visitor->options != NULL)
        at.visitor->options(at.words, at.help, table);
}

static void receive_commands(const struct command_list *list)
{
    const size_t length = strlen(at.words);

    if (at.visitor->commands != NULL)
        at.visitor->commands(at.words, at.help, list);
    for (size_t i = 0; i < list->count; i++) {
        snprintf(at.words + length, sizeof at.words - length, "%s%s", length > 0 ? " " : "",
                 list->commands[i].name);
        visit(&list->commands[i]);
        at.words[length] = '\0';
    }
}

static const struct help_receiver receiver = { receive_options, receive_commands };

static void visit(const struct command *command)
{
    char name[32], help[] = "--help";
    char *argv[] = { name, help, NULL };

    snprintf(name, sizeof name, "%s", command->name);
    at.help = command->help;
    command->run(2, argv);
}

void manual_visit_all(const struct manual_visitor *visitor)
{
    at.visitor = visitor;
    at.words[0] = '\0';
    at.help = "";
    receive_commands(&camp_commands);
}

bool manual_visit(const struct manual_visitor *visitor, const char *name)
{
    at.visitor = visitor;
    for (size_t i = 0; i < camp_commands.count; i++) {
        if (strcmp(camp_commands.commands[i].name, name) != 0)
            continue;
        snprintf(at.words, sizeof at.words, "%s", name);
        visit(&camp_commands.commands[i]);
        return true;
    }
    return false;
}

enum argument_kind argument_kind(const struct option_spec *spec)
{
    static const struct {
        const char *argument;
        enum argument_kind kind;
    } kinds[] = {
        { "FOLDER", ARGUMENT_FOLDER }, { "PATH", ARGUMENT_FILE },
        { "PID", ARGUMENT_PROCESS },   { "EXECUTABLE", ARGUMENT_EXECUTABLE },
        { "SOURCE", ARGUMENT_FILE },
    };
    enum argument_kind kind = ARGUMENT_UNKNOWN;

    if (strncmp(spec->argument, "FILE", 4) == 0)
        kind = ARGUMENT_FILE;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(spec->argument, kinds[i].argument) == 0)
            kind = kinds[i].kind;
    }
    if (spec->choices == NULL)
        return kind;
    return kind == ARGUMENT_FILE ? ARGUMENT_WORD_OR_FILE : ARGUMENT_WORD;
}

/* Returns true at a dot that ends a sentence, unlike the dot in "1.5". */
static bool ends_sentence(const char *text)
{
    return *text == '.' && (text[1] == ' ' || text[1] == '\0');
}

void summary_of(const char *help, char ret[SUMMARY_SIZE])
{
    size_t length = 0;

    while (help[length] != '\0' && !ends_sentence(help + length))
        length++;
    if (length >= SUMMARY_SIZE) {
        length = SUMMARY_SIZE - sizeof "…";
        while (length > 0 && help[length] != ' ')
            length--;
        snprintf(ret, SUMMARY_SIZE, "%.*s…", (int)length, help);
        return;
    }
    snprintf(ret, SUMMARY_SIZE, "%.*s", (int)length, help);
}

static int fail(const char *path)
{
    fprintf(stderr, "manual: %s: %s\n", path, strerror(errno));
    return EXIT_FAILURE;
}

/* If `line` is "@NAME@\n" and there is a part NAME, returns the visitor of this part. Otherwise
 * returns NULL. */
static const struct manual_visitor *part_of(const struct manual_part *parts, const char *line)
{
    for (; parts->name != NULL; parts++) {
        const size_t length = strlen(parts->name);

        if (line[0] == '@' && strncmp(line + 1, parts->name, length) == 0 &&
            strcmp(line + 1 + length, "@\n") == 0)
            return &parts->visitor;
    }
    return NULL;
}

/* Copies the file to stdout. Each line "@NAME@" is replaced by the part with that name. */
static int write_file(const char *path, const struct manual_part *parts)
{
    FILE *file = fopen(path, "r");
    char line[1024];

    if (file == NULL)
        return fail(path);
    while (fgets(line, sizeof line, file) != NULL) {
        const struct manual_visitor *visitor = part_of(parts, line);

        if (visitor != NULL)
            manual_visit_all(visitor);
        else
            fputs(line, stdout);
    }
    fclose(file);
    return EXIT_SUCCESS;
}

static int write_page(const char *name, const char *fragment)
{
    static const struct manual_part none = { 0 };

    if (!manual_page(name)) {
        fprintf(stderr, "manual: there is no command '%s'\n", name);
        return EXIT_FAILURE;
    }
    if (fragment != NULL)
        return write_file(fragment, &none);
    printf("# SEE ALSO\n\n*camp*(1)\n");
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        const struct manual_part *parts;
    } shells[] = { { "bash", bash_parts }, { "zsh", zsh_parts }, { "fish", fish_parts } };
    int status = EXIT_FAILURE;

    help_receiver = &receiver;
    if (argc >= 3 && strcmp(argv[1], "page") == 0)
        status = write_page(argv[2], argv[3]);
    for (size_t i = 0; argc == 3 && i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(argv[1], shells[i].name) == 0)
            status = write_file(argv[2], shells[i].parts);
    }
    return fflush(stdout) == 0 ? status : fail("standard output");
}
