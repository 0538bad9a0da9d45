/* camp time: who is a descendant, and what its threads add up to. */
#include "commands/time/time_family.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROOT 100

/* A family of made-up threads; ended at `time`, having slept since they began. */
static void take(struct family *family, int32_t pid, int32_t tid, int32_t parent, uint64_t begin,
                 uint64_t time, const char *name)
{
    struct camp_thread_states *thread;

    family->threads = realloc(family->threads, ++family->count * sizeof *family->threads);
    assert_non_null(family->threads);
    thread = &family->threads[family->count - 1];
    *thread = (struct camp_thread_states){ .pid = pid,
                                           .tid = tid,
                                           .parent = parent,
                                           .flags = CAMP_THREAD_ENDED,
                                           .count = 1,
                                           .processes = pid == tid,
                                           .start_ns = begin,
                                           .begin_ns = begin,
                                           .time_ns = time };
    strncpy(thread->name, name, sizeof thread->name - 1);
    thread->state_ns[CAMP_STATE_TIMER] = time - begin;
    family->capacity = family->count;
}

static void only_children_and_grandchildren_are_descendants(void **state)
{
    struct family family = { 0 };

    (void)state;
    take(&family, 101, 101, ROOT, 0, 90, "child");
    take(&family, 102, 102, 101, 10, 50, "grandchild");
    take(&family, 103, 103, 102, 20, 40, "third");
    take(&family, 104, 104, ROOT, 30, 95, "orphan"); /* given to the reaper */
    take(&family, ROOT, ROOT, 7, 0, 99, "root");
    take(&family, 7, 7, 1, 0, 99, "shell");
    take(&family, 8, 8, 7, 0, 99, "sibling");
    take(&family, 9, 9, 9999, 0, 99, "no parent");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(family.total.processes, 4);
    assert_int_equal(family.total.elapsed_ns, 90 + 40 + 20 + 65);
    assert_int_equal(family.sum_count, 4);
    assert_string_equal(family.sums[0].name, "child"); /* the longest first */
    family_release(&family);
}

/* The parent is the one that lived when its child ended. */
static void a_reused_pid_is_another_parent(void **state)
{
    struct family family = { 0 };

    (void)state;
    take(&family, 200, 200, 1, 0, 50, "stranger");
    take(&family, 200, 200, ROOT, 60, 90, "mine");
    take(&family, 300, 300, 200, 10, 40, "of the stranger");
    take(&family, 301, 301, 200, 65, 80, "of mine");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(family.total.processes, 2);
    assert_int_equal(family.total.elapsed_ns, 30 + 15);
    family_release(&family);
}

static void threads_are_accounted_under_the_name_of_their_process(void **state)
{
    struct family family = { 0 };

    (void)state;
    take(&family, 101, 105, ROOT, 10, 20, "worker");
    take(&family, 101, 101, ROOT, 0, 90, "server");
    take(&family, 101, 106, ROOT, 30, 95, "worker");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(family.sum_count, 1);
    assert_string_equal(family.sums[0].name, "server");
    assert_int_equal(family.sums[0].threads, 3);
    assert_int_equal(family.sums[0].processes, 1);
    family_release(&family);
}

static void earlier_time_is_subtracted(void **state)
{
    struct family before = { 0 }, now = { 0 };

    (void)state;
    take(&before, 101, 101, 1, 0, 40, "it");
    take(&now, 101, 101, 1, 0, 100, "it");
    take(&now, 101, 102, 1, 50, 100, "it"); /* began since */
    take(&now, 102, 103, 1, 50, 100, "other");
    family_keep(&now, 101);
    family_subtract(&now, &before);
    assert_int_equal(family_add_up_process(&now, 101), CAMP_OK);
    assert_int_equal(now.total.elapsed_ns, 60 + 50);
    assert_int_equal(now.total.state_ns[CAMP_STATE_TIMER], 60 + 50);
    assert_true(family_has_exit(&now, 101));
    assert_false(family_has_exit(&now, 103));
    family_release(&now);
    family_release(&before);
}

