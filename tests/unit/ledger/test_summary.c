#include "ledger/labels.h"
#include "ledger/summary.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define S 1000000000ull

enum { CPU, RUN_QUEUE, DISK, LOCK, TIMER, STATES };

static const struct column columns[] = {
    { "user_ns", "user", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
    { "run_queue_ns", "run queue", "", COLUMN_STATE, CAMP_MEASURED, CLASS_READY },
    { "disk_ns", "disk", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IO },
    { "lock_ns", "lock", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CONTENTION },
    { "timer_ns", "timer", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE },
};
static const struct schema schema = { "threads", columns, STATES, STATES };

/* Adds a row of a two-second interval. The times are in percent of the interval. */
static void add(struct frame *frame, const char *name, const double percent[STATES],
                double elapsed_percent)
{
    struct entity *entity = frame_add(frame);

    assert_non_null(entity);
    strcpy(entity->name, name);
    for (size_t i = 0; i < STATES; i++)
        frame_values(frame, frame->entity_count - 1)[i] = (uint64_t)(percent[i] / 100 * 2 * S);
    frame->elapsed_ns[frame->entity_count - 1] = (uint64_t)(elapsed_percent / 100 * 2 * S);
}

#define ROW(...) ((const double[STATES]){ __VA_ARGS__ })

static struct frame frame_of_two_seconds(void)
{
    struct frame frame;

    frame_init(&frame, &schema);
    frame.start_ns = 5 * S;
    frame.end_ns = 7 * S;
    return frame;
}

static int fill(struct summary *ret, const struct frame *frame, size_t cpus)
{
    return summary_fill(ret, frame, (struct shared_cpus){ .count = cpus }, "threads");
}

static void sums_are_entity_seconds_a_second(void **state)
{
    struct frame frame = frame_of_two_seconds();
    struct summary summary;

    (void)state;
    add(&frame, "a1", ROW(60, 40, 0, 0, 0), 100);
    add(&frame, "a2", ROW(50, 25, 25, 0, 0), 100);
    add(&frame, "b", ROW(5, 0, 0, 45, 50), 100);
    add(&frame, "short", ROW(10, 0, 0, 0, 0), 10);
    frame.losses = (struct losses){ .unseen = 1, .lost = 2, .partial = 3 };
    assert_int_equal(fill(&summary, &frame, 2), CAMP_OK);
    assert_float_equal(summary.classes[CLASS_CPU], 1.25, 1e-9);
    assert_float_equal(summary.classes[CLASS_READY], 0.65, 1e-9);
    assert_float_equal(summary.classes[CLASS_IO], 0.25, 1e-9);
    assert_float_equal(summary.classes[CLASS_CONTENTION], 0.45, 1e-9);
    assert_float_equal(summary.classes[CLASS_IDLE], 0.5, 1e-9);
    assert_float_equal(summary.active, 2.6, 1e-9);
    assert_float_equal(summary.elapsed, 3.1, 1e-9);
    assert_float_equal(summary_busy(&summary), 0.625, 1e-9);
    assert_true(summary.has[CLASS_READY] && !summary.has[CLASS_THROTTLED]);
    assert_int_equal(summary.losses.lost, 2);
    assert_int_equal(summary.entities, 4);
    assert_int_equal(summary.parked, 0);
    frame_release(&frame);
}

static void a_thread_that_only_waits_in_a_lock_is_parked_and_not_active(void **state)
{
    struct frame frame = frame_of_two_seconds();
    struct summary summary;

    (void)state;
    for (int i = 0; i < 500; i++)
        add(&frame, "pool", ROW(0, 0, 0, 100, 0), 100);
    add(&frame, "holder", ROW(2, 0, 0, 98, 0), 100);
    assert_int_equal(fill(&summary, &frame, 0), CAMP_OK);
    assert_int_equal(summary.parked, 500);
    assert_float_equal(summary.classes[CLASS_CONTENTION], 0.98, 1e-9);
    assert_float_equal(summary.active, 1, 1e-9);
    assert_int_equal(summary.name_count, 1);
    assert_string_equal(summary.names[0], "holder");
    frame_release(&frame);
}

/* The sum of one name decides, not its largest row. */
static void the_two_most_active_names_are_named_without_their_numbers(void **state)
{
    struct frame frame = frame_of_two_seconds();
    struct summary summary;

    (void)state;
    for (int i = 0; i < 9; i++)
        add(&frame, (char[]){ 'w', 'e', 'b', '-', (char)('1' + i), '\0' }, ROW(30, 0, 0, 0, 70),
            100);
    add(&frame, "big", ROW(100, 0, 0, 0, 0), 100);
    add(&frame, "small", ROW(9, 0, 0, 0, 91), 100);
    add(&frame, "idle", ROW(0, 0, 0, 0, 100), 100);
    assert_int_equal(fill(&summary, &frame, 4), CAMP_OK);
    assert_int_equal(summary.name_count, 2);
    assert_string_equal(summary.names[0], "web");
    assert_string_equal(summary.names[1], "big");
    frame_release(&frame);
}

static void a_name_with_less_than_a_tenth_of_the_active_time_is_not_named(void **state)
{
    struct frame frame = frame_of_two_seconds();
    struct summary summary;

    (void)state;
    add(&frame, "most", ROW(92, 0, 0, 0, 8), 100);
    add(&frame, "rest", ROW(8, 0, 0, 0, 92), 100);
    assert_int_equal(fill(&summary, &frame, 1), CAMP_OK);
    assert_int_equal(summary.name_count, 1);
    assert_string_equal(summary.names[0], "most");
    frame_release(&frame);
}

static void rows_without_a_name_do_not_end_the_list_of_names(void **state)
{
    struct frame frame = frame_of_two_seconds();
    struct summary summary;

    (void)state;
    add(&frame, "", ROW(50, 0, 0, 0, 50), 100);
    add(&frame, "web", ROW(40, 0, 0, 0, 60), 100);
    add(&frame, "db", ROW(30, 0, 0, 0, 70), 100);
    assert_int_equal(fill(&summary, &frame, 1), CAMP_OK);
    assert_int_equal(summary.name_count, 2);
    assert_string_equal(summary.names[0], "web");
    assert_string_equal(summary.names[1], "db");
    frame_release(&frame);
}

static void a_name_that_no_other_resembles_keeps_its_number(void **state)
{
    struct frame frame = frame_of_two_seconds();
    struct summary summary;

    (void)state;
    add(&frame, "batch1", ROW(50, 0, 0, 0, 50), 100);
    add(&frame, "batch1", ROW(20, 0, 0, 0, 80), 100);
    add(&frame, "web1", ROW(30, 0, 0, 0, 70), 100);
    add(&frame, "web2", ROW(30, 0, 0, 0, 70), 100);
    assert_int_equal(fill(&summary, &frame, 2), CAMP_OK);
    assert_int_equal(summary.name_count, 2);
    assert_string_equal(summary.names[0], "batch1");
    assert_string_equal(summary.names[1], "web");
    frame_release(&frame);
}

/* One thread has a CPU to itself; the others wait for a disk, and not for that CPU. */
static void the_names_are_those_of_the_largest_time_and_one_of_the_other(void **state)
{
    struct frame frame = frame_of_two_seconds();
    struct summary summary;

    (void)state;
    add(&frame, "hog", ROW(100, 0, 0, 0, 0), 100);
    add(&frame, "scan", ROW(10, 0, 80, 0, 10), 100);
    add(&frame, "copy", ROW(5, 0, 70, 0, 25), 100);
    assert_int_equal(fill(&summary, &frame, 2), CAMP_OK);
    assert_int_equal(summary.lead, CLASS_IO);
    assert_int_equal(summary.name_count, 2);
    assert_string_equal(summary.names[0], "scan");
    assert_string_equal(summary.names[1], "copy");
    assert_int_equal(summary.other, CLASS_CPU);
    assert_string_equal(summary.other_name, "hog");
    frame_values(&frame, 1)[DISK] = frame_values(&frame, 2)[DISK] = S;
    frame_values(&frame, 0)[DISK] = S / 10;
    assert_int_equal(fill(&summary, &frame, 2), CAMP_OK);
    assert_int_equal(summary.lead, CLASS_CPU);
    assert_int_equal(summary.name_count, 1);
    assert_string_equal(summary.names[0], "hog");
    assert_int_equal(summary.other, CLASS_IO);
    assert_string_equal(summary.other_name, "copy"); /* of equal times, the first in the alphabet */
    frame_release(&frame);
}

static void a_small_second_class_and_a_name_already_listed_are_not_named(void **state)
{
    struct frame frame = frame_of_two_seconds();
    struct summary summary;

    (void)state;
    add(&frame, "web", ROW(60, 0, 0, 0, 40), 100);
    add(&frame, "disk", ROW(0, 0, 5, 0, 95), 100);
    assert_int_equal(fill(&summary, &frame, 1), CAMP_OK);
    assert_string_equal(summary.names[0], "web");
    assert_string_equal(summary.other_name, "");
    frame_values(&frame, 0)[LOCK] = S / 2;
    assert_int_equal(fill(&summary, &frame, 1), CAMP_OK);
    assert_int_equal(summary.other, CLASS_CONTENTION);
    assert_string_equal(summary.other_name, "");
    frame_release(&frame);
}

static void a_cpu_is_full_from_95_percent_on(void **state)
{
    static const struct column busy[] = {
        { "user_ns", "user", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
        { "irq_ns", "irq", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
        { "idle_ns", "idle", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE },
    };
    static const struct schema of_cpus = { "cpus", busy, 3, 3 };
    static const uint64_t times[][3] = {
        { 949, 0, 51 }, { 900, 50, 50 }, { 1000, 0, 0 }, { 2849, 50, 101 }
    };
    struct frame cpus, threads = frame_of_two_seconds();
    struct shared_cpus shared;

    (void)state;
    frame_init(&cpus, &of_cpus);
    for (int i = 0; i < 4; i++) {
        struct entity *entity = frame_add(&cpus);

        assert_non_null(entity);
        entity->id = i < 3 ? 4 + i : CAMP_CPU_TOTAL;
        memcpy(frame_values(&cpus, (size_t)i), times[i], sizeof times[i]);
        cpus.elapsed_ns[i] = i < 3 ? 1000 : 3000;
    }
    shared = shared_cpus_of(&cpus, &threads, 9);
    assert_true(shared.has_load);
    assert_int_equal(shared.count, 3);
    assert_int_equal(shared.full, 2);
    assert_int_equal(shared.first_full, 5);
    assert_int_equal(shared_cpus_of(NULL, &cpus, 9).full, 2);
    shared = shared_cpus_of(NULL, &threads, 9);
    assert_int_equal(shared.count, 9);
    assert_int_equal(shared.full, 0);
    assert_false(shared.has_load);
    frame_release(&cpus);
    frame_release(&threads);
}

static void sessions_are_named_by_their_application(void **state)
{
    static const char *const names[] = { "user", "application" };
    const struct schema of_sessions = { .name = "sessions",
                                        .columns = columns,
                                        .column_count = STATES,
                                        .state_count = STATES,
                                        .label_names = names,
                                        .label_count = 2 };
    struct frame frame;
    struct summary summary;

    (void)state;
    frame_init(&frame, &of_sessions);
    frame.end_ns = 2 * S;
    add(&frame, "root@db", ROW(100, 0, 0, 0, 0), 100);
    frame.entities[0].labels = labels_intern((const char *const[]){ "root", "orders" }, 2);
    add(&frame, "root@db", ROW(50, 0, 0, 0, 50), 100);
    frame.entities[1].labels = labels_intern((const char *const[]){ "root", "" }, 2);
    assert_int_equal(fill(&summary, &frame, 0), CAMP_OK);
    assert_int_equal(summary.name_count, 2);
    assert_string_equal(summary.names[0], "orders");
    assert_string_equal(summary.names[1], "root@db");
    frame_release(&frame);
}

static void time_that_is_missing_and_time_accounted_twice_do_not_cancel(void **state)
{
    struct frame frame = frame_of_two_seconds();
    struct summary summary;

    (void)state;
    add(&frame, "miss", ROW(50, 0, 0, 0, 30), 100);
    add(&frame, "over", ROW(60, 0, 0, 0, 60), 100);
    assert_int_equal(fill(&summary, &frame, 1), CAMP_OK);
    assert_float_equal(summary.missing, 0.2, 1e-9);
    assert_float_equal(summary.over, 0.2, 1e-9);
    assert_true(summary_is_missing(&summary) && summary_is_over(&summary));
    frame_release(&frame);
}

static void half_a_percent_unaccounted_is_not_mentioned(void **state)
{
    struct frame frame = frame_of_two_seconds();
    struct summary summary;

    (void)state;
    add(&frame, "a", ROW(50, 0, 0, 0, 49.6), 100);
    assert_int_equal(fill(&summary, &frame, 1), CAMP_OK);
    assert_false(summary_is_missing(&summary));
    frame_values(&frame, 0)[CPU] -= S / 50;
    assert_int_equal(fill(&summary, &frame, 1), CAMP_OK);
    assert_true(summary_is_missing(&summary));
    frame_release(&frame);
}

static void the_stem_of_a_name_is_without_its_final_number(void **state)
{
    (void)state;
    assert_int_equal(name_stem("web12"), 3);
    assert_int_equal(name_stem("kworker/0:1"), 7);
    assert_int_equal(name_stem("a.out"), 5);
    assert_int_equal(name_stem("1234"), 4);
    assert_int_equal(name_stem(""), 0);
}

static void an_empty_frame_has_an_empty_summary(void **state)
{
    struct frame frame = frame_of_two_seconds();
    struct summary summary;

    (void)state;
    assert_int_equal(fill(&summary, &frame, 2), CAMP_OK);
    assert_int_equal(summary.entities, 0);
    assert_int_equal(summary.name_count, 0);
    assert_false(summary_is_missing(&summary) || summary_is_over(&summary));
    frame_release(&frame);
}

static void rows_without_states_are_summed_up_by_their_cpu_time(void **state)
{
    static const struct column counters[] = {
        { "measured_ns", "measured", "", COLUMN_COUNTER, CAMP_MEASURED, CLASS_NONE },
    };
    static const struct schema stateless = { "tasks", counters, 1, 0 };
    static const uint64_t times_ns[] = { 2 * S, S, 3 * S, 4 * S };
    static const char *const names[] = { "web2", "other", "web1", "db" };
    struct frame frame;
    struct summary summary;

    (void)state;
    frame_init(&frame, &stateless);
    frame.end_ns = 2 * S;
    for (size_t i = 0; i < 4; i++) {
        struct entity *entity = frame_add(&frame);

        assert_non_null(entity);
        strcpy(entity->name, names[i]);
        frame_values(&frame, i)[0] = times_ns[i];
    }
    assert_int_equal(summary_fill_cpu_time(&summary, &frame, (const size_t[]){ 3, 0, 2 }, 3, 0),
                     CAMP_OK);
    assert_true(summary.only_cpu_time);
    assert_int_equal(summary.entities, 3);
    assert_float_equal(summary.active, 4.5, 1e-9);
    assert_float_equal(summary.classes[CLASS_CPU], 4.5, 1e-9);
    assert_int_equal(summary.name_count, 2);
    assert_string_equal(summary.names[0], "web");
    assert_string_equal(summary.names[1], "db");
    frame_release(&frame);
}

static void threads_in_one_state_are_summed_up_like_others(void **state)
{
    struct frame frame = frame_of_two_seconds();
    struct summary unmarked, marked;

    (void)state;
    add(&frame, "sleeper", ROW(0, 0, 0, 0, 100), 100);
    add(&frame, "spinner", ROW(100, 0, 0, 0, 0), 100);
    add(&frame, "parked", ROW(0, 0, 0, 100, 0), 100);
    add(&frame, "worker", ROW(10, 20, 30, 20, 10), 100);
    assert_int_equal(fill(&unmarked, &frame, 2), CAMP_OK);
    frame.only_states[0] = 5;
    frame.only_states[1] = 1;
    frame.only_states[2] = 4;
    assert_int_equal(fill(&marked, &frame, 2), CAMP_OK);
    assert_memory_equal(marked.classes, unmarked.classes, sizeof marked.classes);
    assert_memory_equal(marked.names, unmarked.names, sizeof marked.names);
    assert_string_equal(marked.names[0], "spinner");
    assert_true(fabs(marked.classes[CLASS_IDLE] - 1.1) < 1e-9);
    assert_true(fabs(marked.classes[CLASS_CPU] - 1.1) < 1e-9);
    assert_true(fabs(marked.missing - 0.1) < 1e-9);
    assert_int_equal(marked.parked, 1);
    frame_release(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_entity_seconds_a_second),
        cmocka_unit_test(rows_without_states_are_summed_up_by_their_cpu_time),
        cmocka_unit_test(a_thread_that_only_waits_in_a_lock_is_parked_and_not_active),
        cmocka_unit_test(the_two_most_active_names_are_named_without_their_numbers),
        cmocka_unit_test(a_name_with_less_than_a_tenth_of_the_active_time_is_not_named),
        cmocka_unit_test(rows_without_a_name_do_not_end_the_list_of_names),
        cmocka_unit_test(a_name_that_no_other_resembles_keeps_its_number),
        cmocka_unit_test(the_names_are_those_of_the_largest_time_and_one_of_the_other),
        cmocka_unit_test(a_small_second_class_and_a_name_already_listed_are_not_named),
        cmocka_unit_test(a_cpu_is_full_from_95_percent_on),
        cmocka_unit_test(sessions_are_named_by_their_application),
        cmocka_unit_test(time_that_is_missing_and_time_accounted_twice_do_not_cancel),
        cmocka_unit_test(half_a_percent_unaccounted_is_not_mentioned),
        cmocka_unit_test(the_stem_of_a_name_is_without_its_final_number),
        cmocka_unit_test(an_empty_frame_has_an_empty_summary),
        cmocka_unit_test(threads_in_one_state_are_summed_up_like_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
