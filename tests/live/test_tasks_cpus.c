/*
 * Tests the CPUs of the bpf tier, which are read together with its processes. The busy time of a
 * CPU must include a load that measures itself. This must hold even if /proc/stat misses the load
 * completely, and in intervals that are short for the unit of /proc/stat.
 */
#include "load_process.h"
#include "states_session.h"
#include "tasks_frames.h"

static uint64_t busy_ns(const struct frame *cpus, size_t row)
{
    const uint64_t *values = frame_values(cpus, row);

    return values[CPUS_STATES_USER] + values[CPUS_STATES_SYSTEM] + values[CPUS_STATES_IRQ] +
           values[CPUS_STATES_SOFTIRQ];
}

static uint64_t sampled_ns(const struct frame *cpus, size_t row)
{
    uint64_t sum = 0;

    for (int i = CPUS_USER; i <= CPUS_GUEST_NICE; i++)
        sum += frame_values(cpus, row)[i];
    return sum;
}

static uint64_t measured_of_all(const struct frame *tasks)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < tasks->entity_count; i++)
        sum += frame_values(tasks, i)[TASKS_MEASURED];
    return sum;
}

struct between_ticks {
    struct load_cpu_truth truth;
    uint64_t own_ns; /* includes the search for the tick */
    uint64_t elapsed_ns, busy_ns, sampled_ns;
    uint64_t others_ns;
    /* interrupts of the load's CPU, which the load's clock does not include on some kernels */
    uint64_t irq_ns;
    uint64_t switches; /* context switches of all CPUs */
    uint64_t stolen_ns;
};

static uint64_t switches_ever(void)
{
    FILE *file = fopen("/proc/stat", "r");
    unsigned long long switches = 0;
    char line[4096];

    assert_non_null(file);
    while (switches == 0 && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "ctxt %llu", &switches);
    fclose(file);
    return switches;
}

static struct source *open_columns(void)
{
    struct camp_error error = { 0 };
    struct source *source = NULL;

    assert_int_equal(cpus_source_open(NULL, &never_stop, &source, &error), CAMP_OK);
    return source;
}

static struct between_ticks watch_between_ticks(void)
{
    const struct load_cpu_plan plan = { 80, LOAD_BETWEEN_TICKS, 0, (int32_t)last_cpu(), NS_PER_S };
    struct source *tasks = open_tier(TASKS_BPF), *columns = open_columns();
    const uint64_t steal = steal_ns();
    struct between_ticks seen = { 0 };
    struct load_process process;
    const struct frame *frame;
    size_t row;

    next_frame(tasks, 0);
    next_frame(columns, 0);
    seen.switches = switches_ever();
    assert_int_equal(load_start(&process, load_cpu, &plan, sizeof seen.truth, NULL), CAMP_OK);
    assert_int_equal(load_end(&process, false, &seen.truth, sizeof seen.truth, NULL), CAMP_OK);
    seen.switches = switches_ever() - seen.switches;
    seen.own_ns = seen.truth.own_ns + seen.truth.search_ns;
    seen.others_ns = counted_since(seen.own_ns, measured_of_all(next_frame(tasks, 0)));
    frame = tasks_source_cpus(tasks);
    row = row_of(frame, plan.cpu);
    assert_int_not_equal(row, SIZE_MAX);
    seen.elapsed_ns = frame->elapsed_ns[row];
    seen.busy_ns = busy_ns(frame, row);
    seen.irq_ns =
        frame_values(frame, row)[CPUS_STATES_IRQ] + frame_values(frame, row)[CPUS_STATES_SOFTIRQ];
    frame = next_frame(columns, 0);
    seen.sampled_ns = sampled_ns(frame, row_of(frame, plan.cpu));
    seen.stolen_ns = stolen_since(steal);
    source_close(tasks);
    source_close(columns);
    return seen;
}

/* The CPU was busy for the load, and for other processes at most as long as all of them ran.
 * test_load_time.c tests the sampled time of such a load. */
