/* How SQLite files that others may have made are opened. */
#include "ledger/array.h"
#include "sources/foreign_database.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ENDLESS                                                                                    \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

static char path[] = "/tmp/camp-foreign-XXXXXX";
static struct foreign_watch watch;
static sqlite3 *database;

static int make_file(void **state)
{
    const int descriptor = mkstemp(strcpy(path, "/tmp/camp-foreign-XXXXXX"));

    (void)state;
    assert_true(descriptor >= 0);
    close(descriptor);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, "CREATE TABLE t(x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    database = NULL;
    watch = (struct foreign_watch){ 0 };
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    sqlite3_close(database);
    return unlink(path);
}

static int switch_of(int which)
{
    int value = -1;

    assert_int_equal(sqlite3_db_config(database, which, -1, &value), SQLITE_OK);
    return value;
}

static int number_of(const char *sql)
{
    sqlite3_stmt *statement;
    int number;

    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    number = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static void assert_rejected(const char *sql)
{
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK)
        fail_msg("'%s' is done", sql);
}

static void a_foreign_database_is_opened_as_hostile_input(void **state)
{
    static const int off[] = { SQLITE_DBCONFIG_WRITABLE_SCHEMA, SQLITE_DBCONFIG_TRUSTED_SCHEMA,
                               SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
                               SQLITE_DBCONFIG_ENABLE_TRIGGER };

    (void)state;
    assert_int_equal(foreign_database_open(&database, path, 0, &watch), SQLITE_OK);
    assert_int_equal(switch_of(SQLITE_DBCONFIG_DEFENSIVE), 1);
    for (size_t i = 0; i < ARRAY_COUNT(off); i++)
        assert_int_equal(switch_of(off[i]), 0);
    assert_int_equal(number_of("PRAGMA cell_size_check"), 1);
    assert_int_equal(number_of("PRAGMA mmap_size"), 0);
    assert_rejected("INSERT INTO t VALUES(1)");
    assert_rejected("ATTACH ':memory:' AS other");
    assert_rejected("SELECT load_extension('x')");
}

static void only_a_truncated_database_has_a_writable_schema(void **state)
{
    (void)state;
    assert_int_equal(foreign_database_open(&database, path, FOREIGN_CUT, &watch), SQLITE_OK);
    assert_int_equal(switch_of(SQLITE_DBCONFIG_WRITABLE_SCHEMA), 1);
    assert_rejected("UPDATE sqlite_schema SET sql = ''");
}

static void a_value_of_a_foreign_database_has_at_most_64_mb(void **state)
{
    (void)state;
    assert_int_equal(foreign_database_open(&database, path, 0, &watch), SQLITE_OK);
    assert_int_equal(number_of("SELECT length(zeroblob(67108864))"), 64 << 20);
    assert_rejected("SELECT length(zeroblob(67108865))");
    assert_int_equal(sqlite3_limit(database, SQLITE_LIMIT_COLUMN, -1), 2000);
}

static void a_statement_without_end_is_interrupted(void **state)
{
    static volatile sig_atomic_t stop;

    (void)state;
    watch.most = 1000000;
    assert_int_equal(foreign_database_open(&database, path, 0, &watch), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, ENDLESS, NULL, NULL, NULL), SQLITE_INTERRUPT);
    assert_false(foreign_watch_is_stopped(&watch));
    foreign_watch_start(&watch);
    stop = 1;
    watch = (struct foreign_watch){ .stop = &stop };
    assert_int_equal(sqlite3_exec(database, ENDLESS, NULL, NULL, NULL), SQLITE_INTERRUPT);
    assert_true(foreign_watch_is_stopped(&watch));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_file, remove_file)
    const struct CMUnitTest tests[] = {
        TEST(a_foreign_database_is_opened_as_hostile_input),
        TEST(only_a_truncated_database_has_a_writable_schema),
        TEST(a_value_of_a_foreign_database_has_at_most_64_mb),
        TEST(a_statement_without_end_is_interrupted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
