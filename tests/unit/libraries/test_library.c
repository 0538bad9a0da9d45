#include "libraries/library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct pointers {
    __typeof__(&strlen) strlen;
    __typeof__(&strcmp) strcmp;
};

static const char *const good[] = { "strlen", "strcmp" };
static const char *const bad[] = { "strlen", "camp_made_up" };

static void of_several_versions_of_a_library_the_first_that_loads_is_used(void **state)
{
    struct pointers table = { 0 };
    struct library library = LIBRARY("libc", "libc6", good, table, "libmade-up.so.1", "libc.so.6");
    struct camp_error error = { 0 };

    (void)state;
    assert_int_equal(library_load(&library, &error), CAMP_OK);
    assert_int_equal(table.strlen("four"), 4);
    assert_int_equal(table.strcmp("a", "a"), 0);
}

static void a_library_is_loaded_only_once(void **state)
{
    struct pointers table = { 0 };
    struct library library = LIBRARY("libc", "libc6", good, table, "libc.so.6");

    (void)state;
    assert_int_equal(library_load(&library, NULL), CAMP_OK);
    library.sonames[0] = "libmade-up.so.1";
    assert_int_equal(library_load(&library, NULL), CAMP_OK);
}

static void the_error_about_a_missing_library_names_its_package(void **state)
{
    struct pointers table = { 0 };
    struct library library = LIBRARY("libmade-up", "libmade-up1", good, table, "libmade-up.so.1");
    struct camp_error error = { 0 };

    (void)state;
    assert_int_equal(library_load(&library, &error), CAMP_E_NOTSUP);
    assert_non_null(strstr(error.message, "libmade-up is not installed: apt install libmade-up1"));
    assert_non_null(strstr(error.message, "libmade-up.so.1")); /* for systems other than Debian */
    assert_null(table.strlen);
}

static void a_library_with_a_missing_symbol_fills_no_function_pointer(void **state)
{
    struct pointers table = { 0 };
    struct library library = LIBRARY("libc", "libc6", bad, table, "libc.so.6");
    struct camp_error error = { 0 };

    (void)state;
    assert_int_equal(library_load(&library, &error), CAMP_E_NOTSUP);
    assert_string_equal(error.message, "libc lacks camp_made_up: apt install a newer libc6");
    assert_null(table.strlen);
    assert_false(library.is_loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_several_versions_of_a_library_the_first_that_loads_is_used),
        cmocka_unit_test(a_library_is_loaded_only_once),
        cmocka_unit_test(the_error_about_a_missing_library_names_its_package),
        cmocka_unit_test(a_library_with_a_missing_symbol_fills_no_function_pointer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
