/* Tests which columns and labels the rows of several servers have. */
#include "sources/servers/servers_inside.h"

#include "../tree.h"

#define STATE(name, provenance)                                                                    \
    {                                                                                              \
        name, name, "", COLUMN_STATE, provenance, CLASS_OTHER_WAIT, NULL                           \
    }
#define COUNTER(name)                                                                              \
    {                                                                                              \
        name, name, "", COLUMN_COUNTER, CAMP_MEASURED, CLASS_NONE, NULL                            \
    }

static const struct column columns_of_a[] = {
    STATE("cpu_ns", CAMP_MEASURED),    STATE("idle_ns", CAMP_SCALED),
    COUNTER("contention_row_lock_ns"), COUNTER("idle_in_transaction_ns"),
    COUNTER("reported_cpu_ns"),        COUNTER("samples"),
};
static const struct column columns_of_b[] = {
    STATE("cpu_ns", CAMP_SAMPLED),
    STATE("idle_ns", CAMP_UNKNOWN),
    COUNTER("wait_disk_ns"),
    COUNTER("idle_in_transaction_ns"),
    COUNTER("samples"),
    COUNTER("extra"),
};
static const char *const labels_of_a[] = { "user", "application", "last_statement" };
static const char *const labels_of_b[] = { "user", "client" };
static const struct schema a = { "postgres", columns_of_a, 6, 2, labels_of_a, 3 };
static const struct schema b = { "mariadb", columns_of_b, 6, 2, labels_of_b, 2 };

static void check_names(const struct schema *schema, const char *const *names, size_t count)
{
    assert_int_equal(schema->column_count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(schema->columns[i].name, names[i]);
}

/* A part of a state is 0 in a database without the rule. What a server does not report is unknown.
 */
static void counters_that_a_server_lacks_are_left_out_and_parts_of_states_are_not(void **state)
{
    static const char *const names[] = {
        "cpu_ns",  "idle_ns",     "contention_row_lock_ns", "idle_in_transaction_ns",
        "samples", "wait_disk_ns"
    };
    struct servers_columns columns = { 0 };

    (void)state;
    assert_int_equal(servers_columns_add(&columns, &a, true), CAMP_OK);
    assert_string_equal(columns.schema.name, "postgres");
    assert_int_equal(servers_columns_add(&columns, &b, false), CAMP_OK);
    assert_string_equal(columns.schema.name, "sessions");
    check_names(&columns.schema, names, COUNT(names));
    assert_int_equal(columns.schema.state_count, 2);
    /* The least that can be trusted of what is known. */
    assert_int_equal(columns.schema.columns[0].provenance, CAMP_SAMPLED);
    assert_int_equal(columns.schema.columns[1].provenance, CAMP_SCALED);
    servers_columns_release(&columns);
}

static void labels_are_those_of_all_servers_after_that_of_the_server(void **state)
{
    static const char *const names[] = { "server", "user", "application", "last_statement",
                                         "client" };
    struct servers_columns columns = { 0 };

    (void)state;
    servers_columns_add(&columns, &a, true);
    servers_columns_add(&columns, &b, false);
    assert_int_equal(columns.schema.label_count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(columns.schema.label_names[i], names[i]);
    servers_columns_release(&columns);
}

static void each_column_of_a_server_has_its_place(void **state)
{
    struct servers_columns columns = { 0 };
    struct server_places places = { 0 };

    (void)state;
    servers_columns_add(&columns, &a, true);
    servers_columns_add(&columns, &b, false);
    assert_int_equal(server_places_find(&places, &b, &columns, NULL), CAMP_OK);
    for (size_t i = 0; i < b.column_count - 1; i++)
        assert_string_equal(columns.schema.columns[places.columns[i]].name, b.columns[i].name);
    assert_int_equal(places.columns[b.column_count - 1], SIZE_MAX); /* only b has it */
    for (size_t i = 0; i < b.label_count; i++)
        assert_string_equal(columns.schema.label_names[places.labels[i]], b.label_names[i]);
    server_places_release(&places);
    servers_columns_release(&columns);
}

/* The throttled time of a server that cannot know it is in its run queue. */
static void a_server_without_throttled_time_beside_one_with_it_lacks_it(void **state)
{
    static const struct column with[] = { STATE("cpu_ns", CAMP_MEASURED),
                                          STATE("throttled_ns", CAMP_MEASURED) };
    const struct schema has = { "postgres", with, 2, 2, NULL, 0 };
    const struct schema lacks = { "postgres", with, 1, 1, NULL, 0 };
    struct servers_columns columns = { 0 };
    struct server_places places = { 0 };

    (void)state;
    servers_columns_add(&columns, &lacks, true);
    assert_int_equal(server_places_find(&places, &lacks, &columns, NULL), CAMP_OK);
    assert_false(places.lacks_throttled);
    servers_columns_add(&columns, &has, false);
    assert_int_equal(server_places_find(&places, &lacks, &columns, NULL), CAMP_OK);
    assert_true(places.lacks_throttled);
    assert_int_equal(server_places_find(&places, &has, &columns, NULL), CAMP_OK);
    assert_false(places.lacks_throttled);
    server_places_release(&places);
    servers_columns_release(&columns);
}

static void a_server_that_comes_later_must_have_the_same_states_and_counters(void **state)
{
    static const struct column other_state[] = { STATE("cpu_ns", CAMP_MEASURED),
                                                 STATE("odd_ns", CAMP_MEASURED) };
    const struct schema odd = { "odd", other_state, 2, 2, NULL, 0 };
    struct servers_columns columns = { 0 };
    struct server_places places = { 0 };
    struct camp_error error = { 0 };

    (void)state;
    servers_columns_add(&columns, &a, true);
    assert_int_equal(server_places_find(&places, &odd, &columns, &error), CAMP_E_INVALID);
    assert_string_equal(error.message, "it came later, and has the column odd_ns, unlike the "
                                       "others: start camp again");
    assert_int_equal(server_places_find(&places, &b, &columns, &error), CAMP_E_INVALID);
    assert_string_equal(error.message,
                        "it came later, and lacks the column reported_cpu_ns, unlike "
                        "the others: start camp again");
    assert_int_equal(server_places_find(&places, &a, &columns, &error), CAMP_OK);
    server_places_release(&places);
    servers_columns_release(&columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_that_a_server_lacks_are_left_out_and_parts_of_states_are_not),
        cmocka_unit_test(labels_are_those_of_all_servers_after_that_of_the_server),
        cmocka_unit_test(each_column_of_a_server_has_its_place),
        cmocka_unit_test(a_server_without_throttled_time_beside_one_with_it_lacks_it),
        cmocka_unit_test(a_server_that_comes_later_must_have_the_same_states_and_counters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
