/* Tests the record of camp check, with synthetic frames. */
#include "commands/check/check_record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct column task_columns[TASKS_COLUMN_COUNT];
static const struct schema tasks_schema = { "tasks", task_columns, TASKS_COLUMN_COUNT, 0 };

#define SECOND 1000000000u

struct made {
    struct frame tasks, cpus;
    struct check_context context;
    struct check_record check;
};

static void add_task(struct made *made, int64_t id, const char *name, uint64_t measured,
                     uint64_t sampled)
{
    struct entity *entity = frame_add(&made->tasks);
    uint64_t *values;

    assert_non_null(entity);
    entity->id = id;
    snprintf(entity->name, sizeof entity->name, "%s", name);
    values = frame_values(&made->tasks, made->tasks.entity_count - 1);
    values[TASKS_MEASURED] = measured;
    values[TASKS_SAMPLED] = sampled;
    values[TASKS_ABSOLUTE] = measured > sampled ? measured - sampled : sampled - measured;
    values[TASKS_ACTIVE] = 1;
    values[TASKS_MAXIMUM] = 1000000 * values[TASKS_ABSOLUTE] / measured;
    made->tasks.elapsed_ns[made->tasks.entity_count - 1] = SECOND;
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

/* Adds a CPU that is busy for 100 ms, divided among four states. */
static void add_timed_cpu(struct frame *frame, int64_t id, uint32_t count, uint64_t elapsed)
{
    struct entity *entity = frame_add(frame);
    uint64_t *values;

    assert_non_null(entity);
    entity->id = id;
    entity->count = count;
    values = frame_values(frame, frame->entity_count - 1);
    values[CPUS_STATES_USER] = 40000000;
    values[CPUS_STATES_SYSTEM] = 30000000;
    values[CPUS_STATES_IRQ] = 20000000;
    values[CPUS_STATES_SOFTIRQ] = 10000000;
    values[CPUS_STATES_IOWAIT] = 300000000;
    values[CPUS_STATES_IDLE] = 600000000;
    frame->elapsed_ns[frame->entity_count - 1] = elapsed;
}

/* Makes one second on two CPUs. CPU 0 is busy for 80 % of the second, but is sampled as idle. */
static void make(struct made *made)
{
    *made = (struct made){ .context = { .tier = TASKS_TASKSTATS, .living = 3 } };
    frame_init(&made->tasks, &tasks_schema);
    frame_init(&made->cpus, &cpus_schema);
    made->tasks.end_ns = made->cpus.end_ns = SECOND;
    add_task(made, 1, "a", 800000000, 0);
    add_task(made, 2, "b", 100000000, 104000000);
    add_task(made, 3, "c", 4000000, 0);
    add_cpu(made, CAMP_CPU_TOTAL, 2ull * SECOND, 100000000, 1100000000);
    add_cpu(made, 0, SECOND, 0, 200000000);
    add_cpu(made, 1, SECOND, 100000000, 900000000);
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

static double value_of(const struct made *made, size_t table, size_t row, const char *name)
{
    const struct table *shown = &made->check.document.tables[table];

    for (size_t i = 0; i < shown->field_count; i++) {
        if (shown->fields[i].name != NULL && strcmp(shown->fields[i].name, name) == 0) {
            const struct cell *cell = &shown->cells[row * shown->field_count + i];

            return cell->kind == CELL_NATURAL   ? (double)cell->natural
                   : cell->kind == CELL_INTEGER ? (double)cell->integer
                   : cell->kind == CELL_REAL    ? cell->real
                                                : NAN;
        }
    }
    fail_msg("no column %s", name);
    return NAN;
}

/* Returns the text of a column of the interval, or NULL if it has no value. */
static const char *text_of(const struct made *made, const char *name)
{
    const struct table *shown = &made->check.document.tables[CHECK_INTERVAL];

    for (size_t i = 0; i < shown->field_count; i++) {
        if (shown->fields[i].name != NULL && strcmp(shown->fields[i].name, name) == 0)
            return shown->cells[i].kind == CELL_TEXT ? shown->cells[i].text : NULL;
    }
    fail_msg("no column %s", name);
    return NULL;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-6))
        fail_msg("%f, expected %f", value, expected);
}

