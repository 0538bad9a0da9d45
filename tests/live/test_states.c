/* Tests that the microstates of a thread add up to its elapsed time, and that the time of all
 * threads equals the time of the CPUs. */
#include "states_session.h"

#include "verify/linux/verify_watch.h"

#include <stdbool.h>
#include <stdlib.h>

#define CPUS_MAX 1024

static void the_states_of_every_thread_add_up_to_its_time(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct threads before = read_threads(session), after;
    size_t compared = 0;

    (void)state;
    usleep(100000);
    after = read_threads(session);
    for (size_t i = 0; i < after.count; i++) {
        const struct camp_thread_states *now = &after.of[i];
        const struct camp_thread_states *then = find(&before, now->tid, now->start_ns);

        if (then == NULL || ((now->flags | then->flags) & CAMP_THREAD_UNSURE) != 0)
            continue;
        if (sum_ns(now) - sum_ns(then) != now->time_ns - then->time_ns)
            fail_msg("thread %d (%s): states add up to %llu ns of %llu", now->tid, now->name,
                     (unsigned long long)(sum_ns(now) - sum_ns(then)),
                     (unsigned long long)(now->time_ns - then->time_ns));
        compared++;
    }
    assert_at_least("compared", compared, 1, 0); /* At least this thread is in both snapshots. */
    free(before.of);
    free(after.of);
    close_states(session);
}

struct cpus {
    struct camp_cpu_states of[CPUS_MAX];
    size_t count;
};

static void look_at_cpus(struct camp_states *session, struct cpus *ret)
{
    assert_int_equal(
        camp_states_cpus(session, ret->of, sizeof ret->of[0], CPUS_MAX, &ret->count, NULL),
        CAMP_OK);
}

/* sums over all CPUs or all threads */
struct done {
    uint64_t wall_ns, busy_ns, interrupts_ns;
};

/* Returns the sums over all CPUs. Asserts that busy, idle and interrupt time of each CPU add up to
 * its wall time. */
static struct done done_by_cpus(const struct cpus *before, const struct cpus *after)
{
    struct done done = { 0 };

    assert_int_equal(before->count, after->count);
    for (size_t i = 0; i < after->count; i++) {
        const struct camp_cpu_states *then = &before->of[i], *now = &after->of[i];
        uint64_t wall = now->time_ns - then->time_ns, busy = now->busy_ns - then->busy_ns;
        uint64_t interrupts = now->irq_ns - then->irq_ns + now->softirq_ns - then->softirq_ns;

        assert_int_equal(now->cpu, then->cpu);
        assert_int_equal(busy + now->idle_ns - then->idle_ns + interrupts, wall);
        assert_at_most("system of busy", now->system_ns, now->busy_ns, 0);
        done.wall_ns += wall;
        done.busy_ns += busy;
        done.interrupts_ns += interrupts;
    }
    return done;
}

/* A snapshot of all threads. The CPUs are read before (`earlier`) and after (`later`) the
 * threads. */
struct moment {
    struct cpus earlier, later;
    struct threads threads;
    uint64_t time_ns, hidden_ns;
};

/* Tells whether the thread exited between the snapshots. A thread leaves the snapshots slightly
 * before its last record arrives. */
static bool ended_between(const struct camp_thread_states *ended,
                          const struct camp_thread_states *then, const struct moment *before,
                          const struct moment *after)
{
    return ended->begin_ns < after->time_ns &&
           (then != NULL || ended->begin_ns > before->time_ns) &&
           find(&after->threads, ended->tid, ended->start_ns) == NULL;
}

/* Returns the sums over all threads between two snapshots, including threads that exited between
 * them. */
static struct done done_by_threads(const struct moment *before, const struct moment *after,
                                   const struct threads *ended)
{
    const struct threads *const lasts[] = { &after->threads, ended };
    struct done done = { 0 };

    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < lasts[k]->count; i++) {
            const struct camp_thread_states *now = &lasts[k]->of[i];
            const struct camp_thread_states *then = find(&before->threads, now->tid, now->start_ns);

            if (lasts[k] == ended && !ended_between(now, then, before, after))
                continue;
            done.busy_ns += states_busy_ns(now->state_ns);
            done.interrupts_ns += now->state_ns[CAMP_STATE_IRQ];
            if (then != NULL) {
                done.busy_ns -= states_busy_ns(then->state_ns);
                done.interrupts_ns -= then->state_ns[CAMP_STATE_IRQ];
            }
        }
    }
    return done;
}

