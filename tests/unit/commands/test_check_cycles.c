/* Tests the record of camp check on the tiers of Windows, with synthetic frames: some processes are
 * not measured, and some columns of CPUs are not counted. */
#include "commands/check/check_record.h"
#include "sources/machine/tasks_frame.h"
#include "views/format.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000u

struct made {
    struct column columns[CPUS_COLUMN_COUNT];
    struct schema schema;
    struct frame tasks, cpus;
    struct check_context context;
    struct check_record check;
};

static void add_task(struct made *made, int64_t id, uint32_t flags, uint64_t measured,
                     uint64_t sampled)
{
    struct accuracy sum = { 0 };

    accuracy_add(&sum, (double)measured, (double)sampled);
    assert_int_equal(tasks_add_row(&made->tasks, id, flags, 1, (char[CAMP_NAME_SIZE]){ "x" }, &sum),
                     CAMP_OK);
}

static void add_cpu(struct made *made, int64_t id, uint64_t elapsed, uint64_t user, uint64_t idle)
{
    struct entity *entity = frame_add(&made->cpus);
    uint64_t *values;

    assert_non_null(entity);
    entity->id = id;
    values = frame_values(&made->cpus, made->cpus.entity_count - 1);
    values[CPUS_USER] = user;
    values[CPUS_IDLE] = idle;
    made->cpus.elapsed_ns[made->cpus.entity_count - 1] = elapsed;
}

/* Makes a second of one CPU, which was measured to be busy for 40 % and sampled as busy for 12.5 %.
 * A process ran for 30 % without a sample; another one, which may not be opened, has 6 ticks. */
static void make(struct made *made, enum tasks_tier tier, enum camp_provenance idle,
                 enum camp_provenance others)
{
    const uint32_t lacks = (tasks_tiers[tier].is_measured ? 0 : ENTITY_UNMEASURED) |
                           (tasks_tiers[tier].is_sampled ? 0 : ENTITY_UNSAMPLED);

    *made = (struct made){ .context = { .tier = tier, .living = 3, .cpu_step_ns = 15625000 } };
    made->schema = cpus_schema;
    memcpy(made->columns, cpus_schema.columns, sizeof made->columns);
    made->schema.columns = made->columns;
    for (size_t i = 0; i < CPUS_COLUMN_COUNT; i++)
        made->columns[i].provenance = others;
    made->columns[CPUS_NICE].provenance = CAMP_UNKNOWN;
    made->columns[CPUS_IOWAIT].provenance = made->columns[CPUS_STEAL].provenance = CAMP_UNKNOWN;
    made->columns[CPUS_IDLE].provenance = idle;
    frame_init(&made->tasks, &tasks_schema);
    frame_init(&made->cpus, &made->schema);
    made->tasks.end_ns = made->cpus.end_ns = SECOND;
    add_task(made, 1000, lacks, lacks != 0 ? 0 : 300000000, 0);
    add_task(made, 2000, lacks | ENTITY_UNMEASURED, 0, 93750000);
    add_cpu(made, CAMP_CPU_TOTAL, SECOND, 125000000, 600000000);
    add_cpu(made, 0, SECOND, 125000000, 600000000);
}

static void fill(struct made *made)
{
    assert_int_equal(check_record_fill(&made->check, &made->context, &made->tasks, &made->cpus,
                                       "2026-11-21T12:00:00.000+00:00"),
                     CAMP_OK);
}

static void release(struct made *made)
{
    frame_release(&made->tasks);
    frame_release(&made->cpus);
    check_record_release(&made->check);
}

/* Returns NAN if the cell has no number. */
static double value_of(const struct made *made, const char *table, size_t row, const char *column)
{
    const struct cell cell = cell_of(&made->check.document.record, table, row, column);

    return cell.kind == CELL_NATURAL   ? (double)cell.natural
           : cell.kind == CELL_INTEGER ? (double)cell.integer
           : cell.kind == CELL_REAL    ? cell.real
                                       : NAN;
}

static void assert_value(const struct made *made, const char *table, size_t row, const char *column,
                         double expected)
{
    const double value = value_of(made, table, row, column);

    if (isnan(expected) ? !isnan(value) : !(fabs(value - expected) < 1e-6))
        fail_msg("%s, row %zu, %s: %g, not %g", table, row, column, value, expected);
}

static bool has_note(const struct made *made, const char *part)
{
    for (size_t i = 0; made->check.document.notes[i] != NULL; i++) {
        if (strstr(made->check.document.notes[i], part) != NULL)
            return true;
    }
    return false;
}

static void a_process_that_may_not_be_opened_is_sampled_but_not_measured(void **state)
{
    struct made made;

    (void)state;
    make(&made, TASKS_CYCLES, CAMP_MEASURED, CAMP_SAMPLED);
    made.context.unmeasured = 1;
    made.tasks.losses.partial = 1;
    fill(&made);
    assert_value(&made, "processes", 0, "pid", 1000);
    assert_value(&made, "processes", 0, "measured_percent", 30);
    assert_value(&made, "processes", 0, "sampled_percent", 0);
    assert_value(&made, "processes", 0, "error_percent", -100);
    assert_value(&made, "processes", 1, "pid", 2000);
    assert_value(&made, "processes", 1, "measured_percent", NAN);
    assert_value(&made, "processes", 1, "sampled_percent", 9.375);
    assert_value(&made, "processes", 1, "error_percent", NAN);
    assert_value(&made, "processes", 1, "error_points", NAN);
    assert_value(&made, "total", 0, "measured_percent", 30);
    assert_value(&made, "total", 0, "error_percent", -100);
    assert_value(&made, "total", 0, "stray_sampled_percent", 9.375);
    assert_true(has_note(&made, "the measured time of 1 process: an administrator may open more"));
    assert_false(has_note(&made, "the last interval of"));
    release(&made);
}

