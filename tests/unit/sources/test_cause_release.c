/* Which groups lose their numbers, and whose the times of a released group are, on synthetic data.
 */
#include "../commands/synthetic_causes.h"
#include "sources/causes/cause_release.h"

#define NAMES 50

/* Each name has one thread that slept for the whole interval. */
static struct causes *sleeping_names(void)
{
    struct causes *causes = calloc(1, sizeof *causes);

    assert_non_null(causes);
    for (uint32_t i = 0; i < 3; i++)
        causes->groups[causes->group_count++] =
            (struct camp_states_group){ .number = i, .kind = CAMP_GROUP_OTHER + i };
    for (uint32_t i = 3; i < 3 + NAMES; i++) {
        causes->groups[causes->group_count++] =
            (struct camp_states_group){ .number = i, .kind = CAMP_GROUP_NAME };
        causes->state_ns[i][CAMP_STATE_TIMER] = 100;
        assert_true(cause_add(&causes->rows,
                              &(struct cause){ i, CAMP_STATE_TIMER, CAUSE_NOT_ENDED, 0, 100 }));
    }
    return causes;
}

static void release(struct causes *causes)
{
    free(causes->rows.items);
    free(causes);
}

static void groups_that_did_nothing_are_quiet_when_numbers_are_scarce(void **state)
{
    struct causes *causes = sleeping_names();
    uint64_t quiet;

    (void)state;
    causes->state_ns[4][CAMP_STATE_USER] = 1;
    assert_true(cause_add(&causes->rows,
                          &(struct cause){ 6, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 9, 1 }));
    assert_true(
        cause_add(&causes->rows, &(struct cause){ 6, CAMP_STATE_DISK, CAMP_CAUSE_DEVICE, 12, 1 }));
    quiet = cause_quiet_groups(causes);
    for (uint32_t i = 0; i < CAUSE_GROUPS; i++)
        assert_int_equal(quiet >> i & 1, i >= 3 && i < 3 + NAMES && i != 4 && i != 6 && i != 9);
    causes->group_count = 30;
    assert_int_equal(cause_quiet_groups(causes), 0);
    release(causes);
}

static void the_times_of_a_released_group_are_those_of_the_others(void **state)
{
    struct cause_list list = { 0 };
    const struct cause rows[] = {
        { 0, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 0, 1 },
        { 0, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 5, 2 },
        { 0, CAMP_STATE_DISK, CAMP_CAUSE_DEVICE, 5, 4 },
        { 5, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 5, 8 },
        { 5, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 7, 16 },
        { 7, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 5, 32 },
    };
    uint64_t sum = 0;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(cause_add(&list, &rows[i]));
    cause_move_released(&list, 0, 0);
    assert_int_equal(list.count, 6);
    cause_move_released(&list, 1u << 5, 0);
    assert_int_equal(list.count, 4);
    for (size_t i = 0; i < list.count; i++) {
        const struct cause *row = &list.items[i];

        assert_true(i == 0 || row[-1].group < row->group ||
                    (row[-1].group == row->group && row[-1].state <= row->state));
        assert_true(row->group != 5 && (row->kind == CAMP_CAUSE_DEVICE || row->id != 5));
        sum += row->wait_ns;
        if (row->group == 0 && row->kind == CAMP_CAUSE_GROUP && row->id == 0)
            assert_int_equal(row->wait_ns, 1 + 2 + 8);
    }
    assert_int_equal(sum, 63);
    free(list.items);
}

static void a_number_is_released_until_another_group_has_it(void **state)
{
    struct causes *causes = sleeping_names();
    const uint64_t released = UINT64_C(1) << 5 | UINT64_C(1) << 62;

    (void)state;
    assert_int_equal(cause_still_released(causes, 0), 0);
    assert_true(cause_still_released(causes, released) == UINT64_C(1) << 62);
    causes->group_count = 5; /* the first ones, up to number 4 */
    assert_true(cause_still_released(causes, released) == released);
    release(causes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_that_did_nothing_are_quiet_when_numbers_are_scarce),
        cmocka_unit_test(a_number_is_released_until_another_group_has_it),
        cmocka_unit_test(the_times_of_a_released_group_are_those_of_the_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
