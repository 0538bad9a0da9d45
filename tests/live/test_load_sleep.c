/* Compares the microstates of a load with the times that the load reports of its sleeps and of its
 * waits for a disk. */
#include "disk_file.h"
#include "load_process.h"
#include "states_session.h"

#include <sys/resource.h>

#define SHARE_PERCENT 60
#define DURATION_NS (600 * (uint64_t)NS_PER_MS)
/* A sleep load sleeps once in this time. So if the session does not see one of its switches, it
 * sees the next one after at most this time. */
#define PERIOD_NS (10 * (uint64_t)NS_PER_MS)

/* What the microstates of a load may differ by, besides the cost of its switches. */
struct allowance {
    uint64_t stolen_ns;
    uint64_t unseen_ns; /* around switches that the session did not see */
};

/* Runs a load in a child during a session, and returns its last microstates. */
static struct camp_thread_states watch(load_function *run, const void *plan, void *ret_truth,
                                       size_t truth_size, struct allowance *ret)
{
    struct camp_states *session = open_states_or_skip(0);
    struct threads ended = { 0 };
    struct load_process process;
    struct camp_thread_states last;
    struct camp_error error = { 0 };
    uint64_t steal = steal_ns();
    pid_t pid;

    assert_int_equal(load_start(&process, run, plan, truth_size, &error), CAMP_OK);
    pid = process.pid;
    if (load_end(&process, false, ret_truth, truth_size, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    ret->stolen_ns = stolen_since(steal);
    last = last_of(session, &ended, pid);
    free(ended.of);
    ret->unseen_ns = close_states(session) * PERIOD_NS;
    return last;
}

/* Asserts that the load had no other kinds of sleep. It may have them before and after the load
 * (outside_ns). If memory is short, the thread may also wait for a page (unexplained_ns). */
static void assert_no_other_sleep(const struct camp_thread_states *last, enum camp_state kind,
                                  uint64_t outside_ns, uint64_t unexplained_ns)
{
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        if (i != (int)kind && is_asleep(i))
            assert_at_most(camp_state_name(i), last->state_ns[i], outside_ns, unexplained_ns);
    }
}

/* The load measures each sleep with the clock of the sleeper at its start and the clock of the
 * waker at its end. So it reports a lower and an upper bound. Before and after the load, the thread
 * also waits for the waker in a lock. */
static void assert_sleeps_are_reported(enum load_sleep_kind kind, enum camp_state expected)
{
    const struct load_sleep_plan plan = { kind, SHARE_PERCENT, 0, -1, DURATION_NS };
    struct allowance allowance;
    uint64_t slept, outside, tolerance, most;
    struct load_sleep_truth truth;
    struct camp_thread_states last = watch(load_sleep, &plan, &truth, sizeof truth, &allowance);

    slept = last.state_ns[expected];
    most = truth.asleep_ns + truth.late_ns;
    outside = last.time_ns - last.start_ns - truth.wall_ns;
    tolerance = tolerance_of(&last) + allowance.unseen_ns;
    print_message(
        "%s: %.3f ms of %.3f, by the load %.3f to %.3f; outside of it %.3f, tolerance %.3f\n",
        camp_state_name((int)expected), (double)slept / 1e6, (double)truth.wall_ns / 1e6,
        (double)truth.asleep_ns / 1e6, (double)most / 1e6, (double)outside / 1e6,
        (double)tolerance / 1e6);
    assert_int_equal(truth.tid, last.tid);
    assert_at_least("by the load", truth.asleep_ns, 1, 0);
    assert_at_least("asleep", slept, truth.asleep_ns, tolerance + allowance.stolen_ns);
    assert_at_most("asleep", slept, most, tolerance + outside);
    assert_at_least("on a CPU", on_cpu_ns(&last), truth.own_ns, tolerance);
    assert_at_most("on a CPU", on_cpu_ns(&last), truth.own_ns,
                   tolerance + outside + allowance.stolen_ns + last.state_ns[CAMP_STATE_IRQ]);
    assert_scheduled(&last, allowance.stolen_ns, allowance.unseen_ns);
    assert_no_other_sleep(&last, expected, outside,
                          tolerance + less(truth.wall_ns, truth.asleep_ns + truth.own_ns +
                                                              less(last.run_delay_ns, outside)));
}

static void sleep_in_a_futex_is_reported_as_lock(void **state)
{
    (void)state;
    assert_sleeps_are_reported(LOAD_SLEEP_LOCK, CAMP_STATE_LOCK);
}

static void sleep_in_a_pipe_read_is_reported_as_pipe(void **state)
{
    (void)state;
    assert_sleeps_are_reported(LOAD_SLEEP_PIPE, CAMP_STATE_PIPE);
}

static void timed_sleep_is_reported_as_timer(void **state)
{
    (void)state;
    assert_sleeps_are_reported(LOAD_SLEEP_TIMER, CAMP_STATE_TIMER);
}

static uint64_t voluntary_switches(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return (uint64_t)usage.ru_nvcsw;
}

/* The loads run in this thread, whose run delay is known. A sleep begins and ends inside a system
 * call, but the load reads its clocks outside of the call. */
static void the_times_that_a_sleep_load_reports_add_up_to_its_wall_time(void **state)
{
    (void)state;
    for (int kind = LOAD_SLEEP_LOCK; kind <= LOAD_SLEEP_TIMER; kind++) {
        const struct load_sleep_plan plan = { (enum load_sleep_kind)kind, SHARE_PERCENT, 0, -1,
                                              DURATION_NS / 2 };
        uint64_t steal = steal_ns(), switches = voluntary_switches(), sum, tolerance;
        struct load_sleep_truth truth;
        struct stretch own;

        begin_stretch(&own);
        assert_int_equal(load_sleep(&plan, &truth, NULL), CAMP_OK);
        end_stretch(&own);
        switches = voluntary_switches() - switches;
        sum = truth.asleep_ns + truth.late_ns + truth.own_ns;
        tolerance = switches_tolerance(switches, 0);
        assert_at_most("sleep, lateness and CPU", sum, truth.wall_ns, tolerance);
        assert_at_least("sleep, lateness and CPU", sum + own.run_delay_ns, truth.wall_ns,
                        tolerance + stolen_since(steal));
        assert_at_most("CPU", truth.own_ns, own.cpu_ns, 0);
        assert_at_least("voluntary switches", switches, truth.sleeps - truth.missed, 0);
        assert_at_least("sleeps", truth.sleeps, 1, 0);
    }
}

/* A file that this process has open, and its path for a child. */
struct file {
    int file;
    char path[32];
};

static struct file file_not_in_memory(void)
{
    struct file file = { .file = file_on_disk("", 1) };

    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.file);
    return file;
}

