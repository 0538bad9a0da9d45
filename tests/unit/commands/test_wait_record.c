/* The record of `camp wait`, from frames and disk waits made up here. */
#include "commands/wait/wait_record.h"
#include "views/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define MS UINT64_C(1000000)

struct made {
    struct frame threads, cpus;
    struct wait_tasks tasks;
    struct wait_record record;
    struct wait_selection selection;
    enum wait_tier tier;
    uint64_t tolerance_ns;
    struct losses losses;
};

static void add_cpu(struct made *made, int64_t id, uint64_t idle, uint64_t own, uint64_t any)
{
    struct frame *cpus = &made->cpus;
    struct entity *entity = frame_add(cpus);
    uint64_t *values;

    assert_non_null(entity);
    entity->id = id;
    values = frame_values(cpus, cpus->entity_count - 1);
    cpus->elapsed_ns[cpus->entity_count - 1] = id == CAMP_CPU_TOTAL ? 2 * SECOND : SECOND;
    values[CPUS_STATES_USER] = cpus->elapsed_ns[cpus->entity_count - 1] - idle;
    values[CPUS_STATES_IDLE] = idle - own;
    values[CPUS_STATES_IOWAIT] = own;
    values[CPUS_STATES_ANY_WAIT] = any;
    values[CPUS_STATES_KERNEL_WAIT] = own / 2;
    values[CPUS_STATES_STEAL] = 10 * MS;
}

static void add_thread(struct made *made, int32_t tid, uint64_t disk)
{
    struct entity *entity = frame_add(&made->threads);

    assert_non_null(entity);
    entity->id = tid;
    entity->pid = tid == 0 ? 0 : tid / 10 * 10;
    snprintf(entity->name, sizeof entity->name, "thread%d", tid);
    frame_values(&made->threads, made->threads.entity_count - 1)[CAMP_STATE_DISK] = disk;
}

static void add_wait(struct made *made, int32_t tid, uint32_t minor, uint64_t wait_ns)
{
    struct wait_reading *now = &made->tasks.now;

    assert_true(wait_tasks_reserve(&made->tasks, now->count + 1));
    now->waits[now->count++] = (struct camp_disk_wait){ .tid = tid,
                                                        .pid = tid / 10 * 10,
                                                        .start_ns = 1,
                                                        .major = minor > 0 ? 4095 : 0,
                                                        .minor = minor,
                                                        .wait_ns = wait_ns };
}

/* A second on two CPUs: the first is all idle, on the second a reader waits for 600 ms of it. */
static void make(struct made *made)
{
    *made = (struct made){ .tier = WAIT_BPF, .tolerance_ns = MS, .losses.unseen = 3 };
    frame_init(&made->threads, &threads_schema);
    frame_init(&made->cpus, &cpus_states_schema);
    add_cpu(made, CAMP_CPU_TOTAL, 1700 * MS, 600 * MS, 1150 * MS);
    add_cpu(made, 0, SECOND, 0, 550 * MS);
    add_cpu(made, 1, 700 * MS, 600 * MS, 600 * MS);
}

static void fill(struct made *made)
{
    struct wait_interval interval = {
        .tier = made->tier,
        .cpus = &made->cpus,
        .tasks = made->tier == WAIT_BPF ? &made->tasks : NULL,
        .losses = made->losses,
        .elapsed_ns = SECOND,
        .time = "2026-11-21T12:00:00.000+00:00",
    };

    assert_int_equal(wait_tasks_fill(&made->tasks, &made->threads, made->tolerance_ns), CAMP_OK);
    assert_int_equal(wait_record_fill(&made->record, &interval, &made->selection), CAMP_OK);
}

static void release(struct made *made)
{
    frame_release(&made->threads);
    frame_release(&made->cpus);
    wait_tasks_release(&made->tasks);
    wait_record_release(&made->record);
}

static struct cell cell(const struct made *made, size_t table, size_t row, const char *name)
{
    const struct table *shown = &made->record.tables[table];

    assert_true(row < shown->row_count);
    for (size_t i = 0; i < shown->field_count; i++) {
        if (shown->fields[i].name != NULL && strcmp(shown->fields[i].name, name) == 0)
            return shown->cells[row * shown->field_count + i];
    }
    fail_msg("no column %s", name);
    return cell_unknown();
}

static void assert_percent(const struct made *made, size_t table, size_t row, const char *name,
                           double expected)
{
    struct cell found = cell(made, table, row, name);

    assert_int_equal(found.kind, CELL_REAL);
    if (!(fabs(found.real - expected) < 1e-6))
        fail_msg("%s of row %zu is %f, expected %f", name, row, found.real, expected);
}

