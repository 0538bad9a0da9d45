/* Tests the trees of blockers that the page receives (docs/stream.md), on synthetic sessions. */
#include "commands/report/page_blockers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CONTENTION, BLOCKED, BLOCKING, ACTIVITY };
static const struct column columns[] = {
    { "contention_ns", "contention", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CONTENTION, NULL },
    { "blocked_ns", "blocked", "", COLUMN_COUNTER, CAMP_SCALED, CLASS_NONE, NULL },
    { "blocking_ns", "blocking", "", COLUMN_COUNTER, CAMP_SCALED, CLASS_NONE, NULL },
    { "blocking_activity_ns", "activity", "", COLUMN_GAUGE, CAMP_SAMPLED, CLASS_NONE, NULL },
};
static const char *const labels[] = { "application", "last_statement", "blocker", "root_blocker",
                                      "blocking_activity" };
static const struct schema postgres = { "postgres", columns, 4, 1, labels, 5 };
static const struct schema mariadb = { "mariadb", columns, 4, 1, labels, 5 };
static const char *const labels_of_servers[] = { "server",  "application",  "last_statement",
                                                 "blocker", "root_blocker", "blocking_activity" };
static const struct schema servers = { "sessions", columns, 4, 1, labels_of_servers, 6 };
static const struct schema without = { "postgres", columns, 4, 1, labels, 2 };

static const char *statement = "update t set b = 7;";
static const char *server = "host=db1";

static void add(struct frame *frame, int64_t id, const char *blocker, uint64_t ns)
{
    const char *const values[] = { server,  "a\"b",  statement,
                                   blocker, blocker, ns == 0 ? "idle_in_transaction" : "" };
    struct entity *row = frame_add(frame);
    uint64_t *cells = frame_values(frame, frame->entity_count - 1);

    assert_non_null(row);
    row->id = id;
    row->labels =
        schema_has_servers(frame->schema) ? labels_intern(values, 6) : labels_intern(values + 1, 5);
    cells[CONTENTION] = cells[BLOCKED] = ns;
    cells[BLOCKING] = ns == 0 ? 90 : 0;
    cells[ACTIVITY] = ns == 0 ? 2000000000 : 0;
}

static void assert_json(const struct schema *schema, bool shows_literals, size_t sessions,
                        const char *expected)
{
    struct blocker_tree tree = { 0 };
    struct bytes json = { 0 };
    struct frame frame;

    frame_init(&frame, schema);
    frame.end_ns = 1000;
    if (sessions > 0)
        add(&frame, 1, "", 0);
    if (sessions > 1)
        add(&frame, 2, "1", 90);
    assert_int_equal(page_blockers_read(&json, &tree, &frame, shows_literals), CAMP_OK);
    bytes_put(&json, "", 1);
    assert_string_equal((const char *)json.data, expected);
    bytes_release(&json);
    blocker_tree_release(&tree);
    frame_release(&frame);
}

static void a_frame_has_its_contention_statements_sessions_and_nodes(void **state)
{
    (void)state;
    assert_json(&postgres, false, 2,
                "{\"contention\":90,\"statements\":[\"update t set b = ?\"],\"sessions\":["
                "[1,\"1 (a\\\"b)\",\"idle in transaction for 2.0 s\",0,1],"
                "[2,\"2 (a\\\"b)\",\"\",0,1]],\"nodes\":[[0,0,0],[1,1,90]]}");
}

static void literals_are_shown_if_they_are_asked_for(void **state)
{
    (void)state;
    assert_json(&mariadb, true, 2,
                "{\"contention\":90,\"statements\":[\"update t set b = 7\"],\"sessions\":["
                "[1,\"1 (a\\\"b)\",\"idle in transaction for 2.0 s\",0,1],"
                "[2,\"2 (a\\\"b)\",\"\",0,1]],\"nodes\":[[0,0,0],[1,1,90]]}");
}

static void statements_have_no_literals_by_the_rules_of_their_database(void **state)
{
    (void)state;
    statement = "select \"it's 5\", 7";
    assert_json(&mariadb, false, 1,
                "{\"contention\":0,\"statements\":[\"select ?, ?\"],\"sessions\":["
                "[1,\"1 (a\\\"b)\",\"idle in transaction for 2.0 s\",0,1]],\"nodes\":[]}");
    assert_json(&postgres, false, 1,
                "{\"contention\":0,\"statements\":[\"select \\\"it's 5\\\", ?\"],\"sessions\":["
                "[1,\"1 (a\\\"b)\",\"idle in transaction for 2.0 s\",0,1]],\"nodes\":[]}");
    server = "mariadb db3:3306";
    assert_json(&servers, false, 2,
                "{\"contention\":90,\"statements\":[\"select ?, ?\"],\"sessions\":["
                "[1,\"1 (a\\\"b)\",\"idle in transaction for 2.0 s\",0,1,\"mariadb db3:3306\"],"
                "[2,\"2 (a\\\"b)\",\"\",0,1,\"mariadb db3:3306\"]],"
                "\"nodes\":[[0,0,0],[1,1,90]]}");
    statement = "update t set b = 7;";
    server = "host=db1";
}

static void statements_of_an_unknown_database_are_left_out(void **state)
{
    (void)state;
    server = "(hidden) 2";
    assert_json(&servers, false, 2,
                "{\"contention\":90,\"statements\":[\"\"],\"sessions\":["
                "[1,\"1 (a\\\"b)\",\"idle in transaction for 2.0 s\",0,1,\"(hidden) 2\"],"
                "[2,\"2 (a\\\"b)\",\"\",0,1,\"(hidden) 2\"]],\"nodes\":[[0,0,0],[1,1,90]]}");
    server = "host=db1";
}

static void with_several_servers_each_session_has_the_name_of_its_server(void **state)
{
    (void)state;
    assert_json(&servers, false, 2,
                "{\"contention\":90,\"statements\":[\"update t set b = ?\"],\"sessions\":["
                "[1,\"1 (a\\\"b)\",\"idle in transaction for 2.0 s\",0,1,\"host=db1\"],"
                "[2,\"2 (a\\\"b)\",\"\",0,1,\"host=db1\"]],\"nodes\":[[0,0,0],[1,1,90]]}");
}

static void a_frame_without_waits_has_empty_tables(void **state)
{
    (void)state;
    assert_json(&postgres, false, 0,
                "{\"contention\":0,\"statements\":[],\"sessions\":[],\"nodes\":[]}");
}

static void a_source_without_labels_of_blockers_is_not_known(void **state)
{
    (void)state;
    assert_true(page_blockers_are_known(&postgres));
    assert_false(page_blockers_are_known(&without));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_has_its_contention_statements_sessions_and_nodes),
        cmocka_unit_test(literals_are_shown_if_they_are_asked_for),
        cmocka_unit_test(statements_have_no_literals_by_the_rules_of_their_database),
        cmocka_unit_test(statements_of_an_unknown_database_are_left_out),
        cmocka_unit_test(with_several_servers_each_session_has_the_name_of_its_server),
        cmocka_unit_test(a_frame_without_waits_has_empty_tables),
        cmocka_unit_test(a_source_without_labels_of_blockers_is_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
