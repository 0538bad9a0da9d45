/* Groups that come, go, lose their places: all adds up at any time, and nothing falls. */
#include "ledger/standings.h"

#include "../tree.h"

#define WIDTH 3
#define SECOND UINT64_C(1000000000)

static struct standing_key key_of(uint64_t number)
{
    struct standing_key key = { .number = number };

    return key;
}

static uint32_t group_of(struct standings *standings, uint64_t number)
{
    const struct standing_key key = key_of(number);
    uint32_t group = 0;

    assert_int_equal(standings_find(standings, &key, &group), CAMP_OK);
    return group;
}

static void look_at(struct standings *standings, const uint64_t *ns, size_t count)
{
    standings_begin(standings, SECOND);
    for (size_t i = 0; i < count; i++) {
        const uint64_t values[WIDTH] = { ns[i], 1, 2 * ns[i] };

        standings_add(standings, group_of(standings, i), values, ns[i]);
    }
    assert_int_equal(standings_settle(standings), CAMP_OK);
}

static const uint64_t *shown_of(struct standings *standings, uint64_t number)
{
    return standings->groups[group_of(standings, number)].shown;
}

static void assert_adds_up(const struct standings *standings)
{
    for (size_t i = 0; i < standings->width; i++) {
        uint64_t sum = standings->other[i] + standings->retired[i];

        for (size_t k = 0; k < standings->count; k++)
            sum += standings->groups[k].shown != NULL ? standings->groups[k].shown[i] : 0;
        assert_int_equal(sum, standings->total[i]);
    }
}

static void those_with_the_most_are_shown_from_their_first_look_on(void **state)
{
    const uint64_t ns[] = { 5, 30, 20, 10 };
    struct standings standings;

    (void)state;
    assert_int_equal(standings_init(&standings, WIDTH, 2), CAMP_OK);
    look_at(&standings, ns, COUNT(ns));
    assert_int_equal(shown_of(&standings, 1)[0], 30);
    assert_int_equal(shown_of(&standings, 2)[2], 40);
    assert_null(shown_of(&standings, 0));
    assert_int_equal(standings.other[0], 15);
    assert_adds_up(&standings);
    standings_release(&standings);
}

static void who_is_a_little_better_does_not_take_a_place(void **state)
{
    const uint64_t first[] = { SECOND, SECOND / 2, 0 };
    const uint64_t later[] = { SECOND, SECOND / 2, SECOND / 10 * 6 };
    struct standings standings;

    (void)state;
    assert_int_equal(standings_init(&standings, WIDTH, 2), CAMP_OK);
    look_at(&standings, first, COUNT(first));
    for (int i = 0; i < 500; i++)
        look_at(&standings, later, COUNT(later));
    assert_non_null(shown_of(&standings, 1));
    assert_null(shown_of(&standings, 2));
    assert_int_equal(standings.demoted, 0);
    standings_release(&standings);
}

static void who_is_clearly_better_does_and_the_other_retires(void **state)
{
    const uint64_t first[] = { SECOND, SECOND / 10, 0 };
    const uint64_t later[] = { SECOND, SECOND / 10, SECOND / 2 };
    struct standings standings;

    (void)state;
    assert_int_equal(standings_init(&standings, WIDTH, 2), CAMP_OK);
    look_at(&standings, first, COUNT(first));
    for (int i = 0; i < 100; i++) {
        look_at(&standings, later, COUNT(later));
        assert_adds_up(&standings);
    }
    assert_null(shown_of(&standings, 1));
    assert_non_null(shown_of(&standings, 2));
    assert_int_equal(standings.demoted, 1);
    assert_true(standings.retired[0] >= SECOND / 10);
    standings_release(&standings);
}

static void who_comes_back_begins_anew(void **state)
{
    const uint64_t left[] = { SECOND, 0 }, right[] = { 0, SECOND };
    struct standings standings;
    uint64_t before;

    (void)state;
    assert_int_equal(standings_init(&standings, WIDTH, 1), CAMP_OK);
    look_at(&standings, left, 2);
    while (shown_of(&standings, 1) == NULL)
        look_at(&standings, right, 2);
    before = standings.retired[0];
    assert_int_equal(before, SECOND);
    while (shown_of(&standings, 0) == NULL)
        look_at(&standings, left, 2);
    assert_int_equal(shown_of(&standings, 0)[0], SECOND);
    assert_true(standings.retired[0] > before);
    assert_adds_up(&standings);
    standings_release(&standings);
}

