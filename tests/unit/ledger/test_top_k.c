#include "ledger/top_k.h"

#include "../tree.h"

#define WIDTH 3
#define NEW_AN_HOUR 20
#define SECOND UINT64_C(1000000000)

static struct top_k_key key_of(uint64_t number)
{
    struct top_k_key key = { .number = number };

    return key;
}

static uint32_t group_of(struct top_k *top, uint64_t number)
{
    const struct top_k_key key = key_of(number);
    uint32_t group = 0;

    assert_int_equal(top_k_find(top, &key, &group), CAMP_OK);
    return group;
}

static void add_snapshot(struct top_k *top, const uint64_t *ns, size_t count)
{
    top_k_start(top, SECOND);
    for (size_t i = 0; i < count; i++) {
        const uint64_t values[WIDTH] = { ns[i], 1, 2 * ns[i] };

        top_k_add(top, group_of(top, i), values, ns[i]);
    }
    assert_int_equal(top_k_finish(top), CAMP_OK);
}

static const uint64_t *shown_of(struct top_k *top, uint64_t number)
{
    return top->groups[group_of(top, number)].shown;
}

static void assert_adds_up(const struct top_k *top)
{
    for (size_t i = 0; i < top->width; i++) {
        uint64_t sum = top->other[i] + top->retired[i];

        for (size_t k = 0; k < top->count; k++)
            sum += top->groups[k].shown != NULL ? top->groups[k].shown[i] : 0;
        assert_int_equal(sum, top->total[i]);
    }
}

static void the_largest_groups_are_shown_from_the_first_snapshot_on(void **state)
{
    const uint64_t ns[] = { 5, 30, 20, 10 };
    struct top_k top;

    (void)state;
    assert_int_equal(top_k_init(&top, WIDTH, 2, NEW_AN_HOUR), CAMP_OK);
    add_snapshot(&top, ns, COUNT(ns));
    assert_int_equal(shown_of(&top, 1)[0], 30);
    assert_int_equal(shown_of(&top, 2)[2], 40);
    assert_null(shown_of(&top, 0));
    assert_int_equal(top.other[0], 15);
    assert_adds_up(&top);
    top_k_release(&top);
}

static void a_hidden_group_with_a_slightly_higher_score_stays_hidden(void **state)
{
    const uint64_t first[] = { SECOND, SECOND / 2, 0 };
    const uint64_t later[] = { SECOND, SECOND / 2, SECOND / 10 * 6 };
    struct top_k top;

    (void)state;
    assert_int_equal(top_k_init(&top, WIDTH, 2, NEW_AN_HOUR), CAMP_OK);
    add_snapshot(&top, first, COUNT(first));
    for (int i = 0; i < 500; i++)
        add_snapshot(&top, later, COUNT(later));
    assert_non_null(shown_of(&top, 1));
    assert_null(shown_of(&top, 2));
    assert_int_equal(top.demoted, 0);
    top_k_release(&top);
}

static void a_group_with_a_clearly_higher_score_replaces_a_shown_group(void **state)
{
    const uint64_t first[] = { SECOND, SECOND / 10, 0 };
    const uint64_t later[] = { SECOND, SECOND / 10, SECOND / 2 };
    struct top_k top;

    (void)state;
    assert_int_equal(top_k_init(&top, WIDTH, 2, NEW_AN_HOUR), CAMP_OK);
    add_snapshot(&top, first, COUNT(first));
    for (int i = 0; i < 100; i++) {
        add_snapshot(&top, later, COUNT(later));
        assert_adds_up(&top);
    }
    assert_null(shown_of(&top, 1));
    assert_non_null(shown_of(&top, 2));
    assert_int_equal(top.demoted, 1);
    assert_true(top.retired[0] >= SECOND / 10);
    top_k_release(&top);
}

static void a_group_that_is_shown_again_starts_at_zero(void **state)
{
    const uint64_t left[] = { SECOND, 0 }, right[] = { 0, SECOND };
    struct top_k top;
    uint64_t before;

    (void)state;
    assert_int_equal(top_k_init(&top, WIDTH, 1, NEW_AN_HOUR), CAMP_OK);
    add_snapshot(&top, left, 2);
    while (shown_of(&top, 1) == NULL)
        add_snapshot(&top, right, 2);
    before = top.retired[0];
    assert_int_equal(before, SECOND);
    while (shown_of(&top, 0) == NULL)
        add_snapshot(&top, left, 2);
    assert_int_equal(shown_of(&top, 0)[0], SECOND);
    assert_true(top.retired[0] > before);
    assert_adds_up(&top);
    top_k_release(&top);
}

