/* Texts of statements without their literals. */
#include "sources/sessions/postgres/statements/postgres_statements.h"
#include "sources/sessions/statement_text.h"

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void literals_are_replaced_and_names_are_not(void **state)
{
    static const char *const cases[][2] = {
        { "select 1", "select ?" },
        { "UPDATE t SET a = a + -17 WHERE b=4.5e+3", "UPDATE t SET a = a + -? WHERE b=?" },
        { "select t1.c2, x$3, $1 from \"a 7 \"\"b\"", "select t1.c2, x$3, $1 from \"a 7 \"\"b\"" },
        { "select 'O''Brien', n'x', e'it\\'s 5', 3", "select ?, ?, ?, ?" },
        { "do $$ begin secret; end $$; select $x$ a $$ b $x$", "do ?; select ?" },
        { "  select\n\t1 -- the 2nd\n from a /* 5 /* 6 */ 7 */ ;  ", "select ? from a ;" },
        { "select .5, a.b, 0x1F", "select ?, a.b, ?" },
        { "select 'cut off in the midd", "select ?" },
        /* Where the string ends depends on a setting of the session. */
        { "select 'it\\'s secret', a", "select ?" },
        { "select 'C:\\\\', a", "select ?, a" },
        { "select e'C:\\\\', a", "select ?, a" },
        { "select $tag$cut", "select ?" },
        { "select 1 /* cut", "select ?" },
        { "select \"cut", "select \"cut" },
        { "$", "$" },
        { "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];

        statement_text_without_literals(STATEMENT_POSTGRES, cases[i][0], text, sizeof text);
        assert_string_equal(text, cases[i][1]);
    }
}

static void literals_of_mysql_are_replaced_with_the_signs_of_numbers(void **state)
{
    static const char *const cases[][2] = {
        { "select 'it\\'s', \"5 \"\"x\", N'x', x'1F', _utf8'a'", "select ?, ?, ?, ?, _utf8?" },
        { "update `a 7 ``b` set n=n+-5 where m = - 4", "update `a 7 ``b` set n=n+? where m = ?" },
        { "select a-5, (-5), a - b, -c", "select a-?, (?), a - b, -c" },
        { "select $x$1, @v, ? # 5\n, 6 -- 7\n--8 /* 9 /* */ + 10",
          "select $x$1, @v, ? , ? -? + ?" },
        { "select 1 --\001it's\n, 'a', 2", "select ? , ?, ?" },
        { "select 'cut \\", "select ?" },
        { "select `cut", "select `cut" },
        { "-1", "?" },
        { "- ", "-" },
        { "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];

        statement_text_without_literals(STATEMENT_MYSQL, cases[i][0], text, sizeof text);
        assert_string_equal(text, cases[i][1]);
    }
}

static void no_sql_mode_of_mysql_shows_a_literal(void **state)
{
    static const char *const cases[][2] = {
        { "select \"5 'x\", 'a''b', N'x', x'1F', _utf8'a' from `t`, t where n = -4",
          "select ?, ?, ?, ?, _utf8? from `t`, t where n = ?" },
        /* With NO_BACKSLASH_ESCAPES the first string ends at the second quote. */
        { "select 'it\\'s secret', a", "select ?" },
        { "select \"a\\\"secret\", a", "select ?" },
        { "select 'a\\', ' secret '", "select ?" },
        { "select n'a\\', ' secret '", "select ?" },
        { "select 'C:\\\\', a", "select ?, a" },
        { "select a # it's\n, 'b' /* it's */, c -- it's\n, 'd'", "select a , ? , c , ?" },
        { "select 1 --\001it's\n, 'secret'", "select ? , ?" },
        /* Servers execute such comments or not, by their version. */
        { "select /*!50000 high_priority */ a, 'b'", "select a, ?" },
        { "select /*!99999 it's */ 'secret', a", "select" },
        { "select /*M!100100 '*/ secret', a */ b", "select" },
        { "select `cut 'a", "select `cut 'a" },
        { "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];

        statement_text_without_literals(STATEMENT_MYSQL_ANY_MODE, cases[i][0], text, sizeof text);
        assert_string_equal(text, cases[i][1]);
    }
}

static void a_text_is_cut_at_the_end_of_its_space(void **state)
{
    char text[8];

    (void)state;
    statement_text_without_literals(STATEMENT_POSTGRES, "select a from b", text, sizeof text);
    assert_string_equal(text, "select ");
    statement_text_without_literals(STATEMENT_POSTGRES, "select a from b", text, 1);
    assert_string_equal(text, "");
}

static void the_first_text_of_a_statement_stays_and_is_marked_as_an_example(void **state)
{
    struct postgres_statements statements = { 0 };

    (void)state;
    assert_int_equal(postgres_statements_add(&statements, -5, "select 7"), CAMP_OK);
    assert_int_equal(postgres_statements_add(&statements, -5, "select 8, 9"), CAMP_OK);
    assert_int_equal(postgres_statements_add(&statements, 0, "no id"), CAMP_OK);
    assert_int_equal(postgres_statements_add(&statements, 6, ""), CAMP_OK);
    assert_string_equal(postgres_statements_text(&statements, -5), "example: select ?");
    assert_null(postgres_statements_text(&statements, 0));
    assert_null(postgres_statements_text(&statements, 6));
    postgres_statements_release(&statements);
}

static void a_normalised_text_replaces_an_example_and_stays(void **state)
{
    struct postgres_statements statements = { 0 };

    (void)state;
    assert_int_equal(postgres_statements_add(&statements, 5, "select 7, a"), CAMP_OK);
    assert_false(postgres_statements_has_normalised(&statements, 5));
    assert_int_equal(postgres_statements_add_normalised(&statements, 5, "select $1, a"), CAMP_OK);
    assert_true(postgres_statements_has_normalised(&statements, 5));
    assert_string_equal(postgres_statements_text(&statements, 5), "select $1, a");
    assert_int_equal(postgres_statements_add(&statements, 5, "select 8, a"), CAMP_OK);
    assert_int_equal(postgres_statements_add_normalised(&statements, 5, "select $2"), CAMP_OK);
    assert_string_equal(postgres_statements_text(&statements, 5), "select $1, a");
    assert_int_equal(
        postgres_statements_add_normalised(&statements, 6, "alter role x password 'secret'"),
        CAMP_OK);
    assert_string_equal(postgres_statements_text(&statements, 6), "alter role x password ?");
    assert_false(postgres_statements_has_normalised(&statements, 7));
    postgres_statements_release(&statements);
}

static void the_number_of_texts_is_bounded(void **state)
{
    struct postgres_statements statements = { 0 };

    (void)state;
    for (int64_t id = 2 * POSTGRES_STATEMENTS_MOST; id > 0; id--)
        assert_int_equal(postgres_statements_add(&statements, id, "select 1"), CAMP_OK);
    assert_int_equal(statements.count, POSTGRES_STATEMENTS_MOST);
    assert_non_null(postgres_statements_text(&statements, 2 * POSTGRES_STATEMENTS_MOST));
    assert_null(postgres_statements_text(&statements, 1));
    postgres_statements_release(&statements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_are_replaced_and_names_are_not),
        cmocka_unit_test(literals_of_mysql_are_replaced_with_the_signs_of_numbers),
        cmocka_unit_test(no_sql_mode_of_mysql_shows_a_literal),
        cmocka_unit_test(a_text_is_cut_at_the_end_of_its_space),
        cmocka_unit_test(the_first_text_of_a_statement_stays_and_is_marked_as_an_example),
        cmocka_unit_test(a_normalised_text_replaces_an_example_and_stays),
        cmocka_unit_test(the_number_of_texts_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
