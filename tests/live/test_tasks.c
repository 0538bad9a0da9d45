/*
 * Tests living processes of the source "tasks" on this machine. Their CPU time must be that of
 * their own clocks, and at most the time of all CPUs. The clocks are read before and after each
 * snapshot, so the true time is between these readings. The time of a task that runs during a
 * snapshot may lag by a tick.
 */
#include "cpu_steal.h"
#include "tasks_frames.h"

#include <pthread.h>

static pid_t burning_child(void)
{
    pid_t child = fork_child();

    if (child == 0) {
        for (;;) {
            burn(CLOCK_THREAD_CPUTIME_ID, 3 * NS_PER_MS);
            usleep(2000);
        }
    }
    return child;
}

static void the_measured_time_of_a_process_equals_its_own_clock(void **state)
{
    const uint64_t steal = steal_ns();
    pid_t child = burning_child();
    clockid_t clock;
    struct source *source;
    const struct frame *frame;
    uint64_t clocks[4]; /* before and after each of the two snapshots */
    uint64_t measured, tolerance;
    size_t row;

    (void)state;
    assert_int_equal(clock_getcpuclockid(child, &clock), 0);
    clocks[0] = now_ns(clock);
    source = open_taskstats();
    clocks[1] = now_ns(clock);
    usleep(200000);
    clocks[2] = now_ns(clock);
    frame = next_frame(source, 0);
    clocks[3] = now_ns(clock);
    kill(child, SIGKILL);
    reap(child);
    row = row_of(frame, child);
    assert_int_not_equal(row, SIZE_MAX);
    measured = frame_values(frame, row)[TASKS_MEASURED];
    /* Each of the two readings may lag by a tick. */
    tolerance = 2 * tick_ns() + stolen_since(steal);
    assert_at_least("measured", measured, clocks[2] - clocks[1], tolerance);
    assert_at_most("measured", measured, clocks[3] - clocks[0], tolerance);
    source_close(source);
}

static void *burn_for_ever(void *unused)
{
    burn(CLOCK_THREAD_CPUTIME_ID, UINT64_MAX / 2);
    return unused;
}

static pid_t child_on_all_cpus(void)
{
    pid_t child = fork_child();

    if (child == 0) {
        pthread_t thread;

        for (long cpu = 1; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
            pthread_create(&thread, NULL, burn_for_ever, NULL);
        burn_for_ever(NULL);
    }
    return child;
}

static void all_processes_together_use_at_most_the_time_of_all_cpus(void **state)
{
    const uint64_t steal = steal_ns();
    pid_t child = child_on_all_cpus();
    uint64_t before = now_ns(CLOCK_MONOTONIC);
    struct source *source = open_taskstats();
    const struct frame *frame = next_frame(source, 200000000);
    uint64_t after = now_ns(CLOCK_MONOTONIC);
    uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t sum = 0;

    (void)state;
    kill(child, SIGKILL);
    reap(child);
    for (size_t i = 0; i < frame->entity_count; i++)
        sum += frame_values(frame, i)[TASKS_MEASURED];
    assert_at_most("accounted", sum, (after - before) * cpus,
                   tick_ns() * cpus + stolen_since(steal));
    assert_at_least("accounted", sum, 1, 0);
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_measured_time_of_a_process_equals_its_own_clock),
        cmocka_unit_test(all_processes_together_use_at_most_the_time_of_all_cpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