/* Each second a new group has the most active time. */
static uint64_t replacements(struct top_k *top, uint64_t first, int seconds)
{
    const uint64_t before = top->demoted;

    for (int i = 0; i < seconds; i++) {
        const uint64_t ns = SECOND << (i % 20), values[WIDTH] = { ns, 1, 2 * ns };

        /* Clears the scores of older groups, as a long pause would, without the allowance that a
         * long pause would add. */
        for (uint32_t k = 0; k < top->count; k++)
            top->groups[k].score = 0;
        top_k_start(top, SECOND);
        top_k_add(top, group_of(top, first + (uint64_t)i), values, ns);
        assert_int_equal(top_k_finish(top), CAMP_OK);
        assert_adds_up(top);
    }
    return top->demoted - before;
}

static void names_that_change_each_second_get_few_counters_of_their_own(void **state)
{
    struct top_k top;

    (void)state;
    assert_int_equal(top_k_init(&top, WIDTH, 2, NEW_AN_HOUR), CAMP_OK);
    assert_int_equal(replacements(&top, 1, 100), NEW_AN_HOUR);
    assert_int_equal(top.shown_count, 2);
    assert_int_equal(top.deferred, 100 - 2 - NEW_AN_HOUR);
    assert_true(top.other[0] > 0);
    /* 20 in the next hour, and after two quiet hours no more than are saved up */
    assert_in_range(replacements(&top, 1000, 3600), 20, 21);
    top_k_start(&top, 7200 * SECOND);
    assert_int_equal(top_k_finish(&top), CAMP_OK);
    assert_in_range(replacements(&top, 10000, 100), NEW_AN_HOUR, NEW_AN_HOUR + 1);
    top_k_release(&top);
}

static void counters_of_groups_add_up_and_never_decrease_over_random_snapshots(void **state)
{
    enum { GROUPS = 3000, SNAPSHOTS = 400 };
    uint64_t *shown = calloc(GROUPS, sizeof *shown), total = 0, other = 0, retired = 0;
    struct top_k top;

    (void)state;
    srand(7);
    assert_non_null(shown);
    assert_int_equal(top_k_init(&top, WIDTH, 5, NEW_AN_HOUR), CAMP_OK);
    for (int snapshot = 0; snapshot < SNAPSHOTS; snapshot++) {
        top_k_start(&top, SECOND);
        for (int i = 0; i < 60; i++) {
            const uint64_t number = (uint64_t)(snapshot / 20 * 100 + rand() % 100) % GROUPS;
            const uint64_t ns = (uint64_t)(rand() % 1000) * (number % 7) * 1000000;
            const uint64_t values[WIDTH] = { ns, 1, 0 };

            top_k_add(&top, group_of(&top, number), values, ns);
        }
        assert_int_equal(top_k_finish(&top), CAMP_OK);
        assert_adds_up(&top);
        assert_true(top.total[0] >= total && top.other[0] >= other && top.retired[0] >= retired);
        total = top.total[0];
        other = top.other[0];
        retired = top.retired[0];
        for (size_t i = 0; i < top.count; i++) {
            const struct top_k_group *group = &top.groups[i];
            uint64_t *before = &shown[group->key.number];

            assert_true(group->shown == NULL || group->shown[0] >= *before);
            *before = group->shown != NULL ? group->shown[0] : 0;
        }
    }
    assert_true(top.demoted > 10);
    assert_int_equal(top.shown_count, 5);
    free(shown);
    top_k_release(&top);
}

/* The names of an hour of churn: what hostile users would do to get many names shown. */
static uint64_t churning_name(int kind, int second)
{
    switch (kind) {
    case 0: /* a new name each second */
        return (uint64_t)second;
    case 1: /* each name is used for five minutes, so that its score rises */
        return (uint64_t)second / 300;
    case 2: /* names come back */
        return (uint64_t)(second / 7 % 50);
    default:
        return (uint64_t)rand() % 10000;
    }
}

