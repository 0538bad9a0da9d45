/* Who blocks whom as trees: chains, several blockers, cycles, and labels that no source writes. */
#include "ledger/blockers/blocker_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CPU, CONTENTION, BLOCKED, BLOCKING, ACTIVITY, MEASURED };
static const struct column columns[] = {
    { "cpu_ns", "CPU", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU, NULL },
    { "contention_ns", "contention", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CONTENTION, NULL },
    { "blocked_ns", "blocked", "", COLUMN_COUNTER, CAMP_SCALED, CLASS_NONE, NULL },
    { "blocking_ns", "blocking", "", COLUMN_COUNTER, CAMP_SCALED, CLASS_NONE, NULL },
    { "blocking_activity_ns", "activity", "", COLUMN_GAUGE, CAMP_SAMPLED, CLASS_NONE, NULL },
    { "blocked_measured_ns", "measured", "", COLUMN_COUNTER, CAMP_MEASURED, CLASS_NONE, NULL },
};
static const char *const labels[] = { "application", "last_statement", "blocker", "root_blocker",
                                      "blocking_activity" };
static const struct schema schema = { "postgres", columns, 6, 2, labels, 5 };
/* of a source that measures no blocker */
static const struct schema sampled = { "postgres", columns, 5, 2, labels, 5 };

static struct frame frame;
static struct blocker_tree tree;

static int start(void **state)
{
    (void)state;
    frame_init(&frame, &schema);
    frame.end_ns = 1000;
    return 0;
}

static int end(void **state)
{
    (void)state;
    frame_release(&frame);
    blocker_tree_release(&tree);
    return 0;
}

static size_t add(int64_t id, const char *blocker, const char *root, uint64_t ns)
{
    const char *const values[] = { "app", "update t", blocker, root, "" };
    struct entity *row = frame_add(&frame);
    const size_t at = frame.entity_count - 1;

    assert_non_null(row);
    row->id = id;
    row->labels = labels_intern(values, 5);
    snprintf(row->name, sizeof row->name, "bob@shop");
    frame_values(&frame, at)[CONTENTION] = frame_values(&frame, at)[BLOCKED] = ns;
    return at;
}

static void add_blocker(int64_t id, uint64_t ns, const char *activity, uint64_t activity_ns)
{
    const char *const values[] = { "migrate", "alter table t", "", "", activity };
    const size_t at = add(id, "", "", 0);

    frame.entities[at].labels = labels_intern(values, 5);
    frame_values(&frame, at)[BLOCKING] = ns;
    frame_values(&frame, at)[ACTIVITY] = activity_ns;
}

/* Of several servers, only those of PostgreSQL have types of backends. */
static void of_several_servers_the_sessions_of_postgres_are_known(void **state)
{
    static const char *const with_type[] = { "server", "backend_type", "last_statement", "blocker",
                                             "root_blocker" };
    static const struct schema of_servers = { "sessions", columns, 6, 2, with_type, 5 };
    static const char *const values[][5] = { { "db1", "client_backend", "update t", "8", "8" },
                                             { "db2", "", "update t", "9", "9" } };

    (void)state;
    frame_release(&frame);
    frame_init(&frame, &of_servers);
    for (size_t i = 0; i < 2; i++) {
        struct entity *row = frame_add(&frame);

        assert_non_null(row);
        row->id = entity_of_server(i + 1, 7);
        row->labels = labels_intern(values[i], 5);
        frame_values(&frame, i)[CONTENTION] = frame_values(&frame, i)[BLOCKED] = 5;
    }
    blocker_tree_start(&tree);
    blocker_tree_add(&tree, &frame);
    for (size_t i = 0; i < tree.session_count; i++) {
        if (tree.sessions[i]->has_row)
            assert_int_equal(tree.sessions[i]->is_of_postgres,
                             strcmp(tree.sessions[i]->server, "db1") == 0);
    }
    assert_int_equal(tree.session_count, 4);
}

static bool has_id(const void *context, const struct blocker_session *session)
{
    return session->id == *(const int64_t *)context;
}

/* Asserts the trees with the session `id`, or all if it is 0. Writes each node as its depth,
 * its id, its two times, and * if it is repeated. */
static void assert_tree(int64_t id, const char *expected)
{
    char text[4000] = "";

    blocker_tree_start(&tree);
    blocker_tree_add(&tree, &frame);
    assert_int_equal(blocker_tree_finish(&tree, id != 0 ? has_id : NULL, &id), CAMP_OK);
    for (size_t i = 0; i < tree.count; i++) {
        const struct blocker_node *node = &tree.nodes[i];
        const size_t length = strlen(text);

        snprintf(text + length, sizeof text - length, "%s%u:%d %u %u%s", i > 0 ? ", " : "",
                 node->depth, (int)tree.sessions[node->session]->id, (unsigned)node->blocked_ns,
                 (unsigned)node->blocking_ns, node->is_repeated ? "*" : "");
    }
    assert_string_equal(text, expected);
}

