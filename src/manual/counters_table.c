/*
 * Prints the table of docs/counters.md, with the sources of all systems. The library has only those
 * of its own system. Here each text that differs has a line for Linux, Windows and illumos.
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

const int camp_usual_split = CAMP_SCALED;

static const char *const systems[] = { "Linux", "Windows", "illumos" };

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

/* Returns how Linux obtains a number. The digits refer to the notes below the table. */
static const char *rule_words(const struct camp_counter *counter)
{
    static const char *const rules[] = {
        [CAMP_RULE_NONE] = "a fact",         [CAMP_RULE_COUNTED] = "measured",
        [CAMP_RULE_TICK] = "sampled [1]",    [CAMP_RULE_IDLE] = "measured [2]",
        [CAMP_RULE_IRQ] = "sampled [1] [3]", [CAMP_RULE_SAMPLED] = "sampled",
        [CAMP_RULE_CPU] = "measured [4]",    [CAMP_RULE_SPLIT] = "scaled [5]",
        [CAMP_RULE_DERIVED] = "derived",
    };

    return rules[counter->rule];
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

        if (text_of(counter->source, i).length == 0 || is_equal(first, here))
            continue;
        if (first.length == 0) {
            printf("%.*s", here.length, here.at);
            first = here;
        } else {
            printf("; %s: %.*s", systems[i], here.length, here.at);
        }
    }
}

static void print_row(const struct camp_counter *counter)
{
    printf("| `%s` | ", counter->name);
    print_kinds(counter->kinds);
    printf(" | %s | %s | ", counter->unit, rule_words(counter));
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
    static struct camp_counter rows[ROWS_MAX];
    size_t count = 0;

    if (camp_catalogue_read(rows, sizeof rows[0], ROWS_MAX, &count, NULL) != CAMP_OK)
        return 1;
    printf("| counter | of | unit | obtained (Linux) | resolution | Linux | Windows | illumos | "
           "what it is |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kinds != 0)
            print_row(&rows[i]);
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
