/* Statements by a synthetic driver, whose functions replace those of unixODBC. */
#include "libraries/libodbc.h"
#include "sources/sessions/odbc/odbc_connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int16_t columns_prepared, columns_executed;
static unsigned executed;

static int16_t alloc_handle(int16_t type, odbc_handle parent, odbc_handle *ret)
{
    (void)type, (void)parent;
    *ret = &executed;
    return ODBC_SUCCESS;
}

static int16_t free_handle(int16_t type, odbc_handle handle)
{
    (void)type, (void)handle;
    return ODBC_SUCCESS;
}

static int16_t set_attribute(odbc_handle handle, int32_t attribute, void *value, int32_t length)
{
    (void)handle, (void)attribute, (void)value, (void)length;
    return ODBC_SUCCESS;
}

static int16_t driver_connect(odbc_handle connection, void *window, unsigned char *text,
                              int16_t length, unsigned char *ret_text, int16_t size,
                              int16_t *ret_length, uint16_t completion)
{
    (void)connection, (void)window, (void)text, (void)length, (void)ret_text, (void)size;
    (void)ret_length, (void)completion;
    return ODBC_SUCCESS;
}

static const char *database = "Oracle"; /* what the driver says */

static int16_t get_info(odbc_handle connection, uint16_t type, void *ret, int16_t size,
                        int16_t *ret_length)
{
    (void)connection;
    assert_int_equal(type, ODBC_DATABASE_NAME);
    *ret_length = (int16_t)snprintf(ret, (size_t)size, "%s", database);
    return ODBC_SUCCESS;
}

static int16_t disconnect(odbc_handle connection)
{
    (void)connection;
    return ODBC_SUCCESS;
}

static char prepared[100];

static int16_t prepare(odbc_handle statement, unsigned char *text, int32_t length)
{
    (void)statement, (void)length;
    snprintf(prepared, sizeof prepared, "%s", (const char *)text);
    executed = 0;
    return ODBC_SUCCESS;
}

static int16_t execute(odbc_handle statement)
{
    (void)statement;
    executed++;
    return ODBC_SUCCESS;
}

static int16_t num_result_cols(odbc_handle statement, int16_t *ret)
{
    (void)statement;
    *ret = executed > 0 ? columns_executed : columns_prepared;
    return ODBC_SUCCESS;
}

static int16_t free_stmt(odbc_handle statement, uint16_t option)
{
    (void)statement, (void)option;
    return ODBC_SUCCESS;
}

static int connect_to_driver(void **state)
{
    libodbc.AllocHandle = alloc_handle;
    libodbc.FreeHandle = free_handle;
    libodbc.SetEnvAttr = libodbc.SetConnectAttr = libodbc.SetStmtAttr = set_attribute;
    libodbc.DriverConnect = driver_connect;
    libodbc.GetInfo = get_info;
    libodbc.Disconnect = disconnect;
    libodbc.Prepare = prepare;
    libodbc.Execute = execute;
    libodbc.NumResultCols = num_result_cols;
    libodbc.FreeStmt = free_stmt;
    libodbc_library.is_loaded = true;
    return odbc_connection_open("DSN=none", (struct odbc_connection **)state, NULL);
}

static int close_connection(void **state)
{
    odbc_connection_close(*state);
    return 0;
}

/* Opens and executes a statement. Returns the first failure. */
static int run(struct odbc_connection *connection, const char *text, struct camp_error *error)
{
    struct odbc_statement *statement = NULL;
    int r = odbc_statement_open(connection, text, 0, &statement, error);

    if (r == CAMP_OK)
        r = odbc_statement_execute(statement, error);
    odbc_statement_close(statement);
    return r;
}

static void a_select_is_executed_even_if_its_columns_are_unknown_before(void **state)
{
    struct camp_error error;

    columns_prepared = 0;
    columns_executed = 2;
    assert_int_equal(run(*state, "SELECT a, b FROM t", &error), CAMP_OK);
    assert_int_equal(run(*state, "\n (select a from t)", &error), CAMP_OK);
    columns_executed = 0;
    assert_int_equal(run(*state, "SELECT a INTO b FROM t", &error), CAMP_E_INVALID);
    assert_non_null(strstr(error.message, "--query takes one that reads"));
}

static void a_statement_that_is_neither_a_select_nor_has_columns_is_not_executed(void **state)
{
    static const char *const texts[] = { "DELETE FROM t", "selection", "", "  update t set a = 1",
                                         "with a as (delete from t) select 1" };
    struct camp_error error;

    columns_prepared = 0;
    columns_executed = 2;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        executed = 0;
        assert_int_equal(run(*state, texts[i], &error), CAMP_E_INVALID);
        assert_int_equal(executed, 0);
    }
}

static void a_statement_with_columns_is_executed(void **state)
{
    struct camp_error error;

    columns_prepared = columns_executed = 1;
    assert_int_equal(run(*state, "with a as (select 1) select * from a", &error), CAMP_OK);
    assert_int_equal(executed, 1);
}

static void a_statement_that_writes_or_is_two_never_reaches_the_driver(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "delete from t", "begins with \"delete\"" },
        { "/* select */ -- select\n ( Update t", "begins with \"Update\"" },
        { "selection", "begins with \"selection\"" },
        { "explain analyze delete from t", "begins with \"explain\"" },
        { "", "begins with \"\"" },
        { "/* select", "begins with \"\"" },
        { "select 1; delete from t", "there is more after its ';'" },
        { "select ';', \"a;\" -- ;\n; /* ; */ ;x", "there is more after its ';'" },
    };
    struct camp_error error;

    columns_prepared = columns_executed = 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        prepared[0] = '\0';
        assert_int_equal(run(*state, cases[i].text, &error), CAMP_E_INVALID);
        assert_non_null(strstr(error.message, cases[i].message));
        assert_string_equal(prepared, "");
    }
}

static void a_statement_may_have_comments_quotes_and_a_semicolon_at_its_end(void **state)
{
    static const char *const texts[] = { "select ';' from t;", "-- all\nTABLE t ; ; ",
                                         "/* ; */ values (1)", "select \"a;b\", `c;d` -- ; e" };

    columns_prepared = columns_executed = 1;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(run(*state, texts[i], NULL), CAMP_OK);
}

static void a_database_with_read_only_sessions_is_asked_for_one(void **state)
{
    static const struct {
        const char *database, *statement;
    } cases[] = {
        { "PostgreSQL", "set default_transaction_read_only = on" },
        { "MariaDB", "set session transaction read only" },
        { "MySQL", "set session transaction read only" },
        { "SQLite", "pragma query_only = on" },
        { "Oracle", "" },
    };
    struct odbc_connection *connection;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        database = cases[i].database;
        prepared[0] = '\0';
        assert_int_equal(odbc_connection_open("DSN=none", &connection, NULL), CAMP_OK);
        assert_string_equal(prepared, cases[i].statement);
        assert_int_equal(executed, prepared[0] != '\0');
        executed = 0;
        odbc_connection_close(connection);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_select_is_executed_even_if_its_columns_are_unknown_before),
        cmocka_unit_test(a_statement_that_is_neither_a_select_nor_has_columns_is_not_executed),
        cmocka_unit_test(a_statement_that_writes_or_is_two_never_reaches_the_driver),
        cmocka_unit_test(a_statement_may_have_comments_quotes_and_a_semicolon_at_its_end),
        cmocka_unit_test(a_database_with_read_only_sessions_is_asked_for_one),
        cmocka_unit_test(a_statement_with_columns_is_executed),
    };

    return cmocka_run_group_tests(tests, connect_to_driver, close_connection);
}
