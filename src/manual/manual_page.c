/*
 * A manual page in scdoc's language (scdoc(5)): name, synopsis, description, options or commands,
 * exit status; then the sections of a fragment, and "see also".
 */
#include "manual.h"

#include "doc_folder.h" /* DOC_FOLDER, written by the build */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------- Texts -- */

/* Writes a byte, escaped where scdoc would give it a meaning. `first`: it is the first of a line,
 * where more bytes have one. */
static void write_byte(char byte, bool first)
{
    if (strchr("_*\\", byte) != NULL || (first && strchr("#;-.|[]`", byte) != NULL))
        putchar('\\');
    putchar(byte);
}

/* The length of the option's name at `text`, which is bold; 0: there is none. */
static size_t bold_length(const char *text, const char *before)
{
    if (before != NULL && (isalnum((unsigned char)*before) || *before == '-'))
        return 0;
    if (strncmp(text, "--", 2) != 0 || !islower((unsigned char)text[2]))
        return 0;
    return 2 + strspn(text + 2, "abcdefghijklmnopqrstuvwxyz0123456789-");
}

/* Writes `text` up to `end`, with options and `quoted` words in bold. The folder docs/ of the tree
 * becomes the folder in which documents are installed. */
static void write_text(const char *text, const char *end)
{
    const char *begin = text;
    bool quoted = false;

    while (text < end) {
        if (strncmp(text, "docs/", 5) == 0) {
            fputs(DOC_FOLDER "/", stdout);
            text += 5;
            continue;
        }
        const size_t length = quoted ? 0 : bold_length(text, text > begin ? text - 1 : NULL);

        if (length > 0) {
            printf("*%.*s*", (int)length, text);
            text += length;
            continue;
        }
        if (*text == '`') {
            putchar('*');
            quoted = !quoted;
        } else {
            write_byte(*text, text == begin || text[-1] == '\n');
        }
        text++;
    }
}

static void write_line(const char *text)
{
    write_text(text, text + strlen(text));
    putchar('\n');
}

/* Writes paragraphs; lines that begin with two spaces are kept as they are. */
static void write_paragraphs(const char *text)
{
    bool kept = false;

    while (*text != '\0') {
        const char *end = text + strcspn(text, "\n");
        const bool keep = strncmp(text, "  ", 2) == 0;

        if (keep != kept)
            printf("```\n");
        kept = keep;
        if (keep)
            printf("%.*s", (int)(end - text), text);
        else
            write_text(text, end);
        putchar('\n');
        text = end + (*end == '\n');
    }
    if (kept)
        printf("```\n");
    putchar('\n');
}

/* ------------------------------------------------------------------------------- Parts -- */

/* "camp time [OPTIONS] -- COMMAND": literal words are bold, placeholders are underlined. */
static void write_usage(const char *usage, const char *end)
{
    while (usage < end) {
        const char *word = usage;

        while (usage < end && (isalnum((unsigned char)*usage) || strchr("-", *usage) != NULL))
            usage++;
        if (usage > word) {
            const char mark = isupper((unsigned char)*word) ? '_' : '*';

            printf("%c%.*s%c", mark, (int)(usage - word), word, mark);
        } else {
            write_byte(*usage++, true);
        }
    }
    putchar('\n');
}

/* Writes several usages ("camp time A, camp time B") in a line each. */
static void write_synopsis(const char *usage)
{
    const char *next;

    for (; (next = strstr(usage, ", camp ")) != NULL; usage = next + 2) {
        write_usage(usage, next);
        putchar('\n');
    }
    write_usage(usage, usage + strlen(usage));
    putchar('\n');
}

static void write_options(const struct option_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option_spec *spec = &table->specs[i];

        if (spec->letter != 0)
            printf("*-%c*, ", spec->letter);
        printf("*--%s*", spec->name);
        if (option_takes_argument(spec)) {
            putchar(' ');
            write_usage(spec->argument, spec->argument + strlen(spec->argument));
        } else {
            putchar('\n');
        }
        putchar('\t');
        write_line(spec->help);
        putchar('\n');
    }
}

static void write_statuses(const char *const *statuses)
{
    printf("# EXIT STATUS\n\n");
    for (int i = 0; i < STATUS_COUNT; i++)
        printf("*%d*\n\t%c%s.\n\n", i, toupper((unsigned char)statuses[i][0]), statuses[i] + 1);
}

/* The start of each page: head, name, synopsis and description. */
static void write_head(const char *name, const char *help, const char *usage, const char *about)
{
    printf("%s(1) \"camp %s\" \"camp\"\n\n# NAME\n\n%s - ", name, CAMP_VERSION, name);
    write_line(help);
    printf("\n# SYNOPSIS\n\n");
    write_synopsis(usage);
    printf("# DESCRIPTION\n\n");
    write_paragraphs(about);
}

/* --------------------------------------------------------------------------- The pages -- */

static const char *const *statuses; /* of the page that is being written */

/* "load cpu" stands in the page of load, in a section of its own. */
static void write_command(const char *words, const char *help, const struct option_table *table)
{
    char name[64];

    if (strchr(words, ' ') != NULL) {
        printf("## camp %s: %s\n\n", words, help);
        write_synopsis(table->usage);
        write_paragraphs(table->about);
        write_options(table);
        return;
    }
    snprintf(name, sizeof name, "camp-%s", words);
    write_head(name, help, table->usage, table->about);
    printf("# OPTIONS\n\n");
    write_options(table);
    statuses = exit_statuses;
}

/* camp-exporter: camp export as a program of its own. */
static void write_exporter(const char *words, const char *help, const struct option_table *table)
{
    (void)words;
    write_head("camp-exporter", help, "camp-exporter [OPTIONS] [INTERVAL]", table->about);
    printf("# OPTIONS\n\n");
    write_options(table);
    statuses = exit_statuses;
}

static void write_title(const char *title)
{
    printf("# ");
    for (; *title != '\0'; title++)
        putchar(toupper((unsigned char)*title));
    printf("\n\n");
}

static void write_list(const char *words, const char *help, const struct command_list *list)
{
    char name[64];

    snprintf(name, sizeof name, "camp-%s", words);
    write_head(name, help, list->usage, list->about);
    write_title(list->title);
    statuses = list->statuses;
}

static void write_camp(void)
{
    const struct command_list *list = &camp_commands;
    const char *what = strchr(list->about, ' ') + 1; /* the program's name is the first word */
    char line[100];

    snprintf(line, sizeof line, "%.*s", (int)strcspn(what, ":."), what);
    write_head("camp", line, list->usage, list->about);
    write_title(list->title);
    for (size_t i = 0; i < list->count; i++) {
        printf("*camp-%s*(1)\n\t", list->commands[i].name);
        write_line(list->commands[i].help);
        putchar('\n');
    }
    write_paragraphs(list->after);
    write_statuses(list->statuses);
}

bool manual_page(const char *name)
{
    static const struct manual_visitor visitor = { write_command, write_list };
    static const struct manual_visitor exporter = { write_exporter, NULL };

    if (strcmp(name, "camp") == 0) {
        write_camp();
        return true;
    }
    if (strcmp(name, "exporter") == 0 ? !manual_visit(&exporter, "export")
                                      : !manual_visit(&visitor, name))
        return false;
    write_statuses(statuses);
    return true;
}
