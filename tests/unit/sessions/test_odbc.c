/* Connection strings of ODBC, and the declarations of the ODBC interface in libodbc.h. */
#include "libraries/libodbc.h"
#include "sources/sessions/odbc/odbc_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#if __has_include(<sqlext.h>)
#include <sqlext.h>

_Static_assert(ODBC_SUCCESS == SQL_SUCCESS && ODBC_SUCCESS_WITH_INFO == SQL_SUCCESS_WITH_INFO &&
                   ODBC_NO_DATA == SQL_NO_DATA,
               "results");
_Static_assert(ODBC_ENVIRONMENT == SQL_HANDLE_ENV && ODBC_CONNECTION == SQL_HANDLE_DBC &&
                   ODBC_STATEMENT == SQL_HANDLE_STMT,
               "handles");
_Static_assert(ODBC_VERSION == SQL_ATTR_ODBC_VERSION && ODBC_VERSION_3 == SQL_OV_ODBC3 &&
                   ODBC_ACCESS_MODE == SQL_ATTR_ACCESS_MODE &&
                   ODBC_READ_ONLY == SQL_MODE_READ_ONLY &&
                   ODBC_LOGIN_TIMEOUT == SQL_ATTR_LOGIN_TIMEOUT &&
                   ODBC_QUERY_TIMEOUT == SQL_ATTR_QUERY_TIMEOUT,
               "attributes");
_Static_assert(ODBC_TEXT_TO_ITS_END == SQL_NTS && ODBC_NULL == SQL_NULL_DATA &&
                   ODBC_TEXT == SQL_C_CHAR && ODBC_CLOSE_CURSOR == SQL_CLOSE &&
                   ODBC_NEVER_ASK == SQL_DRIVER_NOPROMPT,
               "others");
_Static_assert(sizeof(odbc_length) == sizeof(SQLLEN) && sizeof(uintptr_t) == sizeof(SQLULEN) &&
                   sizeof(SQLSMALLINT) == 2 && sizeof(SQLINTEGER) == 4,
               "types");

static void camp_declares_the_odbc_interface_as_the_odbc_headers_do(void **state)
{
    (void)state; /* checked by the compiler */
}
#else
static void camp_declares_the_odbc_interface_as_the_odbc_headers_do(void **state)
{
    (void)state;
    print_message("needs unixodbc-dev\n");
    skip();
}
#endif

static void the_address_of_an_odbc_source_is_shown_without_secrets(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        { "sales", "sales" },
        { "DSN=sales;UID=camp;PWD=sesame", "DSN=sales" },
        { "DRIVER={Oracle 21};DBQ=host:1521/SALES;Uid=camp;Pwd={ses;DSN=ame}",
          "DRIVER={Oracle 21};DBQ=host:1521/SALES" },
        { "driver = {a}};PWD=x};PWD={y}}};server=z", "server=z" },
        { "DRIVER=x;DBQ=camp/sesame@host", "DRIVER=x" },
        { "PWD=sesame", "(hidden)" },
        { "PWD=sesame;\nDSN=a\nb", "(hidden)" },
        { "DSN=a\nb", "DSN=a?b" },
        { ";;", "(hidden)" },
        { "bob/sesame@sales", "(hidden)" },
        { "DSN=sales;DRIVER={Oracle;PWD=sesame", "DSN=sales" },
        { "DRIVER={Oracle} PWD=sesame;PORT=1521", "PORT=1521" },
        { "", "" },
    };
    char shown[128];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        odbc_text_shown(cases[i].text, shown, sizeof shown);
        assert_string_equal(shown, cases[i].shown);
    }
    odbc_text_shown("DSN=a_long_one;SERVER=b", shown, 12);
    assert_string_equal(shown, "SERVER=b");
}

static void a_missing_user_and_password_are_added_to_an_odbc_address(void **state)
{
    char text[ODBC_TEXT_SIZE], long_one[ODBC_TEXT_SIZE];

    (void)state;
    assert_true(odbc_text_to_connect("sales", NULL, NULL, text));
    assert_string_equal(text, "DSN=sales");
    assert_true(odbc_text_to_connect("sales", "camp", "a};b", text));
    assert_string_equal(text, "DSN=sales;UID=camp;PWD={a}};b}");
    assert_true(odbc_text_to_connect("DSN=s;pwd=x", "camp", "y", text));
    assert_string_equal(text, "DSN=s;pwd=x;UID=camp");
    memset(long_one, 'x', sizeof long_one - 1);
    long_one[sizeof long_one - 1] = '\0';
    assert_false(odbc_text_to_connect(long_one, NULL, NULL, text));
    long_one[sizeof long_one - 8] = '\0';
    assert_true(odbc_text_to_connect(long_one, NULL, NULL, text));
    assert_false(odbc_text_to_connect(long_one, "camp", NULL, text));
}

static void a_password_that_needs_no_braces_has_none(void **state)
{
    static const struct {
        const char *password, *part;
    } cases[] = {
        { "a!b@c=d}e{f", "PWD=a!b@c=d}e{f" },
        { "", "PWD=" },
        { "{a", "PWD={{a}" },
        { " a", "PWD={ a}" },
        { "a\t", "PWD={a\t}" },
    };
    char text[ODBC_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(odbc_text_to_connect("s", NULL, cases[i].password, text));
        assert_string_equal(text + strlen("DSN=s;"), cases[i].part);
    }
}

static void the_error_about_a_malformed_odbc_address_shows_no_secret(void **state)
{
    static const struct {
        const char *text, *fault; /* NULL if the text is valid */
    } cases[] = {
        { "sales", NULL },
        { "DSN=sales;UID=camp;PWD={a}};b=c}", NULL },
        { " Driver = {Oracle 21} ; DBQ=h:1521/S;;", NULL },
        { "bob/geheim@sales", "the name of a data source must not have any of []{}(),;?*!@\\;" },
        { "DSN=sales;geheim", "part 2 of the connection string has no '='" },
        { "DSN=sales;geheim;PORT=1", "part 2 of the connection string has no '='" },
        { "DSN=sales; =geheim", "part 2 of the connection string has no key before its '='" },
        { "DSN=sales;DATABASE={geheim", "part 2 of the connection string (DATABASE=) has no clos" },
        { "DRIVER={Oracle} PWD=geheim",
          "part 1 of the connection string (DRIVER=) has text after its closing }" },
        { "DSN=s;PWD=a;geheim={x", "part 3 of the connection string has no closing }" },
        { "DSM=sales;PWD=geheim",
          "needs one of DSN=, DRIVER= and FILEDSN=; its first key is (DSM=)" },
        { "g\neheim=1", "needs one of DSN=, DRIVER= and FILEDSN=" },
    };
    struct camp_error error;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].fault == NULL) {
            assert_int_equal(odbc_text_check(cases[i].text, &error), CAMP_OK);
            continue;
        }
        assert_int_equal(odbc_text_check(cases[i].text, &error), CAMP_E_INVALID);
        assert_non_null(strstr(error.message, cases[i].fault));
        assert_null(strstr(error.message, "eheim"));
        assert_null(strchr(error.message, '\n'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(camp_declares_the_odbc_interface_as_the_odbc_headers_do),
        cmocka_unit_test(the_address_of_an_odbc_source_is_shown_without_secrets),
        cmocka_unit_test(a_missing_user_and_password_are_added_to_an_odbc_address),
        cmocka_unit_test(a_password_that_needs_no_braces_has_none),
        cmocka_unit_test(the_error_about_a_malformed_odbc_address_shows_no_secret),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
