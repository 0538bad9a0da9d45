/*
 * Compares the CPU time that a load reports with counts of the kernel that the load does not read:
 * getrusage, schedstat, taskstats, and the load's CPU clock read by another process.
 */
#include "cpu_steal.h"
#include "load_process.h"
#include "program/command.h"
#include "scheduler_witness.h"
#include "taskstats_session.h"

#include <camp/linux.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
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

/* getrusage(2) rounds user time and system time down to microseconds, at both readings. */
#define CUT_NS (2 * NS_PER_US)

/* getrusage(2) must be between the load's own CPU time and the clock that this test reads before
 * and after. The differences are CPU time outside of the load. */
static void the_cpu_clock_of_a_load_equals_getrusage(void **state)
{
    const struct load_cpu_plan plan = { 40, LOAD_ANY_PHASE, 0, -1, 300 * NS_PER_MS };
    struct load_cpu_truth truth;
    uint64_t outer = now_ns(CLOCK_PROCESS_CPUTIME_ID), before = usage_ns(RUSAGE_SELF), witness;

    (void)state;
    assert_int_equal(load_cpu(&plan, &truth, NULL), CAMP_OK);
    witness = usage_ns(RUSAGE_SELF) - before;
    outer = now_ns(CLOCK_PROCESS_CPUTIME_ID) - outer;
    print_message("own %.3f ms, getrusage %.3f, around them %.3f\n", (double)truth.own_ns / 1e6,
                  (double)witness / 1e6, (double)outer / 1e6);
    assert_at_least("own clock", truth.own_ns, 1, 0);
    assert_at_least("getrusage", witness, truth.own_ns, CUT_NS);
    assert_at_most("getrusage", witness, outer, CUT_NS);
}

/* A load may use less than its share only because of run delay or late wakeups. It exceeds its
 * share only by the last clock reading of each period, which may be interrupted. */
static void a_cpu_load_gets_the_requested_share_of_a_cpu_except_for_run_delay(void **state)
{
    const struct load_cpu_plan plan = { 30, LOAD_ANY_PHASE, 0, -1, 500 * NS_PER_MS };
    const uint64_t steal = steal_ns();
    struct load_cpu_truth truth;
    struct stretch own;
    uint64_t share, tolerance;

    (void)state;
    begin_stretch(&own);
    assert_int_equal(load_cpu(&plan, &truth, NULL), CAMP_OK);
    end_stretch(&own);
    share = truth.wall_ns / 100 * 30;
    /* The last period may be shorter, so its share may be missing. */
    tolerance =
        switches_tolerance(truth.cycles, 0) + truth.period_ns / 100 * 30 + stolen_since(steal);
    print_message("own %.3f ms of a share of %.3f, run delay %.3f; tolerance %.3f\n",
                  (double)truth.own_ns / 1e6, (double)share / 1e6, (double)own.run_delay_ns / 1e6,
                  (double)tolerance / 1e6);
    assert_at_least("wall time", truth.wall_ns, plan.duration_ns, 0);
    assert_at_most("wall time", truth.wall_ns, own.wall_ns, 0);
    assert_at_most("own clock", truth.own_ns, share, tolerance);
    assert_at_least("own clock and run delay", truth.own_ns + own.run_delay_ns, share, tolerance);
}

static uint64_t preemptions_so_far(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)usage.ru_nivcsw;
}

/* Runs a load that is synchronised with the tick, and reads the sampled and measured time of this
 * process from taskstats. Both times include the search for the tick. *ret_away_ns is an upper
 * bound of the time off the CPU: the run delay, and one tick for each preemption. */
static void watch_once(const struct load_cpu_plan *plan, struct camp_taskstat *ret,
                       struct load_cpu_truth *ret_truth, uint64_t *ret_away_ns)
{
    uint64_t delay_ns = own_run_delay_ns(), preemptions = preemptions_so_far();
    struct camp_taskstats session = open_or_skip(false);
    struct camp_taskstat before;
    uint64_t outer_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    int32_t pid = getpid();