static void a_chain_is_a_tree_with_the_root_first(void **state)
{
    (void)state;
    add(3, "2", "1", 70);
    add(2, "1", "1", 90);
    add_blocker(1, 90, "idle_in_transaction", 41);
    assert_tree(0, "0:1 0 160, 1:2 90 70, 2:3 70 0");
    assert_int_equal(tree.nodes[0].waiting, 2);
    assert_int_equal(tree.contention_ns, 160);
    assert_int_equal(tree.blocked_ns, 160);
    assert_string_equal(tree.sessions[0]->application, "migrate");
    assert_string_equal(tree.sessions[0]->activity, "idle_in_transaction");
    assert_int_equal(tree.sessions[0]->activity_ns, 41);
    assert_string_equal(tree.sessions[1]->statement, "update t");
    assert_int_equal(tree.sessions[1]->contention_ns, 90);
}

static void the_measured_parts_of_equal_edges_add_up(void **state)
{
    (void)state;
    frame_values(&frame, add(2, "1", "1", 90))[MEASURED] = 30;
    frame_values(&frame, add(2, "1", "1", 10))[MEASURED] = 10;
    frame_values(&frame, add(3, "2", "1", 70))[MEASURED] = 71; /* no source writes that */
    assert_tree(0, "0:1 0 170, 1:2 100 70, 2:3 70 0");
    assert_true(tree.has_measured);
    assert_int_equal(tree.nodes[0].measured_ns, 0);
    assert_int_equal(tree.nodes[1].measured_ns, 40);
    assert_int_equal(tree.nodes[2].measured_ns, 70);
    assert_int_equal(tree.measured_ns, 110);
}

static void without_the_column_nothing_is_measured(void **state)
{
    (void)state;
    frame_release(&frame);
    frame_init(&frame, &sampled);
    frame.end_ns = 1000;
    add(2, "1", "1", 90);
    assert_tree(0, "0:1 0 90, 1:2 90 0");
    assert_false(tree.has_measured);
    assert_int_equal(tree.measured_ns, 0);
}

static void the_tree_and_the_session_with_most_time_come_first(void **state)
{
    (void)state;
    add(2, "1", "1", 10);
    add(3, "1", "1", 30);
    add(4, "1", "1", 20);
    add(9, "8", "8", 100);
    assert_tree(0, "0:8 0 100, 1:9 100 0, 0:1 0 60, 1:3 30 0, 1:4 20 0, 1:2 10 0");
    assert_tree(4, "0:1 0 60, 1:3 30 0, 1:4 20 0, 1:2 10 0");
    assert_tree(9, "0:8 0 100, 1:9 100 0");
    assert_tree(7, "");
}

/* Rows of one session and several blockers, as with source_set_division(). */
static void a_session_is_below_each_of_its_blockers_and_counts_once(void **state)
{
    (void)state;
    add(5, "1", "1", 10);
    add(5, "2", "1", 20);
    add(2, "1", "1", 40);
    add(5, "7", "7", 5);
    add(5, "unknown", "", 0);
    assert_tree(0, "0:1 0 70, 1:2 40 20, 2:5 20 0, 1:5 10 0, 0:7 0 5, 1:5 5 0");
    assert_int_equal(tree.nodes[0].waiting, 2);
    assert_int_equal(tree.blocked_ns, 75);
}

static void what_a_session_blocks_is_shown_once(void **state)
{
    (void)state;
    add(2, "1", "1", 40);
    add(3, "1", "1", 30);
    add(4, "2", "1", 20);
    add(4, "3", "1", 10);
    add(5, "4", "1", 9);
    assert_tree(0, "0:1 0 109, 1:2 40 29, 2:4 20 9, 3:5 9 0, 1:3 30 10, 2:4 10 0*");
    assert_int_equal(tree.nodes[0].waiting, 4);
}

static void a_deadlock_ends(void **state)
{
    (void)state;
    add(5, "7", "5", 10);
    add(6, "5", "5", 20);
    add(7, "6", "5", 30);
    assert_tree(0, "0:5 0 60, 1:6 20 40, 2:7 30 10, 3:5 10 0*");
    assert_int_equal(tree.nodes[0].waiting, 2);
}

static void a_blocker_whose_chain_is_not_known_is_below_the_root(void **state)
{
    (void)state;
    add(3, "2", "1", 70);
    assert_tree(0, "0:1 0 70, 1:2 0 70, 2:3 70 0");
    assert_false(tree.sessions[0]->has_row);
}

static void a_prepared_transaction_is_a_root(void **state)
{
    (void)state;
    add(3, "prepared", "prepared", 70);
    assert_tree(0, "0:0 0 70, 1:3 70 0");
}

