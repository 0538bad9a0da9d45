/* Tests which threads camp time counts as descendants, the sums of their times, and the columns of
 * its tables. */
#include "commands/time/time_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROOT 100

/* Adds a synthetic thread, which exited at `time` and slept since `begin`. */
static struct camp_thread_states *add(struct family *family, int32_t pid, int32_t tid,
                                      int32_t parent, uint64_t begin, uint64_t time,
                                      const char *name)
{
    struct camp_thread_states thread = { .pid = pid,
                                         .tid = tid,
                                         .parent = parent,
                                         .flags = CAMP_THREAD_ENDED,
                                         .count = 1,
                                         .processes = pid == tid,
                                         .start_ns = begin,
                                         .begin_ns = begin,
                                         .time_ns = time };

    strncpy(thread.name, name, sizeof thread.name - 1);
    thread.state_ns[CAMP_STATE_TIMER] = time - begin;
    assert_int_equal(thread_list_add(&family->threads, &thread), CAMP_OK);
    return &family->threads.threads[family->threads.count - 1];
}

/* Returns the row at this position of the order by elapsed time. */
static size_t row_at(const struct family *family, size_t place)
{
    assert_true(place + 1 < family->sums.entity_count);
    return family->order[place];
}

static void descendants_of_all_generations_are_added_up_and_siblings_are_left_out(void **state)
{
    struct family family;

    (void)state;
    family_init(&family, 0);
    add(&family, 101, 101, ROOT, 0, 90, "child");
    add(&family, 102, 102, 101, 10, 50, "grandchild");
    add(&family, 103, 103, 102, 20, 40, "third");
    add(&family, 104, 104, ROOT, 30, 95, "orphan"); /* adopted by ROOT, the subreaper */
    add(&family, ROOT, ROOT, 7, 0, 99, "root");
    add(&family, 7, 7, 1, 0, 99, "shell");
    add(&family, 8, 8, 7, 0, 99, "sibling");
    add(&family, 9, 9, 9999, 0, 99, "no parent");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(frame_values(&family.sums, 0)[FAMILY_PROCESSES], 4);
    assert_int_equal(family.sums.elapsed_ns[0], 90 + 40 + 20 + 65);
    assert_int_equal(family.sums.entity_count, 1 + 4);
    assert_string_equal(family.sums.entities[row_at(&family, 0)].name,
                        "child"); /* the row with the longest time is first */
    family_release(&family);
}

/* The parent is the process that had the pid when the child ended. */
static void parents_with_the_same_pid_at_different_times_are_distinguished(void **state)
{
    struct family family;

    (void)state;
    family_init(&family, 0);
    add(&family, 200, 200, 1, 0, 50, "stranger");
    add(&family, 200, 200, ROOT, 60, 90, "mine");
    add(&family, 300, 300, 200, 10, 40, "of the stranger");
    add(&family, 301, 301, 200, 65, 80, "of mine");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(frame_values(&family.sums, 0)[FAMILY_PROCESSES], 2);
    assert_int_equal(family.sums.elapsed_ns[0], 30 + 15);
    family_release(&family);
}

/* The parents of 102 and 103 waited for them, and exited before 102 and 103 left their CPUs. */
static void a_thread_may_have_its_last_times_after_its_parent(void **state)
{
    struct family family;

    (void)state;
    family_init(&family, 0);
    add(&family, 101, 101, ROOT, 0, 50, "child");
    add(&family, 102, 102, 101, 10, 60, "late");
    add(&family, 103, 103, 102, 20, 90, "later");
    add(&family, 104, 104, 101, 51, 95, "of another 101, which was not collected");
    add(&family, 200, 200, 1, 0, 50, "stranger");
    add(&family, 201, 201, 200, 10, 60, "late, too");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(frame_values(&family.sums, 0)[FAMILY_PROCESSES], 3);
    assert_int_equal(family.sums.elapsed_ns[0], 50 + 50 + 70);
    family_release(&family);
}

