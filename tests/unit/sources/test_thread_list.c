/* A list of threads: is the same one found in another snapshot? */
#include "sources/machine/thread_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void add(struct thread_list *list, int32_t pid, int32_t tid, uint64_t begin_ns)
{
    assert_true(thread_list_reserve(list, list->count + 1));
    list->threads[list->count++] =
        (struct camp_thread_states){ .pid = pid, .tid = tid, .begin_ns = begin_ns };
}

static const struct camp_thread_states *find(const struct thread_list *list, int32_t pid,
                                             int32_t tid, uint64_t begin_ns)
{
    const struct camp_thread_states wanted = { .pid = pid, .tid = tid, .begin_ns = begin_ns };

    return thread_list_find(list, &wanted);
}

static void nobody_is_in_an_empty_list(void **state)
{
    struct thread_list list = { 0 };

    (void)state;
    assert_null(find(&list, 1, 1, 1));
    assert_true(thread_list_index(&list));
    assert_null(find(&list, 1, 1, 1));
    thread_list_release(&list);
}

static void each_of_many_is_found(void **state)
{
    struct thread_list list = { 0 };

    (void)state;
    for (int32_t i = 1; i <= 1000; i++)
        add(&list, i / 4 + 1, i, 5000u + (uint64_t)i % 4);
    assert_true(thread_list_index(&list));
    for (int32_t i = 1; i <= 1000; i++)
        assert_ptr_equal(find(&list, i / 4 + 1, i, 5000u + (uint64_t)i % 4), &list.threads[i - 1]);
    thread_list_release(&list);
}

static void a_reused_tid_is_another_thread(void **state)
{
    struct thread_list list = { 0 };

    (void)state;
    add(&list, 7, 7, 100);
    assert_true(thread_list_index(&list));
    assert_null(find(&list, 7, 7, 200));
    assert_null(find(&list, 8, 7, 100));
    thread_list_release(&list);
}

static void a_thread_with_another_tid_after_exec_is_the_same(void **state)
{
    struct thread_list list = { 0 };

    (void)state;
    add(&list, 7, 7, 100);
    add(&list, 7, 9, 150);
    assert_true(thread_list_index(&list));
    assert_ptr_equal(find(&list, 7, 7, 150), &list.threads[1]);
    thread_list_release(&list);
}

/* A thread named "worker" that slept for `slept` since it began at `begin`. */
static struct camp_thread_states worker(int32_t pid, int32_t parent, uint64_t begin, uint64_t slept)
{
    struct camp_thread_states thread = { .tid = pid,
                                         .pid = pid,
                                         .parent = parent,
                                         .count = 1,
                                         .name = "worker",
                                         .begin_ns = begin,
                                         .time_ns = begin + slept };

    thread.state_ns[CAMP_STATE_TIMER] = slept;
    return thread;
}

static struct camp_thread_states total_of(uint32_t count, int32_t parent, uint64_t slept)
{
    struct camp_thread_states total = worker(0, parent, 0, slept);

    total.flags = CAMP_THREAD_ENDED | CAMP_THREAD_TOTAL;
    total.count = count;
    return total;
}

static void put(struct thread_list *list, struct camp_thread_states thread)
{
    assert_true(thread_list_reserve(list, list->count + 1));
    list->threads[list->count++] = thread;
    assert_true(thread_list_index(list));
}

/* The snapshot after *list: it has no thread. */
static void next_snapshot(struct thread_list *list, struct camp_thread_states *exited, size_t count)
{
    struct thread_list now = { 0 };

    assert_true(thread_list_index(&now));
    assert_true(thread_list_carry_pending(&now, list, exited, count));
    thread_list_release(list);
    *list = now;
}

static void a_missing_thread_is_kept_for_two_snapshots(void **state)
{
    struct thread_list list = { 0 };

    (void)state;
    put(&list, worker(7, 1, 100, 50));
    for (int i = 0; i < 2; i++) {
        next_snapshot(&list, NULL, 0);
        assert_non_null(find(&list, 7, 7, 100));
        assert_true((list.threads[0].flags & THREAD_PENDING) != 0);
    }
    next_snapshot(&list, NULL, 0);
    assert_null(find(&list, 7, 7, 100));
    thread_list_release(&list);
}

static void a_thread_with_last_numbers_is_not_kept(void **state)
{
    struct camp_thread_states last = worker(7, 1, 100, 60);
    struct thread_list list = { 0 };

    (void)state;
    put(&list, worker(7, 1, 100, 50));
    next_snapshot(&list, &last, 1);
    assert_int_equal(list.count, 0);
    assert_int_equal(last.state_ns[CAMP_STATE_TIMER], 60);
    thread_list_release(&list);
}

static void a_total_has_only_what_its_members_did_since_they_were_read(void **state)
{
    struct camp_thread_states total = total_of(2, 5, 70);
    struct thread_list list = { 0 };

    (void)state;
    put(&list, worker(7, 5, 100, 50));
    put(&list, worker(8, 1, 100, 40)); /* of another parent, and still pending */
    total.count = 1;
    next_snapshot(&list, &total, 1);
    assert_int_equal(total.state_ns[CAMP_STATE_TIMER], 20);
    assert_int_equal(total.time_ns - total.begin_ns, 20);
    assert_null(find(&list, 7, 7, 100));
    assert_non_null(find(&list, 8, 8, 100));
    thread_list_release(&list);
}

/* The kernel gives it another parent, which the total names. */
static void a_thread_whose_parent_exited_is_not_accounted_twice(void **state)
{
    struct camp_thread_states total = total_of(1, 1, 70);
    struct thread_list list = { 0 };

    (void)state;
    put(&list, worker(7, 5, 100, 50));
    next_snapshot(&list, NULL, 0);
    next_snapshot(&list, NULL, 0);
    next_snapshot(&list, &total, 1); /* the latest that a total comes */
    assert_int_equal(total.state_ns[CAMP_STATE_TIMER], 20);
    thread_list_release(&list);
}

static void a_total_loses_no_reading_of_a_living_thread(void **state)
{
    struct camp_thread_states total = total_of(1, 5, 70);
    struct thread_list before = { 0 }, now = { 0 };

    (void)state;
    put(&before, worker(7, 5, 100, 50));
    put(&now, worker(7, 5, 100, 90));
    assert_true(thread_list_carry_pending(&now, &before, &total, 1));
    assert_int_equal(total.state_ns[CAMP_STATE_TIMER], 70);
    assert_int_equal(now.count, 1);
    thread_list_release(&before);
    thread_list_release(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_in_an_empty_list),
        cmocka_unit_test(each_of_many_is_found),
        cmocka_unit_test(a_reused_tid_is_another_thread),
        cmocka_unit_test(a_thread_with_another_tid_after_exec_is_the_same),
        cmocka_unit_test(a_missing_thread_is_kept_for_two_snapshots),
        cmocka_unit_test(a_thread_with_last_numbers_is_not_kept),
        cmocka_unit_test(a_total_has_only_what_its_members_did_since_they_were_read),
        cmocka_unit_test(a_thread_whose_parent_exited_is_not_accounted_twice),
        cmocka_unit_test(a_total_loses_no_reading_of_a_living_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