static void intervals_are_added_up(void **state)
{
    (void)state;
    add(3, "1", "1", 70);
    blocker_tree_start(&tree);
    blocker_tree_add(&tree, &frame);
    blocker_tree_add(&tree, &frame);
    assert_int_equal(blocker_tree_finish(&tree, NULL, NULL), CAMP_OK);
    assert_int_equal(tree.count, 2);
    assert_int_equal(tree.nodes[1].blocked_ns, 140);
    assert_int_equal(tree.elapsed_ns, 2000);
}

static void labels_that_are_no_ids_block_nobody(void **state)
{
    (void)state;
    add(3, "x", "1", 70);
    add(4, "1x", "1", 70);
    add(5, "1", "-1", 70);
    add(6, "", "", 70);
    assert_tree(0, "");
    assert_int_equal(tree.contention_ns, 280);
    assert_int_equal(tree.blocked_ns, 0);
}

static void an_empty_frame_has_no_tree(void **state)
{
    (void)state;
    assert_tree(0, "");
}

/* Each session waits for the one before it, and for others, in both directions. */
static void many_sessions_that_block_each_other_end(void **state)
{
    enum { SESSIONS = 3000 };
    char blocker[24];

    (void)state;
    for (int64_t i = 1; i <= SESSIONS; i++) {
        snprintf(blocker, sizeof blocker, "%d", (int)(1 + i % SESSIONS));
        add(i, blocker, "1", 1);
        snprintf(blocker, sizeof blocker, "%d", (int)(1 + i * i % SESSIONS));
        add(i, blocker, "1", 1);
    }
    blocker_tree_start(&tree);
    blocker_tree_add(&tree, &frame);
    assert_int_equal(blocker_tree_finish(&tree, NULL, NULL), CAMP_OK);
    assert_int_equal(tree.nodes[0].blocking_ns, 2 * SESSIONS);
    assert_true(tree.count <= 1 + 2 * SESSIONS);
}

static void a_source_without_blockers_is_not_known(void **state)
{
    const struct schema without = { "odbc", columns, 5, 2, labels, 2 };

    (void)state;
    assert_true(blocker_tree_is_known(&schema));
    assert_false(blocker_tree_is_known(&without));
}

/* Sessions of two servers have the same pids, and so have those that block them. */
static void each_server_has_trees_of_its_own(void **state)
{
    static const char *const names[] = { "server", "blocker", "root_blocker" };
    const struct schema servers = { "sessions", columns, 5, 2, names, 3 };

    (void)state;
    frame_init(&frame, &servers);
    frame.end_ns = 1000;
    for (size_t server = 1; server <= 2; server++) {
        const char *const values[] = { server == 1 ? "a" : "b", "7", "7" };
        struct entity *row = frame_add(&frame);
        const size_t at = frame.entity_count - 1;

        assert_non_null(row);
        row->id = entity_of_server(server, 8);
        row->labels = labels_intern(values, 3);
        frame_values(&frame, at)[CONTENTION] = frame_values(&frame, at)[BLOCKED] = 10 * server;
    }
    blocker_tree_start(&tree);
    blocker_tree_add(&tree, &frame);
    assert_int_equal(blocker_tree_finish(&tree, NULL, NULL), CAMP_OK);
    assert_int_equal(tree.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct blocker_session *session = tree.sessions[tree.nodes[i].session];

        assert_int_equal(tree.nodes[i].depth, i % 2);
        assert_string_equal(session->server, i < 2 ? "b" : "a");
        assert_int_equal(session->id & ENTITY_NUMBER_MASK, i % 2 == 0 ? 7 : 8);
    }
    assert_int_equal(tree.nodes[0].blocking_ns, 20);
    assert_int_equal(tree.nodes[2].blocking_ns, 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(of_several_servers_the_sessions_of_postgres_are_known),
        TEST(a_chain_is_a_tree_with_the_root_first),
        TEST(the_measured_parts_of_equal_edges_add_up),
        TEST(without_the_column_nothing_is_measured),
        TEST(the_tree_and_the_session_with_most_time_come_first),
        TEST(a_session_is_below_each_of_its_blockers_and_counts_once),
        TEST(what_a_session_blocks_is_shown_once),
        TEST(a_deadlock_ends),
        TEST(a_blocker_whose_chain_is_not_known_is_below_the_root),
        TEST(a_prepared_transaction_is_a_root),
        TEST(intervals_are_added_up),
        TEST(labels_that_are_no_ids_block_nobody),
        TEST(an_empty_frame_has_no_tree),
        TEST(many_sessions_that_block_each_other_end),
        TEST(a_source_without_blockers_is_not_known),
        TEST(each_server_has_trees_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
