/* Tests that each nanosecond of a thread is accounted once in the intervals of a session of
 * microstates. */
#include "sources/machine/thread_interval.h"

#include "ledger/array.h"
#include "sources/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Returns a reading of a thread named "worker", which has slept for `slept` since it was attached
 * at `begin`. */
static struct camp_thread_states worker(int32_t pid, int32_t parent, uint64_t begin, uint64_t slept)
{
    struct camp_thread_states thread = { .tid = pid,
                                         .pid = pid,
                                         .parent = parent,
                                         .count = 1,
                                         .name = "worker",
                                         .begin_ns = begin,
                                         .time_ns = begin + slept,
                                         .cpu_ns = slept };

    thread.state_ns[CAMP_STATE_TIMER] = slept;
    return thread;
}

static struct camp_thread_states exited(struct camp_thread_states thread)
{
    thread.flags |= CAMP_THREAD_ENDED;
    return thread;
}

static struct camp_thread_states total_of(uint32_t count, int32_t parent, uint64_t slept)
{
    struct camp_thread_states total = exited(worker(0, parent, 0, slept));

    total.flags |= CAMP_THREAD_TOTAL;
    total.count = count;
    return total;
}

static const struct camp_thread_states *find(const struct thread_list *list, int32_t pid,
                                             int32_t tid, uint64_t begin_ns)
{
    const struct camp_thread_states wanted = { .pid = pid, .tid = tid, .begin_ns = begin_ns };

    return thread_list_find(list, &wanted);
}

static void add(struct thread_list *list, int32_t pid, int32_t tid, uint64_t begin_ns)
{
    const struct camp_thread_states thread = { .pid = pid, .tid = tid, .begin_ns = begin_ns };

    assert_true(thread_list_add(list, &thread));
}

static void a_search_in_an_empty_list_finds_no_thread(void **state)
{
    struct thread_list list = { 0 };

    (void)state;
    assert_null(find(&list, 1, 1, 1));
    assert_true(thread_list_index(&list));
    assert_null(find(&list, 1, 1, 1));
    thread_list_release(&list);
}

static void each_of_a_thousand_threads_is_found(void **state)
{
    struct thread_list list = { 0 };

    (void)state;
    for (int32_t i = 1; i <= 1000; i++)
        add(&list, i / 4 + 1, i, 5000u + (uint64_t)i % 4);
    for (int built = 0; built <= 1; built++) {
        for (int32_t i = 1; i <= 1000; i++)
            assert_ptr_equal(find(&list, i / 4 + 1, i, 5000u + (uint64_t)i % 4),
                             &list.threads[i - 1]);
        assert_true(thread_list_index(&list));
    }
    thread_list_release(&list);
}

static void a_thread_with_a_reused_tid_is_another_thread(void **state)
{
    struct thread_list list = { 0 };

    (void)state;
    add(&list, 7, 7, 100);
    assert_null(find(&list, 7, 7, 200));
    assert_null(find(&list, 8, 7, 100));
    thread_list_release(&list);
}

static void two_threads_of_a_process_with_the_same_start_time_are_distinguished(void **state)
{
    struct thread_list list = { 0 };

    (void)state;
    add(&list, 7, 8, 100);
    add(&list, 7, 9, 100);
    assert_ptr_equal(find(&list, 7, 9, 100), &list.threads[1]);
    thread_list_release(&list);
}

static void a_thread_that_changed_its_tid_by_exec_is_the_same_thread(void **state)
{
    struct thread_list list = { 0 };

    (void)state;
    add(&list, 7, 7, 100);
    add(&list, 7, 9, 150);
    assert_ptr_equal(find(&list, 7, 7, 150), &list.threads[1]);
    thread_list_release(&list);
}

/* The sums of what all threads did in an interval. */
struct did {
    size_t threads, new_ones;
    uint64_t slept_ns, cpu_ns;
};