/* The load reports its time off the CPU: waits for a disk or a page, and the waits for a CPU after
 * them. The scheduler counts the waits for a CPU during the whole life of the load. */
static void assert_waits_are_reported(const struct camp_thread_states *last,
                                      enum camp_state expected, uint64_t off_cpu_ns,
                                      uint64_t wall_ns, const struct allowance *allowance)
{
    const uint64_t waited = last->state_ns[expected], delay = last->run_delay_ns;
    const uint64_t outside = last->time_ns - last->start_ns - wall_ns,
                   tolerance = tolerance_of(last);

    print_message(
        "%s: %.3f ms of %.3f, by the load %.3f to %.3f; outside of it %.3f, tolerance %.3f\n",
        camp_state_name((int)expected), (double)waited / 1e6, (double)wall_ns / 1e6,
        (double)less(off_cpu_ns, delay) / 1e6, (double)off_cpu_ns / 1e6, (double)outside / 1e6,
        (double)tolerance / 1e6);
    assert_at_least("waited at all", waited, 1, 0);
    assert_at_least(camp_state_name((int)expected), waited, less(off_cpu_ns, delay),
                    tolerance + allowance->stolen_ns);
    assert_at_most(camp_state_name((int)expected), waited, less(off_cpu_ns, delay),
                   tolerance + (outside < delay ? outside : delay));
    assert_scheduled(last, allowance->stolen_ns, 0);
    assert_no_other_sleep(last, expected, outside, 0);
}

static void assert_reads_are_reported(bool direct)
{
    struct file file = file_not_in_memory();
    const struct load_io_plan plan = { .file = file.path,
                                       .bytes = 8ull * PAGES * PAGE_BYTES,
                                       .block = BLOCK_BYTES,
                                       .direct = direct,
                                       .cold = !direct };
    struct allowance allowance;
    struct load_io_truth truth;
    struct camp_thread_states last = watch(load_io, &plan, &truth, sizeof truth, &allowance);

    close(file.file);
    assert_at_least("read from storage", truth.storage_bytes, truth.bytes, 0);
    assert_waits_are_reported(&last, CAMP_STATE_DISK, less(truth.wall_ns, truth.own_ns),
                              truth.wall_ns, &allowance);
}

static void direct_reads_are_reported_as_disk(void **state)
{
    (void)state;
    assert_reads_are_reported(true);
}

static void reads_through_an_empty_page_cache_are_reported_as_disk(void **state)
{
    (void)state;
    assert_reads_are_reported(false);
}

static void assert_faults_are_reported(bool in_call, enum camp_state expected)
{
    struct file file = file_not_in_memory();
    const struct load_fault_plan plan = { .file = file.path, .pages = PAGES, .in_call = in_call };
    struct allowance allowance;
    struct load_fault_truth truth;
    struct camp_thread_states last = watch(load_fault, &plan, &truth, sizeof truth, &allowance);

    close(file.file);
    assert_at_least("major faults", truth.major_faults, 1, 0);
    assert_at_most("major faults", truth.major_faults, plan.pages, 0);
    assert_int_equal(last.major_faults, truth.major_faults);
    assert_waits_are_reported(&last, expected, less(truth.touch_ns, truth.own_ns), truth.touch_ns,
                              &allowance);
}

static void the_first_touch_of_a_file_page_is_reported_as_a_data_fault(void **state)
{
    (void)state;
    assert_faults_are_reported(false, CAMP_STATE_DATA_FAULT);
}

static void a_page_touched_by_a_system_call_is_reported_as_a_kernel_fault(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    const bool measured = (states_measured(session) & 1u << CAMP_STATE_KERNEL_FAULT) != 0;

    (void)state;
    close_states(session);
    if (!measured) {
        print_message("skipped, not passed: this kernel does not show faults in system calls\n");
        skip();
    }
    assert_faults_are_reported(true, CAMP_STATE_KERNEL_FAULT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleep_in_a_futex_is_reported_as_lock),
        cmocka_unit_test(sleep_in_a_pipe_read_is_reported_as_pipe),
        cmocka_unit_test(timed_sleep_is_reported_as_timer),
        cmocka_unit_test(the_times_that_a_sleep_load_reports_add_up_to_its_wall_time),
        cmocka_unit_test(direct_reads_are_reported_as_disk),
        cmocka_unit_test(reads_through_an_empty_page_cache_are_reported_as_disk),
        cmocka_unit_test(the_first_touch_of_a_file_page_is_reported_as_a_data_fault),
        cmocka_unit_test(a_page_touched_by_a_system_call_is_reported_as_a_kernel_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
