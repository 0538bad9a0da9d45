/* Tests the report of camp check for a run of many intervals, with synthetic frames. */
#include "commands/check/check_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000u
#define INTERVALS 400
#define FORKS 100 /* short-lived processes in each interval */

static const struct column task_columns[TASKS_COLUMN_COUNT];
static const struct schema tasks_schema = { "tasks", task_columns, TASKS_COLUMN_COUNT, 0 };

static void add_task(struct frame *tasks, int64_t id, const char *name)
{
    struct entity *entity = frame_add(tasks);
    uint64_t *values = frame_values(tasks, tasks->entity_count - 1);

    assert_non_null(entity);
    entity->id = id;
    snprintf(entity->name, sizeof entity->name, "%s", name);
    values[TASKS_MEASURED] = SECOND / 1000;
    values[TASKS_SAMPLED] = SECOND / 500;
    values[TASKS_ABSOLUTE] = SECOND / 1000;
    values[TASKS_ACTIVE] = 1;
    tasks->elapsed_ns[tasks->entity_count - 1] = SECOND;
}

static void add_intervals(struct check_report *report)
{
    const struct check_context context = { .tier = TASKS_TASKSTATS };
    struct frame tasks, cpus;
    char time[32];

    frame_init(&tasks, &tasks_schema);
    frame_init(&cpus, &cpus_schema);
    for (unsigned i = 0; i < INTERVALS; i++) {
        frame_clear(&tasks);
        tasks.end_ns = cpus.end_ns = SECOND;
        add_task(&tasks, 1, "stays");
        for (unsigned k = 0; k < FORKS; k++)
            add_task(&tasks, 10 + i * FORKS + k, "comes");
        snprintf(time, sizeof time, "interval %u", i);
        assert_int_equal(check_report_add(report, &context, &tasks, &cpus, time), CAMP_OK);
    }
    frame_release(&tasks);
    frame_release(&cpus);
}

static char *page_of(const struct check_report *report)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    assert_non_null(stream);
    assert_int_equal(check_report_page(stream, report), CAMP_OK);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void the_report_merges_ended_processes_of_the_same_name(void **state)
{
    struct check_report report = { 0 };
    double stays = 0, comes = 0;

    (void)state;
    add_intervals(&report);
    assert_true(report.registry.count < 4 * 4096);
    for (size_t i = 0; i < report.registry.count; i++) {
        const bool is_one = strcmp(report.registry.entities[i].entity.name, "stays") == 0;

        *(is_one ? &stays : &comes) += report.processes[i].measured_s;
    }
    assert_float_equal(stays, 0.001 * INTERVALS, 1e-6);
    assert_float_equal(comes, 0.001 * INTERVALS * FORKS, 1e-6);
    check_report_release(&report);
}

static void the_report_lists_the_last_300_intervals(void **state)
{
    struct check_report report = { 0 };
    char *page;

    (void)state;
    add_intervals(&report);
    assert_int_equal(error_picture_fit(&report.picture), CAMP_OK);
    page = page_of(&report);
    assert_non_null(strstr(page, "The last 300 of 400 intervals"));
    assert_non_null(strstr(page, "interval 0<"));
    assert_null(strstr(page, "interval 99<"));
    assert_non_null(strstr(page, "interval 100<"));
    assert_non_null(strstr(page, "interval 399<"));
    assert_true(strstr(page, "interval 100<") < strstr(page, "interval 101<"));
    assert_true(strstr(page, "interval 299<") < strstr(page, "interval 300<"));
    free(page);
    check_report_release(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_merges_ended_processes_of_the_same_name),
        cmocka_unit_test(the_report_lists_the_last_300_intervals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