static int add_up(void *context, const struct camp_thread_states *since)
{
    struct did *did = context;

    assert_int_equal(since->time_ns - since->begin_ns, since->state_ns[CAMP_STATE_TIMER]);
    did->threads++;
    did->new_ones += (since->flags & THREAD_NEW) != 0;
    did->slept_ns += since->state_ns[CAMP_STATE_TIMER];
    did->cpu_ns += since->cpu_ns;
    return CAMP_OK;
}

/* Like thread_interval_snapshot(), but takes the readings from arrays. */
static struct did next(struct thread_interval *interval, const struct camp_thread_states *living,
                       size_t living_count, const struct camp_thread_states *gone,
                       size_t gone_count)
{
    const struct thread_list last = interval->before;
    struct did did = { 0 };

    interval->before = interval->now;
    interval->now = last;
    interval->now.count = 0;
    assert_true(thread_list_index(&interval->now));
    for (size_t i = 0; i < living_count; i++)
        assert_true(thread_list_add(&interval->now, &living[i]));
    assert_true(ARRAY_RESERVE(interval->exited.threads, interval->exited.capacity, gone_count));
    for (size_t i = 0; i < gone_count; i++)
        interval->exited.threads[interval->exited.count++] = gone[i];
    assert_int_equal(thread_interval_match(interval), CAMP_OK);
    assert_int_equal(thread_interval_visit(interval, add_up, &did), CAMP_OK);
    return did;
}

static struct did next_living(struct thread_interval *interval, struct camp_thread_states living)
{
    return next(interval, &living, 1, NULL, 0);
}

static struct did next_exited(struct thread_interval *interval, struct camp_thread_states gone)
{
    return next(interval, NULL, 0, &gone, 1);
}

static struct did next_empty(struct thread_interval *interval)
{
    return next(interval, NULL, 0, NULL, 0);
}

static void a_thread_is_accounted_by_the_difference_between_two_snapshots(void **state)
{
    struct thread_interval interval = { 0 };
    struct did did;

    (void)state;
    did = next_living(&interval, worker(7, 1, 100, 50));
    assert_int_equal(did.slept_ns, 50);
    assert_int_equal(did.new_ones, 1);
    did = next_living(&interval, worker(7, 1, 100, 80));
    assert_int_equal(did.slept_ns, 30);
    assert_int_equal(did.cpu_ns, 30);
    assert_int_equal(did.new_ones, 0);
    thread_interval_release(&interval);
}

static void an_exited_thread_has_one_row_even_if_a_snapshot_lists_it(void **state)
{
    const struct camp_thread_states living = worker(7, 1, 100, 90);
    const struct camp_thread_states last = exited(worker(7, 1, 100, 95));
    struct thread_interval interval = { 0 };
    struct did did;

    (void)state;
    next_living(&interval, worker(7, 1, 100, 50));
    did = next(&interval, &living, 1, &last, 1);
    assert_int_equal(did.threads, 1);
    assert_int_equal(did.slept_ns, 45);
    assert_int_equal(next_empty(&interval).threads, 0);
    assert_int_equal(interval.pending.count, 0);
    thread_interval_release(&interval);
}

static void a_thread_older_than_the_session_has_states_but_no_counters_when_first_seen(void **state)
{
    struct camp_thread_states old = worker(7, 1, 100, 50);
    struct thread_interval interval = { 0 };
    struct did did;

    (void)state;
    old.flags = CAMP_THREAD_OLDER;
    old.cpu_ns = 1000000;
    did = next_living(&interval, old);
    assert_int_equal(did.slept_ns, 50);
    assert_int_equal(did.cpu_ns, 0);
    assert_int_equal(did.new_ones, 0);
    old.cpu_ns += 20;
    assert_int_equal(next_living(&interval, old).cpu_ns, 20);
    thread_interval_release(&interval);
}

static void a_late_final_reading_adds_only_the_time_not_yet_accounted(void **state)
{
    (void)state;
    for (int late = 0; late <= 3; late++) {
        struct thread_interval interval = { 0 };

        next_living(&interval, worker(7, 1, 100, 50));
        for (int i = 0; i < late; i++)
            assert_int_equal(next_empty(&interval).threads, 0);
        assert_int_equal(next_exited(&interval, exited(worker(7, 1, 100, 60))).slept_ns, 10);
        next_empty(&interval);
        assert_int_equal(interval.pending.count, 0);
        thread_interval_release(&interval);
    }
}