static void threads_are_accounted_under_the_name_of_their_process(void **state)
{
    struct family family;

    (void)state;
    family_init(&family, 0);
    add(&family, 101, 105, ROOT, 10, 20, "worker");
    add(&family, 101, 101, ROOT, 0, 90, "server");
    add(&family, 101, 106, ROOT, 30, 95, "worker");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(family.sums.entity_count, 1 + 1);
    assert_string_equal(family.sums.entities[row_at(&family, 0)].name, "server");
    assert_int_equal(family.sums.entities[row_at(&family, 0)].count, 3);
    assert_int_equal(frame_values(&family.sums, row_at(&family, 0))[FAMILY_PROCESSES], 1);
    family_release(&family);
}

static uint64_t total(const struct family *family, size_t column)
{
    return frame_values(&family->sums, 0)[threads_column(&family->schema, column)];
}

static void the_sums_have_no_columns_of_states_that_are_not_measured(void **state)
{
    static const uint32_t masks[] = {
        1u << CAMP_STATE_TRAP,
        1u << CAMP_STATE_TEXT_FAULT | 1u << CAMP_STATE_KERNEL_FAULT,
        1u << CAMP_STATE_TEXT_FAULT | 1u << CAMP_STATE_KERNEL_FAULT | 1u << CAMP_STATE_TRAP,
    };

    (void)state;
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        struct family family;

        family_init(&family, masks[i]);
        add(&family, 101, 101, ROOT, 0, 90, "server");
        assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
        assert_int_equal(family.schema.column_count, FAMILY_COLUMN_COUNT - 1 - i);
        for (size_t k = 0; k < CAMP_STATE_COUNT; k++)
            assert_int_equal(threads_have(&family.schema, k), (masks[i] & 1u << k) == 0);
        assert_string_equal(
            family.schema.columns[threads_column(&family.schema, FAMILY_PROCESSES)].name,
            "processes");
        assert_int_equal(total(&family, CAMP_STATE_TIMER), 90);
        assert_int_equal(total(&family, FAMILY_PROCESSES), 1);
        assert_int_equal(frame_unaccounted_ns(&family.sums, 0), 0);
        family_release(&family);
    }
}

static bool has_field(const struct table *table, const char *name)
{
    for (size_t i = 0; i < table->field_count; i++) {
        if (table->fields[i].name != NULL && strcmp(table->fields[i].name, name) == 0)
            return true;
    }
    return false;
}

static void the_tables_of_camp_time_leave_out_states_that_are_not_measured(void **state)
{
    const struct time_facts facts = { .time = "now", .command = "server", .as_figure = true };
    struct time_record record;
    struct family family;
    char line[64];

    (void)state;
    family_init(&family, 1u << CAMP_STATE_TEXT_FAULT | 1u << CAMP_STATE_KERNEL_FAULT |
                             1u << CAMP_STATE_SLEEP | UINT64_C(1) << THREADS_SYSTEM_CALLS);
    add(&family, 101, 101, ROOT, 0, 90, "server");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(time_record_fill(&record, &family, &facts, 0), CAMP_OK);
    for (size_t i = 2; i < 4; i++) {
        assert_false(has_field(&record.tables[i], "text_fault_ns"));
        assert_true(has_field(&record.tables[i], "data_fault_ns"));
        assert_false(has_field(&record.tables[i], "kernel_fault_ns"));
        assert_true(has_field(&record.tables[i], "trap_ns"));
        assert_false(has_field(&record.tables[i], "sleep_ns"));
        assert_false(has_field(&record.tables[i], "system_calls"));
        assert_true(has_field(&record.tables[i], "minor_faults"));
    }
    assert_int_equal(record.tables[1].row_count, 1);
    assert_string_equal(record.tables[1].cells[0].text, "timer");
    snprintf(line, sizeof line, "%-20s %12s", "Text pfault sleep", "-");
    assert_non_null(strstr(record.note_list[2], line));
    for (size_t i = 0; record.note_list[i] != NULL; i++)
        assert_null(strstr(record.note_list[i], "Sleep time"));
    time_record_release(&record);
    family_release(&family);
}

