/* camp list sources: prints the sources of --from, and the options of each source. */
#include "list_inside.h"
#include "program/absence.h"
#include "program/command.h"
#include "sources/from_list.h"

#include <errno.h>
#include <stdio.h>

#define SOURCES_MAX 32
#define OPTIONS_SIZE 160
#define ABSENCE_SIZE 120

static const struct field source_fields[] = {
    { "name", "--from", "as --from takes it", 0, 0 },
    { "help", "what it is", "a few words", 0, 0 },
    { "options", "options", "those that have an effect", 0, 0 },
    { "query_options", NULL, "likewise, together with --query; null: it has none", 0, 0 },
};

#define SOURCE_FIELDS (sizeof source_fields / sizeof source_fields[0])

struct shown {
    const struct from_source *source;
    char form[32];
    const char *help;
    char absence[ABSENCE_SIZE];
    char options[OPTIONS_SIZE];
    char query_options[OPTIONS_SIZE];
};

static void write_options(uint32_t options, char ret[OPTIONS_SIZE])
{
    size_t length = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < FROM_OPTION_COUNT && length < OPTIONS_SIZE; i++) {
        if ((options & 1u << i) != 0)
            length += (size_t)snprintf(ret + length, OPTIONS_SIZE - length, "%s--%s",
                                       length > 0 ? " " : "", from_option_names[i]);
    }
}

/* A source that is not here has the reason as its help. */
static void describe(struct shown *ret)
{
    const char *absence = source_absence(ret->source);

    ret->help = absence != NULL ? ret->absence : ret->source->help;
    if (absence != NULL)
        snprintf(ret->absence, sizeof ret->absence, "not here: %s", absence);
}

static size_t show_all(struct shown *shown)
{
    size_t count = 0;

    for (size_t i = 0; i < from_source_count && count < SOURCES_MAX; i++) {
        struct shown *next = &shown[count];

        if (from_sources[i].hidden)
            continue;
        next->source = &from_sources[i];
        describe(next);
        from_source_form(next->source, next->form, sizeof next->form);
        write_options(next->source->options, next->options);
        write_options(next->source->query_options, next->query_options);
        count++;
    }
    return count;
}

/* Prints the table of docs/options.md. */
static int print_markdown(const struct shown *shown, size_t count)
{
    printf("| `--from` | what it is | options that go with it | with `--query` "
           "|\n|---|---|---|---|\n");
    for (size_t i = 0; i < count; i++)
        printf("| `%s` | %s | %s | %s |\n", shown[i].form, shown[i].help, shown[i].options,
               shown[i].query_options);
    return fflush(stdout) == 0 ? STATUS_OK : output_failed(errno);
}

int list_sources(enum list_format format)
{
    struct shown shown[SOURCES_MAX];
    struct cell cells[SOURCES_MAX * SOURCE_FIELDS];
    const size_t count = show_all(shown);
    const struct table table = {
        "sources", TABLE_ROWS, source_fields, SOURCE_FIELDS, cells, count
    };

    if (format == LIST_MARKDOWN)
        return print_markdown(shown, count);
    for (size_t i = 0; i < count; i++) {
        struct cell *row = &cells[i * SOURCE_FIELDS];

        row[0] = cell_text(shown[i].form);
        row[1] = cell_text(shown[i].help);
        row[2] = cell_text(shown[i].options);
        row[3] = cell_text_or_unknown(shown[i].query_options);
    }
    return list_print(format, &table);
}