static void a_thread_that_calls_exec_continues_under_another_tid(void **state)
{
    struct family before = { 0 }, now = { 0 };

    (void)state;
    take(&before, 101, 101, 1, 0, 40, "it");
    take(&before, 101, 105, 1, 20, 40, "it");
    take(&now, 101, 101, 1, 20, 100, "another");
    now.threads[0].start_ns = 0; /* the first one's */
    family_subtract(&now, &before);
    assert_int_equal(family_add_up_process(&now, 101), CAMP_OK);
    assert_int_equal(now.total.elapsed_ns, 60);
    assert_int_equal(now.total.state_ns[CAMP_STATE_TIMER], 60);
    family_release(&now);
    family_release(&before);
}

/* A circle of parents cannot be, but for records of several times; it must end. */
static void a_circle_of_parents_ends(void **state)
{
    struct family family = { 0 };

    (void)state;
    take(&family, 101, 101, 102, 0, 90, "a");
    take(&family, 102, 102, 101, 0, 90, "b");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(family.total.threads, 0);
    family_release(&family);
}

/* Those that found no room, added up by parent and name. */
static void a_total_belongs_to_its_parent(void **state)
{
    struct family family = { 0 };
    struct camp_thread_states *total;

    (void)state;
    take(&family, 101, 101, ROOT, 0, 50, "make");
    take(&family, 0, 0, 101, 10, 40, "brief");
    take(&family, 0, 0, 7, 10, 40, "stranger");
    total = &family.threads[1];
    total->flags |= CAMP_THREAD_TOTAL;
    total->count = 12;
    total->processes = 9;
    family.threads[2].flags |= CAMP_THREAD_TOTAL;
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(family.sum_count, 2);
    assert_string_equal(family.sums[1].name, "brief");
    assert_int_equal(family.sums[1].threads, 12);
    assert_int_equal(family.sums[1].processes, 9);
    assert_int_equal(family.sums[1].elapsed_ns, 30);
    assert_int_equal(family.total.threads, 13);
    family_release(&family);
}

/* It comes a while after the last of its threads. */
static void the_parent_of_a_total_may_have_exited_before(void **state)
{
    struct family family = { 0 };

    (void)state;
    take(&family, 101, 101, ROOT, 0, 50, "make");
    take(&family, 102, 102, 101, 5, 45, "sh");
    take(&family, 0, 0, 102, 60, 90, "brief");
    family.threads[2].flags |= CAMP_THREAD_TOTAL;
    take(&family, 300, 300, 102, 60, 90, "of another 102, that was not taken");
    assert_int_equal(family_add_up_descendants(&family, ROOT), CAMP_OK);
    assert_int_equal(family.total.elapsed_ns, 50 + 40 + 30);
    family_release(&family);
}

static void a_short_lived_thread_is_collected_once(void **state)
{
    struct family family = { 0 };

    (void)state;
    take(&family, 101, 101, ROOT, 0, 40, "make");
    take(&family, 102, 102, ROOT, 0, 40, "cc1");
    take(&family, 101, 101, ROOT, 0, 50, "make");
    family.threads[0].flags = 0;
    family.threads[1].flags = 0;
    family_drop_duplicates(&family);
    assert_int_equal(family.count, 2);
    assert_int_equal(family.threads[0].pid, 102);
    assert_int_equal(family.threads[1].time_ns, 50);
    family_release(&family);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_lived_thread_is_collected_once),
        cmocka_unit_test(a_total_belongs_to_its_parent),
        cmocka_unit_test(the_parent_of_a_total_may_have_exited_before),
        cmocka_unit_test(only_children_and_grandchildren_are_descendants),
        cmocka_unit_test(a_reused_pid_is_another_parent),
        cmocka_unit_test(threads_are_accounted_under_the_name_of_their_process),
        cmocka_unit_test(earlier_time_is_subtracted),
        cmocka_unit_test(a_thread_that_calls_exec_continues_under_another_tid),
        cmocka_unit_test(a_circle_of_parents_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
