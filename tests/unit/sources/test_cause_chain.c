/* The chain of causes, and the sleep that ends it, on synthetic causes. */
#include "../commands/synthetic_causes.h"
#include "sources/causes/cause_chain.h"

static void a_chain_ends_at_a_group_of_unrelated_threads(void **state)
{
    struct causes *causes = make_causes();
    struct chain chain;

    (void)state;
    add_row(causes, DB, CAMP_STATE_DISK, CAMP_CAUSE_GROUP, 1, 500000000);
    add_row(causes, 1, CAMP_STATE_TIMER, CAMP_CAUSE_TIMER, 0, 900000000);
    cause_chain(&chain, causes, DB);
    assert_int_equal(chain.count, 1);
    assert_int_equal(chain.end, CHAIN_CAUSE);
    assert_int_equal(chain.steps[0].cause.id, 1);
    release_causes(causes);
}

static void a_chain_ends_at_a_group_that_runs_and_at_a_circle(void **state)
{
    struct causes *causes = make_causes();
    struct chain chain;

    (void)state;
    causes->state_ns[WRITER][CAMP_STATE_USER] = 900000000;
    cause_chain(&chain, causes, DB);
    assert_int_equal(chain.count, 2);
    assert_int_equal(chain.end, CHAIN_RUNS);
    causes->rows.count = 0;
    memset(causes->state_ns, 0, sizeof causes->state_ns);
    add_row(causes, DB, CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, WRITER, 10);
    add_row(causes, DB, CAMP_STATE_PIPE, CAUSE_NOT_ENDED, 0, 99);
    add_row(causes, DB, CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, DB, 50);
    add_row(causes, WRITER, CAMP_STATE_LOCK, CAMP_CAUSE_GROUP, DB, 10);
    cause_chain(&chain, causes, DB);
    assert_int_equal(chain.count, 3);
    assert_int_equal(chain.end, CHAIN_CIRCLE);
    cause_chain(&chain, causes, BATCH);
    assert_int_equal(chain.count, 1);
    assert_int_equal(chain.end, CHAIN_UNKNOWN);
    release_causes(causes);
}

static void a_chain_leaves_out_naps_and_adds_up_the_run_queue(void **state)
{
    struct causes *causes = make_causes();
    struct chain chain;

    (void)state;
    causes->rows.count = 0;
    add_row(causes, DB, CAMP_STATE_TIMER, CAMP_CAUSE_TIMER, 0, 400);
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 150);
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, WRITER, 120);
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, DB, 200);
    add_row(causes, DB, CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, WRITER, 300);
    cause_chain(&chain, causes, DB);
    assert_int_equal(chain.count, 1);
    assert_int_equal(chain.end, CHAIN_CAUSE);
    assert_int_equal(chain.steps[0].cause.id, BATCH);
    assert_int_equal(chain.steps[0].cause.wait_ns, 150);
    assert_int_equal(chain.steps[0].queue_ns, 470);
    causes->rows.count = 1; /* the nap alone */
    cause_chain(&chain, causes, DB);
    assert_int_equal(chain.steps[0].cause.kind, CAMP_CAUSE_TIMER);
    release_causes(causes);
}

static void a_chain_names_a_lock_of_its_own_only_if_it_outweighs_other_causes(void **state)
{
    struct causes *causes = make_causes();
    struct chain chain;

    (void)state;
    causes->rows.count = 0;
    add_row(causes, DB, CAMP_STATE_LOCK, CAMP_CAUSE_GROUP, DB, 500);
    add_row(causes, DB, CAMP_STATE_DISK, CAMP_CAUSE_DEVICE, 36, 200);
    cause_chain(&chain, causes, DB);
    assert_int_equal(chain.end, CHAIN_CAUSE);
    assert_int_equal(chain.steps[0].cause.kind, CAMP_CAUSE_DEVICE);
    add_row(causes, DB, CAMP_STATE_TIMER, CAMP_CAUSE_TIMER, 0, 170);
    causes->rows.items[1].wait_ns = 100;
    cause_chain(&chain, causes, DB);
    assert_int_equal(chain.count, 1);
    assert_int_equal(chain.end, CHAIN_ITSELF);
    assert_int_equal(chain.steps[0].cause.state, CAMP_STATE_LOCK);
    release_causes(causes);
}

static void a_sleep_that_has_not_ended_is_the_answer_if_there_is_little_else(void **state)
{
    struct causes *causes = make_causes();

    (void)state;
    assert_null(cause_open_wait(causes, DB));
    causes->rows.count = 0;
    memset(causes->state_ns, 0, sizeof causes->state_ns);
    add_row(causes, DB, CAMP_STATE_PIPE, CAUSE_NOT_ENDED, 0, 60);
    add_row(causes, DB, CAMP_STATE_LOCK, CAMP_CAUSE_GROUP, WRITER, 40);
    assert_int_equal(cause_open_wait(causes, DB)->state, CAMP_STATE_PIPE);
    causes->threads[DB] = 2;
    assert_null(cause_open_wait(causes, DB));
    add_row(causes, DB, CAMP_STATE_POLL, CAUSE_NOT_ENDED, 0, 9900);
    assert_int_equal(cause_open_wait(causes, DB)->state, CAMP_STATE_POLL);
    assert_null(cause_open_wait(causes, WRITER));
    release_causes(causes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_ends_at_a_group_of_unrelated_threads),
        cmocka_unit_test(a_chain_ends_at_a_group_that_runs_and_at_a_circle),
        cmocka_unit_test(a_chain_leaves_out_naps_and_adds_up_the_run_queue),
        cmocka_unit_test(a_chain_names_a_lock_of_its_own_only_if_it_outweighs_other_causes),
        cmocka_unit_test(a_sleep_that_has_not_ended_is_the_answer_if_there_is_little_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
