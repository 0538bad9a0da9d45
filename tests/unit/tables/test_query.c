/* Queries of SQLite files as tables. */
#include "../foreign_table.h"

#include <sqlite3.h>

static void make_database(char path[64])
{
    sqlite3 *database;
    int descriptor;

    snprintf(path, 64, "/tmp/camp-table-XXXXXX");
    descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(database,
                     "create table t(at integer, sid integer, who text, cpu real, idle real);"
                     "insert into t values (1227319201, 7, 'x', 400.5, 599.5),"
                     "(1227319201, 8, 'y', 100, 900), (1227319202, 7, 'x', null, 500),"
                     "(1227319202, 8, 'y', 250, 'much')",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(database);
}

static int open_query(const char *path, const char *query, struct table *ret,
                      struct camp_error *error)
{
    char text[512];
    const struct from from = { .text = text, .query = query, .stop = &never };

    snprintf(text, sizeof text, "sqlite:%s", path);
    *ret = (struct table){ 0 };
    return from_open(&from, &ret->source, &ret->facts, error);
}

static void the_result_of_a_query_is_a_table(void **state)
{
    struct table table;
    char path[64];

    (void)state;
    make_database(path);
    assert_int_equal(open_query(path,
                                "select at as time, sid, cpu as cpu_ms, idle as idle_ms from t "
                                "order by at desc, sid;",
                                &table, NULL),
                     CAMP_OK);
    assert_string_equal(table.facts.note, "row 1: cpu_ms is empty; 2 of 4 rows skipped");
    assert_string_equal(table.facts.tier, "table");
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->wall_clock_ns, T0 + S);
    assert_int_equal(value_of(table.frame, "7", 0), 4005 * NS_PER_MS / 10);
    assert_int_equal(value_of(table.frame, "8", 1), 900 * NS_PER_MS);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->losses.partial, 2);
    assert_at_end(&table);
    unlink(path);
}

static void assert_query_fails(const char *path, const char *query, int code, const char *message)
{
    struct camp_error error = { 0 };
    struct table table;

    assert_int_equal(open_query(path, query, &table, &error), code);
    if (strstr(error.message, message) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, message);
}

static void an_invalid_query_is_refused(void **state)
{
    char path[64];

    (void)state;
    make_database(path);
    assert_query_fails(path, NULL, CAMP_E_INVALID, "needs --query \"select time,");
    assert_query_fails(path, "select missing from t", CAMP_E_INVALID,
                       "SQLite: no such column: missing");
    assert_query_fails(path, "selekt", CAMP_E_INVALID, "SQLite: near \"selekt\": syntax error");
    assert_query_fails(path, "", CAMP_E_INVALID, "--query takes one statement");
    assert_query_fails(path, "select 1; select 2", CAMP_E_INVALID, "--query takes one statement");
    assert_query_fails(path, "select at as time, cpu from t where 0", CAMP_E_FORMAT,
                       "has no rows after its header");
    assert_query_fails(path, "select at as time, abs(-9223372036854775808) as cpu from t",
                       CAMP_E_IO, "SQLite: integer overflow");
    assert_query_fails("/no/such.db", "select 1", CAMP_E_GONE,
                       "/no/such.db: No such file or directory");
    assert_query_fails(stored_table("sessions3"), "select 1 from t", CAMP_E_FORMAT,
                       "sessions3.csv: file is not a database");
    unlink(path);
}

static void a_query_that_writes_is_refused(void **state)
{
    char path[64], attach[128];
    struct table table;

    (void)state;
    make_database(path);
    assert_query_fails(path, "delete from t", CAMP_E_INVALID, "takes a statement that reads");
    assert_query_fails(path, "delete from t returning at, cpu", CAMP_E_INVALID,
                       "takes a statement that reads");
    snprintf(attach, sizeof attach, "attach '%s.other' as other", path);
    assert_query_fails(path, attach, CAMP_E_INVALID, "takes a statement that reads");
    assert_int_equal(open_query(path, "select at as time, sid, cpu from t", &table, NULL), CAMP_OK);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entity_count, 2);
    source_close(table.source);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_result_of_a_query_is_a_table),
        cmocka_unit_test(an_invalid_query_is_refused),
        cmocka_unit_test(a_query_that_writes_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
