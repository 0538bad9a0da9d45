/* The roster: numbers of entities over frames that follow each other. */
#include "ledger/roster.h"

#include "../tree.h"

#include <stdio.h>
#include <string.h>

static struct entity entity_of(int64_t id, const char *name, uint32_t flags)
{
    struct entity entity = { .id = id, .flags = flags, .count = 1 };

    snprintf(entity.name, sizeof entity.name, "%s", name);
    return entity;
}

static uint32_t find(struct roster *roster, struct entity entity, enum roster_news expected)
{
    enum roster_news news;
    uint32_t number;

    assert_int_equal(roster_find(roster, &entity, &number, &news), CAMP_OK);
    assert_int_equal(news, expected);
    assert_true(roster_is_there(roster, number));
    return number;
}

static void an_entity_keeps_its_number(void **state)
{
    struct roster roster = { 0 };

    (void)state;
    roster_begin(&roster);
    assert_int_equal(find(&roster, entity_of(7, "a", 0), ROSTER_NEW), 0);
    assert_int_equal(find(&roster, entity_of(8, "a", 0), ROSTER_NEW), 1);
    roster_begin(&roster);
    assert_int_equal(find(&roster, entity_of(8, "a", 0), ROSTER_KNOWN), 1);
    assert_false(roster_is_there(&roster, 0));
    assert_int_equal(find(&roster, entity_of(7, "b", ENTITY_ENDED), ROSTER_CHANGED), 0);
    assert_string_equal(roster.entities[0].entity.name, "b");
    roster_release(&roster);
}

static void who_has_no_id_is_told_by_its_name(void **state)
{
    struct roster roster = { 0 };

    (void)state;
    roster_begin(&roster);
    assert_int_equal(find(&roster, entity_of(0, "sh", ENTITY_ENDED), ROSTER_NEW), 0);
    assert_int_equal(find(&roster, entity_of(0, "ls", ENTITY_ENDED), ROSTER_NEW), 1);
    roster_begin(&roster);
    assert_int_equal(find(&roster, entity_of(0, "ls", ENTITY_ENDED | ENTITY_NEW), ROSTER_KNOWN), 1);
    roster_release(&roster);
}

static void who_is_new_takes_over_nothing(void **state)
{
    struct roster roster = { 0 };

    (void)state;
    roster_begin(&roster);
    assert_int_equal(find(&roster, entity_of(7, "a", ENTITY_NEW), ROSTER_NEW), 0);
    assert_int_equal(find(&roster, entity_of(7, "a", ENTITY_NEW), ROSTER_KNOWN), 0);
    roster_begin(&roster);
    assert_int_equal(find(&roster, entity_of(7, "a", ENTITY_NEW), ROSTER_NEW), 1);
    roster_begin(&roster);
    assert_int_equal(find(&roster, entity_of(7, "a", 0), ROSTER_KNOWN), 1);
    roster_release(&roster);
}

static void other_labels_are_news(void **state)
{
    const char *const red[] = { "red" }, *const blue[] = { "blue" };
    struct entity entity = entity_of(7, "a", 0);
    struct roster roster = { 0 };

    (void)state;
    entity.labels = labels_intern(red, 1);
    roster_begin(&roster);
    find(&roster, entity, ROSTER_NEW);
    roster_begin(&roster);
    entity.labels = labels_intern(red, 1);
    find(&roster, entity, ROSTER_KNOWN);
    roster_begin(&roster);
    entity.labels = labels_intern(blue, 1);
    find(&roster, entity, ROSTER_CHANGED);
    assert_string_equal(labels_value(roster.entities[0].entity.labels, 0), "blue");
    roster_release(&roster);
}

static void many_are_told_apart(void **state)
{
    struct roster roster = { 0 };
    enum roster_news news;
    uint32_t number;

    (void)state;
    for (int round = 0; round < 2; round++) {
        roster_begin(&roster);
        for (uint32_t i = 0; i < 100000; i++) {
            const struct entity entity = { .id = 1 + (int64_t)i * 4096 };

            assert_int_equal(roster_find(&roster, &entity, &number, &news), CAMP_OK);
            assert_int_equal(number, i);
            assert_int_equal(news, round == 0 ? ROSTER_NEW : ROSTER_KNOWN);
        }
    }
    roster_release(&roster);
}

static void a_forgotten_number_is_given_again(void **state)
{
    struct roster roster = { 0 };

    (void)state;
    roster_begin(&roster);
    for (int i = 0; i < 100; i++)
        find(&roster, entity_of(i + 1, "a", 0), ROSTER_NEW);
    roster_begin(&roster);
    assert_int_equal(find(&roster, entity_of(8, "a", ENTITY_NEW), ROSTER_NEW), 100);
    assert_int_equal(find(&roster, entity_of(50, "a", 0), ROSTER_KNOWN), 49);
    roster_forget(&roster, 2);
    assert_int_equal(roster.spare_count, 99);
    roster_forget(&roster, 2); /* a number that is free already is given once */
    assert_int_equal(roster.spare_count, 99);
    roster_begin(&roster);
    assert_int_equal(find(&roster, entity_of(8, "a", 0), ROSTER_KNOWN), 100);
    assert_int_equal(find(&roster, entity_of(50, "a", 0), ROSTER_KNOWN), 49);
    for (int i = 0; i < 99; i++) {
        const uint32_t number = find(&roster, entity_of(1000 + i, "b", 0), ROSTER_NEW);

        assert_true(number < 100 && number != 49);
    }
    assert_int_equal(find(&roster, entity_of(1, "a", 0), ROSTER_NEW), 101);
    roster_forget(&roster, 3);
    assert_int_equal(roster.spare_count, 0);
    roster_release(&roster);
}

/* The same id twice: the one that was met last has it, whatever their numbers are. */
static void who_was_met_last_has_the_id_after_others_were_forgotten(void **state)
{
    struct roster roster = { 0 };

    (void)state;
    roster_begin(&roster);
    find(&roster, entity_of(1, "gone", 0), ROSTER_NEW);
    roster_begin(&roster);
    assert_int_equal(find(&roster, entity_of(7, "old", 0), ROSTER_NEW), 1);
    roster_forget(&roster, 2);
    roster_begin(&roster);
    assert_int_equal(find(&roster, entity_of(7, "young", ENTITY_NEW), ROSTER_NEW), 0);
    roster_forget(&roster, 2);
    roster_begin(&roster);
    assert_int_equal(find(&roster, entity_of(7, "young", 0), ROSTER_KNOWN), 0);
    roster_release(&roster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entity_keeps_its_number),
        cmocka_unit_test(who_has_no_id_is_told_by_its_name),
        cmocka_unit_test(who_is_new_takes_over_nothing),
        cmocka_unit_test(other_labels_are_news),
        cmocka_unit_test(many_are_told_apart),
        cmocka_unit_test(a_forgotten_number_is_given_again),
        cmocka_unit_test(who_was_met_last_has_the_id_after_others_were_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