static void the_busy_time_of_a_cpu_includes_a_load_that_runs_only_between_ticks(void **state)
{
    const struct between_ticks seen = watch_between_ticks();
    const struct load_cpu_truth *truth = &seen.truth;
    const uint64_t tolerance = switches_tolerance(truth->cycles, truth->cycles) + seen.stolen_ns;
    const uint64_t others_tolerance = 2 * seen.switches * switch_cost_ns();

    (void)state;
    print_message(
        "of %.1f ms: load %.1f, busy %.1f, sampled %.1f, ticks met %.1f, all others %.1f; "
        "missed %llu\n",
        (double)seen.elapsed_ns / 1e6, (double)seen.own_ns / 1e6, (double)seen.busy_ns / 1e6,
        (double)seen.sampled_ns / 1e6, (double)(truth->ticks_met * truth->tick_ns) / 1e6,
        (double)seen.others_ns / 1e6, (unsigned long long)truth->missed);
    assert_at_least("busy", seen.busy_ns, seen.own_ns, tolerance);
    assert_at_most("busy", seen.busy_ns, seen.own_ns + seen.others_ns,
                   tolerance + others_tolerance + seen.irq_ns);
    assert_at_most("busy", seen.busy_ns, seen.elapsed_ns, 0);
}

static void burn_and_sleep(void *unused)
{
    (void)unused;
    stay_on(last_cpu());
    for (;;) {
        burn(CLOCK_THREAD_CPUTIME_ID, NS_PER_MS);
        usleep(1000);
    }
}

/* An interval has only five units of /proc/stat, so idle time from /proc/stat could be wrong by 20
 * %. Each reading of the child's clock may lag by a tick. Each turn of the child has a wakeup and a
 * switch. */
static void a_cpu_is_busy_in_each_short_interval_in_which_a_thread_runs_on_it(void **state)
{
    const uint64_t steal = steal_ns();
    struct source *tasks = open_tier(TASKS_BPF);
    const pid_t child = start(burn_and_sleep, NULL);
    clockid_t clock;
    uint64_t before;

    (void)state;
    assert_int_equal(clock_getcpuclockid(child, &clock), 0);
    next_frame(tasks, 0);
    before = now_ns(clock);
    for (int i = 0; i < 10; i++) {
        const struct frame *cpus;
        uint64_t after;
        size_t row;

        usleep(50000);
        after = now_ns(clock);
        next_frame(tasks, 0);
        cpus = tasks_source_cpus(tasks);
        row = row_of(cpus, (int32_t)last_cpu());
        assert_int_not_equal(row, SIZE_MAX);
        /* The child runs for a millisecond in each turn. */
        assert_at_least("busy", busy_ns(cpus, row), after - before,
                        2 * tick_ns() + stolen_since(steal) +
                            switches_tolerance((after - before) / NS_PER_MS + 1, 0));
        assert_at_most("busy", busy_ns(cpus, row), cpus->elapsed_ns[row], 0);
        before = now_ns(clock);
    }
    kill(child, SIGKILL);
    reap(child);
    source_close(tasks);
}

/* A CPU is known only after its first switch, which may come after the source was opened. */
static void the_first_interval_of_a_source_already_has_cpus(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct source *tasks = open_tier(TASKS_BPF);

        usleep(20000);
        next_frame(tasks, 0);
        assert_int_not_equal(row_of(tasks_source_cpus(tasks), CAMP_CPU_TOTAL), SIZE_MAX);
        source_close(tasks);
    }
}

static void tier_schedstat_has_no_frame_of_cpus(void **state)
{
    struct source *tasks = open_tier(TASKS_SCHEDSTAT);

    (void)state;
    next_frame(tasks, 0);
    assert_null(tasks_source_cpus(tasks));
    source_close(tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_busy_time_of_a_cpu_includes_a_load_that_runs_only_between_ticks),
        cmocka_unit_test(a_cpu_is_busy_in_each_short_interval_in_which_a_thread_runs_on_it),
        cmocka_unit_test(the_first_interval_of_a_source_already_has_cpus),
        cmocka_unit_test(tier_schedstat_has_no_frame_of_cpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