static bool has_note(const struct made *made, const char *part)
{
    for (size_t i = 0; made->check.document.notes[i] != NULL; i++) {
        if (strstr(made->check.document.notes[i], part) != NULL)
            return true;
    }
    return false;
}

static void each_percentage_of_camp_check_is_relative_to_one_cpu(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    fill(&made);
    assert_near(value_of(&made, CHECK_TOTAL, 0, "measured_percent"), 90.4);
    assert_near(value_of(&made, CHECK_TOTAL, 0, "sampled_percent"), 10.4);
    assert_near(value_of(&made, CHECK_TOTAL, 0, "absolute_error_percent"), 100 * 80.8 / 90.4);
    assert_near(value_of(&made, CHECK_CPUS, 0, "measured_busy_percent"), 80);
    assert_near(value_of(&made, CHECK_CPUS, 0, "sampled_busy_percent"), 0);
    assert_near(value_of(&made, CHECK_CPUS, 0, "sum_percent"), 20);
    assert_near(value_of(&made, CHECK_MACHINE, 0, "cpus"), 2);
    assert_near(value_of(&made, CHECK_MACHINE, 0, "measured_busy_percent"), 90);
    assert_near(value_of(&made, CHECK_MACHINE, 0, "sum_percent"), 120);
    assert_near(value_of(&made, CHECK_MACHINE, 0, "unaccounted_percent"), -0.4);
    release(&made);
}

static void a_note_of_camp_check_says_that_busy_time_is_made_of_sampled_idle_time(void **state)
{
    const char part[] = "the kernel samples idle time: tier bpf measures busy time";
    struct column columns[CPUS_COLUMN_COUNT];
    struct schema schema = cpus_schema;
    struct made made;

    (void)state;
    make(&made);
    fill(&made);
    assert_false(has_note(&made, part));
    memcpy(columns, cpus_schema.columns, sizeof columns);
    columns[CPUS_IDLE].provenance = CAMP_SAMPLED;
    schema.columns = columns;
    made.cpus.schema = &schema;
    fill(&made);
    assert_true(has_note(&made, part));
    release(&made);
}

static void the_measured_busy_time_of_a_cpu_is_the_sum_of_its_busy_states(void **state)
{
    static const struct column columns[CPUS_STATES_COLUMN_COUNT];
    static const struct schema schema = { "cpus", columns, CPUS_STATES_COLUMN_COUNT,
                                          CPUS_STATES_ANY_WAIT };
    struct frame timed;
    struct made made;

    (void)state;
    make(&made);
    frame_init(&timed, &schema);
    add_timed_cpu(&timed, CAMP_CPU_TOTAL, 2, 2ull * SECOND);
    add_timed_cpu(&timed, 0, 1, SECOND);
    made.context.measured_cpus = &timed;
    fill(&made);
    assert_near(value_of(&made, CHECK_CPUS, 0, "measured_busy_percent"), 10);
    assert_near(value_of(&made, CHECK_CPUS, 0, "sum_percent"), 20);
    /* CPU 1 has no measured times yet. */
    assert_true(isnan(value_of(&made, CHECK_CPUS, 1, "measured_busy_percent")));
    assert_near(value_of(&made, CHECK_MACHINE, 0, "measured_busy_percent"), 10);
    assert_near(value_of(&made, CHECK_MACHINE, 0, "resolution_percent"), 1e-7);
    assert_true(has_note(&made, "clocks of running tasks lag"));
    frame_release(&timed);
    release(&made);
}

static void camp_check_lists_the_processes_with_the_largest_sampling_error_first(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    made.context.top = 2;
    made.context.top_cpus = 1;
    fill(&made);
    assert_int_equal(made.check.document.tables[CHECK_PROCESSES].row_count, 2);
    assert_near(value_of(&made, CHECK_PROCESSES, 0, "pid"), 1);
    /* Process 2 has the same error as process 3, but more CPU time. */
    assert_near(value_of(&made, CHECK_PROCESSES, 1, "pid"), 2);
    assert_int_equal(made.check.document.tables[CHECK_CPUS].row_count, 1);
    assert_near(value_of(&made, CHECK_CPUS, 0, "cpu"), 0);
    assert_near(value_of(&made, CHECK_TOTAL, 0, "measured_percent"), 90.4);
    assert_true(has_note(&made, "not shown  1 process ("));
    assert_true(has_note(&made, "not shown  1 CPU"));
    release(&made);
}