/* disk NULL: none. */
static void assert_task(const struct made *made, size_t row, int32_t tid, const char *disk,
                        uint64_t wait_ns)
{
    assert_int_equal(cell(made, WAIT_TASKS, row, "tid").integer, tid);
    assert_int_equal(cell(made, WAIT_TASKS, row, "wait_ns").natural, wait_ns);
    if (disk != NULL)
        assert_string_equal(cell(made, WAIT_TASKS, row, "disk").text, disk);
    else
        assert_int_equal(cell(made, WAIT_TASKS, row, "disk").kind, CELL_UNKNOWN);
}

static size_t tasks_shown(const struct made *made)
{
    return made->record.tables[WAIT_TASKS].row_count;
}

/* ---------------------------------------------------------------------------------- CPUs -- */

static void wait_any_counts_every_idle_cpu_and_wait_own_one(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    fill(&made);
    assert_percent(&made, WAIT_CPUS, 0, "idle_percent", 100);
    assert_percent(&made, WAIT_CPUS, 0, "any_percent", 55);
    assert_percent(&made, WAIT_CPUS, 0, "any_divided_percent", 27.5);
    assert_percent(&made, WAIT_CPUS, 0, "own_percent", 0);
    assert_percent(&made, WAIT_CPUS, 1, "idle_percent", 70);
    assert_percent(&made, WAIT_CPUS, 1, "any_percent", 60);
    assert_percent(&made, WAIT_CPUS, 1, "own_percent", 60);
    assert_percent(&made, WAIT_CPUS, 1, "kernel_percent", 30);
    release(&made);
}

static void the_machine_is_in_percent_of_all_its_cpus(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    fill(&made);
    assert_int_equal(cell(&made, WAIT_MACHINE, 0, "cpus").natural, 2);
    assert_percent(&made, WAIT_MACHINE, 0, "idle_percent", 85);
    assert_percent(&made, WAIT_MACHINE, 0, "any_percent", 57.5);
    assert_percent(&made, WAIT_MACHINE, 0, "any_divided_percent", 28.75);
    assert_percent(&made, WAIT_MACHINE, 0, "own_percent", 30);
    assert_percent(&made, WAIT_MACHINE, 0, "user_percent", 15);
    release(&made);
}

static void of_many_cpus_those_with_waits_are_shown_by_id(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    add_cpu(&made, 2, SECOND, 0, 550 * MS);
    add_cpu(&made, 3, SECOND, 700 * MS, 700 * MS);
    made.selection.top_cpus = 2;
    fill(&made);
    assert_int_equal(made.record.tables[WAIT_CPUS].row_count, 2);
    assert_int_equal(cell(&made, WAIT_CPUS, 0, "cpu").integer, 1);
    assert_int_equal(cell(&made, WAIT_CPUS, 1, "cpu").integer, 3);
    assert_int_equal(cell(&made, WAIT_MACHINE, 0, "cpus").natural, 4);
    assert_non_null(strstr(made.record.notes[0], "2 CPUs with less wait"));
    release(&made);
}

static void on_tier_kernel_the_other_definitions_are_unknown(void **state)
{
    struct made made;
    uint64_t *values;

    (void)state;
    make(&made);
    made.tier = WAIT_KERNEL;
    frame_release(&made.cpus);
    frame_init(&made.cpus, &cpus_schema);
    assert_non_null(frame_add(&made.cpus));
    made.cpus.elapsed_ns[0] = SECOND;
    values = frame_values(&made.cpus, 0);
    values[CPUS_IDLE] = 500 * MS;
    values[CPUS_IOWAIT] = 200 * MS;
    values[CPUS_USER] = 100 * MS;
    values[CPUS_NICE] = 150 * MS;
    values[CPUS_GUEST] = 50 * MS;
    fill(&made);
    assert_percent(&made, WAIT_CPUS, 0, "idle_percent", 70);
    assert_percent(&made, WAIT_CPUS, 0, "kernel_percent", 20);
    assert_percent(&made, WAIT_CPUS, 0, "user_percent", 30);
    assert_int_equal(cell(&made, WAIT_CPUS, 0, "any_percent").kind, CELL_UNKNOWN);
    assert_int_equal(cell(&made, WAIT_CPUS, 0, "any_divided_percent").kind, CELL_UNKNOWN);
    assert_int_equal(cell(&made, WAIT_CPUS, 0, "own_percent").kind, CELL_UNKNOWN);
    assert_int_equal(cell(&made, WAIT_MACHINE, 0, "tasks_percent").kind, CELL_UNKNOWN);
    assert_int_equal(tasks_shown(&made), 0);
    assert_string_equal(cell(&made, WAIT_SUMMARY, 0, "tier").text, "kernel");
    release(&made);
}

static void an_empty_interval_is_a_record_too(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    frame_clear(&made.cpus);
    fill(&made);
    assert_int_equal(made.record.tables[WAIT_CPUS].row_count, 0);
    assert_int_equal(cell(&made, WAIT_MACHINE, 0, "any_percent").kind, CELL_UNKNOWN);
    release(&made);
}