/* Simulates 3,600 snapshots, one each second. Returns the number of names that were ever shown. */
static size_t shown_in_an_hour(int kind, size_t max_shown, size_t new_an_hour)
{
    enum { NAMES = 10000 };
    static uint64_t last[NAMES];
    static bool was_shown[NAMES];
    uint64_t other = 0, retired = 0;
    size_t ever = 0, starts = 0;
    struct top_k top;

    memset(last, 0, sizeof last);
    memset(was_shown, 0, sizeof was_shown);
    assert_int_equal(top_k_init(&top, WIDTH, max_shown, new_an_hour), CAMP_OK);
    for (int second = 0; second < 3600; second++) {
        top_k_start(&top, SECOND);
        for (int user = 0; user < 4; user++) {
            /* each second costs a little more than the one before */
            const uint64_t ns = SECOND + (uint64_t)second * 1000000, values[WIDTH] = { ns, 1, 0 };
            const uint64_t name = (churning_name(kind, second) + (uint64_t)user * 2500) % NAMES;

            top_k_add(&top, group_of(&top, name), values, ns);
        }
        assert_int_equal(top_k_finish(&top), CAMP_OK);
        assert_adds_up(&top);
        assert_true(top.other[0] >= other && top.retired[0] >= retired);
        other = top.other[0];
        retired = top.retired[0];
        for (size_t i = 0; i < top.count; i++) {
            const uint64_t name = top.groups[i].key.number, *shown = top.groups[i].shown;

            /* a series only grows while it is shown, and starts again at a replacement */
            assert_true(shown == NULL || shown[0] >= last[name] || last[name] == 0);
            starts += shown != NULL && last[name] == 0;
            last[name] = shown != NULL ? shown[0] : 0;
            ever += shown != NULL && !was_shown[name];
            was_shown[name] |= shown != NULL;
        }
    }
    assert_true(ever <= starts);
    assert_int_equal(starts, max_shown + top.demoted);
    top_k_release(&top);
    return starts;
}

static void an_hour_of_hostile_names_shows_no_more_than_the_documented_bound(void **state)
{
    static const size_t limits[][2] = { { 20, 20 }, { 5, 60 }, { 3, 0 }, { 1, 1 }, { 8, 3600 } };

    (void)state;
    srand(11);
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i < COUNT(limits); i++) {
            const size_t shown = limits[i][0], renewed = limits[i][1];
            const size_t ever = shown_in_an_hour(kind, shown, renewed);

            assert_true(ever <= shown + 2 * renewed);
            /* hostile names do reach the bound: the hour is not harmless */
            assert_true(kind != 1 || renewed == 0 || renewed > 20 || ever > shown);
        }
    }
}

static void the_time_of_groups_that_disappeared_long_ago_is_kept(void **state)
{
    struct top_k top;
    bool forgot = false;

    (void)state;
    assert_int_equal(top_k_init(&top, WIDTH, 2, NEW_AN_HOUR), CAMP_OK);
    for (uint64_t snapshot = 0; snapshot < 100; snapshot++) {
        forgot |= top_k_start(&top, SECOND);
        for (uint64_t i = 0; i < 100; i++) {
            const uint64_t values[WIDTH] = { 1, 1, 1 };

            top_k_add(&top, group_of(&top, 100 * snapshot + i), values, 1);
        }
        assert_int_equal(top_k_finish(&top), CAMP_OK);
    }
    assert_true(forgot);
    assert_true(top.count < 2500);
    assert_int_equal(top.total[0], 10000);
    assert_adds_up(&top);
    top_k_release(&top);
}

static void the_time_of_an_unfinished_snapshot_is_added_to_the_next_one(void **state)
{
    const uint64_t values[WIDTH] = { 7, 0, 0 };
    struct top_k top;

    (void)state;
    assert_int_equal(top_k_init(&top, WIDTH, 2, NEW_AN_HOUR), CAMP_OK);
    top_k_start(&top, SECOND);
    top_k_add(&top, group_of(&top, 1), values, 7);
    top_k_start(&top, SECOND);
    assert_int_equal(top_k_finish(&top), CAMP_OK);
    assert_int_equal(top.total[0], 7);
    assert_adds_up(&top);
    top_k_release(&top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_groups_are_shown_from_the_first_snapshot_on),
        cmocka_unit_test(a_hidden_group_with_a_slightly_higher_score_stays_hidden),
        cmocka_unit_test(a_group_with_a_clearly_higher_score_replaces_a_shown_group),
        cmocka_unit_test(a_group_that_is_shown_again_starts_at_zero),
        cmocka_unit_test(names_that_change_each_second_get_few_counters_of_their_own),
        cmocka_unit_test(counters_of_groups_add_up_and_never_decrease_over_random_snapshots),
        cmocka_unit_test(an_hour_of_hostile_names_shows_no_more_than_the_documented_bound),
        cmocka_unit_test(the_time_of_groups_that_disappeared_long_ago_is_kept),
        cmocka_unit_test(the_time_of_an_unfinished_snapshot_is_added_to_the_next_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
