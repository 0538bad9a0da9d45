/* What an interval has of the waits for locks that the kernel charged to their blockers. */
#include "sources/sessions/postgres/blockers/backend_blockers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ROW 0x03000004u
#define TUPLE 0x03000003u

static struct backend_blocks before, now;
static struct backend_blocking parts[BACKEND_BLOCKS];

static int start(void **state)
{
    (void)state;
    memset(&before, 0, sizeof before);
    memset(&now, 0, sizeof now);
    return 0;
}

static void set(struct backend_blocks *of, size_t at, int32_t blocker, uint32_t added, uint64_t ns)
{
    of->blocks[at] = (struct backend_block){ .blocker = blocker,
                                             .root = blocker + 1,
                                             .event = ROW,
                                             .added = added,
                                             .used = added,
                                             .ns = ns };
}

static void parts_are_what_grew_since_the_previous_reading(void **state)
{
    (void)state;
    set(&before, 3, 7, 1, 100);
    set(&before, 4, 8, 1, 50);
    set(&before, 5, 9, 1, 30);
    set(&now, 3, 7, 1, 140);
    set(&now, 4, 8, 1, 50);
    set(&now, 5, 10, 3, 20); /* replaced another one */
    assert_int_equal(backend_blockings_since(&now, &before, parts), 2);
    assert_int_equal(parts[0].blocker, 7);
    assert_int_equal(parts[0].root, 8);
    assert_int_equal(parts[0].event, ROW);
    assert_int_equal(parts[0].ns, 40);
    assert_int_equal(parts[1].blocker, 10);
    assert_int_equal(parts[1].ns, 20);
    assert_int_equal(backend_blockings_since(&now, NULL, parts), 3);
}

/* A wait of which 60 ns were reported has ended, after 100 ns. */
static void end_the_wait(uint64_t subtracted_ns)
{
    before.event = ROW;
    before.number = 5;
    before.asleep_ns = 60;
    before.subtracted_ns = 1000;
    now.event = TUPLE;
    now.number = 6;
    now.subtracted_ns = 1000 + subtracted_ns;
    set(&now, 0, 7, 1, 25);
    set(&now, 1, 8, 2, 100 - subtracted_ns);
}

static void what_the_kernel_subtracted_is_not_subtracted_again(void **state)
{
    (void)state;
    end_the_wait(60);
    assert_int_equal(backend_blockings_since(&now, &before, parts), 2);
    assert_int_equal(parts[0].ns + parts[1].ns, 25 + 40);
}

static void a_wait_that_ended_while_it_was_read_is_reported_once(void **state)
{
    (void)state;
    end_the_wait(0);
    assert_int_equal(backend_blockings_since(&now, &before, parts), 2);
    assert_int_equal(parts[0].ns, 25);
    assert_int_equal(parts[1].ns, 40);
    now.blocks[1].ns = 10; /* less than was reported, because an error ended the wait */
    now.blocks[0].event = TUPLE;
    assert_int_equal(backend_blockings_since(&now, &before, parts), 1);
    assert_int_equal(parts[0].event, TUPLE);
    assert_int_equal(parts[0].ns, 25);
}

static void a_wait_that_goes_on_subtracts_nothing(void **state)
{
    (void)state;
    end_the_wait(0);
    now.event = ROW;
    now.number = 5;
    assert_int_equal(backend_blockings_since(&now, &before, parts), 2);
    assert_int_equal(parts[0].ns + parts[1].ns, 125);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parts_are_what_grew_since_the_previous_reading),
        TEST(what_the_kernel_subtracted_is_not_subtracted_again),
        TEST(a_wait_that_ended_while_it_was_read_is_reported_once),
        TEST(a_wait_that_goes_on_subtracts_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