    assert_int_equal(camp_taskstats_read(&session, &pid, 1, &before, sizeof before, NULL), CAMP_OK);
    now_ns(CLOCK_PROCESS_CPUTIME_ID); /* This reading updates the measured time of the task. */
    assert_int_equal(load_cpu(plan, ret_truth, NULL), CAMP_OK);
    assert_int_equal(camp_taskstats_read(&session, &pid, 1, ret, sizeof *ret, NULL), CAMP_OK);
    outer_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - outer_ns;
    *ret_away_ns =
        own_run_delay_ns() - delay_ns + (preemptions_so_far() - preemptions) * ret_truth->tick_ns;
    camp_taskstats_close(&session);
    ret->measured_ns -= before.measured_ns;
    ret->sampled_ns -= before.sampled_ns;
    print_message("own clock %.3f%%, ms: own %.1f + search %.1f, measured %.1f, sampled %.1f; "
                  "missed %llu, cycles %llu%s\n",
                  ret_truth->percent, (double)ret_truth->own_ns / NS_PER_MS,
                  (double)ret_truth->search_ns / NS_PER_MS, (double)ret->measured_ns / NS_PER_MS,
                  (double)ret->sampled_ns / NS_PER_MS, (unsigned long long)ret_truth->missed,
                  (unsigned long long)ret_truth->cycles, ret_truth->realtime ? ", realtime" : "");
    /* taskstats must be between the load's own time and the clock read before and after. A task
     * reads its own times, so they are up to date. */
    assert_at_least("measured", ret->measured_ns, ret_truth->own_ns + ret_truth->search_ns, 0);
    assert_at_most("measured", ret->measured_ns, outer_ns, 0);
}

/* Returns the time of the ticks that came while the load ran, as the load counted them. */
static uint64_t met_ns(const struct load_cpu_truth *truth)
{
    return truth->ticks_met * truth->tick_ns;
}

/* Asserts that the sampled time is at most the time of the ticks that the load counted. The
 * tolerance allows for other ticks: during a wakeup, delayed until the load runs (at most one in
 * each cycle), or outside of the load. */
static void assert_sampled(const struct camp_taskstat *seen, const struct load_cpu_truth *truth,
                           uint64_t stolen_ns)
{
    const uint64_t outside_ns = seen->measured_ns - truth->own_ns;

    assert_at_most("sampled", seen->sampled_ns, met_ns(truth),
                   (outside_ns / truth->tick_ns + 2 + truth->missed) * truth->tick_ns + stolen_ns);
}

static void a_cpu_load_that_runs_between_ticks_counts_every_tick_that_samples_it(void **state)
{
    const struct load_cpu_plan plan = { 80, LOAD_BETWEEN_TICKS, 0, -1, NS_PER_S };
    const uint64_t steal = steal_ns();
    struct load_cpu_truth truth;
    struct camp_taskstat seen;
    uint64_t away_ns;

    (void)state;
    watch_once(&plan, &seen, &truth, &away_ns);
    assert_sampled(&seen, &truth, stolen_since(steal));
}

static void the_kernel_samples_a_cpu_load_that_runs_across_ticks_at_each_tick(void **state)
{
    const struct load_cpu_plan plan = { 5, LOAD_ACROSS_TICKS, 0, -1, NS_PER_S };
    const uint64_t steal = steal_ns();
    struct load_cpu_truth truth;
    struct camp_taskstat seen;
    uint64_t away_ns;

    (void)state;
    watch_once(&plan, &seen, &truth, &away_ns);
    assert_sampled(&seen, &truth, stolen_since(steal));
    print_message("ticks met %.1f ms, away %.1f\n", (double)met_ns(&truth) / 1e6,
                  (double)away_ns / 1e6);
    assert_at_least("sampled", seen.sampled_ns, met_ns(&truth), away_ns + stolen_since(steal));
}

static void a_cpu_load_between_ticks_restores_the_affinity_and_policy_of_its_process(void **state)
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

/* The kernel adds up RUSAGE_CHILDREN in ns. getrusage(2) rounds the sums of user and system time
 * down to microseconds. */
static void the_clocks_of_exited_children_add_up_to_getrusage(void **state)
{
    const struct load_fork_plan plan = { 200, NS_PER_MS, 500 * NS_PER_MS };
    struct load_fork_truth truth;
    uint64_t before = usage_ns(RUSAGE_CHILDREN), witness;

    (void)state;
    assert_int_equal(load_fork(&plan, &truth, NULL), CAMP_OK);
    witness = usage_ns(RUSAGE_CHILDREN) - before;
    /* A child starts only when it is due. */
    assert_in_range(truth.children, 1, 200 * plan.duration_ns / NS_PER_S);
    assert_int_equal(truth.unreported, 0);
    assert_at_least("own clocks", truth.own_ns, truth.children * plan.burn_ns, 0);
    assert_at_least("whole clocks", truth.whole_ns, truth.own_ns + 1, 0);
    assert_at_least("getrusage", witness, truth.whole_ns, CUT_NS);
    assert_at_most("getrusage", witness, truth.whole_ns, CUT_NS);
}

/* The CPU time of the process must be at least the sum of its threads, and at most the clock read
 * before and after. The differences belong to the first thread, and to the start and end of the
 * other threads. */