static void a_missing_thread_may_send_a_final_reading_for_three_more_snapshots(void **state)
{
    struct thread_interval interval = { 0 };

    (void)state;
    next_living(&interval, worker(7, 1, 100, 50));
    for (int i = 0; i < 4; i++) {
        next_empty(&interval);
        assert_int_equal(interval.pending.count, 1);
    }
    next_empty(&interval);
    assert_int_equal(interval.pending.count, 0);
    thread_interval_release(&interval);
}

static void a_thread_missing_in_one_snapshot_continues_in_the_next_one(void **state)
{
    struct thread_interval interval = { 0 };

    (void)state;
    next_living(&interval, worker(7, 1, 100, 50));
    next_empty(&interval);
    assert_int_equal(next_living(&interval, worker(7, 1, 100, 70)).slept_ns, 20);
    next_empty(&interval); /* the thread may be pending for three snapshots again */
    next_empty(&interval);
    next_empty(&interval);
    assert_int_equal(next_living(&interval, worker(7, 1, 100, 75)).slept_ns, 5);
    thread_interval_release(&interval);
}

static void a_sum_of_exited_threads_adds_only_the_time_not_yet_accounted(void **state)
{
    const struct camp_thread_states living[] = {
        /* the second thread has another parent than the total, so it stays pending */
        worker(7, 5, 100, 50), worker(8, 1, 100, 40)
    };
    struct thread_interval interval = { 0 };
    struct did did;

    (void)state;
    next(&interval, living, 2, NULL, 0);
    did = next_exited(&interval, total_of(1, 5, 70));
    assert_int_equal(did.slept_ns, 20);
    assert_int_equal(did.threads, 1);
    assert_int_equal(next_exited(&interval, exited(worker(8, 1, 100, 45))).slept_ns, 5);
    thread_interval_release(&interval);
}

/* The parent of the thread exits, so the kernel gives the thread another parent. The total belongs
 * to the other parent. */
static void a_thread_whose_parent_exited_is_not_accounted_twice(void **state)
{
    struct thread_interval interval = { 0 };

    (void)state;
    next_living(&interval, worker(7, 5, 100, 50));
    next_empty(&interval);
    next_empty(&interval);
    assert_int_equal(next_exited(&interval, total_of(1, 1, 70)).slept_ns, 20);
    thread_interval_release(&interval);
}

static void final_readings_of_single_threads_are_used_before_sums_of_exited_threads(void **state)
{
    const struct camp_thread_states gone[] = { total_of(2, 1, 70), exited(worker(7, 1, 100, 60)) };
    struct thread_interval interval = { 0 };

    (void)state;
    next_living(&interval, worker(7, 1, 100, 50));
    next_empty(&interval);
    assert_int_equal(next(&interval, NULL, 0, gone, 2).slept_ns, 70 + 10);
    thread_interval_release(&interval);
}

static void a_living_thread_is_not_subtracted_from_a_sum_of_exited_threads(void **state)
{
    const struct camp_thread_states living = worker(7, 5, 100, 90), total = total_of(1, 5, 70);
    struct thread_interval interval = { 0 };

    (void)state;
    next_living(&interval, worker(7, 5, 100, 50));
    assert_int_equal(next(&interval, &living, 1, &total, 1).slept_ns, 40 + 70);
    thread_interval_release(&interval);
}

