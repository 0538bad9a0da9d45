/*
 * The CPU time that a load says it used agrees with the kernel's own witness, which it does not
 * read itself: getrusage, schedstat, taskstats, its clock as another process sees it.
 */
#include "commands/command.h"
#include "commands/load/load.h"
#include "cpu_steal.h"
#include "taskstats_session.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static uint64_t ns_of_timeval(struct timeval time)
{
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_usec * NS_PER_US;
}

static uint64_t usage_ns(int who)
{
    struct rusage usage;

    assert_int_equal(getrusage(who, &usage), 0);
    return ns_of_timeval(usage.ru_utime) + ns_of_timeval(usage.ru_stime);
}

static uint64_t run_delay_ns(void)
{
    FILE *file = fopen("/proc/self/schedstat", "r");
    unsigned long long delay;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %llu", &delay), 1);
    fclose(file);
    return delay;
}

/* ------------------------------------------------------------------------------- CPU -- */

static void own_clock_of_a_cpu_load_is_what_getrusage_says(void **state)
{
    const struct load_cpu_plan plan = { 40, LOAD_ANY_PHASE, 0, -1, 600 * NS_PER_MS };
    struct load_cpu_truth truth;
    uint64_t steal = steal_ns(), before = usage_ns(RUSAGE_SELF), witness;

    (void)state;
    assert_int_equal(load_cpu(&plan, &truth, NULL), CAMP_OK);
    witness = usage_ns(RUSAGE_SELF) - before;
    assert_true(truth.own_ns > 0);
    assert_at_least("getrusage", witness, truth.own_ns, 2 * NS_PER_US);
    assert_at_most("getrusage", witness, truth.own_ns, 5 * NS_PER_MS + stolen_since(steal));
}

/* What it did not use of its share, it waited for a CPU. */
static void share_of_a_cpu_load_is_kept_but_for_run_delay(void **state)
{
    const struct load_cpu_plan plan = { 30, LOAD_ANY_PHASE, 0, -1, 1000 * NS_PER_MS };
    struct load_cpu_truth truth;
    uint64_t steal = steal_ns(), delay = run_delay_ns(), share, stolen;

    (void)state;
    assert_int_equal(load_cpu(&plan, &truth, NULL), CAMP_OK);
    delay = run_delay_ns() - delay;
    stolen = stolen_since(steal);
    share = truth.wall_ns / 100 * 30;
    assert_at_least("wall time", truth.wall_ns, plan.duration_ns, 0);
    assert_at_most("own clock", truth.own_ns, share, 10 * NS_PER_MS + stolen);
    assert_at_least("own clock and run delay", truth.own_ns + delay, share,
                    20 * NS_PER_MS + stolen);
    assert_in_range(truth.cycles, 50, UINT64_MAX);
}

/* Sampled and measured time of this process over a phased load, by taskstats: both hold the search
 * for the tick as well. */
static void watch_once(const struct load_cpu_plan *plan, struct camp_taskstat *ret,
                       struct load_cpu_truth *ret_truth)
{
    struct camp_taskstats session = open_or_skip(false);
    struct camp_taskstat before;
    uint64_t steal = steal_ns(), known_ns, room_ns;
    int32_t pid = getpid();

    assert_int_equal(camp_taskstats_read(&session, &pid, 1, &before, sizeof before, NULL), CAMP_OK);
    assert_int_equal(load_cpu(plan, ret_truth, NULL), CAMP_OK);
    assert_int_equal(camp_taskstats_read(&session, &pid, 1, ret, sizeof *ret, NULL), CAMP_OK);
    camp_taskstats_close(&session);
    ret->measured_ns -= before.measured_ns;
    ret->sampled_ns -= before.sampled_ns;
    print_message("own clock %.3f%%, ms: own %.1f + search %.1f, measured %.1f, sampled %.1f; "
                  "missed %llu, cycles %llu%s\n",
                  ret_truth->percent, (double)ret_truth->own_ns / NS_PER_MS,
                  (double)ret_truth->search_ns / NS_PER_MS, (double)ret->measured_ns / NS_PER_MS,
                  (double)ret->sampled_ns / NS_PER_MS, (unsigned long long)ret_truth->missed,
                  (unsigned long long)ret_truth->cycles, ret_truth->realtime ? ", realtime" : "");
    /* The kernel's total of a running task may be a tick old. */
    known_ns = ret_truth->own_ns + ret_truth->search_ns;
    room_ns = known_ns / 100 + ret_truth->tick_ns + stolen_since(steal);
    assert_at_least("measured", ret->measured_ns, known_ns, room_ns);
    assert_at_most("measured", ret->measured_ns, known_ns, room_ns);
}