/* Of any group: a series that goes on never falls. */
static void over_random_looks_all_adds_up_and_nothing_falls(void **state)
{
    enum { GROUPS = 3000, LOOKS = 400 };
    uint64_t *shown = calloc(GROUPS, sizeof *shown), total = 0, other = 0, retired = 0;
    struct standings standings;

    (void)state;
    srand(7);
    assert_non_null(shown);
    assert_int_equal(standings_init(&standings, WIDTH, 5), CAMP_OK);
    for (int look = 0; look < LOOKS; look++) {
        standings_begin(&standings, SECOND);
        for (int i = 0; i < 60; i++) {
            const uint64_t number = (uint64_t)(look / 20 * 100 + rand() % 100) % GROUPS;
            const uint64_t ns = (uint64_t)(rand() % 1000) * (number % 7) * 1000000;
            const uint64_t values[WIDTH] = { ns, 1, 0 };

            standings_add(&standings, group_of(&standings, number), values, ns);
        }
        assert_int_equal(standings_settle(&standings), CAMP_OK);
        assert_adds_up(&standings);
        assert_true(standings.total[0] >= total && standings.other[0] >= other &&
                    standings.retired[0] >= retired);
        total = standings.total[0];
        other = standings.other[0];
        retired = standings.retired[0];
        for (size_t i = 0; i < standings.count; i++) {
            const struct standing *group = &standings.groups[i];
            uint64_t *before = &shown[group->key.number];

            assert_true(group->shown == NULL || group->shown[0] >= *before);
            *before = group->shown != NULL ? group->shown[0] : 0;
        }
    }
    assert_true(standings.demoted > 10);
    assert_int_equal(standings.shown_count, 5);
    free(shown);
    standings_release(&standings);
}

static void those_that_are_gone_are_forgotten_and_their_time_is_not(void **state)
{
    struct standings standings;
    bool forgot = false;

    (void)state;
    assert_int_equal(standings_init(&standings, WIDTH, 2), CAMP_OK);
    for (uint64_t look = 0; look < 100; look++) {
        forgot |= standings_begin(&standings, SECOND);
        for (uint64_t i = 0; i < 100; i++) {
            const uint64_t values[WIDTH] = { 1, 1, 1 };

            standings_add(&standings, group_of(&standings, 100 * look + i), values, 1);
        }
        assert_int_equal(standings_settle(&standings), CAMP_OK);
    }
    assert_true(forgot);
    assert_true(standings.count < 2500);
    assert_int_equal(standings.total[0], 10000);
    assert_adds_up(&standings);
    standings_release(&standings);
}

static void a_look_that_failed_is_booked_with_the_next(void **state)
{
    const uint64_t values[WIDTH] = { 7, 0, 0 };
    struct standings standings;

    (void)state;
    assert_int_equal(standings_init(&standings, WIDTH, 2), CAMP_OK);
    standings_begin(&standings, SECOND);
    standings_add(&standings, group_of(&standings, 1), values, 7);
    standings_begin(&standings, SECOND);
    assert_int_equal(standings_settle(&standings), CAMP_OK);
    assert_int_equal(standings.total[0], 7);
    assert_adds_up(&standings);
    standings_release(&standings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_with_the_most_are_shown_from_their_first_look_on),
        cmocka_unit_test(who_is_a_little_better_does_not_take_a_place),
        cmocka_unit_test(who_is_clearly_better_does_and_the_other_retires),
        cmocka_unit_test(who_comes_back_begins_anew),
        cmocka_unit_test(over_random_looks_all_adds_up_and_nothing_falls),
        cmocka_unit_test(those_that_are_gone_are_forgotten_and_their_time_is_not),
        cmocka_unit_test(a_look_that_failed_is_booked_with_the_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
