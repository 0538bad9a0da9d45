/* Compares the CPU time of processes and threads with their own clocks, and the sum of CPU time and
 * run delay with wall time. */
#include "cpu_steal.h"
#include "process_child.h"
#include "scheduler_witness.h"

#include <sched.h>

static void the_cpu_time_of_a_sleeping_child_equals_its_own_clock(void **state)
{
    struct child child = start_child();
    struct sandwich sandwich = read_asleep(&child, (struct command){ 'b', 50, "" });
    uint64_t by_identifier, by_pid;

    (void)state;
    assert_between("cpu_ns", sandwich.before.cpu_ns, sandwich.read.cpu_ns, sandwich.after.cpu_ns);
    assert_at_least("cpu_ns", sandwich.read.cpu_ns, 50 * NS_PER_MS, 0);
    assert_int_equal(sandwich.read.cpu_resolution_ns, 1);
    assert_int_equal(camp_process_cpu_ns(NULL, &child.process, &by_identifier, NULL), CAMP_OK);
    assert_int_equal(camp_pid_cpu_ns(child.pid, &by_pid), CAMP_OK);
    assert_int_equal(by_identifier, by_pid);
    end_child(&child);
}

static struct camp_task read_thread(const struct camp_thread *thread)
{
    struct camp_task task;

    assert_int_equal(camp_thread_read(NULL, thread, CAMP_TASK_ALL, &task, sizeof task, NULL),
                     CAMP_OK);
    return task;
}

static void the_times_of_all_sleeping_threads_add_up_to_the_times_of_their_process(void **state)
{
    struct child child = start_child();
    struct sandwich sandwich;
    struct camp_thread threads[4];
    struct camp_task process, first, second;
    uint64_t began_ns;
    size_t count;

    (void)state;
    sandwich = read_asleep(&child, (struct command){ 't', 50, "" });
    assert_int_equal(
        camp_thread_list(NULL, &child.process, threads, sizeof threads[0], 4, &count, NULL),
        CAMP_OK);
    assert_int_equal(count, 2);
    began_ns = now_ns(CLOCK_MONOTONIC);
    while (read_thread(&threads[1]).state != 'S' && wait_on(began_ns))
        continue;
    process = read_in_state(&child, 'S');
    first = read_thread(&threads[0]);
    second = read_thread(&threads[1]);
    /* The second thread used at least the requested time. The other time of the process belongs to
     * its first thread. */
    assert_at_least("second thread", second.cpu_ns, 50 * NS_PER_MS, 0);
    assert_at_most("first thread", first.cpu_ns, process.cpu_ns - 50 * NS_PER_MS, 0);
    assert_at_least("process", process.cpu_ns, sandwich.before.cpu_ns, 0);
    assert_int_equal(first.cpu_ns + second.cpu_ns, process.cpu_ns);
    assert_int_equal(first.run_delay_ns + second.run_delay_ns, process.run_delay_ns);
    assert_int_equal(first.voluntary_switches + second.voluntary_switches,
                     process.voluntary_switches);
    assert_int_equal(first.minor_faults + second.minor_faults, process.minor_faults);
    end_child(&child);
}

static void a_process_keeps_the_time_of_an_exited_thread(void **state)
{
    struct child child = start_child();
    struct sandwich with = read_asleep(&child, (struct command){ 't', 50, "" });
    struct sandwich without = read_asleep(&child, (struct command){ 'e', 0, "" });

    (void)state;
    assert_int_equal(with.read.threads, 2);
    assert_int_equal(without.read.threads, 1);
    assert_at_least("with the thread", with.read.cpu_ns, 50 * NS_PER_MS, 0);
    assert_at_least("without the thread", without.read.cpu_ns, with.read.cpu_ns, 0);
    assert_between("cpu_ns", without.before.cpu_ns, without.read.cpu_ns, without.after.cpu_ns);
    end_child(&child);
}

