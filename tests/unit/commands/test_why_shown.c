/* Which rows of a tree of blockers a text shows: those with most time, and the sums of the others.
 */
#include "commands/why/why_shown.h"

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NODES_MOST 1000

static struct blocker_node nodes[NODES_MOST];
static struct blocker_tree tree = { .nodes = nodes };

/* What was shown: nodes, and rows for others. */
struct seen {
    char text[4096]; /* such as "0 1 2 +2:7/30 ", with the depth, the number and the time of others
                      */
    size_t rows;
    uint64_t blocked_ns, measured_ns;
    bool has[NODES_MOST];
};

static void add(uint32_t depth, uint64_t blocked_ns)
{
    nodes[tree.count++] = (struct blocker_node){ .depth = depth,
                                                 .blocked_ns = blocked_ns,
                                                 .measured_ns = blocked_ns / 2 };
}

/* Sets blocking_ns, as blocker_tree_finish() does. */
static void finish(void)
{
    for (size_t i = 0; i < tree.count; i++) {
        nodes[i].blocking_ns = 0;
        for (size_t j = i + 1; j < tree.count && nodes[j].depth > nodes[i].depth; j++)
            nodes[i].blocking_ns += nodes[j].blocked_ns;
    }
}

static void show(void *context, size_t node)
{
    struct seen *seen = context;
    const size_t length = strlen(seen->text);

    snprintf(seen->text + length, sizeof seen->text - length, "%zu ", node);
    seen->has[node] = true;
    seen->rows++;
    seen->blocked_ns += nodes[node].blocked_ns;
    seen->measured_ns += nodes[node].measured_ns;
}

static void hide(void *context, const struct why_hidden *hidden)
{
    struct seen *seen = context;
    const size_t length = strlen(seen->text);

    snprintf(seen->text + length, sizeof seen->text - length, "+%u:%zu/%llu ", hidden->depth,
             hidden->count, (unsigned long long)hidden->blocked_ns);
    seen->rows++;
    seen->blocked_ns += hidden->blocked_ns;
    seen->measured_ns += hidden->measured_ns;
}

static struct seen *see(size_t most)
{
    static struct seen seen;

    seen = (struct seen){ .rows = 0 };
    finish();
    assert_int_equal(why_shown_each(&tree, most, show, hide, &seen), CAMP_OK);
    return &seen;
}

static int empty(void **state)
{
    (void)state;
    tree.count = 0;
    return 0;
}

static void an_empty_tree_has_no_rows(void **state)
{
    (void)state;
    assert_string_equal(see(8)->text, "");
    assert_string_equal(see(0)->text, "");
}

static void all_are_shown_without_a_limit(void **state)
{
    (void)state;
    add(0, 0);
    add(1, 30);
    add(2, 20);
    add(1, 10);
    add(0, 0);
    add(1, 5);
    assert_string_equal(see(0)->text, "0 1 2 3 4 5 ");
    assert_string_equal(see(8)->text, "0 1 2 3 4 5 ");
}

static void the_others_below_a_session_follow_those_that_are_shown(void **state)
{
    (void)state;
    add(0, 0);
    add(1, 30);
    add(2, 4);
    add(2, 3);
    add(2, 2);
    add(1, 20);
    add(1, 10);
    add(2, 9);
    add(1, 1);
    add(0, 0);
    add(1, 6);
    add(0, 0);
    add(1, 5);
    assert_string_equal(see(2)->text, "0 1 2 3 +2:1/2 5 +1:3/20 9 10 +0:2/5 ");
    assert_string_equal(see(1)->text, "0 1 2 +2:2/5 +1:4/40 +0:4/11 ");
}

/* Each of 30 sessions of a hot row waits for the one before it, and 300 wait for each other one. */
static void a_hot_row_has_few_rows_that_add_up(void **state)
{
    uint64_t blocked_ns = 0, measured_ns = 0;
    const struct seen *seen;

    (void)state;
    add(0, 0);
    for (uint32_t i = 0; i < 30; i++) {
        add(i + 1, 1000 - i);
        for (uint32_t j = 0; i % 3 == 2 && j < 30; j++)
            add(i + 2, 500 - j);
    }
    for (size_t i = 0; i < tree.count; i++) {
        blocked_ns += nodes[i].blocked_ns;
        measured_ns += nodes[i].measured_ns;
    }
    for (size_t most = 1; most < 40; most++) {
        seen = see(most);
        assert_true(seen->rows <= 2 * WHY_SHOWN_TIMES * most);
        assert_int_equal(seen->blocked_ns, blocked_ns);
        assert_int_equal(seen->measured_ns, measured_ns);
        /* The session above each shown one is shown. */
        for (size_t i = 1; i < tree.count; i++) {
            size_t above = i - 1;

            while (nodes[above].depth >= nodes[i].depth)
                above--;
            assert_true(!seen->has[i] || seen->has[above]);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup(name, empty)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_tree_has_no_rows),
        TEST(all_are_shown_without_a_limit),
        TEST(the_others_below_a_session_follow_those_that_are_shown),
        TEST(a_hot_row_has_few_rows_that_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