/* The totals say what they are of, and which process is the worst. */
static void a_note_of_camp_check_names_the_process_with_the_worst_sampling_error(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    add_task(&made, 4, "tiny", 400000, 4000000);
    fill(&made);
    assert_true(has_note(&made, "measured 90.44 %, sampled 10.80 %: an error of -88.06 %"));
    assert_true(has_note(&made, "errors of single processes add up to 89.74 % of the measured"));
    assert_true(has_note(&made, "worst process +900.00 % of 0.40 ms (tiny, pid 4)"));
    assert_true(has_note(&made, "charged to no process: "));
    release(&made);
}

static void cpu_time_of_processes_that_ended_unseen_is_shown_as_of_no_living_process(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    made.context.tier = TASKS_SCHEDSTAT;
    made.tasks.losses = (struct losses){ .unseen = 3, .partial = 1 };
    fill(&made);
    assert_true(has_note(&made, "of no living process: "));
    assert_true(has_note(&made, "up to 4 ended"));
    assert_false(has_note(&made, "charged to no process"));
    release(&made);
}

static void in_a_pid_namespace_time_of_other_processes_is_of_no_shown_process(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    made.context.tier = TASKS_SCHEDSTAT;
    made.context.in_namespace = true;
    fill(&made);
    assert_true(has_note(&made, "of no shown process: "));
    assert_false(has_note(&made, "charged to no process"));
    release(&made);
}

/* Like make(), with process 2 selected. */
static void make_of_process_2(struct made *ret)
{
    static const int32_t pids[] = { 2 };

    make(ret);
    ret->context.selection.pids = pids;
    ret->context.selection.pid_count = 1;
}

static void camp_check_of_one_process_has_no_notes_on_losses_of_other_processes(void **state)
{
    struct made made;

    (void)state;
    make_of_process_2(&made);
    made.tasks.losses =
        (struct losses){ .unseen = 11, .lost = 22, .partial = 33, .unread_ns = 440000000 };
    fill(&made);
    assert_true(has_note(&made, "run all processes, not only the selected ones"));
    assert_true(has_note(&made, "the exit records of 22 tasks")); /* the exit status is 3 */
    assert_false(has_note(&made, "unseen"));
    assert_false(has_note(&made, "last tick"));
    assert_false(has_note(&made, "worst"));
    assert_false(has_note(&made, "last interval"));
    assert_non_null(strstr(made.check.document.record.headline, " 1 process, "));
    release(&made);
}

static void unaccounted_time_is_unknown_for_a_selection_of_processes(void **state)
{
    struct made made;

    (void)state;
    make_of_process_2(&made);
    fill(&made);
    assert_int_equal(made.check.document.tables[CHECK_PROCESSES].row_count, 1);
    assert_near(value_of(&made, CHECK_TOTAL, 0, "measured_percent"), 10);
    assert_near(value_of(&made, CHECK_TOTAL, 0, "processes"), 1);
    assert_true(isnan(value_of(&made, CHECK_MACHINE, 0, "unaccounted_percent")));
    release(&made);
}

static void camp_check_has_a_note_for_each_kind_of_loss(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    made.context.top = 1;
    made.context.top_cpus = 1;
    made.tasks.losses =
        (struct losses){ .unseen = 11, .lost = 22, .partial = 33, .unread_ns = 440000000 };
    made.cpus.losses.partial = 1;
    fill(&made);
    assert_true(has_note(&made, "11 tasks"));
    assert_true(has_note(&made, "22 tasks"));
    assert_true(has_note(&made, "34 processes or CPUs"));
    assert_true(has_note(&made, "at most 44.00 %"));
    assert_near(value_of(&made, CHECK_LOSSES, 0, "unseen"), 11);
    assert_near(value_of(&made, CHECK_LOSSES, 0, "lost"), 22);
    assert_near(value_of(&made, CHECK_LOSSES, 0, "partial"), 34);
    assert_near(value_of(&made, CHECK_LOSSES, 0, "unread_percent"), 44);
    release(&made);
}

