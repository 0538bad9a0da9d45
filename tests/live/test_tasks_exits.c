/*
 * Tests exited processes of the source "tasks" on this machine. Each child stores its CPU time just
 * before it exits. It must be accounted once, with all its CPU time.
 */
#include "cpu_steal.h"
#include "exited_children.h"

#include <pthread.h>

/* The record of a task that never slept has the time from its start to its end. This time includes
 * fork(2) and stolen time, which the CPU clock of the task does not include. */
static void every_short_lived_process_is_accounted(void **state)
{
    enum { CHILDREN = 200 };
    struct source *source = open_taskstats();
    struct own_time sum = { 0 };
    struct folded accounted;

    (void)state;
    for (int i = 0; i < CHILDREN; i++) {
        const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
        pid_t child = fork();
        struct own_time own;

        if (child == 0) {
            prctl(PR_SET_NAME, own_name("short"));
            burn(CLOCK_THREAD_CPUTIME_ID, 1 * NS_PER_MS);
            report_and_exit();
        }
        own = end_of(child);
        reap(child);
        sum.word += own.word;
        sum.whole += own.whole;
        sum.life += now_ns(CLOCK_MONOTONIC) - began_ns;
    }
    accounted = rows_of_name(next_frame(source, 0), own_name("short"));
    assert_int_equal(accounted.count, CHILDREN);
    assert_accounted(accounted.measured_ns, sum, 0, less(sum.life, sum.whole));
    source_close(source);
}

static void a_process_that_reads_no_clock_is_accounted_up_to_its_end(void **state)
{
    enum { CHILDREN = 50 };
    struct source *source = open_taskstats();
    const uint64_t steal = steal_ns();
    struct own_time sum = { 0 };
    struct folded accounted;

    (void)state;
    for (int i = 0; i < CHILDREN; i++) {
        const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
        pid_t child = fork();
        uint64_t whole;

        if (child == 0) {
            prctl(PR_SET_NAME, own_name("blind"));
            burn_blindly();
            _exit(0);
        }
        whole = end_of(child).whole;
        reap(child);
        sum.life += now_ns(CLOCK_MONOTONIC) - began_ns;
        sum.whole += whole;
        /* The CPU time of the exit is estimated with a child that only exits. */
        sum.word += less(whole, cost_of_an_exit());
    }
    accounted = rows_of_name(next_frame(source, 0), own_name("blind"));
    assert_int_equal(accounted.count, CHILDREN);
    /* Without the time since the last tick, about a quarter of the CPU time would be missing. */
    assert_accounted(accounted.measured_ns, sum, stolen_since(steal), less(sum.life, sum.whole));
    source_close(source);
}

/* Waits until the child sleeps, and returns its CPU clock, which then does not change. */
static uint64_t clock_asleep(pid_t child)
{
    struct camp_process process;
    struct camp_task task;
    clockid_t clock;

    assert_int_equal(camp_process_identify(NULL, child, &process, sizeof process, NULL), CAMP_OK);
    do {
        usleep(100);
        assert_int_equal(camp_process_read(NULL, &process, 0, &task, sizeof task, NULL), CAMP_OK);
    } while (task.state != 'S');
    assert_int_equal(clock_getcpuclockid(child, &clock), 0);
    return now_ns(clock);
}

static void an_exited_process_is_accounted_once_in_its_last_interval(void **state)
{
    struct source *source;
    int go[2];
    struct own_time own;
    uint64_t before;
    pid_t child;
    const struct frame *frame;
    size_t row;
    char byte;

    (void)state;
    assert_int_equal(pipe(go), 0);
    child = fork_child();
    if (child == 0) {
        prctl(PR_SET_NAME, own_name("ending"));
        burn(CLOCK_THREAD_CPUTIME_ID, 50 * NS_PER_MS);
        (void)!read(go[0], &byte, 1);
        burn(CLOCK_THREAD_CPUTIME_ID, 30 * NS_PER_MS);
        report_and_exit();
    }
    before = clock_asleep(child);
    source = open_taskstats();
    assert_int_equal(write(go[1], "x", 1), 1);
    own = end_of(child);
    own = (struct own_time){ own.word - before, own.whole - before, 0 };
    frame = next_frame(source, 0);
    row = row_of(frame, child);
    assert_int_not_equal(row, SIZE_MAX);
    assert_int_equal(frame->entities[row].flags & (ENTITY_ENDED | ENTITY_NEW), ENTITY_ENDED);
    assert_string_equal(frame->entities[row].name, own_name("ending"));
    assert_accounted(frame_values(frame, row)[TASKS_MEASURED], own, 0, 0);
    /* The child is still a zombie. */
    assert_int_equal(row_of(next_frame(source, 0), child), SIZE_MAX);
    reap(child);
    assert_int_equal(row_of(next_frame(source, 0), child), SIZE_MAX);
    source_close(source);
}

/* Starts children that wait until they are released, then use 1 ms of CPU time and exit. */
static void start_enders(pid_t *children, size_t count, const int *go)
{
    for (size_t i = 0; i < count; i++) {
        char byte;

        children[i] = fork_child();
        if (children[i] == 0) {
            prctl(PR_SET_NAME, own_name("race"));
            burn(CLOCK_THREAD_CPUTIME_ID, 10 * NS_PER_MS);
            if (read(go[0], &byte, 1) == 1)
                burn(CLOCK_THREAD_CPUTIME_ID, 1 * NS_PER_MS);
            _exit(0);
        }
    }
}

/* Starts a process that releases the children one after another, independently of the snapshots. */
static pid_t start_releaser(size_t count, const int *go)
{
    pid_t releaser = fork();

    if (releaser == 0) {
        for (size_t i = 0; i < count; i++) {
            (void)!write(go[1], "x", 1);
            usleep(2500);
        }
        _exit(0);
    }
    return releaser;
}