static void classic_has_the_columns_of_mpstat(void **state)
{
    struct made made;
    struct view_options options = { 0 };
    char *text = NULL;
    size_t size = 0;

    (void)state;
    make(&made);
    fill(&made);
    options.stream = open_memstream(&text, &size);
    assert_int_equal(classic_view.record(&options, &made.record.record, 0), 0);
    fclose(options.stream);
    assert_string_equal(
        text, "12:00:00     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest"
              "  %gnice   %idle\n"
              "12:00:00     all   15.00       -    0.00   30.00    0.00    0.00    0.50       -"
              "       -   55.00\n"
              "12:00:00       0    0.00       -    0.00    0.00    0.00    0.00    1.00       -"
              "       -  100.00\n"
              "12:00:00       1   30.00       -    0.00   60.00    0.00    0.00    1.00       -"
              "       -   10.00\n");
    free(text);
    release(&made);
}

/* --------------------------------------------------------------------------------- Tasks -- */

static void a_task_has_a_row_for_each_disk_longest_wait_first(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    add_wait(&made, 11, 2, 3 * SECOND);
    add_wait(&made, 11, 1, 10 * MS);
    add_wait(&made, 21, 1, 5 * SECOND);
    wait_tasks_start(&made.tasks);
    made.tasks.now.count = 0;
    add_wait(&made, 11, 2, 3 * SECOND + 100 * MS);
    add_wait(&made, 21, 1, 5 * SECOND + 200 * MS);
    add_wait(&made, 11, 1, 310 * MS);
    add_thread(&made, 11, 400 * MS);
    add_thread(&made, 21, 200 * MS);
    add_thread(&made, 31, 0);
    fill(&made);
    assert_int_equal(tasks_shown(&made), 3);
    assert_task(&made, 0, 11, "4095:1", 300 * MS);
    assert_task(&made, 1, 21, "4095:1", 200 * MS);
    assert_task(&made, 2, 11, "4095:2", 100 * MS);
    assert_int_equal(cell(&made, WAIT_TASKS, 0, "pid").integer, 10);
    assert_percent(&made, WAIT_MACHINE, 0, "tasks_percent", 60);
    assert_percent(&made, WAIT_MACHINE, 0, "unattributed_percent", 0);
    release(&made);
}

static void the_rest_of_the_disk_state_has_no_disk(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    add_wait(&made, 11, 1, 100 * MS);
    add_wait(&made, 21, 0, 50 * MS);
    add_thread(&made, 11, 400 * MS);
    add_thread(&made, 21, 80 * MS);
    add_thread(&made, 0, 20 * MS); /* many that ended */
    fill(&made);
    assert_int_equal(tasks_shown(&made), 4);
    assert_task(&made, 0, 11, NULL, 300 * MS);
    assert_task(&made, 1, 11, "4095:1", 100 * MS);
    assert_task(&made, 2, 21, NULL, 80 * MS);
    assert_int_equal(cell(&made, WAIT_TASKS, 3, "pid").kind, CELL_UNKNOWN);
    assert_int_equal(cell(&made, WAIT_TASKS, 3, "tid").kind, CELL_UNKNOWN);
    assert_percent(&made, WAIT_MACHINE, 0, "tasks_percent", 50);
    assert_percent(&made, WAIT_MACHINE, 0, "unattributed_percent", 40);
    release(&made);
}

/* The disks are read a little later than the states. */
static void time_between_the_readings_goes_to_the_longest_wait(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    add_wait(&made, 11, 1, 100 * MS);
    add_wait(&made, 11, 2, 200 * MS);
    add_wait(&made, 21, 1, 50 * MS + 1000);
    add_thread(&made, 11, 300 * MS + 1000);
    add_thread(&made, 21, 50 * MS);
    fill(&made);
    assert_int_equal(tasks_shown(&made), 3);
    assert_task(&made, 0, 11, "4095:2", 200 * MS + 1000);
    assert_task(&made, 1, 11, "4095:1", 100 * MS);
    assert_task(&made, 2, 21, "4095:1", 50 * MS);
    release(&made);
}

static void a_wait_of_an_exiting_thread_is_accounted_in_the_next_frame(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    add_wait(&made, 11, 1, 100 * MS);
    fill(&made);
    assert_int_equal(tasks_shown(&made), 0);
    made.tasks.now.count = 0;
    add_wait(&made, 11, 1, 130 * MS);
    add_thread(&made, 11, 130 * MS);
    fill(&made);
    assert_task(&made, 0, 11, "4095:1", 130 * MS);
    release(&made);
}