/* On a system that does not divide sleep, such as illumos. */
static void the_summary_of_camp_time_has_sleep_divided_or_as_one_state(void **state)
{
    static const char *const divided[] = { "Disk sleep",      "Poll sleep",  "Socket sleep",
                                           "Pipe sleep",      "Timer sleep", "Child sleep",
                                           "Other sleep time" };
    const struct time_facts facts = { .time = "now", .command = "server", .as_figure = true };
    const uint64_t unmeasured = 1u << CAMP_STATE_IRQ | 1u << CAMP_STATE_DISK |
                                1u << CAMP_STATE_POLL | 1u << CAMP_STATE_SOCKET |
                                1u << CAMP_STATE_PIPE | 1u << CAMP_STATE_TIMER |
                                1u << CAMP_STATE_CHILD | 1u << CAMP_STATE_OTHER_SLEEP |
                                1u << CAMP_STATE_THROTTLED | UINT64_C(1) << THREADS_SAMPLED;
    struct time_record record;
    struct family family;
    size_t found = 0;

    (void)state;
    family_init(&family, unmeasured);
    add(&family, 101, 101, ROOT, 0, 90, "server");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(time_record_fill(&record, &family, &facts, 0), CAMP_OK);
    for (size_t i = 0; record.note_list[i] != NULL; i++) {
        found += strstr(record.note_list[i], "Sleep time") != NULL;
        for (size_t k = 0; k < sizeof divided / sizeof divided[0]; k++)
            assert_null(strstr(record.note_list[i], divided[k]));
    }
    assert_int_equal(found, 1);
    time_record_release(&record);
    family_release(&family);
}

static void threads_that_had_not_ended_are_a_loss_of_camp_time(void **state)
{
    const struct time_facts facts = { .time = "now", .command = "server" };
    struct time_record record;
    struct family family;
    bool found = false;

    (void)state;
    family_init(&family, 0);
    add(&family, 101, 101, ROOT, 0, 90, "server");
    family.exiting = 2;
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(time_record_fill(&record, &family, &facts, 0), CAMP_OK);
    for (size_t i = 0; record.note_list[i] != NULL; i++)
        found |= strstr(record.note_list[i], "lost: 2 threads of all CPUs") != NULL;
    assert_true(found);
    assert_int_equal(record.tables[4].cells[3].natural, 2);
    time_record_release(&record);
    family_release(&family);
}

/* Pids are reused, so parents in records of different times may form a circle. */
static void a_cycle_of_parents_causes_no_endless_loop(void **state)
{
    struct family family;

    (void)state;
    family_init(&family, 0);
    add(&family, 101, 101, 102, 0, 90, "a");
    add(&family, 102, 102, 101, 0, 90, "b");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(family.sums.entities[0].count, 0);
    family_release(&family);
}

/* If there is no space for a record of each exited thread, exited threads with the same parent
 * and name are added up in a total. */
static void a_sum_of_exited_threads_belongs_to_the_descendants_of_the_parent_process(void **state)
{
    struct family family;
    struct camp_thread_states *total;

    (void)state;
    family_init(&family, 0);
    add(&family, 101, 101, ROOT, 0, 50, "make");
    add(&family, 0, 0, 7, 10, 40, "stranger")->flags |= CAMP_THREAD_TOTAL;
    total = add(&family, 0, 0, 101, 10, 40, "brief");
    total->flags |= CAMP_THREAD_TOTAL;
    total->count = 12;
    total->processes = 9;
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(family.sums.entity_count, 1 + 2);
    assert_string_equal(family.sums.entities[row_at(&family, 1)].name, "brief");
    assert_int_equal(family.sums.entities[row_at(&family, 1)].count, 12);
    assert_int_equal(frame_values(&family.sums, row_at(&family, 1))[FAMILY_PROCESSES], 9);
    assert_int_equal(family.sums.elapsed_ns[row_at(&family, 1)], 30);
    assert_int_equal(family.sums.entities[0].count, 13);
    family_release(&family);
}

