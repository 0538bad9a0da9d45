#include "ledger/axes.h"

#include "../tree.h"

static const struct column columns[] = {
    { "user_ns", "user", "", COLUMN_STATE, CAMP_MEASURED },
    { "run_queue_ns", "run queue", "", COLUMN_STATE, CAMP_MEASURED },
    { "lock_ns", "lock", "", COLUMN_STATE, CAMP_MEASURED },
    { "web_wait_ms", "web wait", "", COLUMN_STATE, CAMP_MEASURED },
    { "calls", "calls", "", COLUMN_COUNTER, CAMP_MEASURED },
};
static const struct schema schema = { "made-up", columns, 5, 4 };

static void assert_axes(const char *text, const char *expected_of_states)
{
    struct axes_fault fault;
    struct axes axes;

    if (!axes_parse(&axes, &schema, text, &fault))
        fail_msg("%s: %s: %s", text, fault.problem, fault.word);
    for (size_t i = 0; i < schema.state_count; i++)
        assert_int_equal(axes.vertices.of_state[i], expected_of_states[i] - '0');
}

static void assert_fault(const char *text, const char *problem, const char *word)
{
    struct axes_fault fault;
    struct axes axes;

    assert_false(axes_parse(&axes, &schema, text, &fault));
    assert_string_equal(fault.problem, problem);
    assert_string_equal(fault.word, word);
}

static void a_state_is_found_by_its_title_or_by_its_column_name_without_the_unit(void **state)
{
    (void)state;
    assert_axes("A=user_ns; B=run_queue; C=lock", "1230");
    assert_axes("A=User;B=RUN QUEUE; C = web wait ", "1203");
    assert_axes(" A = lock + user ; B=run_queue_ns ; C=web_wait_ms;", "1213");
    assert_axes("A=user;B=run_queue;C=lock;D=web_wait_ms", "1234");
}

static void a_star_in_an_axis_definition_stands_for_the_remaining_states(void **state)
{
    (void)state;
    assert_axes("A=user; B=*; C=lock", "1232");
    assert_axes("A=user+*; B=run_queue; C=lock", "1231");
}

static void each_axis_has_the_name_given_in_its_definition(void **state)
{
    struct axes_fault fault;
    struct axes axes;

    (void)state;
    assert_true(axes_parse(&axes, &schema, "On CPU=user;run=run_queue;C=*", &fault));
    assert_int_equal(axes.vertices.count, 3);
    assert_string_equal(axes.vertices.names[0], "On CPU");
    assert_string_equal(axes.vertices.names[1], "run");
}

static void the_error_about_a_bad_axis_definition_quotes_the_part_that_is_wrong(void **state)
{
    (void)state;
    assert_fault("A=user;B=lock", "it takes three or four axes, NAME=STATE+STATE; ...",
                 "A=user;B=lock");
    assert_fault("", "it takes three or four axes, NAME=STATE+STATE; ...", "");
    assert_fault("A=user;B=swap;C=lock", "there is no such state", "swap");
    assert_fault("A=user;B=calls;C=lock", "there is no such state", "calls");
    assert_fault("A=user;B=user;C=lock", "a state is at one vertex only", "user");
    assert_fault("A=user;B=*;C=*", "* stands at one vertex only", "*");
    assert_fault("A=user;B=lock;C=", "a vertex has no state", "");
    assert_fault("A=user;B=lock;web wait", "an axis is NAME=STATE+STATE", "web wait");
    assert_fault("A=user;A=lock;B=*", "two vertices have the same name", "A");
    assert_fault("=user;A=lock;B=*", "a vertex takes a name of 1 to 63 bytes", "=user");
    assert_fault("A=user+;B=lock;C=*", "there is no such state", "");
}

static void states_without_a_class_become_corners_of_the_triangle_in_column_order(void **state)
{
    struct axes axes;

    (void)state;
    assert_true(axes_default(&axes, &schema, 3));
    assert_memory_equal(axes.vertices.of_state, "\1\2\3\3", 4);
    assert_string_equal(axes.vertices.names[1], "run queue");
    assert_string_equal(axes.vertices.names[2], "lock+web wait");
    assert_true(axes_default(&axes, &schema, 4));
    assert_memory_equal(axes.vertices.of_state, "\1\2\3\4", 4);
}

static void two_states_are_too_few_for_the_corners_of_a_triangle(void **state)
{
    const struct schema two = { "two", columns, 2, 2 };
    struct axes axes;

    (void)state;
    assert_false(axes_default(&axes, &two, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_found_by_its_title_or_by_its_column_name_without_the_unit),
        cmocka_unit_test(a_star_in_an_axis_definition_stands_for_the_remaining_states),
        cmocka_unit_test(each_axis_has_the_name_given_in_its_definition),
        cmocka_unit_test(the_error_about_a_bad_axis_definition_quotes_the_part_that_is_wrong),
        cmocka_unit_test(states_without_a_class_become_corners_of_the_triangle_in_column_order),
        cmocka_unit_test(two_states_are_too_few_for_the_corners_of_a_triangle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
