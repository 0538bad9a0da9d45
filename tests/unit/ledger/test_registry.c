#include "ledger/registry.h"

#include "../tree.h"

#include <stdio.h>
#include <string.h>

static struct entity entity_of(int64_t id, const char *name, uint32_t flags)
{
    struct entity entity = { .id = id, .flags = flags, .count = 1 };

    snprintf(entity.name, sizeof entity.name, "%s", name);
    return entity;
}

static uint32_t find(struct registry *registry, struct entity entity, enum registry_match expected)
{
    enum registry_match match;
    uint32_t number;

    assert_int_equal(registry_enter(registry, &entity, &number, &match), CAMP_OK);
    assert_int_equal(match, expected);
    assert_true(registry_is_present(registry, number));
    return number;
}

static void an_entity_keeps_its_number_in_all_frames(void **state)
{
    struct registry registry = { 0 };

    (void)state;
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(7, "a", 0), REGISTRY_NEW), 0);
    assert_int_equal(find(&registry, entity_of(8, "a", 0), REGISTRY_NEW), 1);
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(8, "a", 0), REGISTRY_KNOWN), 1);
    assert_false(registry_is_present(&registry, 0));
    assert_int_equal(find(&registry, entity_of(7, "b", ENTITY_ENDED), REGISTRY_CHANGED), 0);
    assert_string_equal(registry.entities[0].entity.name, "b");
    registry_release(&registry);
}

static void an_entity_without_an_id_is_identified_by_its_name(void **state)
{
    struct registry registry = { 0 };

    (void)state;
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(0, "sh", ENTITY_ENDED), REGISTRY_NEW), 0);
    assert_int_equal(find(&registry, entity_of(0, "ls", ENTITY_ENDED), REGISTRY_NEW), 1);
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(0, "ls", ENTITY_ENDED | ENTITY_NEW), REGISTRY_KNOWN),
                     1);
    registry_release(&registry);
}

static void a_new_entity_with_a_reused_id_gets_a_new_number(void **state)
{
    struct registry registry = { 0 };

    (void)state;
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(7, "a", ENTITY_NEW), REGISTRY_NEW), 0);
    assert_int_equal(find(&registry, entity_of(7, "a", ENTITY_NEW), REGISTRY_KNOWN), 0);
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(7, "a", ENTITY_NEW), REGISTRY_NEW), 1);
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(7, "a", 0), REGISTRY_KNOWN), 1);
    registry_release(&registry);
}

/* The registry first looks whether an entity follows the one before, as in the last frame. */
static void a_reused_id_is_not_that_of_an_old_entity_in_the_same_order(void **state)
{
    struct registry registry = { 0 };

    (void)state;
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(7, "a", 0), REGISTRY_NEW), 0);
    assert_int_equal(find(&registry, entity_of(8, "a", 0), REGISTRY_NEW), 1);
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(7, "a", 0), REGISTRY_KNOWN), 0);
    assert_int_equal(find(&registry, entity_of(8, "a", ENTITY_NEW), REGISTRY_NEW), 2);
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(7, "a", 0), REGISTRY_KNOWN), 0);
    assert_int_equal(find(&registry, entity_of(8, "a", 0), REGISTRY_KNOWN), 2);
    registry_release(&registry);
}

static void an_entity_with_other_labels_is_reported_as_changed(void **state)
{
    const char *const red[] = { "red" }, *const blue[] = { "blue" };
    struct entity entity = entity_of(7, "a", 0);
    struct registry registry = { 0 };

    (void)state;
    entity.labels = labels_intern(red, 1);
    registry_start_frame(&registry);
    find(&registry, entity, REGISTRY_NEW);
    registry_start_frame(&registry);
    entity.labels = labels_intern(red, 1);
    find(&registry, entity, REGISTRY_KNOWN);
    registry_start_frame(&registry);
    entity.labels = labels_intern(blue, 1);
    find(&registry, entity, REGISTRY_RELABELED);
    assert_string_equal(labels_value(registry.entities[0].entity.labels, 0), "blue");
    registry_release(&registry);
}

static void a_hundred_thousand_entities_get_different_numbers(void **state)
{
    struct registry registry = { 0 };
    enum registry_match match;
    uint32_t number;

    (void)state;
    for (int round = 0; round < 2; round++) {
        registry_start_frame(&registry);
        for (uint32_t i = 0; i < 100000; i++) {
            const struct entity entity = { .id = 1 + (int64_t)i * 4096 };

            assert_int_equal(registry_enter(&registry, &entity, &number, &match), CAMP_OK);
            assert_int_equal(number, i);
            assert_int_equal(match, round == 0 ? REGISTRY_NEW : REGISTRY_KNOWN);
        }
    }
    registry_release(&registry);
}

static void the_number_of_an_expired_entity_is_reused(void **state)
{
    struct registry registry = { 0 };

    (void)state;
    registry_start_frame(&registry);
    for (int i = 0; i < 100; i++)
        find(&registry, entity_of(i + 1, "a", 0), REGISTRY_NEW);
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(8, "a", ENTITY_NEW), REGISTRY_NEW), 100);
    assert_int_equal(find(&registry, entity_of(50, "a", 0), REGISTRY_KNOWN), 49);
    registry_expire(&registry, 2);
    assert_int_equal(registry.spare_count, 99);
    registry_expire(&registry, 2); /* the second call must not add a free number again */
    assert_int_equal(registry.spare_count, 99);
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(8, "a", 0), REGISTRY_KNOWN), 100);
    assert_int_equal(find(&registry, entity_of(50, "a", 0), REGISTRY_KNOWN), 49);
    for (int i = 0; i < 99; i++) {
        const uint32_t number = find(&registry, entity_of(1000 + i, "b", 0), REGISTRY_NEW);

        assert_true(number < 100 && number != 49);
    }
    assert_int_equal(find(&registry, entity_of(1, "a", 0), REGISTRY_NEW), 101);
    registry_expire(&registry, 3);
    assert_int_equal(registry.spare_count, 0);
    registry_release(&registry);
}

/* Two entities have the same id. After an expiry the id belongs to the entity that was seen last,
 * also if its number is smaller. */
static void a_reused_id_belongs_to_the_entity_that_was_seen_last(void **state)
{
    struct registry registry = { 0 };

    (void)state;
    registry_start_frame(&registry);
    find(&registry, entity_of(1, "gone", 0), REGISTRY_NEW);
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(7, "old", 0), REGISTRY_NEW), 1);
    registry_expire(&registry, 2);
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(7, "young", ENTITY_NEW), REGISTRY_NEW), 0);
    registry_expire(&registry, 2);
    registry_start_frame(&registry);
    assert_int_equal(find(&registry, entity_of(7, "young", 0), REGISTRY_KNOWN), 0);
    registry_release(&registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entity_keeps_its_number_in_all_frames),
        cmocka_unit_test(an_entity_without_an_id_is_identified_by_its_name),
        cmocka_unit_test(a_new_entity_with_a_reused_id_gets_a_new_number),
        cmocka_unit_test(a_reused_id_is_not_that_of_an_old_entity_in_the_same_order),
        cmocka_unit_test(an_entity_with_other_labels_is_reported_as_changed),
        cmocka_unit_test(a_hundred_thousand_entities_get_different_numbers),
        cmocka_unit_test(the_number_of_an_expired_entity_is_reused),
        cmocka_unit_test(a_reused_id_belongs_to_the_entity_that_was_seen_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