/* A total is reported some time after the last of its threads exited. */
static void a_sum_of_exited_threads_is_accounted_even_if_their_parent_has_exited(void **state)
{
    struct family family;

    (void)state;
    family_init(&family, 0);
    add(&family, 101, 101, ROOT, 0, 50, "make");
    add(&family, 102, 102, 101, 5, 45, "sh");
    add(&family, 0, 0, 102, 60, 90, "brief")->flags |= CAMP_THREAD_TOTAL;
    add(&family, 300, 300, 102, 60, 90, "of another 102, which was not collected");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(family.sums.elapsed_ns[0], 50 + 40 + 30);
    family_release(&family);
}

static void a_process_whose_parent_is_outside_is_no_child_of_a_total(void **state)
{
    struct family family;

    (void)state;
    family_init(&family, 0);
    add(&family, ROOT, ROOT, 0, 0, 99, "root");
    add(&family, 0, 0, ROOT, 10, 100, "brief")->flags |= CAMP_THREAD_TOTAL;
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(family.sums.elapsed_ns[0], 90);
    family_release(&family);
}

static void the_times_of_a_process_include_only_its_own_threads(void **state)
{
    struct family family;

    (void)state;
    family_init(&family, 0);
    add(&family, 101, 101, 1, 0, 60, "it");
    add(&family, 101, 102, 1, 50, 100, "it")->flags = 0;
    add(&family, 102, 103, 1, 50, 100, "other");
    assert_int_equal(family_add_up_process(&family, 101), CAMP_OK);
    assert_int_equal(family.sums.elapsed_ns[0], 60 + 50);
    assert_int_equal(frame_values(&family.sums, 0)[CAMP_STATE_TIMER], 60 + 50);
    assert_int_equal(frame_values(&family.sums, 0)[FAMILY_RUNNING], 1);
    assert_int_equal(frame_unaccounted_ns(&family.sums, 0), 0);
    family_release(&family);
}

static void a_process_has_exited_when_its_first_thread_has_exited(void **state)
{
    const struct camp_thread_states exited[] = { { .pid = 101, .tid = 101 },
                                                 { .pid = 102, .tid = 103 } };
    struct family family;

    (void)state;
    family_init(&family, 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(thread_list_add(&family.threads, &exited[i]), CAMP_OK);
    assert_true(family_has_exit(&family, 101));
    assert_false(family_has_exit(&family, 102));
    family_release(&family);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_times_of_a_process_include_only_its_own_threads),
        cmocka_unit_test(a_process_has_exited_when_its_first_thread_has_exited),
        cmocka_unit_test(a_sum_of_exited_threads_belongs_to_the_descendants_of_the_parent_process),
        cmocka_unit_test(a_sum_of_exited_threads_is_accounted_even_if_their_parent_has_exited),
        cmocka_unit_test(descendants_of_all_generations_are_added_up_and_siblings_are_left_out),
        cmocka_unit_test(parents_with_the_same_pid_at_different_times_are_distinguished),
        cmocka_unit_test(a_process_whose_parent_is_outside_is_no_child_of_a_total),
        cmocka_unit_test(a_thread_may_have_its_last_times_after_its_parent),
        cmocka_unit_test(threads_are_accounted_under_the_name_of_their_process),
        cmocka_unit_test(the_sums_have_no_columns_of_states_that_are_not_measured),
        cmocka_unit_test(the_tables_of_camp_time_leave_out_states_that_are_not_measured),
        cmocka_unit_test(threads_that_had_not_ended_are_a_loss_of_camp_time),
        cmocka_unit_test(the_summary_of_camp_time_has_sleep_divided_or_as_one_state),
        cmocka_unit_test(a_cycle_of_parents_causes_no_endless_loop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
