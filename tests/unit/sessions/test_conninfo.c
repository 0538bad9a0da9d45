/* The part of a connection string that may be shown. It must not contain a secret, whatever the
 * input is. */
#include "libraries/libpq.h"
#include "sources/sessions/postgres/conninfo.h"

#include "../tree.h"

#include <stdio.h>
#include <string.h>

static void assert_shown(const char *conninfo, const char *expected)
{
    char shown[128];

    conninfo_shown(conninfo, shown, sizeof shown);
    assert_string_equal(shown, expected);
}

static void a_password_in_a_connection_string_is_not_shown(void **state)
{
    (void)state;
    assert_shown("host=h user=u password=geheim", "host=h user=u");
    assert_shown("password = 'ge heim' host=h", "host=h");
    assert_shown("user=u password='it\\'s geheim' dbname=d", "dbname=d user=u");
    assert_shown("sslpassword=geheim host=h sslkey=k", "host=h");
    assert_shown("postgres://u:geheim@h/d", "host=h dbname=d user=u");
    assert_shown("postgresql://u:ge%40heim@h:7/d", "host=h port=7 dbname=d user=u");
    assert_shown("postgres://u:ge?heim@h/d", "host=h dbname=d user=u");
    assert_shown("postgresql://u:geheim@h1:7,h2:8/d", "host=h1,h2 port=7,8 dbname=d user=u");
    assert_shown("postgres://h/d?user=u&password=geheim&sslmode=require", "host=h dbname=d user=u");
    assert_shown("password=geheim", "(default)");
    assert_shown("postgres://:geheim@", "(default)");
}

static void only_harmless_parts_of_a_connection_string_are_shown(void **state)
{
    (void)state;
    assert_shown("host=h options='-c x.token=geheim' application_name=geheim", "host=h");
    assert_shown("passfile=/home/geheim host=h requirepeer=geheim", "host=h");
    assert_shown("service=s", "service=s");
    assert_shown("", "(default)");
    assert_shown("accounts", "dbname=accounts");
    assert_shown("host='' port=5433", "port=5433");
}

/* libpq reads these strings differently from what their author meant. */
static void text_that_may_be_a_password_is_hidden(void **state)
{
    (void)state;
    assert_shown("postgres://u:ge@heim@h/d", "(hidden)");
    assert_shown("postgres://u:ge/heim@h/d", "(hidden)");
    assert_shown("postgres://u:?sslpassword=x@geheim,?sslpassword=y@@h/d", "(hidden)");
    assert_shown("postgres://u%40geheim:x@h/d", "(hidden)");
    assert_shown("dbname=postgres://u:geheim@h/d", "(hidden)");
    assert_shown("dbname='host=h password=geheim'", "(hidden)");
    assert_shown("u:geheim@h/d", "(hidden)");
    assert_shown("user=u:geheim host=h", "(hidden)");
    assert_shown("host=h password=ge heim", "(hidden)");
    assert_shown("host=h pasword=geheim", "(hidden)");
    assert_shown("password='geheim", "(hidden)");
    assert_shown("port=geheim", "(hidden)");
}

static void the_name_of_an_abstract_socket_is_shown(void **state)
{
    (void)state;
    assert_shown("host=@abstract,@b user=me@there", "host=@abstract,@b user=me@there");
}

static void the_address_after_the_word_postgres_is_converted_for_libpq(void **state)
{
    char *uri = conninfo_of_address("//u@h/d"), *words = conninfo_of_address("host=h");

    (void)state;
    assert_string_equal(uri, "postgres://u@h/d");
    assert_string_equal(words, "host=h");
    assert_int_equal(conninfo_check(uri, NULL), CAMP_OK);
    assert_int_equal(conninfo_check(words, NULL), CAMP_OK);
    assert_int_equal(conninfo_check("", NULL), CAMP_OK);
    assert_int_equal(conninfo_check("accounts", NULL), CAMP_OK);
    assert_int_equal(conninfo_check("password=my geheim", NULL), CAMP_E_INVALID);
    assert_int_equal(conninfo_check("geheim=1", NULL), CAMP_E_INVALID);
    free(uri);
    free(words);
}

/* libpq must read the same values from the text, except for passwords. */
static void a_connection_string_without_secrets_has_all_other_options_or_is_empty(void **state)
{
    static const struct {
        const char *conninfo, *expected;
    } cases[] = {
        { "", "" },
        { "shop", "dbname='shop'" },
        { "my db", "dbname='my db'" },
        { "host='/tmp/a b' user=u password='it\\'s geheim'", "user='u' host='/tmp/a b'" },
        { "host='a port=1' user='o\\'x\\\\'", "user='o\\'x\\\\' host='a port=1'" },
        { "postgres://u:geheim@h:7/d", "user='u' dbname='d' host='h' port='7'" },
        { "postgres://u:ge@heim@h/d", "" },
        { "host='@a://b'", "host='@a://b'" },
        { "host=h sslmode=verify-full", "" },
        { "host=h options=-cwork_mem=1MB", "" },
        { "host=a-name-that-is-much-longer-than-the-buffer-of-this-test-with-all-its-quotes", "" },
        { "no such=", "" },
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        conninfo_without_secrets(cases[i].conninfo, text, sizeof text);
        assert_string_equal(text, cases[i].expected);
    }
}

static void a_shown_connection_string_fits_its_buffer_without_control_characters(void **state)
{
    char shown[16];

    (void)state;
    assert_shown("host='a\nb\033[2J'", "host=a?b?[2J");
    conninfo_shown("host=a-name-that-is-long user=u", shown, sizeof shown);
    assert_string_equal(shown, "host=a-name-tha");
}

static void the_error_about_an_unknown_key_names_the_key_unless_it_may_be_a_password(void **state)
{
    static const struct {
        const char *conninfo, *message;
    } cases[] = {
        { "hst=x", "has no key hst=;" },          { "host=x prot=1 dbname=y", "has no key prot=;" },
        { "host=x port=1 b", "cannot be read" },  { "password=a b=c", "cannot be read" },
        { "user='a b=c' x=1", "cannot be read" }, { "postgres://u:p@h/?x=1", "cannot be read" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct camp_error error = { 0 };

        assert_int_equal(conninfo_check(cases[i].conninfo, &error), CAMP_E_INVALID);
        assert_non_null(strstr(error.message, cases[i].message));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_password_in_a_connection_string_is_not_shown),
        cmocka_unit_test(only_harmless_parts_of_a_connection_string_are_shown),
        cmocka_unit_test(text_that_may_be_a_password_is_hidden),
        cmocka_unit_test(the_name_of_an_abstract_socket_is_shown),
        cmocka_unit_test(the_address_after_the_word_postgres_is_converted_for_libpq),
        cmocka_unit_test(the_error_about_an_unknown_key_names_the_key_unless_it_may_be_a_password),
        cmocka_unit_test(a_connection_string_without_secrets_has_all_other_options_or_is_empty),
        cmocka_unit_test(a_shown_connection_string_fits_its_buffer_without_control_characters),
    };
    struct camp_error error = { 0 };

    if (library_load(&libpq_library, &error) != CAMP_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 77; /* With exit status 77 meson reports a skipped test. */
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
