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

static void who_has_a_tid_again_is_another(void **state)
{
    struct thread_list list = { 0 };

    (void)state;
    add(&list, 7, 7, 100);
    assert_true(thread_list_index(&list));
    assert_null(find(&list, 7, 7, 200));
    assert_null(find(&list, 8, 7, 100));
    thread_list_release(&list);
}

static void who_has_another_tid_since_it_runs_another_program_is_the_same(void **state)
{
    struct thread_list list = { 0 };

    (void)state;
    add(&list, 7, 7, 100);
    add(&list, 7, 9, 150);
    assert_true(thread_list_index(&list));
    assert_ptr_equal(find(&list, 7, 7, 150), &list.threads[1]);
    thread_list_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_in_an_empty_list),
        cmocka_unit_test(each_of_many_is_found),
        cmocka_unit_test(who_has_a_tid_again_is_another),
        cmocka_unit_test(who_has_another_tid_since_it_runs_another_program_is_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
