/* Law 3: loads that know how long they slept, or waited for a disk, are told the same by their
 * microstates. */
#include "commands/load/load.h"
#include "disk_file.h"
#include "states_session.h"

#include <sys/resource.h>

#define SHARE_PERCENT 60
#define DURATION_NS (1000 * (uint64_t)NS_PER_MS)

/* A load in a process of its own, beside a session: its last numbers, its truth, and what was
 * stolen meanwhile. */
static struct camp_thread_states watch(load_function *run, const void *plan, void *ret_truth,
                                       size_t truth_size, uint64_t *ret_stolen)
{
    struct camp_states *session = open_states_or_skip(0);
    struct threads ended = { 0 };
    struct load_process process;
    struct camp_thread_states last;
    struct camp_error error = { 0 };
    uint64_t steal = steal_ns();
    pid_t pid;

    assert_int_equal(load_begin(&process, run, plan, truth_size, &error), CAMP_OK);
    pid = process.pid;
    if (load_end(&process, false, ret_truth, truth_size, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    *ret_stolen = stolen_since(steal);
    last = last_of(session, &ended, pid);
    free(ended.of);
    close_states(session);
    return last;
}

/* More than a moment, or than it did beside its load. */
static void assert_no_other_sleep(const struct camp_thread_states *last, enum camp_state kind,
                                  uint64_t beside_ns)
{
    for (int i = CAMP_STATE_TEXT_FAULT; i < CAMP_STATE_COUNT; i++) {
        if (i != (int)kind && i != CAMP_STATE_RUN_QUEUE)
            assert_at_most(camp_state_name(i), last->state_ns[i], NEAR_NS, beside_ns);
    }
}

/* ------------------------------------------------------------------------------- Sleeps -- */

static void assert_sleeps_are_told(enum load_sleep_kind kind, enum camp_state expected)
{
    const struct load_sleep_plan plan = { kind, SHARE_PERCENT, 0, -1, DURATION_NS };
    uint64_t stolen, slept, beside, room, off, delay;
    struct load_sleep_truth truth;
    struct camp_thread_states last = watch(load_sleep_run, &plan, &truth, sizeof truth, &stolen);

    delay = last.run_delay_ns;
    off = truth.wall_ns - truth.own_ns > delay ? truth.wall_ns - truth.own_ns - delay : 0;
    slept = last.state_ns[expected];
    beside = last.time_ns - last.start_ns - truth.wall_ns;
    room = near_ns(truth.wall_ns, 2);
    print_message("%s: %.3f ms of %.3f, by the load %.3f to %.3f; on a CPU %.3f, by it %.3f\n",
                  camp_state_name((int)expected), (double)slept / 1e6, (double)truth.wall_ns / 1e6,
                  (double)truth.asleep_ns / 1e6, (double)(truth.asleep_ns + truth.unsure_ns) / 1e6,
                  (double)on_cpu_ns(&last) / 1e6, (double)truth.own_ns / 1e6);
    assert_int_equal(truth.tid, last.tid);
    assert_at_least("its share", truth.asleep_ns, truth.wall_ns / 4, 0);
    assert_at_least("asleep", slept, truth.asleep_ns, room);
    if (expected == CAMP_STATE_LOCK)
        room += beside; /* it waits for the end of who woke it */
    assert_at_most("asleep", slept, truth.asleep_ns + truth.unsure_ns, room);
    assert_at_least("off its CPU, less the scheduler's run queue", slept, off, room + stolen);
    assert_at_most("off its CPU, less the scheduler's run queue", slept, off,
                   room + (beside < delay ? beside : delay));
    assert_at_least("on a CPU", on_cpu_ns(&last), truth.own_ns, room);
    assert_at_most("on a CPU", on_cpu_ns(&last), truth.own_ns, room + beside + stolen);
    assert_no_other_sleep(&last, expected, beside);
}

static void who_sleeps_in_futex_for_a_share_is_told_as_lock(void **state)
{
    (void)state;
    assert_sleeps_are_told(LOAD_SLEEP_LOCK, CAMP_STATE_LOCK);
}

static void who_sleeps_in_a_pipe_for_a_share_is_told_as_pipe(void **state)
{
    (void)state;
    assert_sleeps_are_told(LOAD_SLEEP_PIPE, CAMP_STATE_PIPE);
}

static void who_sleeps_for_a_time_is_told_as_timer(void **state)
{
    (void)state;
    assert_sleeps_are_told(LOAD_SLEEP_TIMER, CAMP_STATE_TIMER);
}

static uint64_t voluntary_switches(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return (uint64_t)usage.ru_nvcsw;
}

static uint64_t run_delay_ns(void)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    unsigned long long delay;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %llu", &delay), 1);
    fclose(file);
    return delay;
}

/* Each in this very thread. What it wanted to run and could not, the scheduler knows. */
static void what_a_sleeper_knows_of_itself_adds_up(void **state)
{
    (void)state;
    for (int kind = LOAD_SLEEP_LOCK; kind <= LOAD_SLEEP_TIMER; kind++) {
        const struct load_sleep_plan plan = { (enum load_sleep_kind)kind, SHARE_PERCENT, 0, -1,
                                              DURATION_NS / 2 };
        uint64_t steal = steal_ns(), switches = voluntary_switches(), delay = run_delay_ns(), sum;
        struct load_sleep_truth truth;

        assert_int_equal(load_sleep(&plan, &truth, NULL), CAMP_OK);
        switches = voluntary_switches() - switches;
        delay = run_delay_ns() - delay;
        sum = truth.asleep_ns + truth.late_ns + truth.own_ns;
        assert_at_most("sleep, lateness and CPU", sum, truth.wall_ns, near_ns(truth.wall_ns, 2));
        assert_at_least("sleep, lateness and CPU", sum + delay, truth.wall_ns,
                        near_ns(truth.wall_ns, 2) + stolen_since(steal));
        assert_at_least("voluntary switches", switches, truth.sleeps - truth.missed, 0);
        assert_at_least("sleeps", truth.sleeps, 10, 0);
    }
}

/* ----------------------------------------------------------------------- Disk and pages -- */

/* Open already: its child finds it as this. */
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

/* What a load knows of its waits by its own clocks: for a disk or a page, and then for a CPU. */
struct known {
    uint64_t waited_ns, wall_ns, waits;
};

/* How long for a CPU the scheduler's own count says, which holds the wait before its first act too.
 * A CPU that comes out of idle for a thread is busy by the scheduler's clock up to 6 us before the
 * switch that microstates see. Stolen time is on no clock of a load but the wall's: with much of it
 * nothing can be said. */
static void assert_waits_are_told(const struct camp_thread_states *last, enum camp_state expected,
                                  const struct known *known, uint64_t stolen)
{
    uint64_t waited = last->state_ns[expected], delay = last->run_delay_ns;
    uint64_t beside = last->time_ns - last->start_ns - known->wall_ns;
    uint64_t room = near_ns(known->wall_ns, 2) + known->waits * 6 * NS_PER_US;
    uint64_t known_ns = known->waited_ns > delay ? known->waited_ns - delay : 0;

    print_message("%s: %.3f ms of %.3f, by the load %.3f\n", camp_state_name((int)expected),
                  (double)waited / 1e6, (double)known->wall_ns / 1e6, (double)known_ns / 1e6);
    if (stolen > known->wall_ns / 10) {
        print_message("skipped, not passed: %.0f ms were stolen\n", (double)stolen / 1e6);
        skip();
    }
    assert_at_least("waited at all", waited, 5 * NS_PER_US, 0);
    assert_at_least(camp_state_name((int)expected), waited, known_ns, room + stolen);
    assert_at_most(camp_state_name((int)expected), waited, known_ns,
                   room + (beside < delay ? beside : delay));
    assert_no_other_sleep(last, expected, beside);
}

static void assert_reads_are_told(bool direct)
{
    struct file file = file_not_in_memory();
    const struct load_io_plan plan = { .file = file.path,
                                       .bytes = 32ull * PAGES * PAGE_BYTES,
                                       .block = BLOCK_BYTES,
                                       .direct = direct,
                                       .cold = !direct };
    uint64_t stolen;
    struct load_io_truth truth;
    struct camp_thread_states last = watch(load_io_run, &plan, &truth, sizeof truth, &stolen);
    struct known known;

    close(file.file);
    assert_at_least("read from storage", truth.storage_bytes, truth.bytes, 0);
    known = (struct known){ truth.wall_ns - truth.own_ns, truth.wall_ns, truth.operations };
    assert_waits_are_told(&last, CAMP_STATE_DISK, &known, stolen);
}

static void who_reads_past_the_page_cache_is_told_as_disk(void **state)
{
    (void)state;
    assert_reads_are_told(true);
}

static void who_reads_through_an_empty_page_cache_is_told_as_disk(void **state)
{
    (void)state;
    assert_reads_are_told(false);
}

static void assert_faults_are_told(bool in_call, enum camp_state expected)
{
    struct file file = file_not_in_memory();
    const struct load_fault_plan plan = { .file = file.path,
                                          .pages = 3 * PAGES,
                                          .in_call = in_call };
    uint64_t stolen;
    struct load_fault_truth truth;
    struct camp_thread_states last = watch(load_fault_run, &plan, &truth, sizeof truth, &stolen);
    struct known known;

    close(file.file);
    assert_at_least("major faults", truth.major_faults, plan.pages, plan.pages / 50);
    assert_int_equal(last.major_faults, truth.major_faults);
    known = (struct known){ truth.touch_ns - truth.own_ns, truth.wall_ns, truth.major_faults };
    assert_waits_are_told(&last, expected, &known, stolen);
}

static void who_touches_pages_of_a_file_is_told_as_data_fault(void **state)
{
    (void)state;
    assert_faults_are_told(false, CAMP_STATE_DATA_FAULT);
}

static void whose_call_touches_them_is_told_as_kernel_fault(void **state)
{
    (void)state;
    assert_faults_are_told(true, CAMP_STATE_KERNEL_FAULT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_sleeps_in_futex_for_a_share_is_told_as_lock),
        cmocka_unit_test(who_sleeps_in_a_pipe_for_a_share_is_told_as_pipe),
        cmocka_unit_test(who_sleeps_for_a_time_is_told_as_timer),
        cmocka_unit_test(what_a_sleeper_knows_of_itself_adds_up),
        cmocka_unit_test(who_reads_past_the_page_cache_is_told_as_disk),
        cmocka_unit_test(who_reads_through_an_empty_page_cache_is_told_as_disk),
        cmocka_unit_test(who_touches_pages_of_a_file_is_told_as_data_fault),
        cmocka_unit_test(whose_call_touches_them_is_told_as_kernel_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