static void cpus_have_measured_time_by_cycles_beside_sampled_time(void **state)
{
    struct made made;

    (void)state;
    make(&made, TASKS_CYCLES, CAMP_MEASURED, CAMP_SAMPLED);
    fill(&made);
    for (int i = 0; i < 2; i++) {
        const char *table = i == 0 ? "cpus" : "machine";

        assert_value(&made, table, 0, "measured_busy_percent", 40);
        assert_value(&made, table, 0, "sampled_busy_percent", 12.5);
        assert_value(&made, table, 0, "idle_percent", 60);
        assert_value(&made, table, 0, "sum_percent", 72.5);
        assert_value(&made, table, 0, "iowait_percent", NAN);
        assert_value(&made, table, 0, "steal_percent", NAN);
    }
    assert_value(&made, "machine", 0, "unaccounted_percent", 10);
    assert_value(&made, "machine", 0, "resolution_percent", 1e-7);
    assert_true(has_note(&made, "of no measured process: +10.00 %"));
    release(&made);
}

static void cpus_that_were_read_a_little_later_than_the_total_are_counted(void **state)
{
    struct made made;

    (void)state;
    make(&made, TASKS_CYCLES, CAMP_MEASURED, CAMP_SAMPLED);
    made.cpus.elapsed_ns[0] = made.cpus.elapsed_ns[1] = SECOND - 10 * 1000000;
    fill(&made);
    assert_value(&made, "machine", 0, "cpus", 1);
    release(&made);
}

static void processes_that_came_and_went_are_unknown_on_windows_instead_of_zero(void **state)
{
    struct made made;

    (void)state;
    make(&made, TASKS_CYCLES, CAMP_MEASURED, CAMP_SAMPLED);
    fill(&made);
    assert_value(&made, "losses", 0, "unseen", NAN);
    assert_null(strstr(made.check.document.record.headline, "Nothing lost"));
    assert_non_null(strstr(made.check.document.record.headline, "meanwhile is unknown"));
    release(&made);
}

static void without_the_rate_of_the_cycles_nothing_is_measured(void **state)
{
    struct made made;

    (void)state;
    make(&made, TASKS_TICKS, CAMP_SAMPLED, CAMP_SAMPLED);
    fill(&made);
    assert_value(&made, "processes", 0, "pid", 2000); /* has more samples */
    assert_value(&made, "processes", 0, "measured_percent", NAN);
    assert_value(&made, "processes", 0, "sampled_percent", 9.375);
    assert_value(&made, "total", 0, "active", NAN);
    assert_value(&made, "total", 0, "measured_percent", NAN);
    assert_value(&made, "total", 0, "error_percent", NAN);
    assert_value(&made, "cpus", 0, "measured_busy_percent", NAN);
    assert_value(&made, "cpus", 0, "sampled_busy_percent", 12.5);
    assert_value(&made, "machine", 0, "unaccounted_percent", NAN);
    assert_value(&made, "machine", 0, "resolution_percent", 1.5625);
    assert_value(&made, "summary", 0, "cpu", NAN);
    assert_true(has_note(&made, "sampled 9.38 %, not measured"));
    release(&made);
}

static void on_wine_neither_time_is_known(void **state)
{
    static const char *const unknown[] = { "measured_busy_percent", "sampled_busy_percent",
                                           "idle_percent", "sum_percent" };
    struct made made;

    (void)state;
    make(&made, TASKS_NOTHING, CAMP_UNKNOWN, CAMP_UNKNOWN);
    fill(&made);
    assert_value(&made, "processes", 0, "measured_percent", NAN);
    assert_value(&made, "processes", 0, "sampled_percent", NAN);
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_value(&made, "cpus", 0, unknown[i], NAN);
        assert_value(&made, "machine", 0, unknown[i], NAN);
    }
    assert_value(&made, "total", 0, "measured_percent", NAN);
    assert_value(&made, "total", 0, "sampled_percent", NAN);
    assert_non_null(strstr(made.check.document.record.headline, "No CPU time is measured."));
    assert_true(has_note(&made, "neither measured nor sampled"));
    release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_may_not_be_opened_is_sampled_but_not_measured),
        cmocka_unit_test(cpus_have_measured_time_by_cycles_beside_sampled_time),
        cmocka_unit_test(cpus_that_were_read_a_little_later_than_the_total_are_counted),
        cmocka_unit_test(processes_that_came_and_went_are_unknown_on_windows_instead_of_zero),
        cmocka_unit_test(without_the_rate_of_the_cycles_nothing_is_measured),
        cmocka_unit_test(on_wine_neither_time_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
