/*
 * Prints the table of docs/counters.md, with the sources of all systems, and how each system
 * obtains the numbers. The library has only the texts of its own system. Here each text that
 * differs has a line for Linux, Windows and illumos.
 */
#define IS_LINUX 1
#define IS_WINDOWS 0
#define BY_SYSTEM(on_linux, on_windows, on_illumos) on_linux "\n" on_windows "\n" on_illumos

#include "counters/catalogue_table.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ROWS_MAX 300
#define KINDS_MAX 32

const struct camp_usual camp_usual = USUAL_ON_LINUX;

/* In the order of BY_SYSTEM. */
static const struct {
    const char *name;
    struct camp_usual usual;
} systems[] = {
    { "Linux", USUAL_ON_LINUX },
    { "Windows", USUAL_ON_WINDOWS },
    { "illumos", USUAL_ON_ILLUMOS },
};

#define SYSTEMS (sizeof systems / sizeof systems[0])

struct text {
    const char *at;
    int length;
};

/* Returns the line of a system. A text of one line is the same for all systems. */
static struct text text_of(const char *text, size_t system)
{
    for (size_t i = 0; i < system && strchr(text, '\n') != NULL; i++)
        text = strchr(text, '\n') + 1;
    return (struct text){ text, (int)strcspn(text, "\n") };
}

static bool is_equal(struct text a, struct text b)
{
    return a.length == b.length && memcmp(a.at, b.at, (size_t)a.length) == 0;
}

/* Returns the notes below the table about how Linux obtains a number. */
static const char *linux_notes(const struct camp_counter *counter)
{
    static const char *const notes[] = {
        [CAMP_RULE_TICK] = " [1]", [CAMP_RULE_IDLE] = " [2]",  [CAMP_RULE_IRQ] = " [1] [3]",
        [CAMP_RULE_CPU] = " [4]",  [CAMP_RULE_SPLIT] = " [5]", [CAMP_RULE_CHILDREN] = " [5]",
    };
    const size_t rule = (size_t)counter->rule;

    return rule < sizeof notes / sizeof notes[0] && notes[rule] != NULL ? notes[rule] : "";
}

static bool is_counted(const struct camp_counter *counter, size_t system)
{
    return text_of(counter->source, system).length > 0;
}

/* Prints how the first system that has the counter obtains it, and the others where they differ
 * from it. */
static void print_obtained(const struct camp_counter *counter)
{
    int first = CAMP_UNKNOWN;

    if (counter->rule == CAMP_RULE_NONE) {
        printf("a fact");
        return;
    }
    for (size_t i = 0; i < SYSTEMS; i++) {
        const struct camp_usual *usual = &systems[i].usual;
        const int here = camp_provenance_of(counter, usual, &usual->kernel, CAMP_CPU_TOTAL, NULL);

        if (!is_counted(counter, i) || here == first)
            continue;
        if (first == CAMP_UNKNOWN) {
            printf("%s%s", camp_provenance_name(here), i == 0 ? linux_notes(counter) : "");
            first = here;
        } else {
            printf("; %s: %s", systems[i].name, camp_provenance_name(here));
        }
    }
}

static void print_kinds(uint32_t kinds)
{
    const char *comma = "";

    for (size_t i = 0; i < KINDS_MAX; i++) {
        if ((kinds & 1u << i) == 0)
            continue;
        printf("%s%s", comma, camp_kind_name(1u << i));
        comma = ", ";
    }
}

/* Prints the resolution of the first system that has the counter, and the others where they differ
 * from it. */
static void print_resolution(const struct camp_counter *counter)
{
    struct text first = { "", 0 };

    for (size_t i = 0; i < SYSTEMS; i++) {
        const struct text here = text_of(counter->resolution, i);

        if (!is_counted(counter, i) || is_equal(first, here))
            continue;
        if (first.length == 0) {
            printf("%.*s", here.length, here.at);
            first = here;
        } else {
            printf("; %s: %.*s", systems[i].name, here.length, here.at);
        }
    }
}

/* True if the neighbour of a row has the same name: each is of other systems. */
static bool has_namesake(const struct camp_counter *rows, size_t count, size_t at)
{
    return (at > 0 && strcmp(rows[at - 1].name, rows[at].name) == 0) ||
           (at + 1 < count && strcmp(rows[at + 1].name, rows[at].name) == 0);
}

static void print_systems(const struct camp_counter *counter)
{
    const char *before = " (";

    for (size_t i = 0; i < SYSTEMS; i++) {
        if (!is_counted(counter, i))
            continue;
        printf("%s%s", before, systems[i].name);
        before = ", ";
    }
    printf(")");
}

static void print_row(const struct camp_counter *rows, size_t count, size_t at)
{
    const struct camp_counter *counter = &rows[at];

    printf("| `%s`", counter->name);
    if (has_namesake(rows, count, at))
        print_systems(counter);
    printf(" | ");
    print_kinds(counter->kinds);
    printf(" | %s | ", counter->unit);
    print_obtained(counter);
    printf(" | ");
    print_resolution(counter);
    for (size_t i = 0; i < SYSTEMS; i++) {
        const struct text source = text_of(counter->source, i);

        printf(" | %.*s", source.length > 0 ? source.length : 1,
               source.length > 0 ? source.at : "-");
    }
    printf(" | %s%s%s%s |\n", counter->help, counter->capability != NULL ? " Takes " : "",
           counter->capability != NULL ? counter->capability : "",
           counter->capability == NULL ? ""
           : counter->needs == NULL    ? ", but for one's own processes."
                                       : ".");
}

int main(void)
{
    static struct camp_counter rows[ROWS_MAX], shown[ROWS_MAX];
    size_t count = 0, shown_count = 0;

    if (camp_catalogue_read(rows, sizeof rows[0], ROWS_MAX, &count, NULL) != CAMP_OK)
        return 1;
    printf("| counter | of | unit | obtained | resolution | Linux | Windows | illumos | "
           "what it is |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kinds != 0)
            shown[shown_count++] = rows[i];
    }
    for (size_t i = 0; i < shown_count; i++)
        print_row(shown, shown_count, i);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