/* Where others have the CPU for long, the load says that it missed its places: then once more, and
 * when it was never left alone nothing can be said. */
static void watch_phased(const struct load_cpu_plan *plan, struct camp_taskstat *ret,
                         struct load_cpu_truth *ret_truth)
{
    for (unsigned attempt = 0; attempt < 5; attempt++) {
        watch_once(plan, ret, ret_truth);
        if (ret_truth->missed * 5 <= ret_truth->cycles)
            return;
    }
    print_message("skipped, not passed: others kept the load from its places in 5 of 5 tries "
                  "(%llu of %llu missed in the last)\n",
                  (unsigned long long)ret_truth->missed, (unsigned long long)ret_truth->cycles);
    skip();
}

static void load_between_ticks_is_measured_and_hardly_sampled(void **state)
{
    const struct load_cpu_plan plan = { 80, LOAD_BETWEEN_TICKS, 0, -1, 2ull * NS_PER_S };
    struct load_cpu_truth truth;
    struct camp_taskstat seen;

    (void)state;
    watch_phased(&plan, &seen, &truth);
    assert_at_most("sampled", seen.sampled_ns, truth.own_ns / 5 + truth.search_ns, 0);
}

static void load_across_ticks_is_sampled_far_above_measured(void **state)
{
    const struct load_cpu_plan plan = { 5, LOAD_ACROSS_TICKS, 0, -1, 2ull * NS_PER_S };
    struct load_cpu_truth truth;
    struct camp_taskstat seen;

    (void)state;
    watch_phased(&plan, &seen, &truth);
    assert_at_least("sampled", seen.sampled_ns, 5 * truth.own_ns + truth.search_ns, 0);
}

