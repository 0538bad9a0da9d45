/* Tests the rows of tasks and disks of camp wait, and the notes about losses. */
#include "synthetic_waits.h"

static void add_thread(struct made *made, int32_t tid, uint64_t disk)
{
    struct entity *entity = frame_add(&made->threads);

    assert_non_null(entity);
    entity->id = tid;
    entity->pid = tid == 0 ? 0 : tid / 10 * 10;
    snprintf(entity->name, sizeof entity->name, "thread%d", tid);
    frame_values(&made->threads, made->threads.entity_count -
                                     1)[threads_column(made->threads.schema, CAMP_STATE_DISK)] =
        disk;
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

/* If `disk` is NULL, the row must have no disk. */
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

static void camp_wait_lists_each_pair_of_task_and_disk_and_sorts_the_pairs_by_wait(void **state)
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

static void disk_time_that_no_known_wait_explains_is_shown_without_a_disk_name(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    add_wait(&made, 11, 1, 100 * MS);
    add_wait(&made, 21, 0, 50 * MS);
    add_thread(&made, 11, 400 * MS);
    add_thread(&made, 21, 80 * MS);
    add_thread(&made, 0, 20 * MS); /* tid 0 is the sum of many exited threads */
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

static void the_disk_time_of_a_thread_is_found_if_states_are_not_measured(void **state)
{
    struct threads_columns measured;
    struct made made;

    (void)state;
    make(&made);
    frame_release(&made.threads);
    threads_columns_fill(&measured, 1u << CAMP_STATE_TEXT_FAULT | 1u << CAMP_STATE_KERNEL_FAULT);
    frame_init(&made.threads, &measured.schema);
    add_wait(&made, 11, 1, 400 * MS);
    add_thread(&made, 11, 400 * MS);
    fill(&made);
    assert_int_equal(tasks_shown(&made), 1);
    assert_task(&made, 0, 11, "4095:1", 400 * MS);
    release(&made);
}

/* The disk waits are read a little later than the states of the threads. */
static void a_small_difference_between_two_readings_is_added_to_the_longest_wait(void **state)
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

static void the_disk_wait_of_an_exiting_thread_is_accounted_in_the_next_interval(void **state)
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

static void a_disk_wait_over_two_intervals_is_accounted_once(void **state)
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

static void two_threads_with_the_same_tid_are_distinguished(void **state)
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

static void a_wait_counter_that_restarts_gives_no_negative_wait(void **state)
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

static void camp_wait_limits_the_rows_but_not_the_totals_to_the_selected_processes(void **state)
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
    made.selection = (struct selection){ .pids = pids, .pid_count = 1, .most = 1 };
    fill(&made);
    assert_int_equal(tasks_shown(&made), 1);
    assert_task(&made, 0, 22, "4095:1", 200 * MS);
    assert_percent(&made, WAIT_MACHINE, 0, "tasks_percent", 60);
    assert_non_null(strstr(made.record.document.notes[0], "1 wait (--top 0"));
    release(&made);
}

static void camp_wait_has_a_note_for_each_kind_of_loss(void **state)
{
    const char *const *notes;
    struct made made;

    (void)state;
    make(&made);
    made.losses = (struct losses){ .unseen = 3, .lost = 4, .partial = 5 };
    fill(&made);
    notes = made.record.document.notes; /* notes[1] and notes[2] are not about losses */
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
        cmocka_unit_test(camp_wait_lists_each_pair_of_task_and_disk_and_sorts_the_pairs_by_wait),
        cmocka_unit_test(disk_time_that_no_known_wait_explains_is_shown_without_a_disk_name),
        cmocka_unit_test(the_disk_time_of_a_thread_is_found_if_states_are_not_measured),
        cmocka_unit_test(a_small_difference_between_two_readings_is_added_to_the_longest_wait),
        cmocka_unit_test(the_disk_wait_of_an_exiting_thread_is_accounted_in_the_next_interval),
        cmocka_unit_test(a_disk_wait_over_two_intervals_is_accounted_once),
        cmocka_unit_test(two_threads_with_the_same_tid_are_distinguished),
        cmocka_unit_test(a_wait_counter_that_restarts_gives_no_negative_wait),
        cmocka_unit_test(camp_wait_limits_the_rows_but_not_the_totals_to_the_selected_processes),
        cmocka_unit_test(camp_wait_has_a_note_for_each_kind_of_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
