/* Names of databases and roles by their numbers, and where a server's memory has the numbers. */
#include "sources/sessions/postgres/postgres_layout.h"
#include "sources/sessions/postgres/postgres_names.h"
#include "sources/sessions/postgres/postgres_registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#define NUMBERS_OFFSET 48
#define APPLICATION_OFFSET 240

static void a_name_is_found_by_its_number_and_replaced_by_a_later_one(void **state)
{
    struct postgres_names names = { 0 };
    char buffer[POSTGRES_NUMBER_SIZE];

    (void)state;
    for (uint32_t number = 5; number > 0; number--) {
        char name[16];

        snprintf(name, sizeof name, "database%u", number);
        assert_int_equal(postgres_names_add(&names, number, name), CAMP_OK);
    }
    assert_int_equal(postgres_names_add(&names, 3, "renamed"), CAMP_OK);
    assert_int_equal(names.count, 5);
    assert_string_equal(postgres_names_find(&names, 1, buffer), "database1");
    assert_string_equal(postgres_names_find(&names, 3, buffer), "renamed");
    assert_string_equal(postgres_names_find(&names, UINT32_MAX, buffer), "4294967295");
    assert_string_equal(postgres_names_find(&names, 0, buffer), "");
    postgres_names_release(&names);
    assert_string_equal(postgres_names_find(&names, 3, buffer), "3");
}

static void a_long_name_is_cut_and_ten_thousand_names_are_the_most(void **state)
{
    struct postgres_names names = { 0 };
    char text[100], buffer[POSTGRES_NUMBER_SIZE];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (uint32_t number = 1; number <= 10001; number++)
        assert_int_equal(postgres_names_add(&names, number, text), CAMP_OK);
    assert_int_equal(names.count, 10000);
    assert_int_equal(strlen(postgres_names_find(&names, 10000, buffer)), POSTGRES_NAME_SIZE - 1);
    assert_string_equal(postgres_names_find(&names, 10001, buffer), "10001");
    postgres_names_release(&names);
}

static void a_session_that_only_memory_knows_has_a_name_and_labels(void **state)
{
    struct postgres_registry registry = { 0 };
    const struct postgres_numbers numbers = { 16389, 16388 };
    const struct postgres_session session = { .user = "bob", .database = "" };
    struct postgres_process process = { 0 };

    (void)state;
    assert_int_equal(postgres_registry_add_names(&registry, &numbers, &session), CAMP_OK);
    postgres_registry_name(&registry, &numbers, "batch", &process);
    assert_string_equal(process.name, "bob@16389");
    assert_string_equal(labels_value(process.labels, 0), "bob");
    assert_string_equal(labels_value(process.labels, 1), "16389");
    assert_string_equal(labels_value(process.labels, 2), "batch");
    postgres_registry_release(&registry);
}

static const struct postgres_numbers numbers = { 5, 10 };
static const char application[] = "camp";
static unsigned char entry[POSTGRES_ENTRY_SIZE];

static void put(uint32_t offset, const void *value, size_t size)
{
    memcpy(entry + offset, value, size);
}

/* Makes an entry of this process, which has numbers that are like those at the right offset. */
static void make_entry(void)
{
    static const char others[] = "campaign";
    const uintptr_t pointer = (uintptr_t)application, wrong = (uintptr_t)others;
    const struct postgres_numbers swapped = { numbers.user, numbers.database };

    memset(entry, 0, sizeof entry);
    put(NUMBERS_OFFSET, &numbers, sizeof numbers);
    put(96, &swapped, sizeof swapped);
    put(APPLICATION_OFFSET, &pointer, sizeof pointer);
    put(APPLICATION_OFFSET + 2 * sizeof wrong, &wrong, sizeof wrong);
}

static void an_own_entry_reveals_where_memory_has_numbers_and_application(void **state)
{
    struct postgres_layout layout = { .pid = getpid() };

    (void)state;
    make_entry();
    postgres_layout_resolve_names(&layout, &numbers, application, entry);
    assert_int_equal(layout.numbers_offset, NUMBERS_OFFSET);
    assert_int_equal(layout.application_offset, APPLICATION_OFFSET);
}

static void the_numbers_in_the_next_entry_are_not_those_of_this_one(void **state)
{
    struct postgres_layout layout = { .pid = getpid(),
                                      .activities_known = 1,
                                      .activity_offset = APPLICATION_OFFSET - 8 };

    (void)state;
    make_entry();
    put(432 + NUMBERS_OFFSET, &numbers, sizeof numbers);
    postgres_layout_resolve_names(&layout, &numbers, application, entry);
    assert_int_equal(layout.numbers_offset, NUMBERS_OFFSET);
    assert_int_equal(layout.application_offset, APPLICATION_OFFSET);
}

static void two_possible_places_of_the_numbers_or_the_application_are_refused(void **state)
{
    const uintptr_t pointer = (uintptr_t)application;

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct postgres_layout layout = { .pid = getpid() };

        make_entry();
        if (i == 0)
            put(200, &numbers, sizeof numbers);
        else if (i == 1)
            put(320, &pointer, sizeof pointer);
        else
            memset(entry, 0, sizeof entry);
        postgres_layout_resolve_names(&layout, &numbers, application, entry);
        assert_int_equal(layout.numbers_offset, 0);
        assert_int_equal(layout.application_offset, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_found_by_its_number_and_replaced_by_a_later_one),
        cmocka_unit_test(a_long_name_is_cut_and_ten_thousand_names_are_the_most),
        cmocka_unit_test(a_session_that_only_memory_knows_has_a_name_and_labels),
        cmocka_unit_test(an_own_entry_reveals_where_memory_has_numbers_and_application),
        cmocka_unit_test(the_numbers_in_the_next_entry_are_not_those_of_this_one),
        cmocka_unit_test(two_possible_places_of_the_numbers_or_the_application_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
