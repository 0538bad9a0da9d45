/* Tests the sum of the causes of several intervals, and the frame of the lengths of waits. */
#include "sources/causes/cause_names.h"
#include "sources/causes/cause_sum.h"
#include "sources/causes/lengths_frame.h"
#include "sources/causes/open_sleeps.h"

#include "../commands/synthetic_causes.h"
#include "ledger/selection.h"

static uint64_t time_of(const struct causes *causes, uint32_t group, uint32_t state, uint32_t kind,
                        uint32_t id)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        if (row->group == group && row->state == state && row->kind == kind && row->id == id)
            sum += row->wait_ns;
    }
    return sum;
}

static uint32_t number_of(const struct causes *causes, uint32_t kind, const char *name)
{
    for (size_t i = 0; i < causes->group_count; i++) {
        if (causes->groups[i].kind == kind && strcmp(causes->groups[i].name, name) == 0)
            return causes->groups[i].number;
    }
    fail_msg("no group %s", name);
    return 0;
}

static void assert_adds_up(const struct causes *causes)
{
    for (uint32_t group = 0; group < CAUSE_GROUPS; group++) {
        for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
            uint64_t sum = 0;

            for (size_t i = 0; i < causes->rows.count; i++)
                sum += causes->rows.items[i].group == group && causes->rows.items[i].state == state
                           ? causes->rows.items[i].wait_ns
                           : 0;
            if (causes_is_wait(state))
                assert_true(sum == causes->state_ns[group][state]);
        }
    }
}

static void add(struct cause_sum *sum, const struct causes *causes)
{
    struct camp_error error = { 0 };

    if (cause_sum_add(sum, causes, &error) != CAMP_OK)
        fail_msg("%s", error.message);
}

static void the_sum_of_intervals_has_their_times_and_adds_up(void **state)
{
    struct cause_sum sum = { 0 };
    struct causes *causes = make_causes();
    const struct causes *of;
    uint32_t db, batch;

    (void)state;
    add(&sum, causes);
    add(&sum, causes);
    add(&sum, causes);
    of = cause_sum_finish(&sum);
    db = number_of(of, CAMP_GROUP_PROCESS, "db");
    batch = number_of(of, CAMP_GROUP_NAME, "batch");
    assert_int_equal(of->end_ns - of->start_ns, 3000000000);
    assert_int_equal(sum.intervals, 3);
    assert_int_equal(of->threads[db], 1);
    assert_int_equal(of->state_ns[db][CAMP_STATE_USER], 600000000);
    assert_int_equal(time_of(of, db, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, batch), 270000000);
    assert_int_equal(of->rows.count, causes->rows.count);
    assert_adds_up(of);
    cause_sum_release(&sum);
    release_causes(causes);
}

static void groups_are_the_same_by_name_or_pid_whatever_their_numbers_are(void **state)
{
    struct cause_sum sum = { 0 };
    struct causes *first = make_causes(), *second = calloc(1, sizeof *second);
    const struct causes *of;
    uint32_t db, batch;

    (void)state;
    assert_non_null(second);
    add_group(second, 0, CAMP_GROUP_NAME, 0, "batch");
    add_group(second, 9, CAMP_GROUP_PROCESS, 7, "renamed");
    add_group(second, 10, CAMP_GROUP_PROCESS, 8, "db");
    add_row(second, 9, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 0, 1000);
    add_row(second, 0, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 10, 500);
    add(&sum, first);
    add(&sum, second);
    of = cause_sum_finish(&sum);
    db = number_of(of, CAMP_GROUP_PROCESS, "renamed");
    batch = number_of(of, CAMP_GROUP_NAME, "batch");
    assert_int_equal(time_of(of, db, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, batch), 90001000);
    assert_int_equal(time_of(of, batch, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, db), 100000000);
    assert_int_equal(time_of(of, batch, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP,
                             number_of(of, CAMP_GROUP_PROCESS, "db")),
                     500);
    assert_adds_up(of);
    cause_sum_release(&sum);
    release_causes(first);
    release_causes(second);
}