static void cpu_time_missing_in_exit_records_is_at_most_the_uncharged_cpu_time(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    /* The CPU time of processes that are not shown is also subtracted. */
    made.context.top = 1;
    made.tasks.losses.unread_ns = 38ull * SECOND;
    fill(&made);
    assert_near(value_of(&made, CHECK_LOSSES, 0, "unread_percent"), 200 - 90.4);
    assert_true(has_note(&made, "at most 109.60 %"));
    release(&made);
}

static void without_taskstats_sampled_time_is_unknown_instead_of_zero(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    made.context.tier = TASKS_SCHEDSTAT;
    fill(&made);
    assert_true(isnan(value_of(&made, CHECK_PROCESSES, 0, "sampled_percent")));
    assert_true(isnan(value_of(&made, CHECK_PROCESSES, 0, "error_percent")));
    assert_true(isnan(value_of(&made, CHECK_TOTAL, 0, "sampled_percent")));
    assert_true(isnan(value_of(&made, CHECK_TOTAL, 0, "maximum_error_percent")));
    assert_near(value_of(&made, CHECK_TOTAL, 0, "measured_percent"), 90.4);
    release(&made);
}

static void assert_lacks_ends(bool final_clocks, bool is_recorded, bool lacks, bool can_change)
{
    struct made made;

    make(&made);
    made.context.final_clocks = final_clocks;
    made.context.is_recorded = is_recorded;
    fill(&made);
    assert_int_equal(strstr(text_of(&made, "tier_lacks"), "the last part of an exit") != NULL,
                     lacks);
    assert_int_equal(text_of(&made, "tier_change") != NULL, can_change);
    release(&made);
}

static void camp_check_names_the_unmeasured_end_of_exits_unless_final_clocks_are_read(void **state)
{
    (void)state;
    assert_lacks_ends(true, false, false, false);
    assert_lacks_ends(false, false, true, true);
    assert_lacks_ends(false, true, true, false); /* nothing can be changed about a recording */
}

static void camp_check_makes_a_record_of_an_interval_without_processes_and_cpus(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    frame_clear(&made.tasks);
    frame_clear(&made.cpus);
    fill(&made);
    assert_int_equal(made.check.document.tables[CHECK_PROCESSES].row_count, 0);
    assert_int_equal(made.check.document.tables[CHECK_CPUS].row_count, 0);
    assert_true(isnan(value_of(&made, CHECK_TOTAL, 0, "error_percent")));
    release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_pid_namespace_time_of_other_processes_is_of_no_shown_process),
        cmocka_unit_test(each_percentage_of_camp_check_is_relative_to_one_cpu),
        cmocka_unit_test(a_note_of_camp_check_says_that_busy_time_is_made_of_sampled_idle_time),
        cmocka_unit_test(the_measured_busy_time_of_a_cpu_is_the_sum_of_its_busy_states),
        cmocka_unit_test(camp_check_lists_the_processes_with_the_largest_sampling_error_first),
        cmocka_unit_test(a_note_of_camp_check_names_the_process_with_the_worst_sampling_error),
        cmocka_unit_test(cpu_time_of_processes_that_ended_unseen_is_shown_as_of_no_living_process),
        cmocka_unit_test(camp_check_of_one_process_has_no_notes_on_losses_of_other_processes),
        cmocka_unit_test(unaccounted_time_is_unknown_for_a_selection_of_processes),
        cmocka_unit_test(camp_check_has_a_note_for_each_kind_of_loss),
        cmocka_unit_test(cpu_time_missing_in_exit_records_is_at_most_the_uncharged_cpu_time),
        cmocka_unit_test(without_taskstats_sampled_time_is_unknown_instead_of_zero),
        cmocka_unit_test(camp_check_names_the_unmeasured_end_of_exits_unless_final_clocks_are_read),
        cmocka_unit_test(camp_check_makes_a_record_of_an_interval_without_processes_and_cpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
