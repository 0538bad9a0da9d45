/* Tests that each state of each source has a class, and that other columns have none. */
#include "sources/fleet/fleet_inside.h"
#include "sources/sessions/session.h"
#include "sources/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void check_schema(const struct schema *schema)
{
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];

        if ((column->class != CLASS_NONE) != (i < schema->state_count))
            fail_msg("%s of %s: class %d", column->name, schema->name, column->class);
        if (column->short_title != NULL)
            assert_true(strlen(column->short_title) <= 6);
    }
}

static void every_state_of_this_machine_has_a_class(void **state)
{
    (void)state;
    check_schema(&threads_schema);
    check_schema(&threads_schedstat_schema);
    check_schema(&cpus_schema);
    check_schema(&cpus_states_schema);
}

static void check_sessions(const char *rules, bool detail)
{
    const struct session_plan plan = {
        .name = "sessions",
        .detail = detail,
        .has_reported = true,
        .has_sampled = true,
        .rules_text = rules,
    };
    struct session_frame sessions;
    struct camp_error error = { 0 };

    assert_int_equal(session_frame_init(&sessions, &plan, &error), CAMP_OK);
    check_schema(&sessions.schema);
    session_frame_release(&sessions);
}

static void every_state_of_a_database_has_a_class(void **state)
{
    const char *const rules[] = { session_rules_mariadb, session_rules_oracle,
                                  session_rules_postgres };

    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        check_sessions(rules[i], false);
        check_sessions(rules[i], true);
    }
}

static void every_state_of_a_fleet_has_a_class(void **state)
{
    const char *const values[] = { "user", "nice", "busy", "lock", "run_queue", "steal", "idle" };
    struct fleet_columns columns = { 0 };

    (void)state;
    assert_int_equal(fleet_columns_init(&columns, "fleet", "camp_states", CAMP_MEASURED, values,
                                        sizeof values / sizeof values[0]),
                     CAMP_OK);
    check_schema(&columns.schema);
    fleet_columns_release(&columns);
}

/* For a recording, a table or a fleet, only the name of a column is known. */
static void the_class_of_a_state_is_found_by_the_name_of_its_column(void **state)
{
    const struct schema *const schemas[] = { &threads_schema, &threads_schedstat_schema,
                                             &cpus_schema, &cpus_states_schema };

    (void)state;
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        for (size_t j = 0; j < schemas[i]->state_count; j++)
            assert_int_equal(column_class_of(schemas[i]->columns[j].name),
                             schemas[i]->columns[j].class);
    }
    assert_int_equal(column_class_of("contention_row_lock_ns"), CLASS_CONTENTION);
    assert_int_equal(column_class_of("wait_disk_ns"), CLASS_IO);
    assert_int_equal(column_class_of("wait_client_of_statement_ns"), CLASS_NETWORK);
    assert_int_equal(column_class_of("wait_unknown_event_ns"), CLASS_OTHER_WAIT);
    assert_int_equal(column_class_of("throttled_ns"), CLASS_THROTTLED);
    assert_int_equal(column_class_of("db_wait_ns"), CLASS_OTHER_WAIT);
    assert_int_equal(column_class_of("cpu_usage_ns"), CLASS_CPU);
    assert_int_equal(column_class_of("cpu_wait_ns"), CLASS_READY);
    assert_int_equal(column_class_of("cpu_queue_ns"), CLASS_READY);
    assert_int_equal(column_class_of("db_cpu_wait_ns"), CLASS_READY);
    assert_int_equal(column_class_of("colour_ns"), CLASS_NONE);
    assert_int_equal(column_class_of("clock_ns"), CLASS_NONE);
    assert_int_equal(column_class_of("user"), CLASS_NONE);
    assert_string_equal(column_short_title_of("kernel_fault_ns"), "flt");
    assert_null(column_short_title_of("idle_ns"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_of_this_machine_has_a_class),
        cmocka_unit_test(every_state_of_a_database_has_a_class),
        cmocka_unit_test(every_state_of_a_fleet_has_a_class),
        cmocka_unit_test(the_class_of_a_state_is_found_by_the_name_of_its_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
