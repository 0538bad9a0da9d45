/* Tests the rings of context switches and wakes, with children that know when they ran, waited and
 * were woken. */
#include "microstates/switches.h"
#include "sources/machine/pid_namespace.h"
#include "states_session.h"

#include <string.h>

#define RING_BYTES (UINT64_C(16) << 20)

static struct switches *open_or_skip(uint64_t bytes)
{
    struct switches *switches = NULL;
    struct camp_error error;
    int r = switches_open(&switches, bytes, &error);

    if (r == CAMP_E_PERM || r == CAMP_E_NOTSUP) {
        print_message("skipped, not passed: %s\n", error.message);
        skip();
    }
    if (r != CAMP_OK)
        fail_msg("%s", error.message);
    return switches;
}

/* Events have the machine's ids, and getpid() and fork(2) those of this PID namespace. */
static void skip_in_pid_namespace(void)
{
    if (pid_namespace_is_of_machine())
        return;
    print_message("skipped, not passed: this is another PID namespace than the machine's\n");
    skip();
}

static struct switches_copy read_ring(const struct switches *switches)
{
    struct switches_copy copy;
    struct camp_error error;

    if (switches_read(switches, &copy, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return copy;
}

static bool is_switch(const struct switch_event *event)
{
    return event->kind != SWITCH_WAKE;
}

struct worker {
    size_t cpu;
    struct stretch own;
    uint64_t whole_delay_ns; /* in the run queue since the child was created */
};

static void burn_beside_another(void *truth)
{
    struct worker *self = truth;

    stay_on(self->cpu);
    begin_stretch(&self->own);
    burn(CLOCK_PROCESS_CPUTIME_ID, 100 * (uint64_t)NS_PER_MS);
    end_stretch(&self->own);
    self->whole_delay_ns = own_run_delay_ns();
}

/* Starts two children that share a CPU, and waits for them. */
static void share_a_cpu(struct worker *workers, pid_t *pids)
{
    for (int i = 0; i < 2; i++) {
        workers[i].cpu = last_cpu();
        pids[i] = start(burn_beside_another, &workers[i]);
    }
    for (int i = 0; i < 2; i++)
        reap_well(pids[i]);
}

/* Returns how often a thread left that had not got the CPU at the switch before. */
static size_t count_breaks(const struct switches_of_cpu *ring)
{
    const struct switch_event *before = NULL;
    size_t switches = 0, broken = 0;

    for (size_t i = 0; i < ring->count; i++) {
        const struct switch_event *event = &ring->events[i];

        if (i > 0)
            assert_true(event->time_ns >= ring->events[i - 1].time_ns);
        if (!is_switch(event))
            continue;
        switches++;
        broken += before != NULL && before->other_tid != event->tid;
        before = event;
    }
    print_message("CPU %u: %zu events, %zu switches, %zu after one that no program saw\n",
                  ring->cpu, ring->count, switches, broken);
    return broken;
}

/* Programs see no event of some switches (docs/design.md). Microstates count them by other means.
 */
static void the_thread_that_leaves_a_cpu_is_the_one_that_got_it_before(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct switches *switches = open_or_skip(RING_BYTES);
    struct worker *workers = shared_memory(2 * sizeof *workers);
    struct switches_copy copy;
    size_t count = 0, broken = 0;
    pid_t pids[2];

    (void)state;
    share_a_cpu(workers, pids);
    copy = read_ring(switches);
    for (size_t i = 0; i < copy.cpu_count; i++) {
        broken += count_breaks(&copy.cpus[i]);
        count += copy.cpus[i].count;
    }
    assert_true(count > 0);
    print_message("%llu overwritten, %llu lost\n", (unsigned long long)copy.overwritten,
                  (unsigned long long)copy.lost);
    assert_int_equal(copy.overwritten, 0);
    assert_at_most("breaks", broken, close_states(session), 0);
    switches_copy_release(&copy);
    switches_close(switches);
    munmap(workers, 2 * sizeof *workers);
}

/* Returns how long the thread was ready to run without a CPU, and adds the number of switches to
 * *ret_switches. The thread stays on one CPU, where it also was woken. */
static uint64_t queued_ns(const struct switches_copy *copy, int32_t tid, uint64_t *ret_switches)
{
    uint64_t ready_ns = 0, sum = 0;

    for (size_t cpu = 0; cpu < copy->cpu_count; cpu++) {
        for (size_t i = 0; i < copy->cpus[cpu].count; i++) {
            const struct switch_event *event = &copy->cpus[cpu].events[i];
            const bool leaves = is_switch(event) && event->tid == tid;

            if (is_switch(event) && event->other_tid == tid) {
                sum += ready_ns != 0 ? event->time_ns - ready_ns : 0;
                ready_ns = 0;
            }
            *ret_switches += leaves;
            if (leaves && (event->kind == SWITCH_PREEMPTED || event->state == 0))
                ready_ns = event->time_ns;
        }
    }
    return sum;
}

/* Measures two children that share a CPU. Returns false if programs saw no event of a switch of
 * this CPU: then the ring lacks a part of the time in which one of them waited. */
static bool compare_with_run_delay(void)
{
    struct switches *switches = open_or_skip(RING_BYTES);
    struct worker *workers = shared_memory(2 * sizeof *workers);
    struct switches_copy copy;
    bool is_whole = true;
    pid_t pids[2];

    share_a_cpu(workers, pids);
    copy = read_ring(switches);
    for (size_t i = 0; i < copy.cpu_count; i++) {
        const size_t breaks = count_breaks(&copy.cpus[i]);

        is_whole &= copy.cpus[i].cpu != (uint32_t)workers[0].cpu || breaks == 0;
    }
    for (int i = 0; i < 2 && is_whole; i++) {
        uint64_t count = 0, queued = queued_ns(&copy, pids[i], &count);

        print_message("%d: waited %.3f ms, scheduler %.3f ms; %llu switches\n", (int)pids[i],
                      (double)queued / 1e6, (double)workers[i].own.run_delay_ns / 1e6,
                      (unsigned long long)count);
        assert_true(count > 0);
        /* The ring also has what the child waited before it started its own clocks. */
        assert_at_least("waited", queued, workers[i].own.run_delay_ns,
                        switches_tolerance(count, count));
        assert_at_most("waited", queued, workers[i].whole_delay_ns,
                       switches_tolerance(count, count));
    }
    switches_copy_release(&copy);
    switches_close(switches);
    munmap(workers, 2 * sizeof *workers);
    return is_whole;
}

static void
the_time_between_losing_and_getting_a_cpu_is_the_run_delay_of_the_scheduler(void **state)
{
    (void)state;
    skip_in_pid_namespace();
    for (int i = 0; i < 40; i++) {
        if (compare_with_run_delay())
            return;
    }
    fail_msg("a switch of the CPU was unseen in each of 40 measurements");
}

static void wait_for_a_byte(void *truth)
{
    const int *ends = truth;
    char byte;

    prctl(PR_SET_NAME, "woken-\xff\n");
    if (read(ends[0], &byte, 1) != 1)
        _exit(1);
}

static void await_sleep(pid_t pid)
{
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    struct camp_process process;
    struct camp_task task;

    assert_int_equal(camp_process_identify(NULL, pid, &process, sizeof process, NULL), CAMP_OK);
    do
        assert_int_equal(camp_process_read(NULL, &process, CAMP_TASK_ALL, &task, sizeof task, NULL),
                         CAMP_OK);
    while ((task.state != 'S' || strncmp(task.name, "woken-", 6) != 0) && wait_on(began_ns));
    assert_int_equal(task.state, 'S');
}

static void a_wake_has_the_thread_that_woke_and_the_name_of_the_woken(void **state)
{
    struct switches *switches;
    struct switches_copy copy;
    size_t wakes = 0, sleeps = 0;
    uint64_t before_ns, after_ns;
    int ends[2];
    pid_t child;

    (void)state;
    skip_in_pid_namespace();
    switches = open_or_skip(RING_BYTES);
    assert_int_equal(pipe(ends), 0);
    child = start(wait_for_a_byte, ends);
    await_sleep(child);
    before_ns = now_ns(CLOCK_BOOTTIME);
    assert_int_equal(write(ends[1], "", 1), 1);
    after_ns = now_ns(CLOCK_BOOTTIME);
    reap_well(child);
    copy = read_ring(switches);
    for (size_t cpu = 0; cpu < copy.cpu_count; cpu++) {
        for (size_t i = 0; i < copy.cpus[cpu].count; i++) {
            const struct switch_event *event = &copy.cpus[cpu].events[i];

            if (event->tid != child || event->time_ns > after_ns)
                continue;
            sleeps += is_switch(event) && event->kind == SWITCH_OF_THREADS && event->state == 1;
            if (is_switch(event) || event->time_ns < before_ns)
                continue;
            wakes++;
            assert_int_equal(event->other_tid, getpid());
            assert_int_equal(event->other_tgid, getpid());
            assert_int_equal(event->tgid, child);
            assert_string_equal(event->name, "woken-\xff\n");
        }
    }
    assert_int_equal(wakes, 1);
    assert_true(sleeps > 0);
    switches_copy_release(&copy);
    switches_close(switches);
    close(ends[0]);
    close(ends[1]);
}

#define WAKES 20000u

static void pass_bytes(void *truth)
{
    const int *ends = truth;
    char byte;

    stay_on((size_t)ends[4]);
    while (read(ends[0], &byte, 1) == 1 && write(ends[3], &byte, 1) == 1)
        continue;
}

static void a_full_ring_has_the_newest_events_and_no_gap(void **state)
{
    struct switches *switches = open_or_skip(SWITCHES_BYTES_LEAST);
    struct switches_copy copy;
    uint64_t end_ns;
    size_t most, full = 0;
    int ends[5];
    cpu_set_t before;
    pid_t child;
    char byte = 0;

    (void)state;
    assert_true(pipe(ends) == 0 && pipe(ends + 2) == 0);
    ends[4] = (int)last_cpu();
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    child = start(pass_bytes, ends);
    stay_on((size_t)ends[4]);
    for (unsigned i = 0; i < WAKES; i++)
        assert_true(write(ends[1], &byte, 1) == 1 && read(ends[2], &byte, 1) == 1);
    end_ns = now_ns(CLOCK_BOOTTIME);
    copy = read_ring(switches);
    sched_setaffinity(0, sizeof before, &before);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    most = switches_size(switches) / copy.cpu_count / sizeof(struct switch_event);
    for (size_t cpu = 0; cpu < copy.cpu_count; cpu++) {
        const struct switches_of_cpu *ring = &copy.cpus[cpu];

        assert_true(ring->count <= most);
        if (cpu != (size_t)ends[4])
            continue;
        full++;
        print_message("%zu of %zu events, %llu overwritten meanwhile; %.3f ms\n", ring->count, most,
                      (unsigned long long)copy.overwritten,
                      (double)(end_ns - ring->events[0].time_ns) / 1e6);
        assert_true(ring->count + copy.overwritten >= most);
        assert_true(ring->events[ring->count - 1].sequence >= 2 * WAKES);
        for (size_t i = 1; i < ring->count; i++)
            assert_true(ring->events[i].time_ns >= ring->events[i - 1].time_ns);
        assert_int_equal(ring->events[ring->count - 1].sequence - ring->events[0].sequence,
                         ring->count - 1);
    }
    assert_int_equal(full, 1);
    switches_copy_release(&copy);
    switches_close(switches);
    for (int i = 0; i < 4; i++)
        close(ends[i]);
}

static void a_ring_of_impossible_size_is_rejected(void **state)
{
    struct switches *switches = NULL;
    struct camp_error error;

    (void)state;
    assert_int_equal(switches_open(&switches, SWITCHES_BYTES_LEAST - 1, &error), CAMP_E_INVALID);
    assert_int_equal(switches_open(&switches, SWITCHES_BYTES_MOST + 1, &error), CAMP_E_INVALID);
    assert_null(switches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_thread_that_leaves_a_cpu_is_the_one_that_got_it_before),
        cmocka_unit_test(
            the_time_between_losing_and_getting_a_cpu_is_the_run_delay_of_the_scheduler),
        cmocka_unit_test(a_wake_has_the_thread_that_woke_and_the_name_of_the_woken),
        cmocka_unit_test(a_full_ring_has_the_newest_events_and_no_gap),
        cmocka_unit_test(a_ring_of_impossible_size_is_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