static void the_counters_of_a_running_child_never_decrease(void **state)
{
    struct child child = start_child();
    struct camp_task last = { 0 }, task;

    (void)state;
    command_child(&child, (struct command){ 'f', 0, "" }, NULL);
    for (int i = 0; i < 2000; i++) {
        assert_int_equal(
            camp_process_read(NULL, &child.process, CAMP_TASK_ALL, &task, sizeof task, NULL),
            CAMP_OK);
        assert_in_range(task.time_ns, last.time_ns + 1, UINT64_MAX);
        assert_in_range(task.cpu_ns, last.cpu_ns, UINT64_MAX);
        assert_in_range(task.user_ns, last.user_ns, UINT64_MAX);
        assert_in_range(task.system_ns, last.system_ns, UINT64_MAX);
        assert_in_range(task.run_delay_ns, last.run_delay_ns, UINT64_MAX);
        assert_in_range(task.minor_faults, last.minor_faults, UINT64_MAX);
        assert_in_range(task.involuntary_switches, last.involuntary_switches, UINT64_MAX);
        last = task;
    }
    end_child(&child);
}

/* A child that uses CPU time from SIGCONT to SIGSTOP. It is not known when a signal takes effect,
 * so the clock is read before and after each signal. */
struct burner {
    struct child child;
    struct camp_task before;
    struct camp_task after;
    /* the clock before and after SIGCONT (let_ns), and before and after SIGSTOP (stopped_ns) */
    uint64_t let_ns[2], stopped_ns[2];
};

static uint64_t at_least_ns(const struct burner *burner)
{
    return burner->stopped_ns[0] - burner->let_ns[1];
}

static uint64_t at_most_ns(const struct burner *burner)
{
    return burner->stopped_ns[1] - burner->let_ns[0];
}

static void start_burner(struct burner *burner, unsigned cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    burner->child = start_child();
    assert_int_equal(sched_setaffinity(burner->child.pid, sizeof one, &one), 0);
    command_child(&burner->child, (struct command){ 'f', 0, "" }, NULL);
    kill(burner->child.pid, SIGSTOP);
    burner->before = read_in_state(&burner->child, 'T');
}

static void let_burn(struct burner *burners, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        burners[i].let_ns[0] = now_ns(CLOCK_MONOTONIC);
        kill(burners[i].child.pid, SIGCONT);
        burners[i].let_ns[1] = now_ns(CLOCK_MONOTONIC);
    }
    usleep(300000);
    for (size_t i = 0; i < count; i++) {
        burners[i].stopped_ns[0] = now_ns(CLOCK_MONOTONIC);
        kill(burners[i].child.pid, SIGSTOP);
    }
    for (size_t i = 0; i < count; i++) {
        burners[i].after = read_in_state(&burners[i].child, 'T');
        burners[i].stopped_ns[1] = now_ns(CLOCK_MONOTONIC);
    }
}

static uint64_t switches_between(const struct camp_task *before, const struct camp_task *after)
{
    return after->voluntary_switches - before->voluntary_switches + after->involuntary_switches -
           before->involuntary_switches;
}

/* Two busy processes share a CPU. Each of them runs or waits for the CPU from SIGCONT to SIGSTOP.
 * Its CPU time and run delay may miss stolen time, and with CONFIG_IRQ_TIME_ACCOUNTING also
 * interrupts. The counters of the CPU include stolen time and interrupts. */
