/* Samples of who blocks whom, as times: chains, queues, cycles, and answers that no server gives.
 */
#include "sources/sessions/blocker_samples.h"

#include "counters/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS ((uint64_t)NS_PER_MS)
#define IDS(...) ((const int64_t[]){ __VA_ARGS__ })
#define WAITS(id, ...)                                                                             \
    {                                                                                              \
        id, 100 + (id), IDS(__VA_ARGS__), sizeof IDS(__VA_ARGS__) / sizeof(int64_t)                \
    }

static struct blocker_samples samples;
static struct blocks blocks;

static int clean(void **state)
{
    (void)state;
    blocker_samples_release(&samples);
    samples = (struct blocker_samples){ .longest_ns = 1000 * MS };
    free(blocks.blocks);
    blocks = (struct blocks){ 0 };
    return 0;
}

static void add(uint64_t at_ms, const struct blocked_sample *waiting, size_t count)
{
    assert_int_equal(blocker_samples_add(&samples, at_ms * MS, waiting, count), CAMP_OK);
}

/* Samples the same waits at 1,000 and 1,100 ms. */
static void add_twice(const struct blocked_sample *waiting, size_t count)
{
    add(1000, waiting, count);
    add(1100, waiting, count);
}

static void divide(int64_t id, uint64_t ns)
{
    uint64_t sum_ns = 0;

    assert_int_equal(blocker_samples_divide(&samples, id, 100 + id, ns, &blocks), CAMP_OK);
    for (size_t i = 0; i < blocks.count; i++) {
        sum_ns += blocks.blocks[i].ns;
        assert_true(i == 0 || blocks.blocks[i - 1].ns >= blocks.blocks[i].ns);
    }
    assert_int_equal(sum_ns, blocks.known_ns);
    assert_true(blocks.known_ns <= ns);
}

static void assert_block(size_t at, int64_t blocker, int64_t root, uint64_t ns)
{
    assert_true(at < blocks.count);
    assert_int_equal(blocks.blocks[at].blocker, blocker);
    assert_int_equal(blocks.blocks[at].root, root);
    assert_int_equal(blocks.blocks[at].ns, ns);
}

static void a_chain_has_its_direct_blockers_and_one_root(void **state)
{
    const struct blocked_sample chain[] = { WAITS(3, 2), WAITS(2, 1) };

    (void)state;
    add_twice(chain, 2);
    divide(3, 70 * MS);
    assert_block(0, 2, 1, 70 * MS);
    divide(2, 90 * MS);
    assert_block(0, 1, 1, 90 * MS);
    divide(1, 50 * MS);
    assert_int_equal(blocks.count, 0);
}

/* The server lists those that are ahead in the queue, too. */
static void only_the_holder_blocks_a_queue(void **state)
{
    const struct blocked_sample queue[] = { WAITS(2, 1), WAITS(3, 1, 2), WAITS(4, 2, 1, 3) };

    (void)state;
    add_twice(queue, 3);
    for (int64_t id = 2; id <= 4; id++) {
        divide(id, 80);
        assert_int_equal(blocks.count, 1);
        assert_block(0, 1, 1, 80);
    }
}

static void several_holders_have_equal_parts_that_add_up_to_the_nanosecond(void **state)
{
    const struct blocked_sample waiting[] = { WAITS(9, 1, 2, 3) };
    static const uint64_t times[] = { 1, 2, 100, 1000000007, UINT64_MAX >> 12 };

    (void)state;
    add_twice(waiting, 1);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        divide(9, times[i]);
        assert_int_equal(blocks.known_ns, times[i]);
        assert_true(blocks.blocks[0].ns - blocks.blocks[blocks.count - 1].ns <=
                    1 + times[i] / 1000000);
    }
}

static void a_sample_counts_for_half_of_the_time_before_and_after_it(void **state)
{
    const struct blocked_sample first[] = { WAITS(9, 1) }, second[] = { WAITS(9, 2) };

    (void)state;
    add(1000, first, 1);
    add(1100, second, 1);
    add(1300, NULL, 0);
    divide(9, 200); /* 50 ms of the first, 50 + 100 of the second */
    assert_block(0, 2, 2, 150);
    assert_block(1, 1, 1, 50);
    blocker_samples_begin(&samples);
    add(1400, first, 1);
    divide(9, 200);
    assert_int_equal(blocks.count, 1);
    assert_block(0, 1, 1, 200);
}

static void a_wait_without_a_known_blocker_is_the_unknown_rest(void **state)
{
    const struct blocked_sample known[] = { WAITS(9, 1) };
    const struct blocked_sample unknown[] = { { 9, 109, NULL, 0 } };

    (void)state;
    add(1000, known, 1);
    add(1100, unknown, 1);
    divide(9, 300);
    assert_int_equal(blocks.known_ns, 150);
    divide(8, 300); /* a session of no sample */
    assert_int_equal(blocks.known_ns, 0);
    assert_int_equal(blocker_samples_divide(&samples, 9, 1, 300, &blocks), CAMP_OK);
    assert_int_equal(blocks.known_ns, 0); /* another session with this id */
}