static void the_clocks_of_threads_add_up_to_the_cpu_time_of_their_process(void **state)
{
    const struct load_threads_plan plan = { 4, 5, 500 * NS_PER_MS };
    static struct load_threads_truth truth;
    uint64_t outer = now_ns(CLOCK_PROCESS_CPUTIME_ID), before = usage_ns(RUSAGE_SELF), witness;
    uint64_t sum = 0;

    (void)state;
    assert_int_equal(load_threads(&plan, &truth, NULL), CAMP_OK);
    witness = usage_ns(RUSAGE_SELF) - before;
    outer = now_ns(CLOCK_PROCESS_CPUTIME_ID) - outer;
    assert_int_equal(truth.thread_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(truth.each[i].tid > 0 && truth.each[i].own_ns > 0);
        assert_true(i == 0 || truth.each[i].tid != truth.each[i - 1].tid);
        assert_at_most("a thread", truth.each[i].own_ns, truth.wall_ns, 0);
        assert_at_most("a thread's wall time", truth.each[i].wall_ns, truth.wall_ns, 0);
        sum += truth.each[i].own_ns;
    }
    assert_int_equal(sum, truth.threads_ns);
    assert_at_most("all threads", truth.threads_ns, truth.own_ns, 0);
    assert_at_least("getrusage", witness, truth.own_ns, CUT_NS);
    assert_at_most("getrusage", witness, outer, CUT_NS);
}

/* A zombie no longer runs, but its clock can still be read. */
static bool runs(pid_t pid)
{
    siginfo_t info = { 0 };

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

struct stopped {
    struct load_cpu_plan plan;
    uint64_t clock_ns; /* CPU clock of the process after the load */
};

static int run_watched(const void *argument, void *ret_truth, struct camp_error *error)
{
    struct stopped *shared = *(struct stopped *const *)argument;
    int r;

    r = load_cpu(&shared->plan, ret_truth, error);
    shared->clock_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    return r;
}

/* The parent reads the CPU clock of the process after its end. That clock must include the time
 * that the load reports. The difference is the start and the exit of the process. */
static void a_stopped_load_reports_its_times_until_the_stop(void **state)
{
    struct stopped *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct load_cpu_truth truth;
    struct load_process process;
    uint64_t clock_ns, began_ns = now_ns(CLOCK_MONOTONIC), ended_ns;
    clockid_t clock;

    (void)state;
    assert_true(shared != MAP_FAILED);
    shared->plan = (struct load_cpu_plan){ 50, LOAD_ANY_PHASE, 0, -1, 3600ull * NS_PER_S };
    assert_int_equal(load_start(&process, run_watched, &shared, sizeof truth, NULL), CAMP_OK);
    assert_int_equal(clock_getcpuclockid(process.pid, &clock), 0);
    /* Waits until the load has started. */
    while (now_ns(clock) < 20 * NS_PER_MS && wait_on(began_ns))
        continue;
    assert_true(runs(process.pid));
    kill(process.pid, SIGTERM);
    while (runs(process.pid))
        sleep_until(now_ns(CLOCK_MONOTONIC) + NS_PER_MS);
    ended_ns = now_ns(CLOCK_MONOTONIC);
    clock_ns = now_ns(clock);
    assert_int_equal(load_end(&process, true, &truth, sizeof truth, NULL), CAMP_OK);
    assert_at_most("wall time", truth.wall_ns, ended_ns - began_ns, 0);
    assert_at_least("own clock", truth.own_ns, 1, 0);
    assert_at_most("own clock", truth.own_ns, shared->clock_ns, 0);
    assert_at_most("clock after the load", shared->clock_ns, clock_ns, 0);
    munmap(shared, sizeof *shared);
}

static void a_killed_load_is_reported_as_gone(void **state)
{
    const struct load_cpu_plan plan = { 10, LOAD_ANY_PHASE, 0, -1, 60ull * NS_PER_S };
    struct load_cpu_truth truth;
    struct load_process process;

    (void)state;
    assert_int_equal(load_start(&process, load_cpu, &plan, sizeof truth, NULL), CAMP_OK);
    kill(process.pid, SIGKILL);
    assert_int_equal(load_end(&process, false, &truth, sizeof truth, NULL), CAMP_E_GONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_clock_of_a_load_equals_getrusage),
        cmocka_unit_test(a_cpu_load_gets_the_requested_share_of_a_cpu_except_for_run_delay),
        cmocka_unit_test(a_cpu_load_that_runs_between_ticks_counts_every_tick_that_samples_it),
        cmocka_unit_test(the_kernel_samples_a_cpu_load_that_runs_across_ticks_at_each_tick),
        cmocka_unit_test(a_cpu_load_between_ticks_restores_the_affinity_and_policy_of_its_process),
        cmocka_unit_test(the_clocks_of_exited_children_add_up_to_getrusage),
        cmocka_unit_test(the_clocks_of_threads_add_up_to_the_cpu_time_of_their_process),
        cmocka_unit_test(a_stopped_load_reports_its_times_until_the_stop),
        cmocka_unit_test(a_killed_load_is_reported_as_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
