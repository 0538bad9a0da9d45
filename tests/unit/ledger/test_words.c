#include "ledger/words.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void the_name_in_a_path_is_what_follows_the_last_separator(void **state)
{
    (void)state;
    assert_string_equal(name_in_path("run.camp"), "run.camp");
    assert_string_equal(name_in_path("/var/log/run.camp"), "run.camp");
    assert_string_equal(name_in_path("./a//b"), "b");
}

static void a_path_that_ends_in_a_separator_has_an_empty_name(void **state)
{
    static char folder[] = "folder/"; /* can be written, as an argument of main() */

    (void)state;
    assert_ptr_equal(name_in_path(folder), folder + 7);
    assert_string_equal(folder, "folder/");
    assert_string_equal(name_in_path("/"), "");
    assert_string_equal(name_in_path(""), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_in_a_path_is_what_follows_the_last_separator),
        cmocka_unit_test(a_path_that_ends_in_a_separator_has_an_empty_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
