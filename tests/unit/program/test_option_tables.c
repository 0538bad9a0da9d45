/* Tests the option tables of all commands. A letter must have one meaning in all commands, and
 * the message about a refused option must name an option that exists. */
#include "program/help.h"
#include "program/option_habits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define OPTIONS_MAXIMUM 800

/* A copy of an option, because the table is lost when the command returns. */
static struct entry {
    char command[32]; /* "camp load cpu" */
    char name[32];
    char letter;
} entries[OPTIONS_MAXIMUM];
static size_t entry_count;
static size_t faults; /* Each fault is also printed. */

static void fault(const char *command, const char *what)
{
    print_message("%s: %s\n", command, what);
    faults++;
}

static bool has(const char *command, const char *name)
{
    for (size_t i = 0; i < entry_count; i++) {
        if (strcmp(entries[i].command, command) == 0 && strcmp(entries[i].name, name) == 0)
            return true;
    }
    return false;
}

static bool has_choice(const struct option_spec *spec, const char *choice)
{
    for (size_t i = 0; spec->choices != NULL && spec->choices[i] != NULL; i++) {
        if (strcmp(spec->choices[i], choice) == 0)
            return true;
    }
    return false;
}

static void look_at_table(const struct option_table *table, const char *command)
{
    const bool interval = strstr(table->usage, "[INTERVAL") != NULL;
    const bool count = strstr(table->usage, "[COUNT]") != NULL;

    if (interval != has(command, "interval"))
        fault(command, "the usage has [INTERVAL where --interval is, and nowhere else");
    if (interval && count != has(command, "count"))
        fault(command, "the usage has [COUNT] where --count is");
    if (!has(command, "help") || !has(command, "version"))
        fault(command, "--help and --version are in every table");
    for (size_t i = 0; i < table->count; i++) {
        const struct option_spec *spec = &table->specs[i];

        if (spec->help == NULL)
            fault(command, spec->name);
        if (strcmp(spec->name, "format") == 0 &&
            (has_choice(spec, "json") != has(command, "json") ||
             has_choice(spec, "csv") != has(command, "csv")))
            fault(command, "--json and --csv are where --format has them");
    }
}

static void receive_options(const struct option_table *table)
{
    char command[32];

    options_command(table, command, sizeof command);
    for (size_t i = 0; i < table->count; i++) {
        struct entry *entry = &entries[entry_count++];

        assert_true(entry_count < OPTIONS_MAXIMUM);
        snprintf(entry->command, sizeof entry->command, "%s", command);
        snprintf(entry->name, sizeof entry->name, "%s", table->specs[i].name);
        entry->letter = table->specs[i].letter;
    }
    look_at_table(table, command);
}

static void receive_commands(const struct command_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        char name[32], help[] = "--help";
        char *argv[] = { name, help, NULL };

        snprintf(name, sizeof name, "%s", list->commands[i].name);
        assert_int_equal(list->commands[i].run(2, argv), STATUS_OK);
    }
}

static int visit_all(void **state)
{
    static const struct help_receiver receiver = { receive_options, receive_commands };

    (void)state;
    help_receiver = &receiver;
    receive_commands(&camp_commands);
    help_receiver = NULL;
    return 0;
}

static void the_test_collects_the_option_tables_of_all_commands(void **state)
{
    (void)state;
    assert_true(has("camp check", "tier"));
    assert_true(has("camp load fault", "pages"));
    assert_true(entry_count > 150);
}

static void a_letter_stands_for_the_same_option_in_every_command(void **state)
{
    (void)state;
    for (size_t i = 0; i < entry_count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct entry *one = &entries[i], *other = &entries[j];

            if (one->letter == 0 || one->letter != other->letter)
                continue;
            if (strcmp(one->name, other->name) != 0)
                fail_msg("-%c is --%s of %s, and --%s of %s", one->letter, one->name, one->command,
                         other->name, other->command);
            if (strcmp(one->command, other->command) == 0)
                fail_msg("%s has -%c twice", one->command, one->letter);
        }
    }
}

static void a_long_option_has_the_same_letter_in_every_command(void **state)
{
    (void)state;
    for (size_t i = 0; i < entry_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(entries[i].name, entries[j].name) == 0 &&
                entries[i].letter != entries[j].letter)
                fail_msg("--%s is -%c in %s, and -%c in %s", entries[i].name, entries[i].letter,
                         entries[i].command, entries[j].letter, entries[j].command);
        }
    }
}

static void each_command_has_the_options_that_its_usage_and_formats_need(void **state)
{
    (void)state;
    assert_int_equal(faults, 0);
}

/* Checks that an advice such as "--interval TIME (-i) is ..." names an option and a letter that
 * the command has. */
static void check_instead(const struct habit *habit, const char *command)
{
    const char *text = strstr(habit->instead, "--"), *letter = strstr(habit->instead, "(-");
    const char *foreign = strstr(habit->instead, "camp ");
    char name[32];

    if (text == NULL || (foreign != NULL && foreign < text))
        return;
    snprintf(name, sizeof name, "%.*s", (int)strspn(text + 2, "abcdefghijklmnopqrstuvwxyz-"),
             text + 2);
    for (size_t i = 0; i < entry_count; i++) {
        if (strcmp(entries[i].command, command) != 0 || strcmp(entries[i].name, name) != 0)
            continue;
        if (letter != NULL && letter[2] != entries[i].letter)
            fail_msg("%s %s: the letter of --%s is not %c", command, habit->option, name,
                     letter[2]);
        return;
    }
    fail_msg("%s %s: there is no --%s", command, habit->option, name);
}

static void the_advice_about_a_refused_option_names_an_existing_option(void **state)
{
    (void)state;
    for (const struct habit *habit = habits; habit->option != NULL; habit++) {
        const char *at = habit->commands;

        while (*at != '\0') {
            char command[32];

            snprintf(command, sizeof command, "camp %.*s", (int)strcspn(at, ","), at);
            at += strcspn(at, ",");
            at += strspn(at, ", ");
            if (!has(command, "help"))
                fail_msg("there is no %s: %s", command, habit->option);
            assert_ptr_equal(habit_of(command, habit->option), habit->instead);
            check_instead(habit, command);
        }
    }
}

static void no_command_refuses_one_of_its_own_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < entry_count; i++) {
        const char letter[] = { '-', entries[i].letter, '\0' };

        if (entries[i].letter != 0 && habit_of(entries[i].command, letter) != NULL)
            fail_msg("%s has %s, and refuses it", entries[i].command, letter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_test_collects_the_option_tables_of_all_commands),
        cmocka_unit_test(a_letter_stands_for_the_same_option_in_every_command),
        cmocka_unit_test(a_long_option_has_the_same_letter_in_every_command),
        cmocka_unit_test(each_command_has_the_options_that_its_usage_and_formats_need),
        cmocka_unit_test(the_advice_about_a_refused_option_names_an_existing_option),
        cmocka_unit_test(no_command_refuses_one_of_its_own_options),
    };

    return cmocka_run_group_tests(tests, visit_all, NULL);
}