/* Tells whether all children are zombies, whose clocks no longer change. */
static bool all_have_ended(const pid_t *children, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        siginfo_t info = { 0 };

        assert_int_equal(waitid(P_PID, (id_t)children[i], &info, WEXITED | WNOWAIT | WNOHANG), 0);
        if (info.si_pid == 0)
            return false;
    }
    return true;
}

static void an_exit_during_a_snapshot_adds_only_time_since_the_last_snapshot(void **state)
{
    enum { CHILDREN = 60 };
    pid_t children[CHILDREN], releaser;
    int go[2];
    struct source *source;
    uint64_t accounted = 0, grown = 0;
    bool ended;

    (void)state;
    assert_int_equal(pipe(go), 0);
    start_enders(children, CHILDREN, go);
    for (int i = 0; i < CHILDREN; i++)
        grown -= clock_asleep(children[i]);
    source = open_taskstats();
    releaser = start_releaser(CHILDREN, go);
    do { /* The last snapshot must be after the last exit. */
        ended = all_have_ended(children, CHILDREN);
        accounted += rows_of_name(next_frame(source, 0), own_name("race")).measured_ns;
    } while (!ended);
    reap(releaser);
    for (int i = 0; i < CHILDREN; i++) {
        grown += end_of(children[i]).whole;
        reap(children[i]);
    }
    assert_at_least("accounted", accounted, CHILDREN * NS_PER_MS, 0);
    assert_at_most("accounted", accounted, grown, 0);
    source_close(source);
}

static void *burn_in_thread(void *unused)
{
    burn(CLOCK_THREAD_CPUTIME_ID, 20 * NS_PER_MS);
    return unused;
}

/* Returns an upper bound of the CPU time of three threads since their last ticks, including their
 * exits. No record has this time, but the clock of their process includes it. Stolen time may delay
 * a tick. */
static uint64_t threads_room(uint64_t steal)
{
    return 3 * (tick_ns() + cost_of_an_exit()) + stolen_since(steal);
}

/* Starts a child with three threads, which use CPU time and exit before the child exits. */
static pid_t threaded_child(const char *name)
{
    pid_t child = fork();

    if (child == 0) {
        pthread_t threads[3];

        prctl(PR_SET_NAME, name);
        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, burn_in_thread, NULL);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
        report_and_exit();
    }
    return child;
}

static void a_process_with_threads_is_accounted_completely_and_once(void **state)
{
    const uint64_t steal = steal_ns();
    struct source *source = open_taskstats();
    pid_t child = threaded_child(own_name("threads"));
    struct own_time own = end_of(child);
    struct folded accounted;
    uint64_t tolerance;

    (void)state;
    reap(child);
    accounted = rows_of_name(next_frame(source, 0), own_name("threads"));
    assert_int_equal(accounted.count, 1);
    /* The three threads use 20 ms each. */
    assert_at_least("its clock", own.word, 60 * NS_PER_MS, 0);
    tolerance = threads_room(steal);
    assert_accounted(accounted.measured_ns, own, tolerance, tolerance);
    source_close(source);
}

static void a_zombie_with_exited_threads_is_accounted_once(void **state)
{
    const uint64_t steal = steal_ns();
    struct source *source = open_taskstats();
    pid_t child = threaded_child(own_name("zombie"));
    struct own_time own = end_of(child);
    struct folded first, second;
    uint64_t tolerance;

    (void)state;
    /* The child is first seen as a zombie, whose CPU clock includes its exited threads. */
    first = rows_of_name(next_frame(source, 0), own_name("zombie"));
    second = rows_of_name(next_frame(source, 0), own_name("zombie"));
    reap(child);
    assert_int_equal(first.count, 1);
    assert_int_equal(second.count, 0);
    tolerance = threads_room(steal);
    assert_accounted(first.measured_ns, own, tolerance, tolerance);
    source_close(source);
}

static void reaping_a_zombie_that_exited_before_the_source_was_opened_adds_no_row(void **state)
{
    pid_t child = fork();
    struct source *source;

    (void)state;
    if (child == 0) {
        burn(CLOCK_THREAD_CPUTIME_ID, 5 * NS_PER_MS);
        report_and_exit();
    }
    end_of(child);
    source = open_taskstats();
    reap(child);
    assert_int_equal(row_of(next_frame(source, 0), child), SIZE_MAX);
    source_close(source);
}

static void without_exit_records_short_lived_processes_are_counted_as_unseen(void **state)
{
    struct camp_error error = { 0 };
    struct source *source;
    enum tasks_tier tier;

    (void)state;
    assert_int_equal(tasks_source_open(TASKS_SCHEDSTAT, &never_stop, &source, &tier, &error),
                     CAMP_OK);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();

        if (child == 0)
            _exit(0);
        reap(child);
    }
    assert_in_range(next_frame(source, 0)->losses.unseen, 20, UINT64_MAX);
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_lived_process_is_accounted),
        cmocka_unit_test(a_process_that_reads_no_clock_is_accounted_up_to_its_end),
        cmocka_unit_test(an_exited_process_is_accounted_once_in_its_last_interval),
        cmocka_unit_test(an_exit_during_a_snapshot_adds_only_time_since_the_last_snapshot),
        cmocka_unit_test(a_process_with_threads_is_accounted_completely_and_once),
        cmocka_unit_test(a_zombie_with_exited_threads_is_accounted_once),
        cmocka_unit_test(reaping_a_zombie_that_exited_before_the_source_was_opened_adds_no_row),
        cmocka_unit_test(without_exit_records_short_lived_processes_are_counted_as_unseen),
    };

    if (!exited_children_start())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
