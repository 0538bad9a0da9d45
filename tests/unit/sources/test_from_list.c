/* Tests which source an argument of --from opens, and which options can be used with a source. */
#include "sources/from_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static enum from_opener opener(const char *text)
{
    const struct from_source *source = from_source_find(text);

    assert_non_null(source);
    return source->opener;
}

static void a_source_is_found_by_its_name_or_address_prefix_or_file_extension(void **state)
{
    (void)state;
    assert_int_equal(opener("cgroups"), OPENS_THREADS);
    assert_int_equal(opener("postgresql://db"), OPENS_POSTGRES);
    assert_int_equal(opener("prometheus:http://a.csv"), OPENS_FLEET);
    assert_int_equal(opener("run.camp"), OPENS_RECORDING);
    assert_int_equal(opener("RUN.CSV"), OPENS_TABLE);
    assert_int_equal(opener("-"), OPENS_TABLE);
    assert_int_equal(opener("mysql:x"), OPENS_MARIADB);
    assert_null(from_source_find("thread"));
    assert_null(from_source_find("threads "));
    assert_null(from_source_find(".csv"));
    assert_null(from_source_find(""));
}

/* Returns the error message, or "" if the options can be used with the source. */
static const char *complaint(const char *text, uint32_t given)
{
    static struct camp_error error;
    const int r = from_check(from_source_find(text), text, given, &error);

    assert_int_equal(r, error.message[0] != '\0' && r != CAMP_OK ? CAMP_E_INVALID : CAMP_OK);
    return r == CAMP_OK ? "" : error.message;
}

static void the_error_about_an_option_that_a_source_lacks_names_sources_that_have_it(void **state)
{
    (void)state;
    assert_string_equal(complaint("cpus", WITH_TIER | WITH_INTERVAL), "");
    assert_string_equal(complaint("cpus", WITH_TIER | WITH_HOST),
                        "--host does not go with --from cpus; it goes with prometheus:URL");
    assert_string_equal(
        complaint("demo", WITH_RULES),
        "--rules does not go with --from demo; it goes with FILE.csv, FILE.tsv, "
        "FILE.txt, -, sqlite:FILE, postgres:CONNINFO, mariadb:CONNINFO or odbc:DSN");
    assert_non_null(strstr(complaint("run.camp", WITH_INTERVAL), "(--speed N sets the pace)"));
    assert_null(strstr(complaint("cpus", WITH_SPEED), "sets the pace"));
}

static void a_database_with_a_query_accepts_the_options_of_a_table(void **state)
{
    (void)state;
    assert_string_equal(complaint("odbc:x", WITH_TIER | WITH_DETAIL), "");
    assert_string_equal(complaint("odbc:x", WITH_QUERY | WITH_UNIT | WITH_BEGIN), "");
    assert_non_null(
        strstr(complaint("odbc:x", WITH_QUERY | WITH_TIER), "--from odbc:... and --query;"));
    assert_non_null(strstr(complaint("odbc:x", WITH_UNIT), "odbc:DSN with --query"));
    assert_non_null(strstr(complaint("prometheus:x", WITH_COLUMN), "prometheus:URL with --query"));
    assert_string_equal(complaint("prometheus:x", WITH_QUERY | WITH_COLUMN | WITH_HOST), "");
}

static void the_error_about_a_refused_option_contains_no_password(void **state)
{
    (void)state;
    assert_null(strstr(complaint("postgres:password=sesame", WITH_QUERY), "sesame"));
}

static void from_given_returns_the_options_that_are_set(void **state)
{
    const struct from from = { .query = "x", .detail = true, .end_ns = 1 };

    (void)state;
    assert_int_equal(from_given(&(struct from){ 0 }), 0);
    assert_int_equal(from_given(&from), WITH_QUERY | WITH_DETAIL | WITH_END);
}

static void every_source_has_a_help_text_and_an_argument_for_the_option_from(void **state)
{
    char form[32];

    (void)state;
    for (size_t i = 0; i < from_source_count; i++) {
        assert_true(strlen(from_source_form(&from_sources[i], form, sizeof form)) > 0);
        assert_true(strlen(from_sources[i].help) > 0);
    }
    assert_string_equal(from_source_form(from_source_of_recordings(), form, sizeof form),
                        "FILE.camp");
    assert_string_equal(from_source_form(from_source_find("odbc:"), form, sizeof form), "odbc:DSN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_is_found_by_its_name_or_address_prefix_or_file_extension),
        cmocka_unit_test(the_error_about_an_option_that_a_source_lacks_names_sources_that_have_it),
        cmocka_unit_test(a_database_with_a_query_accepts_the_options_of_a_table),
        cmocka_unit_test(the_error_about_a_refused_option_contains_no_password),
        cmocka_unit_test(from_given_returns_the_options_that_are_set),
        cmocka_unit_test(every_source_has_a_help_text_and_an_argument_for_the_option_from),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
