/*
 * Tests the source "check" on this machine: its processes, and the CPUs of the same interval.
 * test_tasks.c compares the measured time of a process with its clock.
 */
#include "sources/check.h"
#include "sources/from.h"
#include "tasks_frames.h"

static struct source *open_check(enum tasks_tier wanted)
{
    struct camp_error error = { 0 };
    struct source *source = NULL;
    enum tasks_tier tier;

    skip_where_refused(check_source_open(wanted, &never_stop, &source, &tier, &error), &error);
    assert_int_equal(tier, wanted);
    return source;
}

static pid_t busy_child(void)
{
    pid_t child = fork_child();

    if (child == 0)
        burn(CLOCK_THREAD_CPUTIME_ID, UINT64_MAX / 2);
    return child;
}

/* In each snapshot, the CPUs are read after the processes. */
static void the_source_named_check_has_processes_and_cpus_of_the_same_interval(void **state)
{
    struct source *source = open_check(TASKS_SCHEDSTAT);
    const struct frame *tasks = next_frame(source, 50000000);
    const struct frame *cpus = source_beside(source);
    uint64_t second_start_ns;

    (void)state;
    assert_non_null(cpus);
    assert_true(cpus->end_ns >= tasks->end_ns);
    assert_int_equal(cpus->entities[0].id, CAMP_CPU_TOTAL);
    second_start_ns = cpus->end_ns;
    tasks = next_frame(source, 50000000);
    cpus = source_beside(source);
    assert_int_equal(cpus->start_ns, second_start_ns);
    assert_true(cpus->start_ns >= tasks->start_ns && cpus->start_ns <= tasks->end_ns);
    source_close(source);
}

static void without_taskstats_the_source_named_check_has_no_sampled_column(void **state)
{
    pid_t child = busy_child();
    struct source *source = open_check(TASKS_SCHEDSTAT);
    const struct schema *schema = source->describe(source);
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    const struct frame *frame;
    clockid_t clock;
    uint64_t before;
    size_t row;

    (void)state;
    assert_int_equal(clock_getcpuclockid(child, &clock), 0);
    before = now_ns(clock);
    while (now_ns(clock) == before && wait_on(began_ns))
        continue;
    frame = next_frame(source, 0);
    row = row_of(frame, child);
    kill(child, SIGKILL);
    reap(child);
    assert_int_equal(schema->column_count, 1);
    assert_string_equal(schema->columns[0].name, "measured_ns");
    assert_ptr_equal(frame->schema, schema);
    assert_int_not_equal(row, SIZE_MAX);
    assert_true(frame_values(frame, row)[0] > 0);
    assert_int_equal(frame->elapsed_ns[row], frame->end_ns - frame->start_ns);
    assert_string_not_equal(frame->entities[row].name, "");
    source_close(source);
}

static void tier_bpf_measures_the_states_of_cpus(void **state)
{
    struct source *source = open_check(TASKS_BPF);
    const struct frame *tasks = next_frame(source, 50000000);
    const struct frame *cpus = source_beside(source);

    (void)state;
    assert_int_equal(source->describe(source)->column_count, TASKS_COLUMN_COUNT);
    assert_int_equal(cpus->schema->column_count, CPUS_STATES_COLUMN_COUNT);
    assert_true(cpus->start_ns < tasks->end_ns && cpus->end_ns > tasks->start_ns);
    source_close(source);
}

/* The processes of "check" have no states. If states are wanted, the source has the CPUs
 * instead. */
static void the_source_named_check_has_cpus_instead_of_processes_if_states_are_wanted(void **state)
{
    struct from from = { .text = "check", .stop = &never_stop };
    struct camp_error error = { 0 };
    struct from_facts facts;
    struct source *source;

    (void)state;
    assert_int_equal(from_open(&from, &source, &facts, &error), CAMP_OK);
    assert_int_equal(source->describe(source)->state_count, 0);
    assert_string_equal(facts.name, "check");
    assert_true(facts.live);
    source_close(source);
    from.wants_states = true;
    assert_int_equal(from_open(&from, &source, &facts, &error), CAMP_OK);
    assert_int_equal(source->describe(source)->state_count, CPUS_COLUMN_COUNT);
    assert_int_equal(next_frame(source, 20000000)->entities[0].id, 0);
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_source_named_check_has_processes_and_cpus_of_the_same_interval),
        cmocka_unit_test(without_taskstats_the_source_named_check_has_no_sampled_column),
        cmocka_unit_test(tier_bpf_measures_the_states_of_cpus),
        cmocka_unit_test(the_source_named_check_has_cpus_instead_of_processes_if_states_are_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