/* 200 names in four recordings of 50. */
static void groups_beyond_the_64th_are_other_processes_but_not_the_subject(void **state)
{
    struct cause_sum sum = { .subject = "name 199" };
    const struct causes *of;
    uint64_t total = 0;

    (void)state;
    for (uint32_t file = 0; file < 4; file++) {
        struct causes *causes = calloc(1, sizeof *causes);

        assert_non_null(causes);
        add_group(causes, 0, CAMP_GROUP_OTHER, 0, "");
        for (uint32_t i = 0; i < 50; i++) {
            char name[CAMP_STATES_NAME_SIZE];

            snprintf(name, sizeof name, "name %u", file * 50 + i);
            add_group(causes, i + 1, CAMP_GROUP_NAME, 0, name);
            add_row(causes, i + 1, CAMP_STATE_DISK, CAMP_CAUSE_TIMER, 0, 1000 + file * 50 + i);
            total += 1000 + file * 50 + i;
        }
        add(&sum, causes);
        release_causes(causes);
    }
    of = cause_sum_finish(&sum);
    assert_int_equal(of->group_count, CAUSE_GROUPS);
    assert_int_equal(of->state_ns[number_of(of, CAMP_GROUP_NAME, "name 199")][CAMP_STATE_DISK],
                     1199);
    assert_int_equal(of->state_ns[number_of(of, CAMP_GROUP_NAME, "name 0")][CAMP_STATE_DISK], 1000);
    assert_true(of->state_ns[0][CAMP_STATE_DISK] > 100000);
    for (uint32_t i = 0; i < CAUSE_GROUPS; i++)
        total -= of->state_ns[i][CAMP_STATE_DISK];
    assert_int_equal(total, 0);
    assert_adds_up(of);
    cause_sum_release(&sum);
}

static void times_that_cannot_be_added_up_are_an_error(void **state)
{
    struct cause_sum sum = { 0 };
    struct causes *causes = make_causes();
    struct camp_error error = { 0 };

    (void)state;
    causes->state_ns[DB][CAMP_STATE_USER] = UINT64_C(1) << 61;
    assert_int_equal(cause_sum_add(&sum, causes, &error), CAMP_OK);
    assert_int_equal(cause_sum_add(&sum, causes, &error), CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "too long"));
    cause_sum_release(&sum);
    release_causes(causes);
}

static void a_cleared_sum_has_no_time_and_no_group_but_the_subject(void **state)
{
    struct cause_sum sum = { .subject = "7", .subject_pid = 7 };
    struct causes *causes = make_causes();
    const struct causes *of;

    (void)state;
    add(&sum, causes);
    cause_sum_finish(&sum);
    cause_sum_clear(&sum);
    assert_int_equal(sum.causes.group_count, 1);
    assert_int_equal(number_of(&sum.causes, CAMP_GROUP_PROCESS, "db"), CAUSE_GROUPS - 1);
    assert_int_equal(sum.causes.rows.count, 0);
    add(&sum, causes);
    of = cause_sum_finish(&sum);
    assert_int_equal(of->state_ns[number_of(of, CAMP_GROUP_PROCESS, "db")][CAMP_STATE_USER],
                     200000000);
    assert_adds_up(of);
    cause_sum_release(&sum);
    release_causes(causes);
}

