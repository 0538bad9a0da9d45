/* The most unusual of many frames. */
#include "ledger/active.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS 1000000u

static const struct column columns[] = {
    { "user_ns", "user", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU, NULL },
    { "disk_ns", "disk", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IO, NULL },
    { "timer_ns", "timer", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE, NULL },
};
static const struct schema schema = { "made-up", columns, 3, 3, NULL, 0 };

static struct unusual unusual;

static int tear_down(void **state)
{
    (void)state;
    unusual_release(&unusual);
    return 0;
}

/* Adds a frame of `length_ms` with one entity, which has these times. */
static void add(unsigned length_ms, double cpu, double disk, double idle)
{
    const double shares[] = { cpu, disk, idle };
    struct frame frame;

    frame_init(&frame, &schema);
    assert_non_null(frame_add(&frame));
    frame.end_ns = frame.elapsed_ns[0] = (uint64_t)length_ms * MS;
    for (size_t i = 0; i < 3; i++)
        frame_values(&frame, 0)[i] = (uint64_t)llround(shares[i] * length_ms * MS);
    assert_int_equal(unusual_add(&unusual, &frame), CAMP_OK);
    frame_release(&frame);
}

static size_t found(void)
{
    size_t index = SIZE_MAX;

    assert_int_equal(unusual_find(&unusual, &index), CAMP_OK);
    return index;
}

static void the_frame_with_another_composition_is_found(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++)
        add(1000, i == 13 ? 0.1 : 0.4 + 0.01 * (i % 3), i == 13 ? 0.4 : 0.1, 0.4);
    assert_int_equal(found(), 13);
}

static void missing_time_is_unusual(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 9; i++)
        add(1000, 0.5, 0.1, i == 4 ? 0.2 : 0.4);
    assert_int_equal(found(), 4);
}

/* CPU time always varies, and disk time never does: the smaller change of disk time is unusual. */
static void a_change_counts_relative_to_how_much_the_class_varies(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++)
        add(1000, i % 2 == 0 ? 0.1 : 0.6, i == 15 ? 0.35 : 0.1, 0.1);
    assert_int_equal(found(), 15);
}

static void the_length_of_a_frame_is_not_unusual(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 9; i++)
        add(i == 2 ? 5000 : 1000, 0.5, i == 6 ? 0.3 : 0.1, 0.2);
    assert_int_equal(found(), 6);
}

static void the_first_frame_is_found_where_all_are_alike(void **state)
{
    (void)state;
    assert_int_equal(found(), 0);
    for (unsigned i = 0; i < 5; i++)
        add(1000, 0.5, 0.1, 0.4);
    assert_int_equal(found(), 0);
}

/* Small changes that look random, from 0 to 0.04. */
static double noise(unsigned i)
{
    return i * 7 % 5 / 100.0;
}

static void a_long_trouble_is_found_and_not_the_quiet_frames(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 40; i++)
        add(1000, i < 8 ? noise(i) : 0.3 + noise(i), i < 8 ? 0 : 0.5 + noise(i),
            i < 8 ? 1 - noise(i) : 0.2 - 2 * noise(i));
    assert_true(found() >= 8);
    unusual_release(&unusual);
    for (unsigned i = 0; i < 40; i++)
        add(1000, 0.3, i < 16 ? 0.01 : 0.5, i < 16 ? 0.69 : 0.2);
    assert_int_equal(found(), 16);
}

static void a_quiet_gap_is_not_found(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 40; i++)
        add(1000, i < 3 ? 0 : 0.3 + noise(i), i < 3 ? 0 : 0.2, i < 3 ? 1 : 0.4 - noise(i));
    assert_true(found() >= 3);
}

static void a_burst_of_waits_is_found_in_noise(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        const double disk = i == 30 ? 0.3 : noise(i + 3);

        add(1000, 0.2 + 2 * noise(i), disk, 0.8 - 0.2 - 2 * noise(i) - disk + 0.2);
    }
    assert_int_equal(found(), 30);
}

#define CASE(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_frame_with_another_composition_is_found),
        CASE(missing_time_is_unusual),
        CASE(a_change_counts_relative_to_how_much_the_class_varies),
        CASE(the_length_of_a_frame_is_not_unusual),
        CASE(a_long_trouble_is_found_and_not_the_quiet_frames),
        CASE(a_quiet_gap_is_not_found),
        CASE(a_burst_of_waits_is_found_in_noise),
        CASE(the_first_frame_is_found_where_all_are_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
