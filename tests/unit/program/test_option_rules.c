/* Tests which combinations of options the rules of a table refuse. */
#include "program/command.h"
#include "program/option_values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const colours[] = { "red", "green", NULL };

/* Checks a rule. `words`, which end with NULL, are the given options, and --color has the value
 * `colour`. */
static int check(const struct option_rule *rule, int colour, const char *const *words)
{
    const struct option_rule rules[] = { *rule, { 0 } };
    const struct option_spec specs[] = {
        { "color", 0, OPTION_CHOICE, &colour, "COLOUR", "", 0, 0, colours },
        { "colors", 0, OPTION_COUNT, NULL, "N", "", 0, 0, NULL },
        { "loud", 'l', OPTION_FLAG, NULL, NULL, "", 0, 0, NULL },
        { "name", 0, OPTION_TEXT, NULL, "NAME", "", 0, 0, NULL },
    };
    const struct option_table table = { "camp made [OPTIONS]", "About.", specs,
                                        sizeof specs / sizeof specs[0], rules };
    bool given[4] = { false };

    for (; *words != NULL; words++) {
        for (size_t i = 0; i < table.count; i++)
            given[i] |= strcmp(specs[i].name, *words) == 0;
    }
    return option_rules_check(&table, given);
}

#define CHECK(rule, colour, ...) check(rule, colour, (const char *const[]){ __VA_ARGS__, NULL })

static void options_and_values_that_exclude_each_other_are_refused(void **state)
{
    const struct option_rule rule = { "loud", NULL, "name, color green", NULL };

    (void)state;
    assert_int_equal(CHECK(&rule, -1, "loud"), OPTIONS_GO_ON);
    assert_int_equal(CHECK(&rule, 0, "loud", "color", "colors"), OPTIONS_GO_ON);
    assert_int_equal(CHECK(&rule, 1, "name", "color"), OPTIONS_GO_ON);
    assert_int_equal(CHECK(&rule, -1, "loud", "name"), STATUS_USAGE);
    assert_int_equal(CHECK(&rule, 1, "loud", "color"), STATUS_USAGE);
}

static void an_option_that_needs_one_of_several_others_is_accepted_with_any_of_them(void **state)
{
    const struct option_rule rule = { "name", "loud, color green", NULL, "a name is for those" };

    (void)state;
    assert_int_equal(CHECK(&rule, 0, "color"), OPTIONS_GO_ON);
    assert_int_equal(CHECK(&rule, -1, "name", "loud"), OPTIONS_GO_ON);
    assert_int_equal(CHECK(&rule, 1, "name"), OPTIONS_GO_ON);
    assert_int_equal(CHECK(&rule, 0, "name"), STATUS_USAGE);
}

static void a_rule_for_one_value_of_an_option_ignores_the_other_values(void **state)
{
    const struct option_rule rule = { "color red", "name", NULL, NULL };

    (void)state;
    assert_int_equal(CHECK(&rule, 1, "color"), OPTIONS_GO_ON);
    assert_int_equal(CHECK(&rule, 0, "color", "name"), OPTIONS_GO_ON);
    assert_int_equal(CHECK(&rule, 0, "color"), STATUS_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_values_that_exclude_each_other_are_refused),
        cmocka_unit_test(an_option_that_needs_one_of_several_others_is_accepted_with_any_of_them),
        cmocka_unit_test(a_rule_for_one_value_of_an_option_ignores_the_other_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