static void a_waiting_session_whose_blockers_are_unknown_is_a_root(void **state)
{
    const struct blocked_sample waiting[] = { WAITS(3, 2), { 2, 102, NULL, 0 } };

    (void)state;
    add_twice(waiting, 2);
    divide(3, 10);
    assert_block(0, 2, 2, 10);
}

static void the_root_of_a_deadlock_is_its_smallest_id(void **state)
{
    const struct blocked_sample waiting[] = { WAITS(5, 7), WAITS(7, 6), WAITS(6, 5), WAITS(9, 7) };

    (void)state;
    add_twice(waiting, 4);
    divide(5, 10);
    assert_block(0, 7, 5, 10);
    divide(6, 10);
    assert_block(0, 5, 5, 10);
    divide(9, 10);
    assert_block(0, 7, 5, 10);
}

static void two_that_wait_for_each_other_both_block_a_third(void **state)
{
    const struct blocked_sample waiting[] = { WAITS(5, 7), WAITS(7, 5), WAITS(9, 5, 7) };

    (void)state;
    add_twice(waiting, 3);
    divide(9, 10);
    assert_int_equal(blocks.count, 2);
    assert_block(0, 5, 5, 5);
    assert_block(1, 7, 5, 5);
}

static void a_prepared_transaction_is_a_root(void **state)
{
    const struct blocked_sample waiting[] = { WAITS(5, BLOCKER_PREPARED) };

    (void)state;
    add_twice(waiting, 1);
    divide(5, 10);
    assert_block(0, BLOCKER_PREPARED, BLOCKER_PREPARED, 10);
}

static void a_blocker_counts_once_and_no_session_blocks_itself(void **state)
{
    const struct blocked_sample waiting[] = { WAITS(5, 5, 4, 4, 4, 3, -7), WAITS(6, 6) };

    (void)state;
    add_twice(waiting, 2);
    divide(5, 10);
    assert_int_equal(blocks.count, 2);
    assert_block(0, 3, 3, 5);
    assert_block(1, 4, 4, 5);
    divide(6, 10);
    assert_int_equal(blocks.known_ns, 0);
}

static void a_gap_between_samples_counts_for_no_more_than_the_limit(void **state)
{
    const struct blocked_sample first[] = { WAITS(9, 1) }, second[] = { WAITS(9, 2) };

    (void)state;
    add(1000, first, 1);
    add(9000, first, 1);
    add(10000, second, 1);
    divide(9, 4);
    assert_block(0, 1, 1, 3);
    assert_block(1, 2, 2, 1);
}

enum { SESSIONS = 400, ROUNDS = 60 };

/* Each session has 40 blockers, of which many wait, with cycles, and other ones in each sample. */
static void a_hostile_answer_neither_hangs_nor_grows(void **state)
{
    static struct blocked_sample waiting[SESSIONS];
    static int64_t ids[SESSIONS][40];

    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < SESSIONS; i++) {
            for (size_t j = 0; j < 40; j++)
                ids[i][j] = (int64_t)((i * 7 + j * j * 11 + round * 131) % (SESSIONS + 300));
            waiting[i] = (struct blocked_sample){ (int64_t)(i / 2), 0, ids[i], 40 };
        }
        add(1000 + 100 * round, waiting, SESSIONS);
    }
    assert_true(samples.time_count <= 3 * (1 << 16));
    assert_int_equal(blocker_samples_divide(&samples, 7, 0, 1000000, &blocks), CAMP_OK);
    assert_true(blocks.known_ns > 0 && blocks.known_ns < 1000000); /* the rest is unknown */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, clean, clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_chain_has_its_direct_blockers_and_one_root),
        TEST(only_the_holder_blocks_a_queue),
        TEST(several_holders_have_equal_parts_that_add_up_to_the_nanosecond),
        TEST(a_sample_counts_for_half_of_the_time_before_and_after_it),
        TEST(a_wait_without_a_known_blocker_is_the_unknown_rest),
        TEST(a_waiting_session_whose_blockers_are_unknown_is_a_root),
        TEST(the_root_of_a_deadlock_is_its_smallest_id),
        TEST(two_that_wait_for_each_other_both_block_a_third),
        TEST(a_prepared_transaction_is_a_root),
        TEST(a_blocker_counts_once_and_no_session_blocks_itself),
        TEST(a_gap_between_samples_counts_for_no_more_than_the_limit),
        TEST(a_hostile_answer_neither_hangs_nor_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