/* 200 names in four parts of 50: those of the last part are told apart as those of the first. */
static void each_part_of_a_long_recording_has_numbers_for_its_own_groups(void **state)
{
    struct cause_sum sum = { 0 };

    (void)state;
    for (uint32_t part = 0; part < 4; part++) {
        struct causes *causes = calloc(1, sizeof *causes);
        const struct causes *of;

        assert_non_null(causes);
        add_group(causes, 0, CAMP_GROUP_OTHER, 0, "");
        for (uint32_t i = 1; i <= 50; i++) {
            char name[CAMP_STATES_NAME_SIZE];

            snprintf(name, sizeof name, "name %u", part * 50 + i);
            add_group(causes, i, CAMP_GROUP_NAME, 0, name);
            add_row(causes, i, CAMP_STATE_DISK, CAMP_CAUSE_TIMER, 0, 1000);
        }
        add(&sum, causes);
        of = cause_sum_finish(&sum);
        assert_int_equal(of->group_count, 51);
        assert_int_equal(of->state_ns[0][CAMP_STATE_DISK], 0);
        cause_sum_clear(&sum);
        release_causes(causes);
    }
    assert_int_equal(sum.met_count, CAUSE_GROUPS);
    assert_string_equal(sum.met[1].name, "name 1");
    cause_sum_release(&sum);
}

static void the_lengths_of_waits_are_added_up_and_the_longest_is_that_of_all(void **state)
{
    struct cause_sum sum = { 0 };
    struct causes *causes = make_causes();
    struct wait_lengths *lengths = &causes->lengths[DB][CAMP_STATE_DISK];
    const struct wait_lengths *of;

    (void)state;
    *lengths = (struct wait_lengths){ .longest_ns = 5000, .longest_tid = 3 };
    lengths->counts[12] = 98;
    wait_lengths_fill(lengths);
    add(&sum, causes);
    *lengths = (struct wait_lengths){ .longest_ns = 3000000,
                                      .longest_tid = 4,
                                      .longest_wall_clock_ns = 77 };
    lengths->counts[21] = 2;
    wait_lengths_fill(lengths);
    add(&sum, causes);
    of = &cause_sum_finish(&sum)
              ->lengths[number_of(&sum.causes, CAMP_GROUP_PROCESS, "db")][CAMP_STATE_DISK];
    assert_int_equal(of->count, 100);
    assert_in_range(of->p50_ns, 4096, 8191);
    assert_in_range(of->p99_ns, 2097152, 4194303);
    assert_int_equal(of->longest_ns, 3000000);
    assert_int_equal(of->longest_tid, 4);
    assert_int_equal(of->longest_wall_clock_ns, 77);
    cause_sum_release(&sum);
    release_causes(causes);
}

static void system_calls_are_added_up_by_their_names(void **state)
{
    struct call_name names[] = { { "read", "pipe:[1]" }, { "read", "pipe:[2]" } };
    struct cause_sum sum = { 0 };
    struct causes *causes = make_causes();
    const struct causes *of;

    (void)state;
    causes->is_recorded = true;
    causes->call_names = names;
    causes->calls.items = calloc(2, sizeof *causes->calls.items);
    assert_non_null(causes->calls.items);
    causes->calls.count = 2;
    causes->calls.items[0] = (struct camp_call_sleeps){ .pid = 7, .sleep_ns = 10, .count = 1 };
    causes->calls.items[1] = (struct camp_call_sleeps){ .pid = 7, .sleep_ns = 15, .count = 2 };
    add(&sum, causes);
    add(&sum, causes);
    of = cause_sum_finish(&sum);
    assert_int_equal(of->calls.count, 2);
    assert_int_equal(of->calls.items[0].sleep_ns, 30);
    assert_int_equal(of->calls.items[0].count, 4);
    assert_string_equal(of->call_names[0].object, "pipe:[2]");
    cause_sum_release(&sum);
    release_causes(causes);
}

