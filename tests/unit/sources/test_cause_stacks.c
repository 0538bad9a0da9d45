/* The stacks of an interval add up to its states, on synthetic data. */
#include "sources/causes/cause_stacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct causes *make_causes(void)
{
    struct causes *causes = calloc(1, sizeof *causes);

    assert_non_null(causes);
    causes->state_ns[3][CAMP_STATE_POLL] = 100;
    causes->lengths[3][CAMP_STATE_POLL].count = 9;
    causes->state_ns[3][CAMP_STATE_RUN_QUEUE] = 50;
    causes->state_ns[3][CAMP_STATE_USER] = 50;
    return causes;
}

static struct stack_list make_list(uint64_t first_ns, uint64_t second_ns)
{
    struct stack_list list = { .items = calloc(2, sizeof *list.items), .count = 2, .capacity = 2 };

    assert_non_null(list.items);
    list.items[0] = (struct slept_stack){
        .group = 3, .state = CAMP_STATE_POLL, .sleep_ns = first_ns, .count = 2
    };
    list.items[1] = (struct slept_stack){
        .group = 3, .state = CAMP_STATE_POLL, .sleep_ns = second_ns, .count = 3
    };
    return list;
}

static void what_no_stack_has_is_a_row_of_its_own(void **state)
{
    struct causes *causes = make_causes();
    struct stack_list list = make_list(60, 30);

    (void)state;
    assert_true(cause_stacks_fit(&list, causes));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.items[2].group, 3);
    assert_int_equal(list.items[2].state, CAMP_STATE_POLL);
    assert_int_equal(list.items[2].flags, STACK_MISSING);
    assert_int_equal(list.items[2].sleep_ns, 10);
    assert_int_equal(list.items[2].count, 4);
    cause_stacks_release(&list);
    free(causes);
}

static void stacks_that_exceed_their_state_are_reduced_to_it(void **state)
{
    struct causes *causes = make_causes();
    struct stack_list list = make_list(200, 101);

    (void)state;
    assert_true(cause_stacks_fit(&list, causes));
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0].sleep_ns, 67);
    assert_int_equal(list.items[1].sleep_ns, 33);
    causes->state_ns[3][CAMP_STATE_POLL] = 0;
    assert_true(cause_stacks_fit(&list, causes));
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0].sleep_ns + list.items[1].sleep_ns, 0);
    cause_stacks_release(&list);
    free(causes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_stack_has_is_a_row_of_its_own),
        cmocka_unit_test(stacks_that_exceed_their_state_are_reduced_to_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