/* Some threads are missing in a snapshot, and some final readings arrive late. */
static void the_time_of_randomly_started_and_ended_threads_is_accounted_once(void **state)
{
    enum { MOST = 100 };
    static struct camp_thread_states lives[MOST], living[MOST], gone[MOST];
    static enum { FREE, ALIVE, MISSED, EXITING } phases[MOST];
    struct thread_interval interval = { 0 };
    uint64_t lived = 0, accounted = 0;

    (void)state;
    srand(7);
    for (int round = 0; round < 400; round++) {
        size_t living_count = 0, gone_count = 0;

        for (int i = 0; i < MOST; i++) {
            const uint64_t slept = (uint64_t)(rand() % 50);
            const int chance = rand() % 8;

            if (phases[i] == FREE)
                lives[i] = worker(i + 1, 1, (uint64_t)round * 1000 + 1, 0);
            if (phases[i] != EXITING) {
                lives[i].state_ns[CAMP_STATE_TIMER] += slept;
                lives[i].cpu_ns += slept;
                lives[i].time_ns += slept;
            }
            if (phases[i] == EXITING || chance == 0) {
                gone[gone_count++] = exited(lives[i]);
                lived += lives[i].state_ns[CAMP_STATE_TIMER];
                phases[i] = FREE;
            } else if (chance == 1 && phases[i] == ALIVE) {
                phases[i] = EXITING;
            } else if (chance == 2 && phases[i] == ALIVE) {
                phases[i] = MISSED;
            } else {
                living[living_count++] = lives[i];
                phases[i] = ALIVE;
            }
        }
        if (round == 399) { /* all remaining threads exit */
            living_count = 0;
            for (int i = 0; i < MOST; i++) {
                if (phases[i] == FREE)
                    continue;
                gone[gone_count++] = exited(lives[i]);
                lived += lives[i].state_ns[CAMP_STATE_TIMER];
            }
        }
        accounted += next(&interval, living, living_count, gone, gone_count).slept_ns;
    }
    assert_int_equal(accounted, lived);
    thread_interval_release(&interval);
}

static void each_value_of_a_thread_is_in_its_own_column(void **state)
{
    struct camp_thread_states thread = worker(7, 1, 100, 50);
    uint64_t values[THREADS_COLUMN_COUNT];

    (void)state;
    thread.system_calls = 3;
    thread.written_chars = 4;
    thread.sampled_ns = 5;
    thread_fill_values(values, &thread);
    assert_int_equal(values[CAMP_STATE_TIMER], 50);
    assert_int_equal(values[CAMP_STATE_USER], 0);
    assert_int_equal(values[THREADS_SYSTEM_CALLS], 3);
    assert_int_equal(values[THREADS_WRITTEN_CHARS], 4);
    assert_int_equal(values[THREADS_CPU], 50);
    assert_int_equal(values[THREADS_SAMPLED], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_in_an_empty_list_finds_no_thread),
        cmocka_unit_test(each_of_a_thousand_threads_is_found),
        cmocka_unit_test(a_thread_with_a_reused_tid_is_another_thread),
        cmocka_unit_test(two_threads_of_a_process_with_the_same_start_time_are_distinguished),
        cmocka_unit_test(a_thread_that_changed_its_tid_by_exec_is_the_same_thread),
        cmocka_unit_test(a_thread_is_accounted_by_the_difference_between_two_snapshots),
        cmocka_unit_test(an_exited_thread_has_one_row_even_if_a_snapshot_lists_it),
        cmocka_unit_test(
            a_thread_older_than_the_session_has_states_but_no_counters_when_first_seen),
        cmocka_unit_test(a_late_final_reading_adds_only_the_time_not_yet_accounted),
        cmocka_unit_test(a_missing_thread_may_send_a_final_reading_for_three_more_snapshots),
        cmocka_unit_test(a_thread_missing_in_one_snapshot_continues_in_the_next_one),
        cmocka_unit_test(a_sum_of_exited_threads_adds_only_the_time_not_yet_accounted),
        cmocka_unit_test(a_thread_whose_parent_exited_is_not_accounted_twice),
        cmocka_unit_test(final_readings_of_single_threads_are_used_before_sums_of_exited_threads),
        cmocka_unit_test(a_living_thread_is_not_subtracted_from_a_sum_of_exited_threads),
        cmocka_unit_test(the_time_of_randomly_started_and_ended_threads_is_accounted_once),
        cmocka_unit_test(each_value_of_a_thread_is_in_its_own_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