static void a_wait_is_accounted_in_one_interval(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    add_wait(&made, 11, 1, 100 * MS);
    add_wait(&made, 11, 2, 200 * MS);
    add_thread(&made, 11, 300 * MS);
    fill(&made);
    assert_int_equal(tasks_shown(&made), 2);
    made.tasks.now.count = 0;
    frame_clear(&made.threads);
    add_wait(&made, 11, 1, 140 * MS);
    add_wait(&made, 11, 2, 200 * MS);
    add_thread(&made, 11, 40 * MS);
    fill(&made);
    assert_int_equal(tasks_shown(&made), 1);
    assert_task(&made, 0, 11, "4095:1", 40 * MS);
    release(&made);
}

static void two_tasks_with_one_pid_are_distinguished(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    add_wait(&made, 11, 1, 100 * MS);
    add_wait(&made, 11, 2, 50 * MS);
    made.tasks.now.waits[0].pid = 11;
    made.tasks.now.waits[0].start_ns = 2;
    add_thread(&made, 11, 50 * MS);
    add_thread(&made, 11, 100 * MS);
    made.threads.entities[1].pid = 11;
    fill(&made);
    assert_int_equal(tasks_shown(&made), 2);
    assert_task(&made, 0, 11, "4095:1", 100 * MS);
    assert_int_equal(cell(&made, WAIT_TASKS, 0, "pid").integer, 11);
    assert_task(&made, 1, 11, "4095:2", 50 * MS);
    assert_int_equal(cell(&made, WAIT_TASKS, 1, "pid").integer, 10);
    release(&made);
}

static void a_recreated_pair_never_has_negative_growth(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    add_wait(&made, 11, 1, SECOND);
    wait_tasks_start(&made.tasks);
    made.tasks.now.count = 0;
    add_wait(&made, 11, 1, 40 * MS);
    add_thread(&made, 11, 40 * MS);
    fill(&made);
    assert_int_equal(tasks_shown(&made), 1);
    assert_task(&made, 0, 11, NULL, 40 * MS);
    release(&made);
}

static void rows_have_selected_processes_and_sums_have_all(void **state)
{
    static const int32_t pids[] = { 20 };
    struct made made;

    (void)state;
    make(&made);
    add_wait(&made, 11, 1, 300 * MS);
    add_wait(&made, 21, 1, 100 * MS);
    add_wait(&made, 22, 1, 200 * MS);
    add_thread(&made, 11, 300 * MS);
    add_thread(&made, 21, 100 * MS);
    add_thread(&made, 22, 200 * MS);
    made.selection = (struct wait_selection){ .pids = pids, .pid_count = 1, .top = 1 };
    fill(&made);
    assert_int_equal(tasks_shown(&made), 1);
    assert_task(&made, 0, 22, "4095:1", 200 * MS);
    assert_percent(&made, WAIT_MACHINE, 0, "tasks_percent", 60);
    assert_non_null(strstr(made.record.notes[0], "1 waits (--top 0"));
    release(&made);
}

static void each_loss_has_a_line(void **state)
{
    const char *const *notes;
    struct made made;

    (void)state;
    make(&made);
    made.losses = (struct losses){ .unseen = 3, .lost = 4, .partial = 5 };
    fill(&made);
    notes = made.record.notes; /* after those of all CPUs and of tasks */
    assert_non_null(strstr(notes[0], "partial    5 CPUs"));
    assert_non_null(strstr(notes[3], "unseen     3 switches"));
    assert_non_null(strstr(notes[4], "lost       4 threads"));
    assert_null(notes[5]);
    made.losses = (struct losses){ 0 };
    fill(&made);
    assert_null(notes[2]);
    release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wait_any_counts_every_idle_cpu_and_wait_own_one),
        cmocka_unit_test(the_machine_is_in_percent_of_all_its_cpus),
        cmocka_unit_test(of_many_cpus_those_with_waits_are_shown_by_id),
        cmocka_unit_test(on_tier_kernel_the_other_definitions_are_unknown),
        cmocka_unit_test(an_empty_interval_is_a_record_too),
        cmocka_unit_test(classic_has_the_columns_of_mpstat),
        cmocka_unit_test(a_task_has_a_row_for_each_disk_longest_wait_first),
        cmocka_unit_test(the_rest_of_the_disk_state_has_no_disk),
        cmocka_unit_test(time_between_the_readings_goes_to_the_longest_wait),
        cmocka_unit_test(a_wait_of_an_exiting_thread_is_accounted_in_the_next_frame),
        cmocka_unit_test(a_wait_is_accounted_in_one_interval),
        cmocka_unit_test(two_tasks_with_one_pid_are_distinguished),
        cmocka_unit_test(a_recreated_pair_never_has_negative_growth),
        cmocka_unit_test(rows_have_selected_processes_and_sums_have_all),
        cmocka_unit_test(each_loss_has_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
