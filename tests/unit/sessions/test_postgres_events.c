/* Names of wait events, learned from pairs of number and name. */
#include "sources/sessions/postgres/postgres_events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define TRANSACTION_ID 0x03000004u
#define WAL_WRITE 0x0a000045u

static void add(struct postgres_events *events, uint32_t number, const char *class,
                const char *event)
{
    assert_int_equal(postgres_events_add(events, number, class, event), CAMP_OK);
}

static void the_most_frequent_of_several_names_of_an_event_is_used(void **state)
{
    struct postgres_events events = { 0 };
    char buffer[POSTGRES_EVENT_SIZE];

    (void)state;
    assert_string_equal(postgres_event_name(&events, TRANSACTION_ID, buffer), "0x03000004");
    add(&events, WAL_WRITE, "IO", "WALWrite");
    /* The backend changed its wait between the reading of the number and of the name. */
    add(&events, TRANSACTION_ID, "Lock", "tuple");
    for (int i = 0; i < 3; i++)
        add(&events, TRANSACTION_ID, "Lock", "transactionid");
    add(&events, TRANSACTION_ID, "Lock", "tuple");
    assert_string_equal(postgres_event_name(&events, TRANSACTION_ID, buffer), "transactionid");
    assert_string_equal(postgres_event_name(&events, WAL_WRITE, buffer), "WALWrite");
    assert_int_equal(events.count, 2);
    postgres_events_release(&events);
}

static void a_lock_has_its_name_before_sql_has_reported_it(void **state)
{
    struct postgres_events events = { .version = 150018 };
    char buffer[POSTGRES_EVENT_SIZE];

    (void)state;
    assert_string_equal(postgres_event_name(&events, 0x03000004, buffer), "tuple");
    assert_string_equal(postgres_event_name(&events, 0x0300000b, buffer), "0x0300000b");
    assert_string_equal(postgres_event_name(&events, 0x01000038, buffer), "BufferContent");
    assert_string_equal(postgres_event_name(&events, 0x01000039, buffer), "0x01000039");
    assert_string_equal(postgres_event_name(&events, 0x06000004, buffer), "0x06000004");
    /* What SQL reports is right, if it does so often. */
    add(&events, 0x03000004, "Lock", "advisory");
    assert_string_equal(postgres_event_name(&events, 0x03000004, buffer), "tuple");
    for (int i = 0; i < 8; i++)
        add(&events, 0x03000004, "Lock", "advisory");
    assert_string_equal(postgres_event_name(&events, 0x03000004, buffer), "advisory");
    events.version = 170000;
    assert_string_equal(postgres_event_name(&events, 0x03000005, buffer), "transactionid");
    assert_string_equal(postgres_event_name(&events, 0x01000038, buffer), "0x01000038");
    events.version = 130000;
    assert_string_equal(postgres_event_name(&events, 0x03000005, buffer), "0x03000005");
    postgres_events_release(&events);
}

static void an_event_number_that_does_not_match_its_class_is_ignored(void **state)
{
    struct postgres_events events = { 0 };

    (void)state;
    add(&events, TRANSACTION_ID, "IO", "WALWrite");
    add(&events, 0, "IO", "WALWrite");
    assert_int_equal(events.count, 0);
    postgres_events_release(&events);
}

static void the_class_of_an_event_is_the_upper_byte_of_its_number(void **state)
{
    struct postgres_events events = { 0 };
    char buffer[POSTGRES_EVENT_SIZE];

    (void)state;
    assert_string_equal(postgres_event_class(TRANSACTION_ID), "Lock");
    assert_string_equal(postgres_event_class(0x0b000000), "InjectionPoint");
    assert_string_equal(postgres_event_class(0), "none");
    assert_string_equal(postgres_event_class(0x02000000), "unknown");
    assert_string_equal(postgres_event_class(UINT32_MAX), "unknown");
    assert_string_equal(postgres_event_name(&events, 0, buffer), "none");
    assert_string_equal(postgres_event_name(&events, 0x03ffffff, buffer), "others");
}

static void events_are_found_in_whatever_order_they_were_added(void **state)
{
    struct postgres_events events = { 0 };
    char buffer[POSTGRES_EVENT_SIZE], name[POSTGRES_EVENT_SIZE];

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t number = 0x01000000u + i * 7919 % 1000;

        snprintf(name, sizeof name, "Lock%u", number);
        add(&events, number, "LWLock", name);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "Lock%u", 0x01000000u + i);
        assert_string_equal(postgres_event_name(&events, 0x01000000u + i, buffer), name);
    }
    postgres_events_release(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_frequent_of_several_names_of_an_event_is_used),
        cmocka_unit_test(a_lock_has_its_name_before_sql_has_reported_it),
        cmocka_unit_test(an_event_number_that_does_not_match_its_class_is_ignored),
        cmocka_unit_test(the_class_of_an_event_is_the_upper_byte_of_its_number),
        cmocka_unit_test(events_are_found_in_whatever_order_they_were_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