static void burn_a_while(void *ns)
{
    burn(CLOCK_PROCESS_CPUTIME_ID, *(uint64_t *)ns);
}

/* Works for a second, with a long-lived process and many short-lived processes, and returns their
 * number. The exited threads are read at once, so that none of them is added to a total. */
static unsigned work_for_a_second(struct camp_states *session, struct threads *ended)
{
    static uint64_t long_ns = 300 * (uint64_t)NS_PER_MS, short_ns = 2 * (uint64_t)NS_PER_MS;
    uint64_t end = now_ns(CLOCK_MONOTONIC) + NS_PER_S;
    pid_t burner = start(burn_a_while, &long_ns);
    unsigned count = 1;

    for (; now_ns(CLOCK_MONOTONIC) < end; count++) {
        reap_well(start(burn_a_while, &short_ns));
        add_exited(session, ended);
    }
    while (waitpid(burner, NULL, WNOHANG) == 0) {
        add_exited(session, ended);
        usleep(1000);
    }
    return count;
}

static unsigned children_of_this_test(const struct threads *ended)
{
    unsigned count = 0;

    for (size_t i = 0; i < ended->count; i++)
        count += ended->of[i].parent == getpid() ? ended->of[i].count : 0;
    return count;
}

static void look_at_all(struct camp_states *session, struct moment *ret)
{
    run_first(SCHED_FIFO);
    look_at_cpus(session, &ret->earlier);
    ret->time_ns = now_ns(CLOCK_MONOTONIC);
    ret->threads = read_threads(session);
    look_at_cpus(session, &ret->later);
    run_first(SCHED_OTHER);
    ret->hidden_ns = find_tid(&ret->threads, 1) != NULL ? 0 : watch_process_1_ns();
}

/* The time of a CPU must be accounted exactly once, either to a thread or to the CPU itself. */
static void the_time_of_all_threads_equals_the_time_of_the_cpus(void **state)
{
    static struct moment before, after;
    struct camp_states *session = open_states_or_skip(0);
    struct threads ended = { 0 };
    struct done least, most, threads;
    uint64_t hidden, tolerance, began_ns;
    struct camp_states_losses losses;
    unsigned made;

    (void)state;
    switch_on_every_cpu(session);
    look_at_all(session, &before);
    made = work_for_a_second(session, &ended);
    look_at_all(session, &after);
    began_ns = now_ns(CLOCK_MONOTONIC);
    do
        add_exited(session, &ended);
    while (children_of_this_test(&ended) < made && wait_on(began_ns));

    least = done_by_cpus(&before.later, &after.earlier);
    most = done_by_cpus(&before.earlier, &after.later);
    threads = done_by_threads(&before, &after, &ended);
    hidden = after.hidden_ns - before.hidden_ns;
    /* Process 1 may run during a snapshot. The session divides the time around an unseen switch
     * by the scheduler's count. */
    assert_int_equal(camp_states_losses(session, &losses, sizeof losses, NULL), CAMP_OK);
    tolerance = (hidden > 0 ? 2 * tick_ns() : 0) + losses.unseen * 2 * switch_cost_ns();
    print_message("threads %.3f ms and %.3f hidden, CPUs %.3f to %.3f of %.3f; %zu ended\n",
                  (double)threads.busy_ns / 1e6, (double)hidden / 1e6, (double)least.busy_ns / 1e6,
                  (double)most.busy_ns / 1e6, (double)least.wall_ns / 1e6, ended.count);
    assert_int_equal(children_of_this_test(&ended), made);
    assert_at_least("user and system of all", threads.busy_ns + hidden, least.busy_ns, tolerance);
    assert_at_most("user and system of all", threads.busy_ns + hidden, most.busy_ns, tolerance);
    assert_at_most("interrupts of threads", threads.interrupts_ns, most.interrupts_ns, tolerance);
    free(before.threads.of);
    free(after.threads.of);
    free(ended.of);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_states_of_every_thread_add_up_to_its_time),
        cmocka_unit_test(the_time_of_all_threads_equals_the_time_of_the_cpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
