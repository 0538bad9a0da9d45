/* Active time by class, and threads that are parked. */
#include "ledger/active.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS 1000000u

static const struct column columns[] = {
    { "user_ns", "user", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU, NULL },
    { "system_ns", "system", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU, NULL },
    { "lock_ns", "lock", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CONTENTION, NULL },
    { "timer_ns", "timer", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE, NULL },
    { "odd_ns", "odd", "", COLUMN_STATE, CAMP_MEASURED, CLASS_NONE, NULL },
};
static const struct schema schema = { "made-up", columns, 5, 5, NULL, 0 };

static struct active from_frame, from_timeline;

/* Computes the active time of one entity with these times, which was there for 1 s. */
static void compute(const unsigned times_ms[5])
{
    struct timeline timeline;
    struct frame frame;

    frame_init(&frame, &schema);
    timeline_init(&timeline, &schema, 1 << 20);
    assert_non_null(frame_add(&frame));
    frame.end_ns = frame.elapsed_ns[0] = 1000 * MS;
    for (size_t i = 0; i < 5; i++)
        frame_values(&frame, 0)[i] = (uint64_t)times_ms[i] * MS;
    active_of_frame(&frame, 0, &from_frame);
    assert_int_equal(timeline_add(&timeline, &frame), CAMP_OK);
    active_of_timeline(&timeline, 0, &from_timeline);
    frame_release(&frame);
    timeline_release(&timeline);
}

static void assert_seconds(double (*of)(const struct active *), double expected)
{
    assert_true(fabs(of(&from_frame) - expected) < 1e-6);
    assert_true(fabs(of(&from_timeline) - expected) < 1e-6);
}

static double cpu(const struct active *active)
{
    return active->seconds[CLASS_CPU];
}

static double lock(const struct active *active)
{
    return active->seconds[CLASS_CONTENTION];
}

static double idle(const struct active *active)
{
    return active->seconds[CLASS_IDLE];
}

static double unknown(const struct active *active)
{
    return active->seconds[CLASS_NONE];
}

static double sum(const struct active *active)
{
    return active->sum_s;
}

static double missing(const struct active *active)
{
    return active->missing_s;
}

static void active_time_is_all_time_that_is_not_idle(void **state)
{
    (void)state;
    compute((const unsigned[]){ 100, 50, 200, 400, 125 });
    assert_seconds(cpu, 0.15);
    assert_seconds(lock, 0.2);
    assert_seconds(idle, 0);
    assert_seconds(unknown, 0.125);
    assert_seconds(sum, 0.475);
    assert_seconds(missing, 0.125);
    assert_false(from_frame.is_parked || from_timeline.is_parked);
}

static void a_thread_that_only_waits_in_a_lock_is_parked(void **state)
{
    (void)state;
    compute((const unsigned[]){ 6, 4, 990, 0, 0 });
    assert_true(from_frame.is_parked && from_timeline.is_parked);
    assert_seconds(sum, 0.01);
    assert_seconds(cpu, 0.01);
    assert_seconds(lock, 0);
    compute((const unsigned[]){ 0, 11, 989, 0, 0 });
    assert_false(from_frame.is_parked || from_timeline.is_parked);
    assert_seconds(lock, 0.989);
    compute((const unsigned[]){ 999, 0, 0, 0, 0 });
    assert_false(from_frame.is_parked || from_timeline.is_parked);
}

static void time_accounted_twice_is_not_missing(void **state)
{
    (void)state;
    compute((const unsigned[]){ 800, 0, 400, 0, 0 });
    assert_seconds(missing, 0);
    assert_seconds(sum, 1.2);
}

static void active_times_are_added_up(void **state)
{
    struct active total = { 0 };

    (void)state;
    compute((const unsigned[]){ 100, 50, 200, 400, 125 });
    active_add(&total, &from_frame);
    active_add(&total, &from_timeline);
    assert_true(fabs(total.sum_s - 0.95) < 1e-6 && fabs(cpu(&total) - 0.3) < 1e-6 &&
                fabs(total.missing_s - 0.25) < 1e-6);
}

static void an_entity_without_time_has_no_active_time(void **state)
{
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema);
    assert_non_null(frame_add(&frame));
    active_of_frame(&frame, 0, &from_frame);
    assert_true(fabs(from_frame.sum_s) < 1e-12 && !from_frame.is_parked);
    frame_release(&frame);
}

static void a_thread_in_one_state_has_the_same_active_time_if_the_frame_says_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct active unmarked, marked;
        struct frame frame;

        frame_init(&frame, &schema);
        assert_non_null(frame_add(&frame));
        frame.elapsed_ns[0] = frame_values(&frame, 0)[i] = 1000 * MS;
        active_of_frame(&frame, 0, &unmarked);
        frame.only_states[0] = (uint32_t)i + 1;
        active_of_frame(&frame, 0, &marked);
        assert_memory_equal(marked.seconds, unmarked.seconds, sizeof marked.seconds);
        assert_true(marked.sum_s <= unmarked.sum_s && marked.sum_s >= unmarked.sum_s);
        assert_int_equal(marked.is_parked, unmarked.is_parked);
        frame_release(&frame);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(active_time_is_all_time_that_is_not_idle),
        cmocka_unit_test(a_thread_that_only_waits_in_a_lock_is_parked),
        cmocka_unit_test(time_accounted_twice_is_not_missing),
        cmocka_unit_test(active_times_are_added_up),
        cmocka_unit_test(an_entity_without_time_has_no_active_time),
        cmocka_unit_test(a_thread_in_one_state_has_the_same_active_time_if_the_frame_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
