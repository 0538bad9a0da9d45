#include "ledger/selection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct column columns[] = { { "run_ns", "run", "", COLUMN_STATE, CAMP_MEASURED } };
static const struct schema schema = { "made-up", columns, 1, 1 };

struct family {
    int64_t id;
    int32_t parent;
};

/* Checks the order and the depths of processes, which `expected` writes as "1 .2 ..3". */
static void check(const struct family *family, size_t count, const char *expected)
{
    struct frame frame;
    size_t order[20], used = 0;
    uint32_t depths[20];
    char text[200] = "";

    frame_init(&frame, &schema);
    for (size_t i = 0; i < count; i++) {
        struct entity *entity = frame_add(&frame);

        assert_non_null(entity);
        entity->id = family[i].id;
        entity->parent = family[i].parent;
        order[i] = i;
    }
    assert_int_equal(tree_order(&frame, 0, order, count, depths), CAMP_OK);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s%d", i > 0 ? " " : "",
                                 (int)depths[i], "..........", (int)frame.entities[order[i]].id);
    assert_string_equal(text, expected);
    frame_release(&frame);
}

static void children_follow_their_parents_in_the_process_tree(void **state)
{
    const struct family family[] = { { 5, 2 }, { 3, 1 }, { 1, 0 }, { 4, 1 },
                                     { 2, 1 }, { 6, 5 }, { 7, 2 } };

    (void)state;
    check(family, 7, "1 .3 .4 .2 ..5 ...6 ..7");
}

static void a_process_without_a_listed_parent_is_at_the_top_of_the_tree(void **state)
{
    const struct family family[] = { { 9, 8 }, { 3, 1 }, { 10, 9 }, { 1, 0 } };

    (void)state;
    check(family, 4, "9 .10 1 .3");
    check(family, 1, "9");
    check(family, 0, "");
}

static void a_cycle_of_parents_hides_no_process(void **state)
{
    const struct family circle[] = { { 2, 3 }, { 3, 2 }, { 4, 4 }, { 5, 3 } };

    (void)state;
    check(circle, 4, "4 2 .3 5");
}

static void a_process_tree_may_be_very_deep_and_very_wide(void **state)
{
    const size_t count = 200000;
    struct frame frame;
    size_t *order = calloc(count, sizeof *order);
    uint32_t *depths = calloc(count, sizeof *depths);

    (void)state;
    frame_init(&frame, &schema);
    for (size_t i = 0; i < count; i++) {
        struct entity *entity = frame_add(&frame);

        entity->id = (int64_t)i + 1;
        /* A chain of parents, then children of the first process. */
        entity->parent = i < count / 2 ? (int32_t)i : 1;
        order[i] = i;
    }
    assert_int_equal(tree_order(&frame, 0, order, count, depths), CAMP_OK);
    assert_int_equal(depths[count / 2 - 1], count / 2 - 1);
    assert_int_equal(order[count - 1], count - 1);
    assert_int_equal(depths[count - 1], 1);
    frame_release(&frame);
    free(order);
    free(depths);
}

/* The rows are sessions; the label has the pid of the one that blocks each. */
static void a_session_follows_the_one_in_its_label(void **state)
{
    static const char *const label_names[] = { "user", "blocker" };
    static const char *const blockers[] = { "3", "1", "", "prepared", "" };
    const struct schema sessions = { "postgres", columns, 1, 1, label_names, 2 };
    struct frame frame;
    size_t order[5] = { 0, 1, 2, 3, 4 };
    uint32_t depths[5];

    (void)state;
    frame_init(&frame, &sessions);
    for (int64_t i = 0; i < 5; i++) {
        const char *const values[] = { "bob", blockers[i] };
        struct entity *entity = frame_add(&frame);

        assert_non_null(entity);
        entity->id = i + 1;
        entity->parent = i == 4 ? 2 : 0; /* a parallel worker and its leader */
        entity->labels = labels_intern(values, 2);
    }
    assert_int_equal(tree_order(&frame, 2, order, 5, depths), CAMP_OK);
    for (size_t i = 0; i < 5; i++) {
        static const int64_t ids[] = { 3, 1, 2, 5, 4 };
        static const uint32_t expected[] = { 0, 1, 2, 3, 0 };

        assert_int_equal(frame.entities[order[i]].id, ids[i]);
        assert_int_equal(depths[i], expected[i]);
    }
    frame_release(&frame);
}

/* Sessions of two servers have the same pids. */
static void a_session_follows_the_one_of_its_own_server(void **state)
{
    static const char *const label_names[] = { "server", "blocker" };
    const struct schema sessions = { "sessions", columns, 1, 1, label_names, 2 };
    static const struct {
        size_t server;
        int64_t number;
        const char *blocker;
    } rows[] = { { 1, 7, "8" }, { 2, 8, "" }, { 2, 7, "8" }, { 1, 8, "" } };
    static const size_t expected[] = { 1, 2, 3, 0 };
    struct frame frame;
    size_t order[4] = { 0, 1, 2, 3 };
    uint32_t depths[4];

    (void)state;
    frame_init(&frame, &sessions);
    for (size_t i = 0; i < 4; i++) {
        const char *const values[] = { rows[i].server == 1 ? "a" : "b", rows[i].blocker };
        struct entity *entity = frame_add(&frame);

        assert_non_null(entity);
        entity->id = entity_of_server(rows[i].server, rows[i].number);
        entity->labels = labels_intern(values, 2);
    }
    assert_int_equal(tree_order(&frame, 2, order, 4, depths), CAMP_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(order[i], expected[i]);
        assert_int_equal(depths[i], i % 2);
    }
    frame_release(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_follow_their_parents_in_the_process_tree),
        cmocka_unit_test(a_process_without_a_listed_parent_is_at_the_top_of_the_tree),
        cmocka_unit_test(a_cycle_of_parents_hides_no_process),
        cmocka_unit_test(a_process_tree_may_be_very_deep_and_very_wide),
        cmocka_unit_test(a_session_follows_the_one_in_its_label),
        cmocka_unit_test(a_session_follows_the_one_of_its_own_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