static void a_busy_thread_is_always_on_a_cpu_or_in_the_run_queue(void **state)
{
    /* This test may move to another CPU, so the number is read once. */
    const unsigned cpu = (unsigned)sched_getcpu();
    struct camp_cpu cpus[2];
    struct burner burners[2];
    uint64_t steal, ran[2], waited[2], tolerance;

    (void)state;
    for (int i = 0; i < 2; i++)
        start_burner(&burners[i], cpu);
    steal = steal_ns();
    assert_int_equal(camp_cpu_read(NULL, (int32_t)cpu, &cpus[0], sizeof cpus[0], NULL), CAMP_OK);
    let_burn(burners, 2);
    assert_int_equal(camp_cpu_read(NULL, (int32_t)cpu, &cpus[1], sizeof cpus[1], NULL), CAMP_OK);
    tolerance = stolen_since(steal) + cpus[1].irq_ns - cpus[0].irq_ns + cpus[1].softirq_ns -
                cpus[0].softirq_ns;
    for (int i = 0; i < 2; i++) {
        const uint64_t switches = switches_between(&burners[i].before, &burners[i].after);

        ran[i] = burners[i].after.cpu_ns - burners[i].before.cpu_ns;
        waited[i] = burners[i].after.run_delay_ns - burners[i].before.run_delay_ns;
        print_message("ran %.3f ms, waited %.3f: %.3f of %.3f to %.3f\n", (double)ran[i] / 1e6,
                      (double)waited[i] / 1e6, (double)(ran[i] + waited[i]) / 1e6,
                      (double)at_least_ns(&burners[i]) / 1e6,
                      (double)at_most_ns(&burners[i]) / 1e6);
        assert_at_least("ran + waited", ran[i] + waited[i], at_least_ns(&burners[i]),
                        tolerance + switches_tolerance(0, switches));
        assert_at_most("ran + waited", ran[i] + waited[i], at_most_ns(&burners[i]),
                       switches_tolerance(0, switches));
    }
    /* While one process runs, the other process waits, except for the time when only one of them
     * was allowed to run. */
    for (int i = 0; i < 2; i++) {
        const uint64_t alone = at_most_ns(&burners[1 - i]) - at_least_ns(&burners[i]);

        assert_at_least("ran", ran[i], 1, 0);
        assert_at_least("waited", waited[i], ran[1 - i], alone + tolerance);
        end_child(&burners[i].child);
    }
}

#define PAUSE_MS 200

/* The clock of a child that runs on another CPU may lag by a tick at each reading. */
static void the_utilisation_of_a_busy_child_equals_the_growth_of_its_clock(void **state)
{
    struct child child = start_child();
    struct camp_task_utilisation utilisation;
    const uint64_t steal = steal_ns();
    uint64_t before_ns, after_ns, cpu_before, cpu_after, outside_ns;
    double cpu_ns;

    (void)state;
    command_child(&child, (struct command){ 'f', 0, "" }, NULL);
    before_ns = now_ns(CLOCK_MONOTONIC);
    assert_int_equal(camp_pid_cpu_ns(child.pid, &cpu_before), CAMP_OK);
    assert_int_equal(camp_process_utilisation(NULL, &child.process, PAUSE_MS, NULL, &utilisation,
                                              sizeof utilisation, NULL),
                     CAMP_OK);
    assert_int_equal(camp_pid_cpu_ns(child.pid, &cpu_after), CAMP_OK);
    after_ns = now_ns(CLOCK_MONOTONIC);
    cpu_ns = utilisation.cpu_percent * (double)utilisation.elapsed_ns / 100;
    assert_in_range(utilisation.elapsed_ns, PAUSE_MS * NS_PER_MS, after_ns - before_ns);
    assert_at_most("used", (uint64_t)cpu_ns, cpu_after - cpu_before, 0);
    /* Outside of the interval, the child's CPU time is at most the wall time. */
    outside_ns = after_ns - before_ns - utilisation.elapsed_ns;
    assert_at_most("its clock", cpu_after - cpu_before, (uint64_t)cpu_ns + outside_ns,
                   2 * tick_ns() + stolen_since(steal));
    assert_true(utilisation.user_percent >= 0 && utilisation.system_percent >= 0);
    end_child(&child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_time_of_a_sleeping_child_equals_its_own_clock),
        cmocka_unit_test(the_times_of_all_sleeping_threads_add_up_to_the_times_of_their_process),
        cmocka_unit_test(a_process_keeps_the_time_of_an_exited_thread),
        cmocka_unit_test(the_counters_of_a_running_child_never_decrease),
        cmocka_unit_test(a_busy_thread_is_always_on_a_cpu_or_in_the_run_queue),
        cmocka_unit_test(the_utilisation_of_a_busy_child_equals_the_growth_of_its_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