static void process_is_as_before_after_a_phased_load(void **state)
{
    const struct load_cpu_plan plan = { 20, LOAD_BETWEEN_TICKS, 0, -1, 100 * NS_PER_MS };
    struct load_cpu_truth truth;
    cpu_set_t before, after;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(load_cpu(&plan, &truth, NULL), CAMP_OK);
    assert_true(truth.cpu >= 0);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

/* ------------------------------------------------------------------------------ Fork -- */

/* RUSAGE_CHILDREN keeps the sum in ns (cutime + cstime), each part cut to 1 us when read. */
static void clocks_of_ended_children_add_up_to_rusage_children(void **state)
{
    const struct load_fork_plan plan = { 200, NS_PER_MS, 500 * NS_PER_MS };
    struct load_fork_truth truth;
    uint64_t steal = steal_ns(), before = usage_ns(RUSAGE_CHILDREN), witness;

    (void)state;
    assert_int_equal(load_fork(&plan, &truth, NULL), CAMP_OK);
    witness = usage_ns(RUSAGE_CHILDREN) - before;
    assert_in_range(truth.children, 1, 100);
    assert_int_equal(truth.unreported, 0);
    assert_at_least("own clocks", truth.own_ns, truth.children * plan.burn_ns, 0);
    assert_at_least("whole clocks", truth.whole_ns, truth.own_ns + 1, 0);
    assert_at_least("getrusage", witness, truth.whole_ns, 4 * NS_PER_US);
    assert_at_most("getrusage", witness, truth.whole_ns, truth.whole_ns / 50 + stolen_since(steal));
}

/* --------------------------------------------------------------------------- Threads -- */

static void clocks_of_threads_add_up_to_the_process(void **state)
{
    const struct load_threads_plan plan = { 4, 5, 1000 * NS_PER_MS };
    static struct load_threads_truth truth;
    uint64_t steal = steal_ns(), before = usage_ns(RUSAGE_SELF), witness, stolen, sum = 0;

    (void)state;
    assert_int_equal(load_threads(&plan, &truth, NULL), CAMP_OK);
    witness = usage_ns(RUSAGE_SELF) - before;
    stolen = stolen_since(steal);
    assert_int_equal(truth.threads, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(truth.each[i].tid > 0 && truth.each[i].own_ns > 0);
        assert_true(i == 0 || truth.each[i].tid != truth.each[i - 1].tid);
        assert_at_most("a thread", truth.each[i].own_ns, truth.each[i].wall_ns / 20,
                       5 * NS_PER_MS + stolen);
        sum += truth.each[i].own_ns;
    }
    assert_int_equal(sum, truth.threads_ns);
    assert_at_most("all threads", truth.threads_ns, truth.own_ns, 0);
    assert_at_most("own clock", truth.own_ns, truth.threads_ns, 20 * NS_PER_MS + stolen);
    assert_at_least("getrusage", witness, truth.own_ns, 2 * NS_PER_US);
    assert_at_most("getrusage", witness, truth.own_ns, 10 * NS_PER_MS + stolen);
}

/* A zombie runs no more, and still has its clock. */
static bool runs(pid_t pid)
{
    siginfo_t info = { 0 };

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/* ----------------------------------------------------------- In a process of its own -- */

/* The watched process' clock, read by its parent, has gone as far as the load says, and little
 * further: the search for the tick, fork and exit. */
static void stopped_load_tells_the_truth_so_far(void **state)
{
    const struct load_cpu_plan plan = { 50, LOAD_ANY_PHASE, 0, -1, 3600ull * NS_PER_S };
    struct load_cpu_truth truth;
    struct load_process process;
    uint64_t steal = steal_ns(), clock_ns;
    clockid_t clock;

    (void)state;
    assert_int_equal(load_begin(&process, load_cpu_run, &plan, sizeof truth, NULL), CAMP_OK);
    assert_int_equal(clock_getcpuclockid(process.pid, &clock), 0);
    sleep_until(now_ns(CLOCK_MONOTONIC) + 300 * NS_PER_MS);
    assert_true(runs(process.pid));
    kill(process.pid, SIGTERM);
    while (runs(process.pid))
        sleep_until(now_ns(CLOCK_MONOTONIC) + NS_PER_MS);
    clock_ns = now_ns(clock);
    assert_int_equal(load_end(&process, true, &truth, sizeof truth, NULL), CAMP_OK);
    assert_at_most("wall time", truth.wall_ns, 3600ull * NS_PER_S - 1, 0);
    assert_true(truth.own_ns > 0);
    assert_at_most("own clock", truth.own_ns, clock_ns, 0);
    assert_at_most("clock of the process", clock_ns, truth.own_ns,
                   20 * NS_PER_MS + stolen_since(steal));
}

static void killed_load_is_gone_not_zero(void **state)
{
    const struct load_cpu_plan plan = { 10, LOAD_ANY_PHASE, 0, -1, 60ull * NS_PER_S };
    struct load_cpu_truth truth;
    struct load_process process;

    (void)state;
    assert_int_equal(load_begin(&process, load_cpu_run, &plan, sizeof truth, NULL), CAMP_OK);
    kill(process.pid, SIGKILL);
    assert_int_equal(load_end(&process, false, &truth, sizeof truth, NULL), CAMP_E_GONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_clock_of_a_cpu_load_is_what_getrusage_says),
        cmocka_unit_test(share_of_a_cpu_load_is_kept_but_for_run_delay),
        cmocka_unit_test(load_between_ticks_is_measured_and_hardly_sampled),
        cmocka_unit_test(load_across_ticks_is_sampled_far_above_measured),
        cmocka_unit_test(process_is_as_before_after_a_phased_load),
        cmocka_unit_test(clocks_of_ended_children_add_up_to_rusage_children),
        cmocka_unit_test(clocks_of_threads_add_up_to_the_process),
        cmocka_unit_test(stopped_load_tells_the_truth_so_far),
        cmocka_unit_test(killed_load_is_gone_not_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