static void a_row_of_lengths_has_the_name_or_pid_of_its_group_and_three_columns_a_wait(void **state)
{
    struct causes *causes = make_causes();
    struct frame frame;
    struct wait_lengths *lengths = &causes->lengths[DB][CAMP_STATE_RUN_QUEUE];

    (void)state;
    lengths->counts[20] = 4;
    lengths->longest_ns = 1500000;
    wait_lengths_fill(lengths);
    frame_init(&frame, &lengths_schema);
    assert_int_equal(lengths_frame_fill(&frame, causes), CAMP_OK);
    assert_int_equal(frame.entity_count, 1);
    assert_string_equal(frame.entities[0].name, "db");
    assert_int_equal(frame.entities[0].id, 7);
    assert_int_equal(order_value(&frame, order_find(&lengths_schema, "run_queue.max"), 0), 1500000);
    assert_int_equal(order_value(&frame, order_find(&lengths_schema, "run_queue.p50"), 0),
                     lengths->p50_ns);
    assert_int_equal(order_value(&frame, order_find(&lengths_schema, "disk.max"), 0), 0);
    assert_int_equal(order_find(&lengths_schema, "user.max"), order_count(&lengths_schema));
    frame_release(&frame);
    release_causes(causes);
}

static void each_wait_has_its_columns_in_the_order_of_the_states(void **state)
{
    size_t column = 0;

    (void)state;
    for (uint32_t i = 0; i < CAMP_STATE_COUNT; i++) {
        static const char *const parts[] = { "max", "p99", "p50" };

        for (size_t part = 0; causes_is_wait(i) && part < 3; part++) {
            char name[64];

            snprintf(name, sizeof name, "%s.%s_ns", camp_state_name((int)i), parts[part]);
            assert_string_equal(lengths_schema.columns[column++].name, name);
        }
    }
    assert_int_equal(column, lengths_schema.column_count);
}

/* Of a sleep of several intervals the times are added up, and the last holder counts. */
static void open_sleeps_of_several_intervals_are_added_up(void **state)
{
    struct cause_sum sum = { 0 };
    struct causes *causes = make_causes();
    const struct causes *of;
    size_t capacity = 0;
    const struct camp_call_sleeps call = { .pid = 7, .state = CAMP_STATE_LOCK, .sleep_ns = 10 };
    const struct open_fact fact = { .group = DB, .state_ns = 20, .names.call = "flock" };

    (void)state;
    assert_true(open_call_add(causes, &capacity, &call, &fact));
    causes->has_open_facts = true;
    for (int i = 0; i < 3; i++) {
        snprintf(causes->open_facts[0].other_end, CAUSE_NAME_SIZE, "held by %d", i);
        add(&sum, causes);
    }
    of = cause_sum_finish(&sum);
    assert_true(of->has_open_facts);
    assert_int_equal(of->open_calls.count, 1);
    assert_int_equal(of->open_calls.items[0].sleep_ns, 30);
    assert_int_equal(of->open_facts[0].state_ns, 60);
    assert_int_equal(of->open_facts[0].group, number_of(of, CAMP_GROUP_PROCESS, "db"));
    assert_string_equal(of->open_facts[0].other_end, "held by 2");
    causes->has_open_facts = false;
    add(&sum, causes);
    assert_false(cause_sum_finish(&sum)->has_open_facts);
    cause_sum_clear(&sum);
    assert_int_equal(cause_sum_finish(&sum)->open_calls.count, 0);
    cause_sum_release(&sum);
    release_causes(causes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_of_intervals_has_their_times_and_adds_up),
        cmocka_unit_test(groups_are_the_same_by_name_or_pid_whatever_their_numbers_are),
        cmocka_unit_test(groups_beyond_the_64th_are_other_processes_but_not_the_subject),
        cmocka_unit_test(times_that_cannot_be_added_up_are_an_error),
        cmocka_unit_test(a_cleared_sum_has_no_time_and_no_group_but_the_subject),
        cmocka_unit_test(each_part_of_a_long_recording_has_numbers_for_its_own_groups),
        cmocka_unit_test(the_lengths_of_waits_are_added_up_and_the_longest_is_that_of_all),
        cmocka_unit_test(system_calls_are_added_up_by_their_names),
        cmocka_unit_test(
            a_row_of_lengths_has_the_name_or_pid_of_its_group_and_three_columns_a_wait),
        cmocka_unit_test(each_wait_has_its_columns_in_the_order_of_the_states),
        cmocka_unit_test(open_sleeps_of_several_intervals_are_added_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
